//! What the table does not say of video instructions: which operands select parts of registers, which parts, and which are negated
//! together (PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions").

use super::Scope;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Component, Inst, Operand};
use crate::ptx::source::Span;

/// What the selectors of a video instruction may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Video {
    /// A byte or a half: `.b0` to `.b3`, `.h0`, `.h1`.
    Scalar,
    /// Two halves: `.h10`.
    Halves,
    /// Four bytes: `.b3210`.
    Bytes,
}

impl Video {
    pub(super) fn of(base: &str) -> Option<Self> {
        let name = base.strip_prefix('v')?;
        match name {
            "add" | "sub" | "absdiff" | "min" | "max" | "shl" | "shr" | "mad" | "set" => Some(Video::Scalar),
            _ if name.ends_with('2') => Some(Video::Halves),
            _ if name.ends_with('4') => Some(Video::Bytes),
            _ => None,
        }
    }

    const fn wanted(self) -> &'static str {
        match self {
            Video::Scalar => "`.b0` to `.b3`, `.h0` or `.h1`",
            Video::Halves => "two halves such as `.h10`",
            Video::Bytes => "four bytes such as `.b3210`",
        }
    }

    fn takes(self, component: Component, is_result: bool) -> bool {
        use Component::{B0, B1, B2, B3, H0, H1, H10};
        match self {
            Video::Scalar => matches!(component, B0 | B1 | B2 | B3 | H0 | H1),
            Video::Halves if is_result => matches!(component, H0 | H1 | H10),
            Video::Halves => component.is_two_halves(),
            Video::Bytes if is_result => component.is_byte_mask(),
            Video::Bytes => matches!(component, Component::Bytes(_)),
        }
    }

    /// What is wrong with a part that the operand at that place selects.
    pub(super) fn selects(self, inst: &Inst, at: usize, component: Component) -> Option<String> {
        let base = inst.op.base();
        if !self.takes(component, at == 0) {
            let wanted = self.wanted();
            return Some(format!(
                "`.{component}` is no part that `{base}` selects: it takes {wanted}"
            ));
        }
        match at {
            0 if self == Video::Scalar => merges(inst).err(),
            0..=2 => None,
            _ => Some(format!(
                "the last operand of `{base}` is a whole register, without `.{component}`"
            )),
        }
    }
}

/// Whether the result of a scalar instruction goes to a part of its register, the rest of which comes from the last operand.
fn merges(inst: &Inst) -> Result<(), String> {
    let base = inst.op.base();
    let second = inst.op.mods().find(|name| matches!(*name, "add" | "min" | "max"));
    match second {
        _ if base == "vmad" => Err("`vmad` writes a whole register, not a part".to_owned()),
        Some(second) => Err(format!(
            "a result that `.{second}` makes goes to a whole register, not a part"
        )),
        None if inst.operands.len() < 4 => Err(format!(
            "a part of the result needs a fourth operand, from which `{base}` takes the rest of the register"
        )),
        None => Ok(()),
    }
}

/// Checks what several operands decide together, and sums, which only other instructions take.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    if Video::of(inst.op.base()) != Some(Video::Scalar) {
        return;
    }
    let negated = |at: usize| matches!(inst.operands.get(at), Some(Operand::Neg(..)));
    let place = |at: usize| scope.pieces(span).operands.get(at).copied().unwrap_or(span);
    if negated(3) && negated(1) != negated(2) {
        let message = "`vmad` negates either the product or what is added to it, not both";
        let help = "the product is negated where just one of its factors is";
        out.push(Diag::error(codes::ISA002, place(3), message).help(help));
    }
    for (at, operand) in inst.operands.iter().enumerate() {
        if matches!(operand, Operand::Sum(..)) {
            let message = format!("`{}` takes no sum of a register and a constant", inst.op.base());
            out.push(Diag::error(codes::ISA002, place(at), message).help("add them first"));
        }
    }
}
