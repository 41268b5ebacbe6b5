//! What `verify` finds as findings: faults in the texts that have them, broken claims in the contracts.

use super::{Case, table};
use crate::cli::input::Unreadable;
use crate::cli::report::Linted;
use crate::cli::run::{self, Subject};
use crate::kernels::contract::judge::{self, Proof, Verdict, Worst};
use crate::kernels::contract::{Check, Claim, Property};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::parse;
use crate::ptx::sim::Fault;
use crate::ptx::source::Source;

/// Faults in the texts that have them.
pub fn faults(case: &Case, proof: &Proof) -> Vec<Linted> {
    let mut files = Vec::new();
    for (nth, subject) in case.subjects.iter().enumerate() {
        let mut faults: Vec<Fault> = Vec::new();
        for (at, fault) in &proof.faults {
            // One text may stand for all shapes: what is wrong in several of them is told once.
            let is_here = at.shape == nth || case.subjects.len() == 1;
            if is_here && !faults.iter().any(|known| known.repeats(fault)) {
                let mut fault = fault.clone();
                fault
                    .notes
                    .push(format!("the case: {}", judge::label(&case.contract, at)));
                faults.push(fault);
            }
        }
        if let Some(first) = faults.first() {
            let found = run::faults::findings(subject, &faults);
            files.extend(run::finish(subject, &first.kernel, found).files);
        }
    }
    files
}

/// Broken claims, where the contract makes them.
pub fn claims(case: &Case, proof: &Proof) -> Vec<Linted> {
    let claims = case.contract.claims.iter().zip(&proof.verdicts);
    let broken = claims.filter(|(_, verdict)| verdict.broken > 0);
    let found: Vec<Diag> = broken
        .map(|(claim, verdict)| broken_claim(case, proof, claim, verdict))
        .collect();
    let Ok(source) = Source::new(case.written.name(), case.written.text()) else {
        return Vec::new();
    };
    if found.is_empty() {
        return Vec::new();
    }
    // There is no PTX in it, and so no kernel around a finding.
    let contract = Subject {
        source,
        parsed: parse::parse(""),
    };
    run::finish(&contract, "", found).files
}

fn broken_claim(case: &Case, proof: &Proof, claim: &Claim, verdict: &Verdict) -> Diag {
    let (name, broken, cases) = (&case.contract.name, verdict.broken, verdict.cases);
    let message = format!(
        "{name} breaks `{}` in {broken} of {cases} cases: {}",
        claim.id, claim.says
    );
    let mut diag = Diag::error(codes::RUN004, claim.at, message);
    if let Some(at) = &verdict.broken_at {
        diag = diag.note(format!("first: {at}"));
    }
    if let Some(Worst {
        error,
        tolerance,
        place,
    }) = &verdict.worst
    {
        let (error, tolerance) = (table::number(*error), table::number(*tolerance));
        diag = diag.note(format!("worst: {error}, and {tolerance} is tolerated: {place}"));
    }
    if matches!(claim.check, Check::Holds(Property::OnlyOutputs)) {
        for stray in table::strays(case, proof, true) {
            diag = diag.note(format!("a store that goes elsewhere: {stray}"));
        }
    }
    diag
}

/// What could not be tried, and why.
pub fn untried(case: &Case, proof: &Proof) -> Vec<Unreadable> {
    let claims = case.contract.claims.iter().zip(&proof.verdicts);
    let claims = claims.filter(|(_, verdict)| verdict.cases == 0);
    let claims = claims.map(|(claim, _)| format!("`{}` was not tried", claim.id));
    table::stops(case, proof)
        .into_iter()
        .chain(claims)
        .map(|message| Unreadable {
            file: case.written.name().to_owned(),
            message,
        })
        .collect()
}
