//! Trip counts that rest on a number which is not known here: `for (i = tid; i < n; i += ntid)` is right for some `n`.

use super::parting::maker;
use crate::ptx::analysis::{Nature, Unit, nature_of};
use crate::ptx::flow::{Definition, LoopId, ValueId};
use crate::ptx::ir::InstId;
use crate::ptx::isa::Extent;
use rustc_hash::FxHashSet;

/// More values than this are not looked at.
const MOST: usize = 256;

/// How sure it is that the trip count differs between threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// It does, whatever the launch is.
    Sure,
    /// It depends on a number that is not known.
    Unknown,
    /// As before, and the loop checks its counter against another bound inside: the trip count seems to be rounded up.
    Rounded,
}

/// Judges the condition on which threads leave a loop.
pub(super) fn certainty(unit: &Unit, id: LoopId, condition: ValueId) -> Certainty {
    let mut cone = Cone::default();
    cone.grow(unit, condition);
    if !cone.is_bounded || !cone.has_unknown {
        return Certainty::Sure;
    }
    if is_checked_inside(unit, id, condition, &cone.phis) {
        Certainty::Rounded
    } else {
        Certainty::Unknown
    }
}

/// Whether what a condition says of the thread's index depends on a number that is not known.
pub(super) fn rests_on_unknown(unit: &Unit, condition: ValueId) -> bool {
    let mut cone = Cone::default();
    cone.grow(unit, condition);
    cone.is_bounded && cone.has_unknown
}

/// What a condition is computed from.
#[derive(Default)]
struct Cone {
    seen: FxHashSet<ValueId>,
    phis: FxHashSet<ValueId>,
    /// A number that is alike in all threads, but not known: a parameter, `%ctaid`, a loaded bound.
    has_unknown: bool,
    /// Whether what differs between threads is their index alone.
    is_bounded: bool,
}

impl Cone {
    fn grow(&mut self, unit: &Unit, root: ValueId) {
        self.is_bounded = true;
        let mut evaluator = unit.evaluator();
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if !self.seen.insert(at) || evaluator.value(at).is_some() {
                continue;
            }
            if self.seen.len() > MOST {
                self.is_bounded = false;
                return;
            }
            match unit.ssa.value(at).map(|value| value.definition) {
                Some(Definition::Phi(_)) => {
                    self.phis.insert(at);
                    stack.extend(unit.ssa.phi_inputs(at));
                }
                Some(Definition::Inst(inst)) => self.through(unit, at, inst, &mut stack),
                _ => {}
            }
        }
    }

    fn through(&mut self, unit: &Unit, at: ValueId, inst: InstId, stack: &mut Vec<ValueId>) {
        let uniform = unit.uniformity.extent(at) <= Extent::Cta;
        if nature_of(unit, inst) == Nature::AtLeast(Extent::Grid) && !unit.ssa.uses(inst).is_empty() {
            stack.extend(
                unit.ssa
                    .uses(inst)
                    .iter()
                    .chain(unit.ssa.before(inst))
                    .filter(|value| value.is_some()),
            );
        } else if uniform {
            self.has_unknown = true;
        } else if !reads_index(unit, inst) {
            self.is_bounded = false;
        }
    }
}

/// Whether the instruction reads special registers and nothing else.
fn reads_index(unit: &Unit, inst: InstId) -> bool {
    nature_of(unit, inst) == Nature::AtLeast(Extent::Grid)
}

/// The value that this is a copy of: code that is not optimised keeps a register for each use.
fn copied(unit: &Unit, value: ValueId) -> ValueId {
    let mut at = value;
    for _ in 0..MOST {
        let Some(made) = maker(unit, at) else { break };
        let is_copy = unit.body.insts[made.index()].op.base() == "mov" && unit.body.insts[made.index()].guard.is_none();
        match unit.ssa.uses(made) {
            [from] if is_copy && from.is_some() => at = *from,
            _ => break,
        }
    }
    at
}

/// Whether the loop compares one of the counters with a uniform bound elsewhere than in its condition.
fn is_checked_inside(unit: &Unit, id: LoopId, condition: ValueId, counters: &FxHashSet<ValueId>) -> bool {
    let own = maker(unit, condition);
    // An unrolled loop counts its rounds, and keeps the counter beside.
    let header = unit.ssa.phis(unit.loops.get(id).header);
    let counts = |value: &ValueId| {
        let value = copied(unit, *value);
        counters.contains(&value) || header.contains(&value)
    };
    let blocks = unit.cfg.rpo().iter().filter(|block| unit.loops.contains(id, **block));
    let mut insts = blocks.flat_map(|block| unit.cfg.insts(*block)).map(InstId);
    insts.any(|inst| {
        let row = &unit.body.insts[inst.index()];
        let uses = unit.ssa.uses(inst);
        let uniform = |value: &ValueId| unit.uniformity.extent(*value) <= Extent::Cta;
        row.op.base() == "setp"
            && Some(inst) != own
            && uses.iter().any(|value| !uniform(value) && counts(value))
            && uses.iter().any(uniform)
    })
}
