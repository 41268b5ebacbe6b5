//! What an address is made of: pointers, indices of CTA and thread, loaded data.

use super::graphs::Code;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{Address, Base, Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Values that are followed at most; what lies behind counts as data.
const MOST: usize = 512;

/// What an address is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whence {
    /// The register's value that it starts from, and the bytes from there.
    pub place: Option<(ValueId, i64)>,
    /// Parameters of 64 bits, and variables.
    pub pointers: BTreeSet<SymbolId>,
    /// Whether the CTA's number goes into it, in x, y and z.
    pub cta: [bool; 3],
    /// Whether something is taken modulo a number or masked: different indices may give the same.
    pub cut: bool,
    /// Whether what tells threads apart goes into it.
    pub thread: bool,
    /// Whether data goes into it: what was loaded, or came back from an atomic or a call.
    pub data: bool,
}

impl Whence {
    /// Of the address that an instruction accesses.
    pub fn of(code: &Code, inst: InstId, row: &Inst) -> Option<Self> {
        let address = row.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        })?;
        let mut whence = Self::default();
        match address.base {
            Base::Symbol(symbol) => {
                whence.pointers.insert(symbol);
            }
            Base::Reg(reg) => {
                let value = code.ssa.use_of(inst, reg)?;
                whence.place = Some((value, address.offset));
                whence.follow(code, value);
            }
            Base::Absolute => return None,
        }
        Some(whence)
    }

    /// Of a value.
    pub fn of_value(code: &Code, value: ValueId) -> Self {
        let mut whence = Self::default();
        whence.follow(code, value);
        whence
    }

    /// Whether both start from a common pointer.
    pub fn meets(&self, other: &Whence) -> bool {
        self.pointers.iter().any(|pointer| other.pointers.contains(pointer))
    }

    /// Whether CTAs have the same that differ in one of these dimensions.
    pub fn is_common(&self, dims: [bool; 3]) -> bool {
        let apart = dims.iter().zip(self.cta).all(|(differs, goes_in)| !differs || goes_in);
        !self.data && (!apart || self.cut || self.cta == [false; 3])
    }

    fn follow(&mut self, code: &Code, from: ValueId) {
        let (mut seen, mut stack) = (FxHashSet::default(), vec![from]);
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            if seen.len() > MOST {
                self.data = true;
                return;
            }
            match code.ssa.value(value).map(|value| value.definition) {
                Some(Definition::Phi(_)) => stack.extend(code.ssa.phi_inputs(value).iter().copied()),
                Some(Definition::Inst(inst)) => self.step(code, inst, &mut stack),
                _ => {}
            }
        }
    }

    fn step(&mut self, code: &Code, id: InstId, stack: &mut Vec<ValueId>) {
        let Some(row) = code.body.insts.get(id.index()) else {
            return;
        };
        let param = row.operands.iter().find_map(|operand| match operand {
            Operand::Address(Address {
                base: Base::Symbol(symbol),
                ..
            }) if row.op.space == Space::Param => Some(*symbol),
            _ => None,
        });
        match (row.op.effect, param) {
            (Effect::Pure | Effect::Warp, _) => {
                for operand in &row.operands {
                    match operand {
                        Operand::Symbol(symbol, _) => {
                            self.pointers.insert(*symbol);
                        }
                        Operand::Special(special) => match special.name() {
                            "%ctaid.x" => self.cta[0] = true,
                            "%ctaid.y" => self.cta[1] = true,
                            "%ctaid.z" => self.cta[2] = true,
                            _ => self.thread |= special.info().extent > Extent::Cta,
                        },
                        _ => {}
                    }
                }
                self.cut |= matches!(row.op.base(), "and" | "rem");
                self.thread |= row.op.effect == Effect::Warp;
                stack.extend(code.ssa.uses(id).iter().filter(|used| used.is_some()));
            }
            (Effect::Load, Some(symbol)) => {
                if row.op.ty().is_none_or(|ty| ty.bits() == 64) {
                    self.pointers.insert(symbol);
                }
            }
            _ => self.data = true,
        }
    }
}
