//! Tables of targets behind indirect branches: is the label one of a table, and in front of the branch?

use super::Scope;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Inst, Operand, Stmt, TableKind};
use crate::ptx::source::Span;

/// Checks a `brx.idx`.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    let Some(Operand::Label(label)) = inst.operands.get(1) else {
        return;
    };
    let table = scope.body.stmts.iter().find_map(|stmt| match stmt {
        Stmt::Table(table) if table.label == *label => Some(table),
        _ => None,
    });
    let place = scope.pieces(span).operands.get(1).copied().unwrap_or(span);
    let name = place.of(scope.text);
    let message = match table {
        Some(table) if !matches!(table.kind, TableKind::Branch(_)) => {
            format!("`{name}` is no list of `.branchtargets`")
        }
        Some(_) if defined_behind(scope, *label, span) => {
            format!("`{name}` is defined behind the branch that uses it")
        }
        // A label that is not defined has been reported.
        None if scope
            .body
            .labels
            .get(label.index())
            .is_some_and(|label| label.at.is_some()) =>
        {
            format!("`{name}` is a label, and no list of `.branchtargets`")
        }
        _ => return,
    };
    let help = format!("write `{name}: .branchtargets ...;` in front of the branch");
    out.push(Diag::error(codes::SYN007, place, message).help(help));
}

fn defined_behind(scope: &Scope, label: crate::ptx::ir::LabelId, span: Span) -> bool {
    scope
        .labels
        .get(label.index())
        .is_some_and(|defined| defined.start > span.start)
}
