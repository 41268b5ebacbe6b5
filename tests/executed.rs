//! What the simulator executes: legal instances of every form of the table are decoded, and those it refuses are counted.
//! The list is `docs/executed.md`; `PTXGEN_BLESS=1 cargo test --test executed` makes it anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "parity/cases.rs"]
mod cases;
#[path = "parity/faults.rs"]
mod faults;
#[path = "parity/operands.rs"]
mod operands;
#[allow(dead_code, reason = "the comparison with ptxas draws more than this does")]
#[path = "parity/rng.rs"]
mod rng;
#[path = "parity/setting.rs"]
mod setting;

use cases::{Amount, Case};
use ptxgen::ptx::diag::Level;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, program::Rare};
use ptxgen::ptx::verify::verify;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// As many instances as the comparison with ptxas makes.
const AMOUNT: Amount = Amount {
    combinations: 4,
    legal: 14,
    faults: 1,
};

/// What became of a row's instances.
#[derive(Default)]
struct Row {
    executed: usize,
    /// By reason: how many, and one of them.
    refused: BTreeMap<String, (usize, String)>,
}

/// Why an instance is refused; nothing for one that is executed or not legal at all.
fn verdict(case: &Case) -> Option<Result<(), String>> {
    let (text, _) = case.setting.module(&[&case.text]);
    let parsed = parse(&text);
    let wrong = |level: Level| level == Level::Error;
    let illegal = parsed.diags.iter().any(|diag| wrong(diag.level));
    if illegal || verify(&parsed, &text).iter().any(|diag| wrong(diag.level)) {
        return None;
    }
    let program = match sim::prepare(&parsed.module, "kern", 0) {
        Ok(program) => program,
        Err(stop) => return Some(Err(stop.to_string())),
    };
    let refusal = program.rares.iter().find_map(|rare| match rare {
        Rare::Unsupported(why) => Some(why.clone()),
        _ => None,
    });
    // The reason without the instruction, which may be spelled in many ways.
    Some(match refusal {
        Some(why) => Err(why.rsplit_once("`: ").map_or(why.clone(), |(_, why)| why.to_owned())),
        None => Ok(()),
    })
}

fn rows() -> BTreeMap<&'static str, Row> {
    let mut rows: BTreeMap<&'static str, Row> = BTreeMap::new();
    for case in cases::all(&AMOUNT) {
        if !matches!(case.kind, "example" | "plain" | "operands") {
            continue;
        }
        match verdict(&case) {
            None => {}
            Some(Ok(())) => rows.entry(case.row).or_default().executed += 1,
            Some(Err(why)) => {
                let row = rows.entry(case.row).or_default();
                row.refused.entry(why).or_insert((0, case.text)).0 += 1;
            }
        }
    }
    rows
}

fn page(rows: &BTreeMap<&'static str, Row>) -> String {
    let executed: usize = rows.values().map(|row| row.executed).sum();
    let refusals = |row: &Row| row.refused.values().map(|(count, _)| count).sum::<usize>();
    let refused: usize = rows.values().map(refusals).sum();
    let whole = rows.values().filter(|row| row.refused.is_empty()).count();
    let mut out = format!(
        "# What the simulator executes\n\n\
         Made by `cargo test --test executed` from legal instances of every form of the instruction table. What is refused stops a run with\n\
         `unsupported` when a thread comes to it, and never counts as clean. `docs/simulator.md` says how what is executed is modelled.\n\n\
         {executed} of {} instances are executed; {whole} of {} rows of the table without exception. The others:\n\n\
         | row | executed | refused | because of | such as |\n|---|---|---|---|---|\n",
        executed + refused,
        rows.len()
    );
    for (name, row) in rows.iter().filter(|(_, row)| !row.refused.is_empty()) {
        for (why, (count, example)) in &row.refused {
            let [why, example] = [why, example].map(|text| text.replace('|', "\\|"));
            writeln!(out, "| `{name}` | {} | {count} | {why} | `{example}` |", row.executed).unwrap();
        }
    }
    out
}

#[test]
fn the_list_of_what_is_executed_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/executed.md");
    let made = page(&rows());
    if std::env::var_os("PTXGEN_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == kept,
        "docs/executed.md is stale; PTXGEN_BLESS=1 cargo test --test executed makes it anew:\n{made}"
    );
}
