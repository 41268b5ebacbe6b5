//! Modules with addresses of 32 bits: they are read, but no current toolkit makes code of them.
//!
//! ptxas 13.5 says "32-Bit compilation is no longer supported" where `.address_size 32` is stated, and where no size is
//! stated and a global or generic address has 32 bits. Without such an address it takes the module for one of 64 bits.

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Base, Body, Inst, Module, Operand};
use crate::ptx::parse::Parsed;
use crate::ptx::source::Span;
use crate::ptx::types::{Kind, Space};

/// One finding for a module that is of 32 bits.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    let (place, message) = match parsed.module.header.address_size {
        Some(32) => (
            parsed.spans.header.address_size,
            "the addresses of this module have 32 bits, and ptxas 13.5 makes code for 64 bits only",
        ),
        None => (
            first_narrow(parsed),
            "this address has 32 bits, and ptxas 13.5 makes code for 64 bits only",
        ),
        Some(_) => return,
    };
    if let Some(span) = place {
        let help = "compile the source for 64 bits, or assemble the module with a toolkit before CUDA 12";
        out.push(Diag::error(codes::GATE007, span, message).help(help));
    }
}

/// The first instruction with a 32-bit address of global or generic memory.
fn first_narrow(parsed: &Parsed) -> Option<Span> {
    let mut functions = parsed.module.functions.iter().zip(&parsed.spans.functions);
    functions.find_map(|(function, spans)| {
        let body = function.body.as_ref()?;
        let at = body
            .insts
            .iter()
            .position(|inst| is_narrow(&parsed.module, body, inst))?;
        spans.insts.get(at).copied()
    })
}

fn is_narrow(module: &Module, body: &Body, inst: &Inst) -> bool {
    let op = &inst.op;
    match op.base() {
        "ld" | "st" | "ldu" | "atom" | "red" | "prefetch" | "prefetchu" => {
            matches!(op.space, Space::Global | Space::Generic)
                && inst.operands.iter().any(|operand| has_narrow_base(body, operand))
        }
        "cvta" => op.has("u32"),
        "mov" => {
            op.ty().is_some_and(|ty| ty.bits() == 32) && inst.operands.iter().any(|operand| is_global(module, operand))
        }
        _ => false,
    }
}

fn has_narrow_base(body: &Body, operand: &Operand) -> bool {
    let Operand::Address(address) = operand else {
        return false;
    };
    let Base::Reg(reg) = address.base else { return false };
    let decl = body.regs.get(reg.index()).filter(|decl| decl.declared);
    decl.is_some_and(|decl| {
        decl.ty.bits() == 32 && matches!(decl.ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed)
    })
}

fn is_global(module: &Module, operand: &Operand) -> bool {
    let Operand::Symbol(symbol, _) = operand else {
        return false;
    };
    module
        .variable(*symbol)
        .is_some_and(|variable| variable.space == Space::Global)
}
