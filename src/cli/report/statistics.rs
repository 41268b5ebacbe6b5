//! How often each code was found.

use super::Run;
use crate::ptx::diag::Level;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One code's count.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Count {
    code: &'static str,
    name: &'static str,
    level: String,
    count: usize,
    /// In how many files.
    files: usize,
}

/// The counts by code and level, the most frequent first.
pub(super) fn counts(run: &Run) -> Vec<Count> {
    let mut counts: BTreeMap<(&str, Level), Count> = BTreeMap::new();
    for file in &run.files {
        let mut here = Vec::new();
        for diag in &file.report.findings {
            let key = (diag.code.id, diag.level);
            let entry = counts.entry(key).or_insert_with(|| Count {
                code: diag.code.id,
                name: diag.code.name,
                level: diag.level.to_string(),
                count: 0,
                files: 0,
            });
            entry.count += 1;
            if !here.contains(&key) {
                here.push(key);
                entry.files += 1;
            }
        }
    }
    let mut counts: Vec<_> = counts.into_values().collect();
    // Stable: equally frequent ones stay in the order of their codes.
    counts.sort_by_key(|count| std::cmp::Reverse(count.count));
    counts
}

/// One line a code.
pub(super) fn render(run: &Run) -> String {
    let counts = counts(run);
    let width = counts
        .iter()
        .map(|count| count.count.to_string().len())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for Count {
        code,
        name,
        level,
        count,
        files,
    } in counts
    {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{count:>width$} {level}[{code} {name}] in {}",
            super::plural(files, "file", "files")
        );
    }
    out
}
