//! Traces and profiles.

use super::{Subject, faults};
use crate::cli::output::printable;
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{Site, Stats, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The instruction as written.
fn text(subject: &Subject, site: Site) -> String {
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

/// What is known of an instruction: where it is, how often warps came to it, how many threads executed it.
fn rows(program: &Program, stats: &Stats) -> BTreeMap<Site, (u64, u64)> {
    let mut rows: BTreeMap<Site, (u64, u64)> = BTreeMap::new();
    for (site, (warps, threads)) in program.sites.iter().zip(stats.counts()) {
        // An instruction may be several of the decoded code: the last of them is the one itself.
        if *warps > 0 {
            rows.insert(*site, (*warps, *threads));
        }
    }
    rows
}

/// The profile, in the order of the text.
pub fn table(subject: &Subject, program: &Program, stats: &Stats) -> String {
    let mut out = format!("{:>6} {:>12} {:>14} {:>6}\n", "line", "warps", "threads", "lanes");
    for (site, (warps, threads)) in rows(program, stats) {
        let line = subject.source.position(faults::span(subject, site).start).line;
        let lanes = threads as f64 / warps as f64;
        let _ = writeln!(
            out,
            "{line:>6} {warps:>12} {threads:>14} {lanes:>6.1}  {}",
            text(subject, site)
        );
    }
    out
}

/// The profile as JSON.
pub fn json(subject: &Subject, program: &Program, stats: &Stats) -> Value {
    let rows = rows(program, stats).into_iter().map(|(site, (warps, threads))| {
        json!({
            "line": subject.source.position(faults::span(subject, site).start).line,
            "instruction": text(subject, site),
            "warps": warps,
            "threads": threads,
        })
    });
    rows.collect()
}
