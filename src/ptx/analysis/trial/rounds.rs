//! How many rounds loops go.

use crate::ptx::flow::{Cfg, Loops};
use crate::ptx::ir::{Body, Inst, InstId, Operand, RegId};
use rustc_hash::FxHashSet;

/// Per loop, whether it halves or doubles a number in each round and asks how large it is.
pub(super) fn halving(body: &Body, cfg: &Cfg, loops: &Loops) -> Vec<bool> {
    let mut found = vec![false; loops.len()];
    if loops.is_empty() {
        return found;
    }
    let (mut asked, mut moved) = (FxHashSet::default(), FxHashSet::default());
    let mut scaled: Vec<(InstId, RegId, RegId)> = Vec::new();
    for (at, inst) in (0..).map(InstId).zip(&body.insts) {
        match (inst.op.base(), &inst.operands[..]) {
            ("setp", _) => inst.uses(&mut |reg| {
                asked.insert(reg);
            }),
            ("mov", [Operand::Reg(to), Operand::Reg(from)]) => {
                moved.insert((*from, *to));
            }
            _ => scaled.extend(scaling(inst).map(|(to, from)| (at, to, from))),
        }
    }
    for (at, to, from) in scaled {
        let again = to == from || moved.contains(&(to, from));
        let is_asked = asked.contains(&to) || asked.contains(&from);
        if let Some(id) = loops.innermost(cfg.block_of(at)).filter(|_| again && is_asked)
            && let Some(found) = found.get_mut(id.0 as usize)
        {
            *found = true;
        }
    }
    found
}

/// A register that is another one, shifted or divided by a number.
fn scaling(inst: &Inst) -> Option<(RegId, RegId)> {
    match inst.operands[..] {
        [Operand::Reg(to), Operand::Reg(from), Operand::Imm(_)] if ["shr", "shl", "div"].contains(&inst.op.base()) => {
            Some((to, from))
        }
        _ => None,
    }
}
