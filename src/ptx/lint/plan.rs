//! Which runs of a kernel are made: for which shapes of the CTA, with which made-up numbers.

use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, Conflict, Fault, Outcome, Programs, Sample, Setup, Site};
use crate::ptx::ir::{Body, FuncId, Function, FunctionKind, Inst, Module, Operand, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::rc::Rc;

/// Branches with the ways that were taken.
type Covered = FxHashSet<(Site, bool)>;

/// The runs of one shape.
pub(super) struct Shaped {
    pub(super) block: [u32; 3],
    pub(super) runs: Vec<Outcome>,
    /// The branches that the runs have taken, with the way.
    pub(super) covered: Covered,
}

/// Which kernels have accesses that runs can judge.
pub(super) struct Worth {
    /// Whether some function of the module, not a kernel, has such.
    helpers: bool,
}

impl Worth {
    pub(super) fn new(module: &Module) -> Self {
        let mut functions = module.functions.iter();
        let helpers = functions.any(|function| {
            let body = function.body.as_ref();
            function.kind != FunctionKind::Entry && body.is_some_and(|body| body.insts.iter().any(is_judged))
        });
        Self { helpers }
    }

    /// The body of a kernel that has such accesses, or calls what may have.
    pub(super) fn body<'m>(&self, function: &'m Function) -> Option<&'m Body> {
        let worth = |inst: &Inst| is_judged(inst) || self.helpers && inst.op.effect == Effect::Call;
        let body = function.body.as_ref();
        body.filter(|body| function.kind == FunctionKind::Entry && body.insts.iter().any(worth))
    }

    /// By how much the share of a kernel is divided: one that only calls needs less.
    pub(super) fn divided(&self, body: &Body) -> u64 {
        if body.insts.iter().any(is_judged) { 1 } else { 64 }
    }
}

fn is_judged(inst: &Inst) -> bool {
    let memory = inst.op.effect.accesses_memory() && inst.op.space != Space::Param;
    memory && (inst.op.effect != Effect::Load || inst.op.space != Space::Global)
}

/// The shapes to try: the exact one, else some usual ones, the smallest first.
pub fn blocks(module: &Module, shape: Shape, body: &Body) -> Vec<[u32; 3]> {
    let specials = || {
        let operands = body.insts.iter().flat_map(|inst| &inst.operands);
        operands.filter_map(|operand| match operand {
            Operand::Special(special) => Some(special),
            _ => None,
        })
    };
    let reads = |name: &str| specials().any(|special| special.name() == name);
    let mut usual: Vec<[u32; 3]> = match shape {
        Shape::Exact(dims) => return vec![dims],
        // Whoever does not ask which thread it is, is alone.
        _ if !specials().any(|special| special.info().extent > Extent::Cta) => vec![[1, 1, 1]],
        Shape::Unknown(_) if reads("%tid.z") => vec![[4, 4, 4], [8, 8, 4]],
        _ => usual(shape).to_vec(),
    };
    // Who asks how large the CTA is can do with any.
    if matches!(shape, Shape::Line(_)) && !reads("%ntid.x") {
        usual.extend(large(module, body).map(|threads| [threads, 1, 1]));
    }
    let most = shape.most_threads();
    let mut fitting: Vec<[u32; 3]> = usual
        .into_iter()
        .filter(|dims| dims.iter().product::<u32>() <= most)
        .collect();
    if fitting.is_empty() {
        fitting.push([most.max(1), 1, 1]);
    }
    fitting
}

/// Shapes that CTAs often have, the smallest first.
pub(super) fn usual(shape: Shape) -> &'static [[u32; 3]] {
    match shape {
        Shape::Line(_) => &[[32, 1, 1], [64, 1, 1], [128, 1, 1], [256, 1, 1]],
        _ => &[[8, 8, 1], [16, 16, 1], [32, 8, 1]],
    }
}

/// Shapes that are tried where none of the usual ones fits.
pub fn unusual(shape: Shape) -> &'static [[u32; 3]] {
    match shape {
        Shape::Line(_) => &[[16, 1, 1], [8, 1, 1], [4, 1, 1]],
        _ => &[[4, 4, 1], [16, 1, 1], [16, 4, 1], [32, 4, 1], [8, 4, 2], [2, 2, 1]],
    }
}

/// The largest shape that an array in shared memory has room for, where that is larger than the usual ones.
fn large(module: &Module, body: &Body) -> impl Iterator<Item = u32> {
    let elements = |symbol: SymbolId| {
        let variable = module
            .variable(symbol)
            .filter(|variable| variable.space == Space::Shared)?;
        Some(variable.size()? / u64::from(variable.alignment().clamp(1, 16)))
    };
    let named = body.insts.iter().flat_map(|inst| &inst.operands);
    let sizes = named.filter_map(|operand| match operand {
        Operand::Symbol(symbol, _) => elements(*symbol),
        _ => None,
    });
    let most = sizes.max().unwrap_or(0);
    [512, 1024]
        .into_iter()
        .filter(move |threads| [1, 2].contains(&(most / u64::from(*threads))) && most % u64::from(*threads) == 0)
}

