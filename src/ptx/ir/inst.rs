//! Instructions.

use super::{Opcode, Operand, RegId, shape};
use crate::ptx::isa::{Match, OperandSpec, Role};
use smallvec::SmallVec;
use std::sync::Arc;

/// The predicate in front of an instruction: `@%p1`, `@!%p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate register.
    pub reg: RegId,
    /// Whether the instruction executes where the predicate is false.
    pub negated: bool,
}

/// One instruction: an opcode of the table, shared by all instructions that spell it alike, and its operands.
///
/// Which operands are read and written follows from the opcode's forms: see [`Inst::defs`] and [`Inst::uses`].
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Opcode with its modifiers, resolved against the instruction table.
    pub op: Arc<Opcode>,
    /// The guard.
    pub guard: Option<Guard>,
    /// Operands in textual order.
    pub operands: SmallVec<[Operand; 4]>,
}

impl Inst {
    /// An unguarded instruction. The opcode is resolved against the table.
    pub fn new(opcode: &str, operands: impl IntoIterator<Item = Operand>) -> Self {
        Self {
            op: Arc::new(Opcode::resolve(opcode)),
            guard: None,
            operands: operands.into_iter().collect(),
        }
    }

    /// The form that the operands fit, by their number and shape; among several the first, and the nearest one where none fits.
    pub fn form(&self) -> Option<&Match> {
        let matches = &self.op.matches;
        matches
            .iter()
            .find(|candidate| shape::fits(&candidate.form.operands, &self.operands))
            .or(matches.first())
    }

    /// Calls `see` with each register the instruction writes.
    ///
    /// An unknown instruction is taken to write the registers of its first operand.
    pub fn defs(&self, see: &mut impl FnMut(RegId)) {
        self.walk(&mut |operand, role| {
            if role != Role::Use {
                operand.for_each_reg(see);
            }
        });
    }

    /// Calls `see` with each register the instruction reads, its guard included.
    ///
    /// Registers inside addresses are read, whatever happens to the memory. An unknown instruction reads all its registers.
    pub fn uses(&self, see: &mut impl FnMut(RegId)) {
        if let Some(guard) = self.guard {
            see(guard.reg);
        }
        self.walk(&mut |operand, role| {
            if role != Role::Def {
                operand.for_each_reg(see);
            }
        });
    }

    /// Calls `see` with each operand and whether its registers are read or written. Brackets are read;
    /// so are the parts of an address.
    pub fn walk(&self, see: &mut impl FnMut(&Operand, Role)) {
        match self.form() {
            Some(found) => {
                for (spec, operand) in shape::pair_up(&found.form.operands, &self.operands) {
                    see_one(spec, operand, see);
                }
            }
            None => {
                for (at, operand) in self.operands.iter().enumerate() {
                    let role = if at == 0 { Role::UseDef } else { Role::Use };
                    see(operand, if is_memory(operand) { Role::Use } else { role });
                }
            }
        }
    }
}

fn is_memory(operand: &Operand) -> bool {
    matches!(operand, Operand::Address(_) | Operand::Bracket(_))
}

/// Operands beyond the form's are read: legality checks have their own word on them.
fn see_one(spec: Option<&OperandSpec>, operand: &Operand, see: &mut impl FnMut(&Operand, Role)) {
    let role = spec.map_or(Role::Use, |spec| spec.role);
    match operand {
        _ if is_memory(operand) => see(operand, Role::Use),
        Operand::List(parts) => parts.iter().for_each(|part| see(part, role)),
        _ => see(operand, role),
    }
}
