//! What to say of operands that fit no form.

use super::Scope;
use super::operands::{Complaint, Issue};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::Inst;
use crate::ptx::isa::Range;
use crate::ptx::parse::Pieces;
use crate::ptx::types::Type;

/// The finding for an issue, at the operand it concerns.
pub(super) fn report(scope: &Scope, inst: &Inst, issue: &Issue, pieces: &Pieces) -> Diag {
    let base = &inst.op.text;
    let place = pieces.operands.get(issue.at).copied().unwrap_or(pieces.opcode);
    let written = place.of(scope.text);
    let diag = match &issue.kind {
        Complaint::Number(least, most) => {
            let wanted = match (least, most) {
                (least, most) if least == most => plural(*least),
                (least, most) => format!("{least} to {}", plural(*most)),
            };
            let message = format!("`{base}` takes {wanted} here, not {}", inst.operands.len());
            Diag::error(codes::ISA001, pieces.opcode, message)
        }
        Complaint::Kind(what) => {
            let code = if what.contains("vector") {
                codes::ISA013
            } else {
                codes::ISA002
            };
            let message = format!("`{base}` takes {what} here, not `{written}`");
            Diag::error(code, place, message)
        }
        Complaint::Class(want, got) => {
            let message = format!(
                "`{written}` is `.{}` where `{}` takes `.{}`",
                got.name(),
                inst.op.text,
                want.name()
            );
            Diag::error(codes::ISA004, place, message)
        }
        Complaint::Predicate(got) => {
            let message = format!("`{base}` takes a predicate here, and `{written}` is `.{}`", got.name());
            Diag::error(codes::ISA005, place, message).help("a predicate is a `.pred` register; `setp` makes one")
        }
        Complaint::Elements(want, got) => {
            let message = format!("`{}` takes {} here, not {got}", inst.op.text, elements(*want));
            Diag::error(codes::ISA013, place, message)
        }
        Complaint::Outside(value, range) => {
            let wanted = match range {
                Range::Within(low, high) if low == high => format!("{low}"),
                Range::Within(low, high) => format!("{low} to {high}"),
                Range::Multiple(of) => format!("a multiple of {of}"),
                Range::OneOf(members) => members.iter().map(i64::to_string).collect::<Vec<_>>().join(" or "),
            };
            let message = format!("{value} is out of range: `{base}` takes {wanted} here");
            Diag::error(codes::ISA015, place, message)
        }
        Complaint::Special => {
            let message = format!("`{base}` does not read special registers such as `{written}`");
            Diag::error(codes::ISA002, place, message).help(format!("copy it first: `mov.u32 %r, {written};`"))
        }
        Complaint::Address => {
            let message = format!("`{base}` takes a register here, not the address of `{written}`");
            Diag::error(codes::ISA002, place, message)
                .help(format!("take the address first: `mov.u64 %rd, {written};`"))
        }
        Complaint::Constant(want) => {
            let message = format!("`{written}` is no constant for `.{}`", want.name());
            let diag = Diag::error(codes::ISA002, place, message);
            match want {
                Type::F32 => diag.help("a single-precision constant is written `1.0` or `0f3F800000`"),
                Type::F64 => diag.help("a double-precision constant is written `1.0` or `0d3FF0000000000000`"),
                _ => diag,
            }
        }
    };
    match (diag.help.is_some(), inst.op.matches.first()) {
        (false, Some(found)) => diag.help(format!("the form is `{}`", found.form.syntax())),
        _ => diag,
    }
}

fn plural(count: usize) -> String {
    match count {
        0 => "no operands".into(),
        1 => "one operand".into(),
        _ => format!("{count} operands"),
    }
}

fn elements(count: usize) -> String {
    match count {
        1 => "a single register".into(),
        _ => format!("a vector of {count}"),
    }
}