/// How a kernel is run.
pub(super) struct Plan {
    pub(super) id: FuncId,
    pub(super) grid: Option<[u32; 3]>,
    /// Parameters that are known.
    pub(super) given: Rc<[(SymbolId, i64, u64)]>,
    pub(super) fuel: u32,
    /// Instructions that a run may take that is held against one of another CTA.
    pub(super) pair_fuel: u32,
    /// Whether the shape of the CTA is not known.
    pub(super) assumed: bool,
    /// Whether the lanes of a warp run in step: before sm_70.
    pub(super) lockstep: bool,
    /// What runs have cost, in instructions.
    pub(super) spent: Cell<u64>,
}

impl Plan {
    /// Runs the kernel once, as `setup` says.
    pub(super) fn play(&self, programs: &mut Programs, setup: Setup, covered: &mut Covered) -> Option<Outcome> {
        let setup = Setup {
            grid: self.grid.or(setup.grid),
            given: Rc::clone(&self.given),
            ..setup
        };
        let fuel = match setup.cta {
            Some(_) => self.pair_fuel,
            None => self.fuel,
        };
        let outcome = trial::run(programs, self.id, &setup, fuel, covered)?;
        self.spent.set(self.spent.get() + u64::from(outcome.steps));
        Some(outcome)
    }

    fn run(
        &self,
        programs: &mut Programs,
        block: [u32; 3],
        sample: Sample,
        covered: &mut Covered,
        how: (bool, bool),
    ) -> Option<Outcome> {
        let (explore, shade) = how;
        let setup = Setup {
            block,
            sample,
            explore,
            shade,
            ..Setup::default()
        };
        self.play(programs, setup, covered)
    }

    /// Runs telling shapes; all shapes, twice, where those show anything that must be confirmed.
    pub(super) fn try_all(&self, programs: &mut Programs, blocks: &[[u32; 3]]) -> Option<Vec<Shaped>> {
        for block in leads(blocks) {
            let mut covered = Covered::default();
            let run = self.run(programs, block, Sample::Large, &mut covered, (false, false))?;
            let other_way = |programs: &mut Programs| {
                let mut covered = covered.clone();
                let run = self.run(programs, block, Sample::Large, &mut covered, (true, false))?;
                Some(self.is_quiet(&run))
            };
            if self.is_quiet(&run) && (!is_one_sided(&covered) || other_way(programs)?) {
                // Nothing is left to explore.
                return Some(vec![Shaped {
                    block,
                    runs: vec![run],
                    covered: Covered::default(),
                }]);
            }
            // What shows in a shape that an array is made for need not show in smaller ones.
            if block.iter().product::<u32>() > 256 && !run.strays() {
                break;
            }
        }
        let mut shaped = Vec::new();
        for block in blocks {
            let mut covered = Covered::default();
            let first = self.run(programs, *block, Sample::Large, &mut covered, (false, true))?;
            let mut runs = vec![first];
            if !self.is_quiet(&runs[0]) {
                runs.push(self.run(programs, *block, Sample::Larger, &mut covered, (false, false))?);
            }
            shaped.push(Shaped {
                block: *block,
                runs,
                covered,
            });
        }
        Some(shaped)
    }

    /// Whether a run has shown nothing that must be confirmed: information is given as it is.
    fn is_quiet(&self, run: &Outcome) -> bool {
        let counts = |conflict: &Conflict| {
            let told_as_info = conflict.equal
                || self.assumed && !conflict.shared
                || self.lockstep && conflict.in_warp && conflict.first != conflict.second;
            !told_as_info
        };
        let rests = |fault: &Fault| matches!(fault.kind.name(), "bounds" | "aligned");
        let halts = self.assumed && run.stop.is_some_and(|stop| stop != trial::Stop::Fuel);
        !halts && !run.conflicts.iter().any(counts) && !run.faults.iter().any(rests) && !run.overlaps
    }

    /// Runs a shape again, the other way at branches that have gone one way only; none where there are no such branches.
    pub(super) fn explore(&self, programs: &mut Programs, shaped: &Shaped) -> Vec<Outcome> {
        let samples: &[Sample] = match is_one_sided(&shaped.covered) {
            true => &[Sample::Large, Sample::Larger],
            false => &[],
        };
        samples
            .iter()
            .filter_map(|sample| {
                let mut covered = shaped.covered.clone();
                self.run(programs, shaped.block, *sample, &mut covered, (true, false))
            })
            .collect()
    }

    /// Runs a shape with other numbers in the parameters.
    pub(super) fn small(&self, programs: &mut Programs, block: [u32; 3], sample: Sample) -> Option<Outcome> {
        self.run(programs, block, sample, &mut Covered::default(), (false, false))
    }
}

/// The shapes that stand for all if nothing shows in one: those that an array is made for, a square one and the largest of
/// the usual ones.
fn leads(blocks: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let size = |block: &[u32; 3]| block.iter().product::<u32>();
    let usual = blocks.iter().filter(|block| size(block) <= 256);
    let largest = usual.clone().max_by_key(|block| (size(block), block[0] == block[1]));
    let mut leads: Vec<[u32; 3]> = blocks.iter().rev().filter(|block| size(block) > 256).copied().collect();
    leads.extend(largest);
    let square = |block: &&[u32; 3]| block[0] != block[1] || size(block) != 256;
    if largest.is_some_and(|lead| lead[1] > 1) {
        leads.extend(usual.filter(square).filter(|block| size(block) == 256));
    }
    leads
}

/// Whether some branch has gone one way only.
fn is_one_sided(covered: &Covered) -> bool {
    covered.iter().any(|(site, way)| !covered.contains(&(*site, !way)))
}
