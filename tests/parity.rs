//! Our verdicts against those of ptxas: on instances of every row of the table, and on real files with one edit.
//!
//! `PTXGEN_PARITY=full cargo test --test parity` runs all of it and rewrites `docs/parity.md`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

#[path = "parity/cases.rs"]
mod cases;
#[path = "parity/operands.rs"]
mod operands;
#[path = "parity/oracle.rs"]
mod oracle;
#[path = "parity/rng.rs"]
mod rng;
#[path = "parity/score.rs"]
mod score;
#[path = "parity/setting.rs"]
mod setting;
#[path = "parity/table.rs"]
mod table;
