//! One launch in many orders.

use super::{Subject, faults};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{InstId, Module};
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{self, Launch, Outcome, Site, Stopped};
use rayon::prelude::*;

/// What all runs came to.
pub struct Result {
    /// The first one, with the faults of all.
    pub outcome: Outcome,
    /// How many there were.
    pub runs: u64,
    /// Runs whose buffers are not those of the first: argument, byte, seed.
    pub differences: Vec<(usize, usize, u64)>,
}

/// Runs the plain order, then random ones.
///
/// # Errors
/// If one of them stops.
pub fn run(
    module: &Module,
    kernel: &str,
    program: &Program,
    launch: &Launch,
    count: u64,
    seed: u64,
) -> std::result::Result<Result, Stopped> {
    let first = sim::run_prepared(module, kernel, program, launch)?;
    let seeds: Vec<u64> = (0..count - 1).map(|nth| seed.wrapping_add(nth).max(1)).collect();
    let others: Vec<_> = seeds
        .par_iter()
        .map(|seed| {
            let mut launch = launch.clone();
            launch.options.schedule = *seed;
            launch.options.trace = false;
            sim::run_prepared(module, kernel, program, &launch).map(|outcome| (*seed, outcome))
        })
        .collect();
    let mut result = Result {
        outcome: first,
        runs: count,
        differences: Vec::new(),
    };
    for other in others {
        let (seed, other) = other?;
        for mut fault in other.faults {
            if !result.outcome.faults.iter().any(|known| known.repeats(&fault)) {
                fault.notes.push(format!("only in some orders: seed {seed} shows it"));
                result.outcome.faults.push(fault);
            }
        }
        let pairs = result.outcome.buffers.iter().zip(&other.buffers).enumerate();
        for (at, (mine, theirs)) in pairs {
            let (Some(mine), Some(theirs)) = (mine, theirs) else {
                continue;
            };
            if let Some(byte) = mine
                .bytes
                .iter()
                .zip(&theirs.bytes)
                .position(|(mine, theirs)| mine != theirs)
            {
                result.differences.push((at, byte, seed));
            }
        }
    }
    Ok(result)
}

/// The finding that results depend on the order.
pub fn differences(subject: &Subject, kernel: &str, result: &Result) -> Option<Diag> {
    let (arg, byte, seed) = result.differences.first()?;
    let function = subject.parsed.module.function_named(kernel)?;
    let site = Site {
        function,
        inst: InstId(u32::MAX),
    };
    let count = result.differences.iter().map(|difference| difference.2);
    let count = std::collections::BTreeSet::from_iter(count).len();
    let message = format!(
        "results depend on the order in which threads run: argument {arg} differs from byte {byte} on in {count} of {} orders",
        result.runs
    );
    let diag = Diag::warning(codes::RUN003, faults::span(subject, site), message);
    Some(diag.note(format!("seed {seed} shows it")))
}
