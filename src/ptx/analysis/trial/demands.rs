//! Parameters that must hold a certain number, because the kernel traps where they do not.

use crate::ptx::ir::{Address, Base, Body, Inst, Operand, RegId, SymbolId};
use rustc_hash::FxHashMap;

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
