//! How far apart an instruction's results are by its own nature, before what its operands add.

use crate::ptx::ir::{Base, Inst, Operand};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;

/// How the extent of an instruction's results follows from that of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// As its operands, but at least this.
    AtLeast(Extent),
    /// As its operands, but at most this: lanes agree on the result.
    AtMost(Extent),
    /// A value of one lane, which the third operand names: as that operand, and as the value at most.
    OneLane,
    /// This, whatever the operands are.
    Always(Extent),
    /// What was stored there, in local memory; else like a load from memory that threads share.
    Memory,
    /// What was stored to that parameter.
    Slot,
    /// What the called function makes of its arguments.
    Call,
}

/// The nature of an instruction's results. `is_slot` tells whether it reads a parameter that is followed, `number` what an operand is,
/// where it is one number.
pub(super) fn nature(
    inst: &Inst,
    is_slot: impl Fn(&Inst) -> bool,
    number: impl FnMut(&Operand) -> Option<u64>,
) -> Nature {
    match inst.op.effect {
        Effect::Pure => pure(inst),
        Effect::Load => load(inst, is_slot),
        Effect::Barrier => Nature::Always(Extent::Cta),
        Effect::Warp => lanes(inst, number),
        Effect::Call => Nature::Call,
        // Where memory is written, a fence set or a copy started, there is no result, or one of each thread's own.
        Effect::Other if inst.op.is_known() && matches!(inst.op.base(), "add" | "sub" | "mad" | "createpolicy") => {
            Nature::AtLeast(Extent::Grid)
        }
        _ => Nature::Always(Extent::Thread),
    }
}

fn pure(inst: &Inst) -> Nature {
    // Each lane holds its own part of a matrix.
    let fragments = ["mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix", "tcgen05"];
    if fragments.contains(&inst.op.base()) {
        return Nature::Always(Extent::Thread);
    }
    // Addresses in local memory are alike in all threads, but name different memory; so are stack pointers.
    Nature::AtLeast(Extent::Grid)
}

fn load(inst: &Inst, is_slot: impl Fn(&Inst) -> bool) -> Nature {
    match (inst.op.base(), inst.op.space) {
        ("ld" | "ldu", Space::Param) if is_slot(inst) => Nature::Slot,
        ("ld" | "ldu", Space::Param | Space::Const) => Nature::AtLeast(Extent::Grid),
        ("ld" | "ldu", Space::Local | Space::Generic) => Nature::Memory,
        ("ld" | "ldu" | "tex" | "tld4" | "suld" | "txq" | "suq", _) => Nature::AtLeast(Extent::Cta),
        _ => Nature::Always(Extent::Thread),
    }
}

/// Instructions among the lanes of a warp.
fn lanes(inst: &Inst, number: impl FnMut(&Operand) -> Option<u64>) -> Nature {
    match inst.op.base() {
        // The clamp of a whole warp.
        "shfl" if inst.op.has("idx") && inst.operands.get(3).and_then(number) == Some(31) => Nature::OneLane,
        "vote" if !inst.op.has("ballot") => Nature::AtMost(Extent::Warp),
        "vote" | "redux" | "activemask" => Nature::Always(Extent::Warp),
        "match" if inst.op.has("all") => Nature::Always(Extent::Warp),
        _ => Nature::Always(Extent::Thread),
    }
}

/// Whether an address names a symbol directly, and which.
pub(in crate::ptx) fn symbol_of(inst: &Inst) -> Option<crate::ptx::ir::SymbolId> {
    inst.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => match address.base {
            Base::Symbol(symbol) => Some(symbol),
            _ => None,
        },
        _ => None,
    })
}
