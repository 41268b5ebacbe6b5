//! Parameters and words of local variables: memory that is followed like registers, though without regard to order.

use super::solver::Solver;
use super::{Filled, Parts, Slot, Why};
use crate::ptx::analysis::calls::Call;
use crate::ptx::analysis::frames::{FramePtr, Frames, hands_out, is_defined};
use crate::ptx::analysis::source::symbol_of;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{FunctionKind, Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;

/// Whether a load reads a parameter that is passed around a call, or a device function's own: its content is tracked.
pub(in crate::ptx::analysis) fn is_param_slot(parts: Parts, inst: &Inst) -> bool {
    let function = parts.module.function(parts.function);
    symbol_of(inst).is_some_and(|symbol| function.kind == FunctionKind::Func || !function.params.contains(&symbol))
}

/// The slots that a load or store touches; none where it goes elsewhere.
pub(super) fn touched(parts: Parts, frames: &Frames, inst: InstId) -> Vec<Slot> {
    let row = &parts.body.insts[inst.index()];
    if row.op.space == Space::Param {
        let symbol = symbol_of(row).filter(|_| is_param_slot(parts, row));
        return symbol.map(Slot::Param).into_iter().collect();
    }
    if frames.is_empty() {
        return Vec::new();
    }
    match frames.address(parts.module, parts.ssa, inst, row) {
        Some(ptr) if ptr.computed => frames.object(ptr).map(Slot::Frame).collect(),
        Some(ptr) => Frames::words(ptr, row).map(Slot::Frame).collect(),
        None => Vec::new(),
    }
}

impl Solver<'_, '_> {
    /// Notes who reads which slot, who writes one, and which local variables others may write to.
    pub(super) fn find_slots(&mut self) {
        let parts = self.parts;
        for (at, row) in (0..).map(InstId).zip(&parts.body.insts) {
            match row.op.effect {
                Effect::Load => {
                    for slot in touched(parts, &self.frames, at) {
                        self.slot_readers.entry(slot).or_default().push(at.0);
                    }
                }
                Effect::Store if !touched(parts, &self.frames, at).is_empty() => {
                    self.slot_stores.entry(parts.cfg.block_of(at)).or_default().push(at);
                }
                Effect::Call => self.watch_arguments(at),
                _ => {}
            }
            if !self.frames.is_empty() {
                self.hand_out(at, row);
            }
        }
    }

    /// The call must be looked at again when its arguments change.
    fn watch_arguments(&mut self, at: InstId) {
        let Some(call) = Call::of(self.parts.module, at, &self.parts.body.insts[at.index()]) else {
            return;
        };
        for symbol in symbols(call.args) {
            self.slot_readers.entry(Slot::Param(symbol)).or_default().push(at.0);
        }
    }

    /// What is handed out may hold anything afterwards.
    fn hand_out(&mut self, at: InstId, row: &Inst) {
        let ssa = self.parts.ssa;
        let handed: Vec<FramePtr> = ssa
            .uses(at)
            .iter()
            .filter(|value| is_defined(ssa, **value))
            .filter_map(|value| self.frames.value(*value).filter(|_| hands_out(ssa, at, row, *value)))
            .collect();
        for ptr in handed {
            for word in self.frames.object(ptr).collect::<Vec<_>>() {
                self.fill(Slot::Frame(word), Extent::Thread, Filled::Inst(at));
            }
        }
    }

    /// Raises the extent of a slot's content.
    pub(super) fn fill(&mut self, slot: Slot, extent: Extent, filled: Filled) {
        let known = self.facts.slots.entry(slot).or_insert((Extent::Grid, filled));
        if known.0 >= extent {
            return;
        }
        *known = (extent, filled);
        for reader in self.slot_readers.get(&slot).into_iter().flatten() {
            if !std::mem::replace(&mut self.queued[*reader as usize], true) {
                self.pending.push_back(super::users::User::Inst(*reader));
            }
        }
    }

    /// The worst of the slots that a load reads; `None` where it reads none.
    pub(super) fn slots_read(&self, id: InstId) -> Option<(Extent, Why)> {
        let slots = touched(self.parts, &self.frames, id);
        let worst = slots.into_iter().map(|slot| (self.facts.slot(slot).0, Why::Slot(slot)));
        worst.max_by_key(|worst| worst.0)
    }

    /// A store to a slot.
    pub(super) fn store(&mut self, id: InstId, block: u32) {
        let slots = touched(self.parts, &self.frames, id);
        if slots.is_empty() {
            return;
        }
        let extent = self.operands(id, block).0;
        for slot in slots {
            self.fill(slot, extent, Filled::Inst(id));
        }
    }

    /// Stores that only some threads execute, because they part at the end of `branch`.
    pub(super) fn stores_apart(&mut self, branch: u32, extent: Extent) {
        if self.slot_stores.is_empty() {
            return;
        }
        for block in self.parts.converge.region(branch) {
            for store in self.slot_stores.get(&block).cloned().unwrap_or_default() {
                for slot in touched(self.parts, &self.frames, store) {
                    self.fill(slot, extent, Filled::Apart(store, branch));
                }
            }
        }
    }

    /// What a call leaves in the parameters that take its results.
    pub(super) fn call(&mut self, id: InstId, block: u32) {
        let Some(call) = Call::of(self.parts.module, id, &self.parts.body.insts[id.index()]) else {
            return;
        };
        let extent = self.call_result(id, block).0;
        for symbol in symbols(call.results) {
            self.fill(Slot::Param(symbol), extent, Filled::Inst(id));
        }
    }

    /// How far apart the results of a call are.
    pub(super) fn call_result(&self, id: InstId, block: u32) -> (Extent, Why) {
        let Some(call) = Call::of(self.parts.module, id, &self.parts.body.insts[id.index()]) else {
            return (Extent::Thread, Why::Nature);
        };
        let (returned, ceiling) = (self.surroundings.returns)(&call);
        let mut worst = (returned, Why::Nature);
        for operand in call.args {
            let seen = match operand {
                Operand::Symbol(symbol, _) => {
                    let slot = Slot::Param(*symbol);
                    (self.facts.slot(slot).0, Why::Slot(slot))
                }
                Operand::Reg(reg) => match self.parts.ssa.use_of(id, *reg) {
                    Some(value) => self.seen(value, block),
                    None => continue,
                },
                _ => continue,
            };
            if seen.0 > worst.0 {
                worst = seen;
            }
        }
        if worst.0 > ceiling {
            worst = (ceiling, Why::Nature);
        }
        worst
    }

    /// The value behind a guard.
    pub(super) fn guard_value(&self, id: InstId) -> Option<ValueId> {
        let guard = self.parts.body.insts[id.index()].guard?;
        self.parts.ssa.use_of(id, guard.reg)
    }
}

fn symbols(operands: &[Operand]) -> impl Iterator<Item = SymbolId> + '_ {
    operands.iter().filter_map(|operand| match operand {
        Operand::Symbol(symbol, _) => Some(*symbol),
        _ => None,
    })
}
