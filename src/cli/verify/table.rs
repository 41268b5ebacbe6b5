//! What `verify` prints: a line for each claim, or JSON.

use super::Case;
use crate::cli::Outcome;
use crate::cli::output::printable;
use crate::cli::report::{Format, Run};
use crate::cli::run::faults;
use crate::kernels::contract::judge::{Proof, Settings, Stray, Verdict, Worst, shape_label};
use crate::kernels::contract::{Check, Claim};
use crate::ptx::sim::{Site, Stop};
use anyhow::Context;
use serde_json::{Value, json};
use std::fmt::Write;

/// A claim in one word.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict { broken: 1.., .. } => "BROKEN",
        Verdict { cases: 0, .. } => "not tried",
        _ => "holds",
    }
}

/// What a contract came to.
pub fn outcome(_: &Case, proof: &Proof) -> Outcome {
    let broken = proof.verdicts.iter().any(|verdict| verdict.broken > 0);
    let untried = proof.verdicts.iter().any(|verdict| verdict.cases == 0);
    match () {
        () if untried || !proof.stops.is_empty() => Outcome::Failed,
        () if broken || !proof.faults.is_empty() => Outcome::Findings,
        () => Outcome::Clean,
    }
}

/// What stopped a case, with the place.
pub fn stops(case: &Case, proof: &Proof) -> Vec<String> {
    let explained = proof.stops.iter().map(|(shape, label, stopped)| {
        let why = match (case.subject(*shape), &stopped.stop) {
            (Some(subject), stop @ (Stop::Unsupported { .. } | Stop::Limit(_))) => faults::explain(subject, stop),
            (_, stop) => stop.to_string(),
        };
        printable(&format!("{why} ({label})"))
    });
    let mut all: Vec<String> = explained.collect();
    all.dedup();
    all
}

/// Stores that go elsewhere, or those that could not be followed.
pub fn strays(case: &Case, proof: &Proof, certain: bool) -> Vec<String> {
    let strays = proof.strays.iter().filter(|stray| stray.certain == certain);
    let text = |stray: &Stray| {
        let Stray { function, inst, .. } = *stray;
        format!("{}: {}", case.line(stray.shape, Site { function, inst }), stray.why)
    };
    strays.map(text).collect()
}

/// An error in few digits.
pub fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value => format!("{value:.1e}"),
    }
}

/// The row of a claim: claim, cases, worst, tolerance, verdict.
fn row(claim: &Claim, verdict: &Verdict) -> [String; 5] {
    let (worst, tolerance) = match (&claim.check, &verdict.worst) {
        (_, Some(Worst { error, tolerance, .. })) => (number(*error), number(*tolerance)),
        _ => ("-".to_owned(), "-".to_owned()),
    };
    let cases = verdict.cases.to_string();
    [printable(&claim.id), cases, worst, tolerance, word(verdict).to_owned()]
}

/// The tables of all contracts, for people.
pub fn human(tried: &[(&Case, &Proof)], settings: &Settings) -> String {
    let mut out = String::new();
    for (case, proof) in tried {
        one(&mut out, case, proof);
    }
    let claims = tried.iter().flat_map(|(_, proof)| &proof.verdicts);
    let (mut held, mut broken, mut untried) = (0, 0, 0);
    for verdict in claims {
        match word(verdict) {
            "holds" => held += 1,
            "BROKEN" => broken += 1,
            _ => untried += 1,
        }
    }
    let cases: u64 = tried.iter().map(|(_, proof)| proof.cases).sum();
    let _ = writeln!(
        out,
        "{held} claims hold, {broken} are broken, {untried} were not tried; {cases} cases in {} orders each, seed {}",
        settings.schedules, settings.seed
    );
    out
}

