//! What a member mask is: a known number in each thread, a ballot, the active lanes, or unknown.

use super::origin;
use crate::ptx::analysis::{Evaluator, Exact, Together, Unit, WARP};
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{InstId, Operand};
use std::rc::Rc;

/// What is known of a mask.
#[derive(Clone, Debug)]
pub(in crate::ptx::lint) enum Mask {
    /// The instruction takes none.
    Absent,
    /// The same number in every thread.
    Same(u32),
    /// A number in each thread of the CTA.
    Each(Rc<[u32]>),
    /// The ballot of this instruction, of which the lanes are not known.
    Ballot(InstId),
    /// What `activemask` gave here.
    Active(InstId),
    /// Not known.
    Unknown,
}

impl Mask {
    /// The mask in a thread, where it is known.
    pub(in crate::ptx::lint) fn of(&self, thread: usize) -> Option<u32> {
        match self {
            Mask::Same(mask) => Some(*mask),
            Mask::Each(masks) => masks.get(thread).copied(),
            _ => None,
        }
    }
}

/// Finds masks.
pub(super) struct Resolver<'u> {
    unit: &'u Unit<'u>,
    lanes: &'u Together,
    evaluator: Evaluator<'u>,
}

impl<'u> Resolver<'u> {
    pub(super) fn new(unit: &'u Unit<'u>, lanes: &'u Together) -> Self {
        Self {
            unit,
            lanes,
            evaluator: unit.evaluator(),
        }
    }

    /// The mask that an operand gives.
    pub(super) fn operand(&mut self, inst: InstId, operand: &Operand) -> Mask {
        if let Some(exact) = self.evaluator.operand(inst, operand) {
            return self.exact(&exact);
        }
        let value = operand.as_reg().and_then(|reg| self.unit.ssa.use_of(inst, reg));
        value.map_or(Mask::Unknown, |value| self.value(value))
    }

    fn exact(&self, exact: &Exact) -> Mask {
        match exact.constant() {
            Some(mask) => Mask::Same(mask as u32),
            None => {
                let threads = 0..self.unit.shape.most_threads() as usize;
                Mask::Each(threads.map(|thread| exact.of(thread) as u32).collect())
            }
        }
    }

    fn value(&mut self, value: ValueId) -> Mask {
        let value = origin(self.unit, value);
        let Some(Definition::Inst(inst)) = self.unit.ssa.value(value).map(|value| value.definition) else {
            return Mask::Unknown;
        };
        let row = &self.unit.body.insts[inst.index()];
        match row.op.base() {
            _ if row.guard.is_some() => Mask::Unknown,
            "activemask" => Mask::Active(inst),
            "vote" if row.op.has("ballot") => self.ballot(inst).unwrap_or(Mask::Ballot(inst)),
            _ => Mask::Unknown,
        }
    }

    /// A ballot whose votes are known in every lane.
    fn ballot(&mut self, inst: InstId) -> Option<Mask> {
        let row = &self.unit.body.insts[inst.index()];
        let company = self.lanes.company(self.unit, inst).filter(|company| company.sure)?;
        let votes = self.evaluator.operand(inst, row.operands.get(1)?)?;
        let voters = company.threads.filter(|thread| votes.of(thread) & 1 == 1);
        let threads = self.unit.shape.most_threads() as usize;
        let mut words = vec![0u32; threads.div_ceil(WARP as usize)];
        for thread in voters.iter() {
            words[thread / WARP as usize] |= 1 << (thread % WARP as usize);
        }
        Some(Mask::Each(
            (0..threads).map(|thread| words[thread / WARP as usize]).collect(),
        ))
    }
}
