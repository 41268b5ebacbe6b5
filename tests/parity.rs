//! Our verdicts against those of ptxas: on instances of every row of the table, and on real files with one edit.
//!
//! `PTXGEN_PARITY=full cargo test --test parity` runs all of it and rewrites `docs/parity.md`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

#[path = "parity/cases.rs"]
mod cases;
#[path = "parity/files.rs"]
mod files;
#[path = "parity/mutate.rs"]
mod mutate;
#[path = "parity/operands.rs"]
mod operands;
#[path = "parity/oracle.rs"]
mod oracle;
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

use score::{Difference, classes};
use std::fmt::Write as _;

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
