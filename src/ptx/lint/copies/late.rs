//! Registers that asynchronous matrix work fills later: used or written before the wait.

use super::flight::{Family, Flight};
use super::{Batch, MOST};
use crate::ptx::analysis::Unit;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Inst, InstId, Operand, RegId};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashMap;

/// What happens to a register that is not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx::lint) enum Touch {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// A register that is touched before its work is done.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx::lint) struct Late {
    /// The asynchronous instruction.
    pub(in crate::ptx::lint) work: InstId,
    /// Who touches the register.
    pub(in crate::ptx::lint) user: InstId,
    /// How.
    pub(in crate::ptx::lint) touch: Touch,
    /// The register.
    pub(in crate::ptx::lint) reg: RegId,
}

/// Early uses of what `wgmma` computes, or reads from registers.
pub(in crate::ptx::lint) fn matrix(unit: &Unit) -> Vec<Late> {
    find(unit, Family::Matrix, |row| row.op.text.starts_with("wgmma.mma_async"))
}

/// Early uses of what `tcgen05.ld` loads.
pub(in crate::ptx::lint) fn tensor(unit: &Unit) -> Vec<Late> {
    find(unit, Family::Tensor, |row| row.op.text.starts_with("tcgen05.ld."))
}

fn find(unit: &Unit, family: Family, is_work: impl Fn(&Inst) -> bool) -> Vec<Late> {
    let mut batches: Vec<Batch> = Vec::new();
    let mut open = None;
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        let block = unit.cfg.block_of(inst);
        if is_work(row) && unit.cfg.is_reachable(block) {
            match batches.last_mut().filter(|_| open == Some(block)) {
                Some(batch) => batch.insts.push(inst),
                None => batches.push(Batch { insts: vec![inst] }),
            }
            open = Some(block);
        } else if row.op.effect != Effect::Pure {
            open = None;
        }
    }
    if batches.is_empty() || batches.len() > MOST {
        return Vec::new();
    }
    let flight = Flight::new(unit, &batches, family);
    let mut search = Search {
        unit,
        values: FxHashMap::default(),
        regs: FxHashMap::default(),
        found: Vec::new(),
    };
    search.seed(&batches);
    search.copies();
    search.uses(&flight, &is_work);
    search.found
}

struct Search<'u> {
    unit: &'u Unit<'u>,
    /// Values that come later, with their batch and instruction.
    values: FxHashMap<ValueId, (usize, InstId)>,
    /// The registers of unfinished work, with the first instruction of each batch that has to do with them.
    regs: FxHashMap<RegId, Vec<(usize, InstId)>>,
    found: Vec<Late>,
}

impl Search<'_> {
    fn seed(&mut self, batches: &[Batch]) {
        for (at, batch) in batches.iter().enumerate() {
            for inst in &batch.insts {
                for def in self.unit.ssa.defs(*inst) {
                    self.values.insert(*def, (at, *inst));
                    if let Some(value) = self.unit.ssa.value(*def) {
                        involve(&mut self.regs, value.reg, at, *inst);
                    }
                }
                let row = &self.unit.body.insts[inst.index()];
                for operand in row
                    .operands
                    .iter()
                    .filter(|operand| matches!(operand, Operand::Vector(_)))
                {
                    operand.for_each_reg(&mut |reg| {
                        involve(&mut self.regs, reg, at, *inst);
                    });
                }
            }
        }
    }

    /// Compilers copy accumulators from register to register, which the assembler undoes: a copy is as late as its source.
    fn copies(&mut self) {
        for block in self.unit.cfg.rpo() {
            for inst in self.unit.cfg.insts(*block).map(InstId) {
                if let (true, [def], [used]) = (self.is_move(inst), self.unit.ssa.defs(inst), self.unit.ssa.uses(inst))
                    && let Some(late) = self.values.get(used).copied()
                {
                    self.values.insert(*def, late);
                }
            }
        }
    }

    fn is_move(&self, inst: InstId) -> bool {
        let row = &self.unit.body.insts[inst.index()];
        row.op.base() == "mov" && row.guard.is_none() && matches!(row.operands.get(1), Some(Operand::Reg(_)))
    }

    fn uses(&mut self, flight: &Flight, is_work: &impl Fn(&Inst) -> bool) {
        let touching: Vec<(InstId, Touch, RegId, usize, InstId)> = (0..)
            .map(InstId)
            .zip(&self.unit.body.insts)
            .filter(|(inst, row)| !is_work(row) && self.unit.cfg.is_reachable(self.unit.cfg.block_of(*inst)))
            .flat_map(|(inst, _)| self.touches(inst))
            .collect();
        let insts: Vec<InstId> = touching.iter().map(|one| one.0).collect();
        let states = flight.before(self.unit, &insts);
        for ((user, touch, reg, batch, work), states) in touching.into_iter().zip(states) {
            if Flight::is_pending(states[batch]) {
                self.found.push(Late { work, user, touch, reg });
            }
        }
    }

    fn touches(&self, inst: InstId) -> Vec<(InstId, Touch, RegId, usize, InstId)> {
        let mut found = Vec::new();
        if !self.is_move(inst) {
            for used in self.unit.ssa.uses(inst) {
                if let (Some((batch, work)), Some(value)) = (self.values.get(used), self.unit.ssa.value(*used)) {
                    found.push((inst, Touch::Read, value.reg, *batch, *work));
                }
            }
        }
        for value in self
            .unit
            .ssa
            .defs(inst)
            .iter()
            .filter_map(|def| self.unit.ssa.value(*def))
        {
            for (batch, work) in self.regs.get(&value.reg).into_iter().flatten() {
                // In front of the batch's first use of it, the register is still free.
                let after = inst > *work || self.unit.cfg.block_of(inst) != self.unit.cfg.block_of(*work);
                if after {
                    found.push((inst, Touch::Write, value.reg, *batch, *work));
                }
            }
        }
        found
    }
}

/// Notes that a batch has to do with a register.
fn involve(regs: &mut FxHashMap<RegId, Vec<(usize, InstId)>>, reg: RegId, batch: usize, inst: InstId) {
    let known = regs.entry(reg).or_default();
    if known.iter().all(|(at, _)| *at != batch) {
        known.push((batch, inst));
    }
}
