//! Constants: what a value is on every path and in every thread, as far as plain arithmetic says.

use super::graphs::Code;
use super::scalar::{self, Scalar};
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Chains of instructions longer than this are not followed.
const DEEPEST: u32 = 24;

/// Finds constants on demand and keeps them.
pub struct Folder<'a> {
    code: Code<'a>,
    known: FxHashMap<ValueId, Option<u64>>,
}

/// An instruction with a single operand that is not constant: a function of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    scalar: Scalar,
    /// The constants; the place of the operand holds anything.
    args: SmallVec<[u64; 4]>,
    hole: usize,
    /// Whether the operand is negated first.
    negated: bool,
    /// Whether the result is negated: the second of a pair of predicates.
    second: bool,
}

impl Step {
    /// The result for a value of the operand.
    pub(super) fn apply(&self, value: u64) -> Option<u64> {
        let mut args = self.args.clone();
        *args.get_mut(self.hole)? = value ^ u64::from(self.negated);
        Some(self.scalar.apply(&args)? ^ u64::from(self.second))
    }

    /// The constants beside the operand.
    pub(super) fn constants(&self) -> impl Iterator<Item = u64> + '_ {
        let others = self.args.iter().enumerate().filter(|(at, _)| *at != self.hole);
        others.map(|(_, value)| *value)
    }
}

impl<'a> Folder<'a> {
    /// A folder for one function.
    pub fn new(code: Code<'a>) -> Self {
        Self {
            code,
            known: FxHashMap::default(),
        }
    }

    /// The constant that a value is.
    pub fn constant(&mut self, id: ValueId) -> Option<u64> {
        self.deep(id, 0)
    }

    /// The constant that a source operand is.
    pub fn operand(&mut self, inst: InstId, operand: &Operand) -> Option<u64> {
        self.operand_deep(inst, operand, 0)
    }

    fn deep(&mut self, id: ValueId, depth: u32) -> Option<u64> {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        if depth > DEEPEST {
            return None;
        }
        let found = self.compute(id, depth);
        self.known.insert(id, found);
        found
    }

    fn compute(&mut self, id: ValueId, depth: u32) -> Option<u64> {
        let inst = plain(self.code, id)?;
        let row = &self.code.body.insts[inst.index()];
        // Most chains end at an operand that is no constant: that is seen before the opcode is read.
        let sources = row.operands.get(1..)?;
        let mut args: SmallVec<[u64; 4]> = SmallVec::new();
        for operand in sources {
            args.push(self.operand_deep(inst, operand, depth + 1)?);
        }
        let scalar = scalar::decode(row)?;
        let second = is_second(self.code, id, row, &scalar)?;
        Some(scalar.apply(args.get(..scalar.arity)?)? ^ u64::from(second))
    }

    fn operand_deep(&mut self, inst: InstId, operand: &Operand, depth: u32) -> Option<u64> {
        match operand {
            Operand::Imm(imm) => Some(imm.as_int()? as u64),
            Operand::Reg(reg) => self.deep(self.code.ssa.use_of(inst, *reg)?, depth),
            Operand::Not(reg) => Some(self.deep(self.code.ssa.use_of(inst, *reg)?, depth)? ^ 1),
            _ => None,
        }
    }

    /// The value as a function of another one: the last of its operands that is not constant.
    pub(super) fn step(&mut self, id: ValueId) -> Option<(ValueId, Step)> {
        let inst = plain(self.code, id)?;
        let row = &self.code.body.insts[inst.index()];
        let scalar = scalar::decode(row)?;
        let second = is_second(self.code, id, row, &scalar)?;
        let mut hole = None;
        let mut args: SmallVec<[u64; 4]> = SmallVec::new();
        for (at, operand) in row.operands.get(1..=scalar.arity)?.iter().enumerate() {
            match self.operand(inst, operand) {
                Some(constant) => args.push(constant),
                None if hole.is_none() => {
                    let reg = operand.as_reg()?;
                    hole = Some((at, self.code.ssa.use_of(inst, reg)?, matches!(operand, Operand::Not(_))));
                    args.push(0);
                }
                None => return None,
            }
        }
        let (hole, value, negated) = hole?;
        let step = Step {
            scalar,
            args,
            hole,
            negated,
            second,
        };
        Some((value, step))
    }
}

/// The instruction behind a value, where it is pure and not guarded.
fn plain(code: Code, id: ValueId) -> Option<InstId> {
    let Definition::Inst(inst) = code.ssa.value(id)?.definition else {
        return None;
    };
    let row = &code.body.insts[inst.index()];
    (row.op.effect == Effect::Pure && row.guard.is_none()).then_some(inst)
}

/// Whether the value is the second of a pair of predicates; `None` where what it is then is not known.
fn is_second(code: Code, id: ValueId, row: &Inst, scalar: &Scalar) -> Option<bool> {
    let reg = code.ssa.value(id)?.reg;
    match row.operands.first()? {
        Operand::Reg(_) => Some(false),
        Operand::Pair(pair) => {
            let second = pair.1.as_reg() == Some(reg) && pair.0.as_reg() != Some(reg);
            // Where the comparison is joined with a third operand, the second is not the complement of the first.
            (!second || scalar.arity < 3).then_some(second)
        }
        _ => None,
    }
}
