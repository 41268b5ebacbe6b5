//! Traces and profiles.

use super::{Subject, faults};
use crate::cli::output::printable;
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{Count, Site, Stats, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The instruction as written.
pub fn text(subject: &Subject, site: Site) -> String {
    printable(faults::span(subject, site).of(subject.source.text()))
}

/// The steps of all warps, one a line.
pub fn trace(subject: &Subject, steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        let [x, y, z] = step.cta;
        let line = subject.source.position(faults::span(subject, step.site).start).line;
        let text = text(subject, step.site);
        let _ = writeln!(
            out,
            "cta {x},{y},{z} warp {} lanes {:08x} line {line}: {text}",
            step.warp, step.mask
        );
    }
    out
}

/// The counts of each instruction that a warp came to.
fn rows(program: &Program, stats: &Stats) -> BTreeMap<Site, Count> {
    let mut rows: BTreeMap<Site, Count> = BTreeMap::new();
    for (site, count) in program.sites.iter().zip(stats.counts()) {
        // An instruction may be several of the decoded code: the last of them is the one itself.
        if count.warps > 0 {
            rows.insert(*site, *count);
        }
    }
    rows
}

/// A mean, or nothing where there is nothing to take it of.
fn mean(total: u64, count: u64) -> String {
    match count {
        0 => String::new(),
        count => format!("{:.1}", total as f64 / count as f64),
    }
}

/// The profile, in the order of the text.
pub fn table(subject: &Subject, program: &Program, stats: &Stats) -> String {
    let mut out = format!(
        "{:>6} {:>12} {:>14} {:>6} {:>8} {:>7}\n",
        "line", "warps", "threads", "lanes", "sectors", "passes"
    );
    for (site, count) in rows(program, stats) {
        let line = subject.source.position(faults::span(subject, site).start).line;
        let (lanes, text) = (mean(count.threads, count.warps), text(subject, site));
        let (sectors, passes) = (
            mean(count.sectors.1, count.sectors.0),
            mean(count.passes.1, count.passes.0),
        );
        let _ = writeln!(
            out,
            "{line:>6} {:>12} {:>14} {lanes:>6} {sectors:>8} {passes:>7}  {text}",
            count.warps, count.threads
        );
    }
    out
}

/// The profile as JSON.
pub fn json(subject: &Subject, program: &Program, stats: &Stats) -> Value {
    let rows = rows(program, stats).into_iter().map(|(site, count)| {
        json!({
            "line": subject.source.position(faults::span(subject, site).start).line,
            "instruction": text(subject, site),
            "warps": count.warps,
            "threads": count.threads,
            "global_accesses": count.sectors.0,
            "sectors": count.sectors.1,
            "shared_accesses": count.passes.0,
            "bank_passes": count.passes.1,
        })
    });
    rows.collect()
}
