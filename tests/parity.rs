//! Our verdicts against those of ptxas: on instances of every row of the table, and on real files with one edit.
//!
//! `PTXGEN_PARITY=full cargo test --test parity` runs all of it and rewrites `docs/parity.md`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

#[path = "parity/cases.rs"]
mod cases;
#[path = "parity/faults.rs"]
mod faults;
#[path = "parity/files.rs"]
mod files;
#[path = "parity/known.rs"]
mod known;
#[path = "parity/mutate.rs"]
mod mutate;
#[path = "parity/operands.rs"]
mod operands;
#[path = "parity/oracle.rs"]
mod oracle;
#[path = "parity/report.rs"]
mod report;
#[path = "parity/rng.rs"]
mod rng;
#[path = "parity/score.rs"]
mod score;
#[path = "parity/seeds.rs"]
mod seeds;
#[path = "parity/setting.rs"]
mod setting;
#[path = "parity/table.rs"]
mod table;

use cases::Amount;
use score::{Difference, classes};
use std::fmt::Write as _;

/// What the full run compares.
const EVERYTHING: Amount = Amount {
    combinations: 4,
    legal: 14,
    faults: 1,
};

/// A sample that takes some tens of seconds.
const SAMPLE: Amount = Amount {
    combinations: 2,
    legal: 10,
    faults: 1,
};

/// One test, so that the two comparisons share the processors instead of fighting for them.
#[test]
fn verdicts_agree_with_ptxas() {
    if common::ptxas().is_none() {
        return;
    }
    let full = full();
    let table = table::compare(if full { &EVERYTHING } else { &SAMPLE });
    let files = files::compare(if full { report::MUTANTS + 500 } else { 1_000 }, full);
    dump("PTXGEN_PARITY_DUMP", &table.1);
    dump("PTXGEN_PARITY_DUMP_FILES", &files.differences);
    let (score, total) = (table.0, files.total());
    println!("table {:.2} {:.2} {score:?}", score.accepted(), score.rejected());
    println!("files {:.2} {total:?} of {} seeds", total.agreement(), files.seeds);
    if full {
        std::fs::write(report::path(), report::write(&table, &files)).unwrap();
    }
    assert!(score.accepted() >= report::ACCEPTED, "{score:?}");
    assert!(score.rejected() >= report::REJECTED, "{score:?}");
    assert!(total.agreement() >= report::AGREEMENT, "{total:?}");
    for differences in [&table.1, &files.differences] {
        let unknown = report::unexplained(differences);
        assert!(
            unknown.is_empty(),
            "{} without a reason, such as {:?}",
            unknown.len(),
            unknown[0]
        );
    }
}

/// The report in the repository says that the bars are met.
#[test]
fn the_report_meets_the_bars() {
    let report = std::fs::read_to_string(report::path()).unwrap();
    let value = |measure: &str| report::recorded(&report, measure).unwrap();
    assert!(value("accepted of what ptxas accepts") >= report::ACCEPTED);
    assert!(value("rejected of what ptxas rejects") >= report::REJECTED);
    assert!(value("edited files") >= report::MUTANTS as f64);
    assert!(value("agreement on edited files") >= report::AGREEMENT);
    assert!(value("differences without a reason") == 0.0);
}

/// Whether all of it is asked for.
fn full() -> bool {
    std::env::var("PTXGEN_PARITY").is_ok_and(|value| value == "full")
}

/// Writes every difference into the file that the variable names, for whoever works on them.
fn dump(variable: &str, differences: &[Difference]) {
    let Some(path) = std::env::var_os(variable) else { return };
    let mut out = String::new();
    for (class, members) in classes(differences) {
        writeln!(out, "== {} {class}", members.len()).unwrap();
        for one in members {
            let say = |verdict: &Option<String>| verdict.clone().unwrap_or_else(|| "ok".to_owned());
            let (ours, theirs) = (say(&one.ours), say(&one.theirs));
            writeln!(out, "    {} | {} | {ours} | {theirs}", one.text, one.origin).unwrap();
        }
    }
    std::fs::write(path, out).unwrap();
}
