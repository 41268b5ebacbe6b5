//! What instructions make of the extents of their operands.

use super::Why;
use super::solver::Solver;
use crate::ptx::analysis::exact::Evaluator;
use crate::ptx::analysis::source::Nature;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{InstId, Operand, Special};
use crate::ptx::isa::Extent;
use crate::ptx::types::Space;

impl Solver<'_, '_> {
    /// The extent of what an instruction computes, its guard aside.
    pub(super) fn result(&self, id: InstId, block: u32) -> (Extent, Why) {
        let operands = || self.operands(id, block);
        let own = |extent: Extent| (extent, Why::Nature);
        let larger = |a: (Extent, Why), b: (Extent, Why)| if b.0 > a.0 { b } else { a };
        match self.natures[id.index()] {
            Nature::Always(extent) => own(extent),
            Nature::Memory => match self.slots_read(id) {
                Some(slots) => larger(operands(), slots),
                None if self.parts.body.insts[id.index()].op.space == Space::Local => own(Extent::Thread),
                None => larger(operands(), own(Extent::Cta)),
            },
            Nature::AtLeast(_) if self.asks_for_all(id) => {
                let operands = operands();
                if operands.0 > Extent::Warp {
                    own(Extent::Warp)
                } else {
                    operands
                }
            }
            Nature::AtLeast(extent) => larger(operands(), own(extent)),
            Nature::AtMost(extent) => {
                let operands = operands();
                if operands.0 > extent { own(extent) } else { operands }
            }
            Nature::OneLane => self.one_lane(id, block),
            Nature::Slot => larger(operands(), self.slots_read(id).unwrap_or((Extent::Grid, Why::Uniform))),
            Nature::Call => self.call_result(id, block),
        }
    }

    /// Whether it compares what `match.any` gives with all lanes: where one lane is like all others, each is.
    fn asks_for_all(&self, id: InstId) -> bool {
        let inst = &self.parts.body.insts[id.index()];
        let [.., Operand::Reg(reg), Operand::Imm(all)] = &inst.operands[..] else {
            return false;
        };
        if !matches!(all.as_int(), Some(-1 | 0xffff_ffff)) || inst.op.base() != "setp" {
            return false;
        }
        let value = self.parts.ssa.use_of(id, *reg);
        let definition = value
            .and_then(|value| self.parts.ssa.value(value))
            .map(|value| value.definition);
        let Some(Definition::Inst(matched)) = definition else {
            return false;
        };
        let matched = &self.parts.body.insts[matched.index()].op;
        matched.base() == "match" && matched.has("any")
    }

    /// `shfl.idx`: all lanes get the value of one, if all name the same.
    fn one_lane(&self, id: InstId, block: u32) -> (Extent, Why) {
        let inst = &self.parts.body.insts[id.index()];
        let part = |at: usize| match inst.operands.get(at) {
            Some(Operand::Reg(reg)) => self.parts.ssa.use_of(id, *reg).map(|value| self.seen(value, block)),
            _ => None,
        };
        let uniform = (Extent::Grid, Why::Uniform);
        let (value, lane) = (part(1).unwrap_or(uniform), part(2).unwrap_or(uniform));
        if lane.0 > Extent::Warp {
            (Extent::Thread, lane.1)
        } else if value.0 > Extent::Warp {
            (Extent::Warp, Why::Nature)
        } else if value.0 > lane.0 {
            value
        } else {
            lane
        }
    }

    /// The worst of the operands, special registers included.
    pub(super) fn operands(&self, id: InstId, block: u32) -> (Extent, Why) {
        let inst = &self.parts.body.insts[id.index()];
        let mut worst = (Extent::Grid, Why::Uniform);
        for operand in &inst.operands {
            let extent = special_extent(operand, self.evaluator);
            if extent > worst.0 {
                worst = (extent, Why::Nature);
            }
        }
        let guard = usize::from(inst.guard.is_some());
        for value in self.parts.ssa.uses(id).iter().skip(guard) {
            let seen = self.seen(*value, block);
            if seen.0 > worst.0 {
                worst = seen;
            }
        }
        worst
    }

    /// Adds what a guard does: where it does not hold, the value from before stays.
    pub(super) fn guarded(&self, id: InstId, block: u32, before: ValueId, result: (Extent, Why)) -> (Extent, Why) {
        let Some(value) = self.parts.ssa.value(before) else {
            return result;
        };
        let mut worst = result;
        // Nothing was there before: what is read later is what was written.
        if value.definition == Definition::Undefined {
            return worst;
        }
        let old = self.seen(before, block);
        if old.0 > worst.0 {
            worst = old;
        }
        if let Some(guard) = self.guard_value(id) {
            let (extent, _) = self.seen(guard, block);
            if extent > worst.0 {
                worst = (extent, Why::Guard(guard));
            }
        }
        worst
    }
}

/// The extent of a special register where one is read directly; what follows from the shape is taken into account.
fn special_extent(operand: &Operand, evaluator: &Evaluator) -> Extent {
    match operand {
        Operand::Special(special) if !evaluator.shape().special_is_constant(*special) => special.info().extent,
        _ => Extent::Grid,
    }
}

/// The same for a special register by name.
pub(super) fn special_named(name: &str, evaluator: &Evaluator) -> Extent {
    Special::from_name(name).map_or(Extent::Thread, |special| {
        special_extent(&Operand::Special(special), evaluator)
    })
}
