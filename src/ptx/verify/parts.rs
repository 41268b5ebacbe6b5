//! `%v.x` of vector registers, and the parts of registers that video instructions select (`%r1.b0`).

use super::Scope;
use super::video::Video;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Component, Inst, Operand, RegId};
use crate::ptx::source::Span;

/// Checks the parts that an instruction names.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    for (at, operand) in inst.operands.iter().enumerate() {
        let Some(message) = fault(scope, inst, operand, at) else {
            continue;
        };
        let place = scope.pieces(span).operands.get(at).copied().unwrap_or(span);
        out.push(Diag::error(codes::ISA013, place, message));
    }
}

fn fault(scope: &Scope, inst: &Inst, operand: &Operand, at: usize) -> Option<String> {
    match operand {
        Operand::Part(reg, component) | Operand::Neg(reg, Some(component)) => part(scope, inst, *reg, *component, at),
        Operand::Vector(parts) | Operand::List(parts) | Operand::Bracket(parts) => {
            parts.iter().find_map(|part| fault(scope, inst, part, at))
        }
        _ => None,
    }
}

fn part(scope: &Scope, inst: &Inst, reg: RegId, component: Component, at: usize) -> Option<String> {
    let decl = scope.body.regs.get(reg.index()).filter(|decl| decl.declared)?;
    let name = scope.reg_name(reg);
    if decl.lanes > 1 {
        let fits = component.index().is_some_and(|at| at < decl.lanes);
        return (!fits).then(|| format!("`{name}` is a vector of {}, and has no `.{component}`", decl.lanes));
    }
    match Video::of(inst.op.base()) {
        Some(video) => video.selects(inst, at, component),
        None if component.index().is_some() => Some(format!("`{name}` is no vector, and has no `.{component}`")),
        None => Some(format!(
            "only video instructions select parts of registers, and `{}` is none",
            inst.op.base()
        )),
    }
}
