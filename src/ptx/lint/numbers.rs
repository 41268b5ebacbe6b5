//! Races that rest on numbers: those in the parameters, and those that data names.

use super::plan::{Plan, Shaped};
use super::trials::{Race, group, has_barrier, pair};
use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, Conflict, Outcome, Programs, Sample, Scatter};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, Function, Module, Variable};

/// Whether a parameter is an integer that may be a size, a stride or an offset.
pub(super) fn takes_integers(module: &Module, function: &Function) -> bool {
    let is_integer = |variable: &Variable| {
        !variable.dims.is_empty() || variable.ty.is_integral() && (16..=32).contains(&variable.ty.bits())
    };
    function
        .params
        .iter()
        .any(|param| module.variable(*param).is_some_and(is_integer))
}

/// What shows where parameters hold other numbers: as many as there are threads, one, or few where they count rounds.
pub(super) fn small(
    programs: &mut Programs,
    plan: &Plan,
    body: &Body,
    shapes: &[&Shaped],
    shape: Shape,
    known: &[Race],
) -> Vec<Race> {
    let Some(shaped) = shapes.last() else { return Vec::new() };
    let block = shaped.block;
    let line = !matches!(shape, Shape::Unknown(_)) && block[1] * block[2] == 1;
    let mut samples = vec![Sample::Block];
    if line {
        samples.push(Sample::One);
    }
    if has_barrier(body) && trial::counts(body) {
        samples.push(Sample::Rounds);
    }
    let mut found: Vec<Race> = Vec::new();
    for sample in samples {
        let Some(run) = plan.small(programs, block, sample) else {
            continue;
        };
        if run.strays() || !found.is_empty() {
            continue;
        }
        // Where large numbers lead out of an array and these do not, these are what the kernel is made for.
        let meant = sample == Sample::Block && shaped.runs.iter().all(Outcome::strays);
        let is_new = |conflict: &&Conflict| {
            !conflict.equal
                && (conflict.shared || sample != Sample::Rounds)
                && known.iter().all(|race| pair(&race.conflict) != pair(conflict))
        };
        let all = run.conflicts.iter().filter(is_new).map(|conflict| Race {
            conflict: *conflict,
            block,
            level: if meant { Level::Warning } else { Level::Info },
            others: Vec::new(),
            numbers: Some(sample),
        });
        found = group(all.collect());
    }
    found
}

/// Stores to where loaded data says.
pub(super) fn scattered(shapes: &[&Shaped], known: &[Race]) -> Vec<Race> {
    let Some(shaped) = shapes.last() else { return Vec::new() };
    let Some(run) = shaped.runs.first() else {
        return Vec::new();
    };
    let is_new = |scatter: &&Scatter| {
        let mut sites = known.iter().map(|race| &race.conflict);
        !sites.any(|conflict| conflict.first == scatter.site || conflict.second == scatter.site)
    };
    let race = |scatter: &Scatter| Race {
        conflict: scatter.conflict(),
        block: shaped.block,
        level: if scatter.updates && !scatter.equal {
            Level::Warning
        } else {
            Level::Info
        },
        others: Vec::new(),
        numbers: None,
    };
    run.scattered.iter().filter(is_new).map(race).collect()
}
