//! What kernels show of their parameters: numbers that they must hold, because the kernel traps where they do not, and what they are for.

use crate::ptx::ir::{Address, Base, Body, Inst, Operand, RegId, SymbolId};
use crate::ptx::isa::Effect;
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger numbers make loops too long to be run; such a kernel traps in the trial.
const LARGEST: i64 = 1 << 13;

/// The number that each of these parameters must hold, by the bytes from its start:
/// `setp.ne.u32 %p, %r, 64; @%p trap;` where `%r` was loaded from it.
pub(super) fn demands(body: &Body) -> FxHashMap<(SymbolId, i64), u64> {
    let mut found = FxHashMap::default();
    if !body.insts.iter().any(|inst| inst.op.base() == "trap") {
        return found;
    }
    let once = written_once(body);
    let trapping = body.insts.iter().filter(|inst| traps(body, inst));
    for guard in trapping.filter_map(|inst| inst.guard) {
        let Some(compare) = once.get(&guard.reg) else { continue };
        let relation = if guard.negated { "eq" } else { "ne" };
        if compare.op.base() != "setp" || !compare.op.has(relation) {
            continue;
        }
        if let [_, Operand::Reg(reg), number] = &compare.operands[..]
            && let (Some(number), Some(param)) = (number.as_int(), once.get(reg).and_then(|load| loaded(load)))
            && number <= LARGEST
        {
            found.insert(param, number as u64);
        }
    }
    found
}

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// How often a loop goes round: it is compared with what is alike in all threads.
    Count,
    /// Where the data ends: it is compared with what follows from a thread's index.
    Bound,
    /// By how many bits something is shifted.
    Shift,
}

/// Whether some parameter counts rounds.
pub fn counts(body: &Body) -> bool {
    roles(body).values().any(|role| *role == Role::Count)
}

/// The parameters that are used in one of these ways right as they are.
pub(super) fn roles(body: &Body) -> FxHashMap<(SymbolId, i64), Role> {
    let mut found: FxHashMap<(SymbolId, i64), Role> = FxHashMap::default();
    let mut params: FxHashMap<RegId, (SymbolId, i64)> = FxHashMap::default();
    let mut indices: FxHashSet<RegId> = FxHashSet::default();
    for inst in &body.insts {
        if let (Some(param), Some(Operand::Reg(reg))) = (loaded(inst), inst.operands.first()) {
            params.insert(*reg, param);
            continue;
        }
        match (inst.op.base(), &inst.operands[..]) {
            ("shl" | "shr", [_, _, Operand::Reg(by)]) if params.contains_key(by) => {
                found.insert(params[by], Role::Shift);
            }
            ("setp", [_, a, b]) => {
                for (this, other) in [(a, b), (b, a)] {
                    let param = this.as_reg().and_then(|reg| params.get(&reg));
                    let is_index = other.as_reg().is_some_and(|reg| indices.contains(&reg));
                    let role = if is_index { Role::Bound } else { Role::Count };
                    if let Some(param) = param {
                        let known = found.entry(*param).or_insert(role);
                        *known = role.max(*known);
                    }
                }
            }
            _ => follow(inst, &mut indices),
        }
    }
    found
}

/// Notes what follows from the index of thread or CTA.
fn follow(inst: &Inst, indices: &mut FxHashSet<RegId>) {
    if inst.op.effect != Effect::Pure {
        return;
    }
    let is_index = |operand: &Operand| match operand {
        Operand::Special(special) => ["%tid", "%ctaid"].iter().any(|name| special.name().starts_with(name)),
        _ => false,
    };
    let mut follows = inst.operands.iter().any(is_index);
    inst.uses(&mut |reg| follows |= indices.contains(&reg));
    if follows {
        inst.defs(&mut |reg| {
            indices.insert(reg);
        });
    }
}

/// Registers with the one instruction that writes them, where it has no guard.
fn written_once(body: &Body) -> FxHashMap<RegId, &Inst> {
    let mut writers: FxHashMap<RegId, Option<&Inst>> = FxHashMap::default();
    for inst in &body.insts {
        inst.defs(&mut |reg| {
            let first = !writers.contains_key(&reg) && inst.guard.is_none();
            writers.insert(reg, first.then_some(inst));
        });
    }
    writers
        .into_iter()
        .filter_map(|(reg, inst)| Some((reg, inst?)))
        .collect()
}

/// Whether a guarded instruction traps, or goes where that is all that is done.
fn traps(body: &Body, inst: &Inst) -> bool {
    match inst.operands.first() {
        Some(Operand::Label(label)) => {
            let target = body.labels[label.index()].at.and_then(|at| body.insts.get(at.index()));
            inst.op.base() == "bra" && target.is_some_and(|target| target.op.base() == "trap" && target.guard.is_none())
        }
        _ => inst.op.base() == "trap",
    }
}

/// The parameter that a scalar load reads.
fn loaded(load: &Inst) -> Option<(SymbolId, i64)> {
    match &load.operands[..] {
        [
            Operand::Reg(_),
            Operand::Address(Address {
                base: Base::Symbol(symbol),
                offset,
            }),
        ] if load.op.base() == "ld" && load.op.has("param") => Some((*symbol, *offset)),
        _ => None,
    }
}
