//! Races by the letter that kernels mean to have, and that harm nobody.

use super::trials::Race;
use crate::ptx::analysis::trial::{Conflict, Site};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, FuncId, Inst, Operand, RegId};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashSet;

/// Makes information of them.
pub(super) fn excuse(id: FuncId, body: &Body, races: &mut [Race]) {
    for race in races {
        if is_flag(&race.conflict) || is_election(&race.conflict) || is_first_guess(id, body, &race.conflict) {
            race.level = Level::Info;
        }
    }
}

/// A flag in global memory that is looked at, and that data may set to the one number that it is ever set to.
fn is_flag(conflict: &Conflict) -> bool {
    !conflict.shared && conflict.broadcast && conflict.maybe && conflict.fixed && conflict.atomic == (false, false)
}

/// A store to global memory by whoever data picks: that may be one thread, as in a search of sorted keys.
fn is_election(conflict: &Conflict) -> bool {
    let one_store = conflict.first == conflict.second && conflict.writes == (true, true);
    one_store && !conflict.shared && conflict.maybe && !conflict.anywhere
}

/// A plain load that tells a loop around a compare-and-swap where to start: what it reads is compared before it counts.
fn is_first_guess(id: FuncId, body: &Body, conflict: &Conflict) -> bool {
    let (swap, load) = match conflict.atomic {
        (true, false) => (conflict.first, conflict.second),
        (false, true) => (conflict.second, conflict.first),
        _ => return false,
    };
    let row = |site: Site| body.insts.get(site.inst.index()).filter(|_| site.function == id);
    let (Some(swap), Some(load)) = (row(swap), row(load)) else {
        return false;
    };
    let compared = match &swap.operands[..] {
        [.., Operand::Reg(compared), _] if swap.op.has("cas") => *compared,
        _ => return false,
    };
    load.op.effect == Effect::Load && copies(body, load).contains(&compared)
}

/// The registers that what an instruction writes is copied to.
fn copies(body: &Body, from: &Inst) -> FxHashSet<RegId> {
    let mut held: FxHashSet<RegId> = FxHashSet::default();
    from.defs(&mut |reg| {
        held.insert(reg);
    });
    loop {
        let before = held.len();
        for inst in body.insts.iter().filter(|inst| inst.op.base() == "mov") {
            if let [Operand::Reg(to), Operand::Reg(of)] = inst.operands[..]
                && held.contains(&of)
            {
                held.insert(to);
            }
        }
        if held.len() == before {
            return held;
        }
    }
}
