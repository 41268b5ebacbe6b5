//! Who reads each value.

use super::Parts;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::InstId;

/// Marks a phi among the readers; instructions are plain numbers.
const PHI: u32 = 1 << 31;

/// For every value, who reads it.
pub(super) struct Users {
    start: Vec<u32>,
    items: Vec<u32>,
}

/// Someone who reads a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum User {
    /// An instruction.
    Inst(u32),
    /// A phi.
    Phi(ValueId),
}

impl Users {
    pub(super) fn new(parts: Parts) -> Self {
        let ssa = parts.ssa;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for at in 0..parts.body.insts.len() as u32 {
            let inst = InstId(at);
            let read = ssa
                .uses(inst)
                .iter()
                .chain(ssa.before(inst))
                .filter(|value| value.is_some());
            pairs.extend(read.map(|value| (value.0, at)));
        }
        for (phi, _) in ssa.values() {
            let read = ssa.phi_inputs(phi).iter().filter(|value| value.is_some());
            pairs.extend(read.map(|value| (value.0, phi.0 | PHI)));
        }
        let mut start = vec![0u32; ssa.len() + 1];
        pairs.iter().for_each(|(value, _)| start[*value as usize + 1] += 1);
        for at in 0..ssa.len() {
            start[at + 1] += start[at];
        }
        let mut next = start.clone();
        let mut items = vec![0; pairs.len()];
        for (value, user) in pairs {
            items[next[value as usize] as usize] = user;
            next[value as usize] += 1;
        }
        Self { start, items }
    }

    /// Who reads a value.
    pub(super) fn of(&self, id: ValueId) -> impl Iterator<Item = User> + use<'_> {
        let range = self.start[id.index()] as usize..self.start[id.index() + 1] as usize;
        self.items[range].iter().map(|user| match user & PHI {
            0 => User::Inst(*user),
            _ => User::Phi(ValueId(user & !PHI)),
        })
    }
}
