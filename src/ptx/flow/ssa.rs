//! Which definition each use of a register sees.
//!
//! Registers keep their names in the IR; this overlay gives every definition a value of its own, and merges values where
//! control flow merges (phi), so that a register which a compiler reuses is not one variable but several.
//! Guarded definitions, and those that write a part of a register, keep the value from before as a further input.

use super::{Cfg, place, rename};
use crate::ptx::ir::{Body, InstId, Operand, RegId};
use crate::ptx::isa::Role;

/// A value: index into an [`Ssa`]'s table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// Stands where there is no value: in unreachable code.
    pub const NONE: ValueId = ValueId(u32::MAX);

    /// The id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is a value.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The register is not written before: its content is not defined.
    Undefined,
    /// An instruction writes it.
    Inst(InstId),
    /// Paths merge at the start of this block.
    Phi(u32),
}

/// One value of one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The register.
    pub reg: RegId,
    /// Where it comes from.
    pub definition: Definition,
    /// The block of the definition; the entry for undefined values.
    pub block: u32,
}

/// Rows of values side by side, one row per instruction or phi.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) start: Vec<u32>,
    pub(super) items: Vec<ValueId>,
}

impl Rows {
    fn row(&self, at: usize) -> &[ValueId] {
        match (self.start.get(at), self.start.get(at + 1)) {
            (Some(start), Some(end)) => &self.items[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

/// The registers of each instruction, found once.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    pub(super) use_start: Vec<u32>,
    pub(super) uses: Vec<RegId>,
    pub(super) def_start: Vec<u32>,
    /// Register, and whether what was in it before may survive.
    pub(super) defs: Vec<(RegId, bool)>,
}

/// Values of a body.
#[derive(Clone, Debug, Default)]
pub struct Ssa {
    pub(super) values: Vec<Value>,
    pub(super) uses: Rows,
    pub(super) defs: Rows,
    /// Beside each definition, the value before it where that may survive.
    pub(super) before: Vec<ValueId>,
    /// Per block, its phis.
    pub(super) phi_start: Vec<u32>,
    pub(super) phis: Vec<ValueId>,
    /// Per phi, one operand per predecessor.
    pub(super) phi_inputs: Rows,
    /// Per value that is a phi, its row in `phi_inputs`.
    pub(super) phi_row: Vec<u32>,
}

impl Ssa {
    /// Finds the values of a body.
    pub fn new(body: &Body, cfg: &Cfg) -> Self {
        let accesses = Accesses::new(body);
        let placed = place::phis(body, cfg, &accesses);
        rename::rename(body, cfg, &accesses, &placed)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A value. [`ValueId::NONE`] is none.
    pub fn value(&self, id: ValueId) -> Option<&Value> {
        self.values.get(id.index())
    }

    /// Every value.
    pub fn values(&self) -> impl Iterator<Item = (ValueId, &Value)> {
        (0..).map(ValueId).zip(&self.values)
    }

    /// What an instruction reads, in the order of [`Inst::uses`](crate::ptx::ir::Inst::uses): the guard comes first.
    pub fn uses(&self, inst: InstId) -> &[ValueId] {
        self.uses.row(inst.index())
    }

    /// What an instruction writes, in the order of [`Inst::defs`](crate::ptx::ir::Inst::defs).
    pub fn defs(&self, inst: InstId) -> &[ValueId] {
        self.defs.row(inst.index())
    }

    /// Beside each of [`Ssa::defs`], the register's value before, where that may survive; [`ValueId::NONE`] where it does not.
    pub fn before(&self, inst: InstId) -> &[ValueId] {
        match (self.defs.start.get(inst.index()), self.defs.start.get(inst.index() + 1)) {
            (Some(start), Some(end)) => &self.before[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// The value of a register that an instruction reads.
    pub fn use_of(&self, inst: InstId, reg: RegId) -> Option<ValueId> {
        let of_reg = |id: &ValueId| self.value(*id).is_some_and(|value| value.reg == reg);
        self.uses(inst).iter().copied().find(of_reg)
    }

    /// The phis at the start of a block.
    pub fn phis(&self, block: u32) -> &[ValueId] {
        match (
            self.phi_start.get(block as usize),
            self.phi_start.get(block as usize + 1),
        ) {
            (Some(start), Some(end)) => &self.phis[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// The inputs of a phi, one per predecessor of its block in the graph's order; none for other values.
    pub fn phi_inputs(&self, id: ValueId) -> &[ValueId] {
        match self.phi_row.get(id.index()) {
            Some(row) if *row != u32::MAX => self.phi_inputs.row(*row as usize),
            _ => &[],
        }
    }

    /// The definitions that may reach a value: itself, or through phis and guarded definitions the ones behind it.
    pub fn reaching(&self, id: ValueId) -> Vec<ValueId> {
        let mut seen = std::collections::HashSet::from([id]);
        let mut stack = vec![id];
        let mut found = Vec::new();
        while let Some(id) = stack.pop() {
            let Some(value) = self.value(id) else { continue };
            let inputs: Vec<ValueId> = match value.definition {
                Definition::Phi(_) => self.phi_inputs(id).to_vec(),
                Definition::Inst(inst) => {
                    found.push(id);
                    let defs = self.defs(inst).iter().zip(self.before(inst));
                    defs.filter(|(def, before)| **def == id && before.is_some())
                        .map(|(_, before)| *before)
                        .collect()
                }
                Definition::Undefined => {
                    found.push(id);
                    Vec::new()
                }
            };
            stack.extend(inputs.into_iter().filter(|input| seen.insert(*input)));
        }
        found.sort_unstable();
        found
    }
}

impl Accesses {
    pub(super) fn new(body: &Body) -> Self {
        let mut found = Accesses::default();
        for inst in &body.insts {
            found.use_start.push(found.uses.len() as u32);
            found.def_start.push(found.defs.len() as u32);
            if let Some(guard) = inst.guard {
                found.uses.push(guard.reg);
            }
            let Accesses { uses, defs, .. } = &mut found;
            inst.walk(&mut |operand, role| {
                if role != Role::Def {
                    operand.for_each_reg(&mut |reg| uses.push(reg));
                }
                if role != Role::Use {
                    let survives = inst.guard.is_some() || is_part(operand);
                    operand.for_each_reg(&mut |reg| defs.push((reg, survives)));
                }
            });
        }
        found.use_start.push(found.uses.len() as u32);
        found.def_start.push(found.defs.len() as u32);
        found
    }

    /// What an instruction reads.
    pub(super) fn uses(&self, inst: u32) -> &[RegId] {
        &self.uses[self.use_start[inst as usize] as usize..self.use_start[inst as usize + 1] as usize]
    }

    /// What an instruction writes, and whether the register's content may survive.
    pub(super) fn defs(&self, inst: u32) -> &[(RegId, bool)] {
        &self.defs[self.def_start[inst as usize] as usize..self.def_start[inst as usize + 1] as usize]
    }
}

/// Whether a destination names only a part of its register.
fn is_part(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::Part(_, component) if !component.is_whole()
    )
}
