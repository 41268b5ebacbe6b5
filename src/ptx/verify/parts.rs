//! `%v.x` of vector registers, and the parts of registers that video instructions select (`%r1.b0`).

use super::Scope;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Component, Inst, Operand, RegId};
use crate::ptx::source::Span;

/// What the selectors of a video instruction may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Video {
    /// A byte or a half: `.b0` to `.b3`, `.h0`, `.h1`.
    Scalar,
    /// Two halves: `.h10`.
    Halves,
    /// Four bytes: `.b3210`.
    Bytes,
}

impl Video {
    fn of(base: &str) -> Option<Self> {
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
}

/// Checks the parts that an instruction names.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    for (at, operand) in inst.operands.iter().enumerate() {
        let Some(message) = fault(scope, inst, operand, at == 0) else {
            continue;
        };
        let place = scope.pieces(span).operands.get(at).copied().unwrap_or(span);
        out.push(Diag::error(codes::ISA013, place, message));
    }
}

fn fault(scope: &Scope, inst: &Inst, operand: &Operand, is_result: bool) -> Option<String> {
    match operand {
        Operand::Part(reg, component) => part(scope, inst, *reg, *component, is_result),
        Operand::Vector(parts) | Operand::List(parts) | Operand::Bracket(parts) => {
            parts.iter().find_map(|part| fault(scope, inst, part, is_result))
        }
        _ => None,
    }
}

fn part(scope: &Scope, inst: &Inst, reg: RegId, component: Component, is_result: bool) -> Option<String> {
    let decl = scope.body.regs.get(reg.index()).filter(|decl| decl.declared)?;
    let name = scope.reg_name(reg);
    if decl.lanes > 1 {
        let fits = component.index().is_some_and(|at| at < decl.lanes);
        return (!fits).then(|| format!("`{name}` is a vector of {}, and has no `.{component}`", decl.lanes));
    }
    match Video::of(inst.op.base()) {
        Some(video) if video.takes(component, is_result) => None,
        Some(video) => Some(format!(
            "`.{component}` is no part that `{}` selects: it takes {}",
            inst.op.base(),
            video.wanted()
        )),
        None if component.index().is_some() => Some(format!("`{name}` is no vector, and has no `.{component}`")),
        None => Some(format!(
            "only video instructions select parts of registers, and `{}` is none",
            inst.op.base()
        )),
    }
}