fn one(out: &mut String, case: &Case, proof: &Proof) {
    let contract = &case.contract;
    let computes = match &contract.expression {
        Some(expression) => expression.to_string(),
        None => contract.reference.formula.to_owned(),
    };
    let _ = writeln!(out, "{}: {}", printable(&contract.name), printable(&computes));
    let claims = contract.claims.iter().zip(&proof.verdicts);
    let rows: Vec<_> = claims.clone().map(|(claim, verdict)| row(claim, verdict)).collect();
    let width = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(out, "  {:width$}  cases    worst  tolerance  verdict", "claim");
    for ((claim, verdict), [id, cases, worst, tolerance, word]) in claims.zip(rows) {
        let _ = writeln!(out, "  {id:width$}  {cases:>5}  {worst:>7}  {tolerance:>9}  {word}");
        if let (Some(at), true) = (&verdict.broken_at, verdict.broken > 0) {
            let _ = writeln!(out, "      promised: {}", printable(&claim.says));
            let _ = writeln!(
                out,
                "      broken in {} cases, first: {}",
                verdict.broken,
                printable(at)
            );
        }
        if let Some(worst) = verdict.worst.as_ref().filter(|worst| worst.error > 0.0) {
            let _ = writeln!(out, "      worst: {}", printable(&worst.place));
        }
    }
    for stray in strays(case, proof, true) {
        let _ = writeln!(out, "  a store that goes elsewhere: {}", printable(&stray));
    }
    for stray in strays(case, proof, false) {
        let _ = writeln!(out, "  shown by the run alone where it goes: {}", printable(&stray));
    }
    for stop in stops(case, proof) {
        let _ = writeln!(out, "  not tried: {stop}");
    }
    out.push('\n');
}

/// Everything as one JSON document (schemas/verify-1.schema.json).
///
/// # Errors
/// If JSON cannot be made.
pub fn json(tried: &[(&Case, &Proof)], settings: &Settings, report: &Run) -> anyhow::Result<String> {
    let lint: Value = serde_json::from_str(&report.render(Format::Json)?)?;
    let contracts: Vec<_> = tried.iter().map(|(case, proof)| contract(case, proof)).collect();
    let mut document = json!({
        "schema": 1,
        "seed": settings.seed,
        "schedules": settings.schedules,
        "contracts": contracts,
        "findings": lint.get("findings").context("a report without findings")?,
    });
    let left: u64 = tried.iter().map(|(_, proof)| proof.left).sum();
    if left > 0 {
        document["untried_cases"] = left.into();
    }
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn contract(case: &Case, proof: &Proof) -> Value {
    let contract = &case.contract;
    let claims = contract.claims.iter().zip(&proof.verdicts);
    let claims: Vec<_> = claims.map(|(claim, verdict)| claim_json(claim, verdict)).collect();
    json!({
        "contract": contract.name,
        "reference": contract.reference.name,
        "kernel": contract.kernel.map(|kernel| kernel.name),
        "shapes": contract.shapes.iter().map(shape_label).collect::<Vec<_>>(),
        "cases": proof.cases,
        "thread_instructions": proof.instructions,
        "claims": claims,
        "stray_stores": strays(case, proof, true),
        "unfollowed_stores": strays(case, proof, false),
        "not_tried": stops(case, proof),
    })
}

fn claim_json(claim: &Claim, verdict: &Verdict) -> Value {
    let kind = match &claim.check {
        Check::Near(near) => json!({ "output": near.output, "against": near.against.word() }),
        Check::Holds(property) => json!({ "holds": property.word() }),
    };
    let verdict_word = match word(verdict) {
        "BROKEN" => "broken",
        word => word,
    };
    // JSON has no infinity: an error that no number measures is null.
    let worst = verdict.worst.as_ref().map(|worst| {
        json!({
            "error": Some(worst.error).filter(|error| error.is_finite()),
            "tolerance": worst.tolerance,
            "place": worst.place,
        })
    });
    json!({
        "claim": claim.id,
        "says": claim.says,
        "check": kind,
        "cases": verdict.cases,
        "broken": verdict.broken,
        "broken_at": verdict.broken_at,
        "worst": worst,
        "verdict": verdict_word,
    })
}
