//! The report: agreement, and every difference under the class that explains it.

use super::files::Outcome;
use super::known::{Class, classify};
use super::score::{Difference, Score};
use std::fmt::Write as _;

/// Percent of what ptxas accepts that we must accept.
pub const ACCEPTED: f64 = 99.5;
/// Percent of what ptxas rejects that we must reject.
pub const REJECTED: f64 = 97.0;
/// Percent of edited files on which both must agree.
pub const AGREEMENT: f64 = 97.0;
/// Edited files that the full run compares at least.
pub const MUTANTS: usize = 20_000;

/// Where the report lies.
pub fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/parity.md")
}

/// The differences that no class explains.
pub fn unexplained(differences: &[Difference]) -> Vec<&Difference> {
    differences.iter().filter(|one| classify(one).is_none()).collect()
}

/// The whole report.
pub fn write(table: &(Score, Vec<Difference>), files: &Outcome) -> String {
    let mut out = String::from(INTRODUCTION);
    let total = files.total();
    let unknown = unexplained(&table.1).len() + unexplained(&files.differences).len();
    writeln!(out, "| measure | value | bar |\n|---|---|---|").unwrap();
    let instances = format!("instances of the table's forms | {}", table.0.total());
    writeln!(out, "| {instances} | |").unwrap();
    writeln!(
        out,
        "| accepted of what ptxas accepts | {:.2} % | {ACCEPTED} % |",
        table.0.accepted()
    )
    .unwrap();
    writeln!(
        out,
        "| rejected of what ptxas rejects | {:.2} % | {REJECTED} % |",
        table.0.rejected()
    )
    .unwrap();
    writeln!(out, "| edited files | {} | {MUTANTS} |", total.total()).unwrap();
    writeln!(
        out,
        "| agreement on edited files | {:.2} % | {AGREEMENT} % |",
        total.agreement()
    )
    .unwrap();
    writeln!(out, "| differences without a reason | {unknown} | 0 |").unwrap();
    writeln!(out, "\n## Instances of the table\n").unwrap();
    scores(&mut out, &[("all", table.0)]);
    explained(&mut out, &table.1);
    writeln!(out, "\n## Edited files\n").unwrap();
    writeln!(
        out,
        "{} seeds: modules that both sides accept, cut down to one function.\n",
        files.seeds
    )
    .unwrap();
    scores(&mut out, &files.kinds);
    explained(&mut out, &files.differences);
    out
}

const INTRODUCTION: &str = "\
# Parity with ptxas

How far the verdicts of `ptxgen` (any finding of level error from parser and legality checks) agree with those of ptxas 13.5.
`PTXGEN_PARITY=full cargo test --test parity` makes this report; a plain `cargo test` runs a sample of both comparisons and
checks that the bars below are met. Two comparisons:

- *Instances of the table*: every form of every row with each of its modifiers, sampled combinations and shapes of operands, at
  the least version and target that the table states and at the newest; and the same with one thing wrong: a modifier too many,
  missing or of another instruction, another type, an operand too many, missing or of another class, a gate just missed.
- *Edited files*: real modules with one edit: modifier, type, operand, register class, target, version, label, arity, space.

ptxas reads each instruction; what it accepts is then assembled in batches, so that complaints of code generation that name a
line count too. Modules on which ptxas crashes are left out. Forms with a sampler need `texmode_independent` and are not
instantiated.

";

fn scores(out: &mut String, rows: &[(&'static str, Score)]) {
    writeln!(
        out,
        "| | both accept | only ptxas accepts | both reject | only ptxas rejects | agreement |"
    )
    .unwrap();
    writeln!(out, "|---|---|---|---|---|---|").unwrap();
    for (name, score) in rows {
        writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {:.2} % |",
            score.both_accept,
            score.falsely_rejected,
            score.both_reject,
            score.falsely_accepted,
            score.agreement()
        )
        .unwrap();
    }
}

/// The classes that occur, the largest first, with an example and the reason.
fn explained(out: &mut String, differences: &[Difference]) {
    let mut found: Vec<(&'static Class, Vec<&Difference>)> = Vec::new();
    for one in differences {
        let Some(class) = classify(one) else { continue };
        match found.iter_mut().find(|(other, _)| std::ptr::eq(*other, class)) {
            Some((_, members)) => members.push(one),
            None => found.push((class, vec![one])),
        }
    }
    found.sort_by_key(|(class, members)| (std::cmp::Reverse(members.len()), class.title));
    for (class, members) in found {
        let example = members.iter().min_by_key(|one| (one.text.len(), &one.text)).unwrap();
        writeln!(out, "\n### {} ({})\n\n{}\n", class.title, members.len(), class.reason).unwrap();
        writeln!(out, "```\n{}\n    {}", shortened(&example.text), example.origin).unwrap();
        writeln!(out, "    ptxgen: {}", example.ours.as_deref().unwrap_or("accepts")).unwrap();
        writeln!(
            out,
            "    ptxas: {}\n```",
            example.theirs.as_deref().unwrap_or("accepts")
        )
        .unwrap();
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 200 {
        return text.to_owned();
    }
    text.chars().take(197).collect::<String>() + "..."
}

/// A number of the report's summary: the value in the row of that measure.
pub fn recorded(report: &str, measure: &str) -> Option<f64> {
    let row = report
        .lines()
        .find(|line| line.starts_with(&format!("| {measure} |")))?;
    row.split('|').nth(2)?.trim().trim_end_matches('%').trim().parse().ok()
}
