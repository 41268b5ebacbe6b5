//! One launch in many orders.

use super::{Subject, faults};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{InstId, Module};
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{self, Fault, Launch, Outcome, Part, Site, Stop, Stopped};
use rayon::prelude::*;

/// What all runs came to.
pub struct Result {
    /// The first one, with the faults of all.
    pub outcome: Outcome,
    /// How many came to their end.
    pub runs: u64,
    /// Runs whose buffers are not those of the first: argument, byte, seed.
    pub differences: Vec<(usize, usize, u64)>,
    /// Whether more were to follow when the user wanted no more.
    pub interrupted: bool,
}

/// What another order came to: its buffers are compared at once and not kept.
struct Other {
    seed: u64,
    faults: Vec<Fault>,
    /// Argument, byte.
    differences: Vec<(usize, usize)>,
}

/// Does pieces of work side by side.
fn share(count: usize, work: &(dyn Fn(usize) -> Option<Part> + Sync)) -> Vec<Option<Part>> {
    (0..count).into_par_iter().map(work).collect()
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
    // Asking for the threads starts them, which small launches do not need.
    let parts = match sim::parts(program, launch, usize::MAX) {
        1 => 1,
        _ => sim::parts(program, launch, rayon::current_num_threads()),
    };
    let first = sim::run_in_parts(module, kernel, program, launch, parts, &share)?;
    let seeds: Vec<u64> = (0..count - 1).map(|nth| seed.wrapping_add(nth).max(1)).collect();
    let other = |seed: &u64| {
        let mut launch = launch.clone();
        launch.options.schedule = *seed;
        launch.options.trace = false;
        launch.options.precision = false;
        let other = sim::run_prepared(module, kernel, program, &launch)?;
        Ok(Other {
            seed: *seed,
            differences: difference(&first, &other).collect(),
            faults: other.faults,
        })
    };
    let others: Vec<std::result::Result<Other, Stopped>> = seeds.par_iter().map(other).collect();
    let mut result = Result {
        outcome: first,
        runs: 1,
        differences: Vec::new(),
        interrupted: false,
    };
    for other in others {
        match other {
            Ok(other) => result.take(other),
            Err(stopped) if matches!(stopped.stop, Stop::Interrupted(_)) => result.interrupted = true,
            Err(stopped) => return Err(stopped),
        }
    }
    Ok(result)
}

/// Where the buffers of two runs differ first: argument, byte.
fn difference(first: &Outcome, other: &Outcome) -> impl Iterator<Item = (usize, usize)> {
    let pairs = first.buffers.iter().zip(&other.buffers).enumerate();
    pairs.filter_map(|(at, (mine, theirs))| {
        let (mine, theirs) = (mine.as_ref()?, theirs.as_ref()?);
        let mut bytes = mine.bytes.iter().zip(&*theirs.bytes);
        Some((at, bytes.position(|(mine, theirs)| mine != theirs)?))
    })
}

impl Result {
    fn take(&mut self, other: Other) {
        self.runs += 1;
        for mut fault in other.faults {
            if !self.outcome.faults.iter().any(|known| known.repeats(&fault)) {
                fault
                    .notes
                    .push(format!("only in some orders: seed {} shows it", other.seed));
                self.outcome.faults.push(fault);
            }
        }
        let differences = other.differences.into_iter();
        self.differences
            .extend(differences.map(|(at, byte)| (at, byte, other.seed)));
    }
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
