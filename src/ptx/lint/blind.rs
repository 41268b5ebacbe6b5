//! How sure a race in global memory is where the launch is not known.
//!
//! A kernel that names no shape may be made for one thread, or for parameters that keep its threads apart. So a race in
//! global memory is information, unless it shows whatever is tried: small CTAs and unusual ones, and whatever parameters hold.

use super::between::APART;
use super::plan::{Plan, unusual};
use super::racing::{Kind, kind};
use super::trials::{Race, pair};
use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{Conflict, Outcome, Programs, Sample};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, Operand};

/// Takes back to information what does not show in every shape and for every number that is tried.
pub(super) fn settle(programs: &mut Programs, plan: &Plan, body: &Body, shape: Shape, races: &mut [Race]) {
    let wide = reads_grid(body);
    let mut open: Vec<usize> = Vec::new();
    for (at, race) in races.iter_mut().enumerate().filter(|(_, race)| !race.conflict.shared) {
        if race.level != Level::Info && race.block != [1; 3] && tells(&race.conflict, wide) {
            open.push(at);
        }
        race.level = Level::Info;
    }
    for (block, sample) in tries(shape, races.iter().map(|race| race.block).max()) {
        if open.is_empty() {
            return;
        }
        let Some(run) = plan.small(programs, block, sample) else {
            return;
        };
        // What leaves the arrays is not what the kernel is made for.
        if !run.strays() {
            open.retain(|at| confirms(&run, &races[*at].conflict));
        }
    }
    for at in open {
        races[at].level = Level::Warning;
    }
}

/// Takes back to information what rests on which of the parameters is larger, where the launch is known, and they are not.
pub(super) fn settle_numbers(programs: &mut Programs, plan: &Plan, races: &mut [Race]) {
    for sample in APART {
        let told = |race: &&mut Race| race.level != Level::Info && !race.conflict.shared;
        let Some(block) = races.iter_mut().find(told).map(|race| race.block) else {
            return;
        };
        let Some(run) = plan.small(programs, block, sample) else {
            return;
        };
        if run.strays() {
            continue;
        }
        for race in races.iter_mut().filter(told).filter(|race| race.block == block) {
            if !confirms(&run, &race.conflict) {
                race.level = Level::Info;
            }
        }
    }
}

/// Whether it is a fault of any kernel that is meant for several threads.
///
/// `wide`: the kernel asks where in the grid it is, so that it is made for many threads.
fn tells(conflict: &Conflict, wide: bool) -> bool {
    match kind(conflict) {
        Kind::Equal => false,
        // All read a place that some overwrite by what they have made of it: updates get lost.
        Kind::Broadcast if conflict.slot => !conflict.fixed,
        Kind::WriteWrite => !conflict.maybe,
        _ => wide && !conflict.maybe,
    }
}

/// Further shapes and numbers: small CTAs, a row and a square, and parameters that are huge, 1, as many as there are threads,
/// or far apart.
fn tries(shape: Shape, largest: Option<[u32; 3]>) -> Vec<([u32; 3], Sample)> {
    let largest = largest.unwrap_or([256, 1, 1]);
    let line = matches!(shape, Shape::Line(_));
    let most = shape.most_threads();
    let mut tries = vec![
        (if line { [32, 1, 1] } else { [8, 8, 1] }, Sample::Larger),
        (largest, Sample::Huge),
        (largest, Sample::Block),
        (largest, Sample::One),
        (largest, Sample::Rising),
        (largest, Sample::Falling),
    ];
    tries.extend(unusual(shape).iter().map(|block| (*block, Sample::Large)));
    tries.retain(|(block, _)| block.iter().product::<u32>() <= most);
    tries
}

/// Whether a run shows the conflict, or does not come to both accesses.
fn confirms(run: &Outcome, conflict: &Conflict) -> bool {
    let sites = pair(conflict);
    let both = run.sites.contains(&sites.0) && run.sites.contains(&sites.1);
    let shows = |other: &Conflict| pair(other) == sites && !other.equal;
    !both || run.conflicts.iter().any(shows)
}

/// Whether the kernel asks how large the CTA is or which of them it is.
fn reads_grid(body: &Body) -> bool {
    let mut operands = body.insts.iter().flat_map(|inst| &inst.operands);
    operands.any(|operand| {
        let Operand::Special(special) = operand else {
            return false;
        };
        ["%ctaid", "%ntid"].iter().any(|name| special.name().starts_with(name))
    })
}
