//! `.loc`: does it name a file, a line and a column?

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::Stmt;
use crate::ptx::parse::Parsed;

/// Checks every `.loc`.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        let Some(body) = &function.body else { continue };
        for (stmt, span) in body.stmts.iter().zip(&spans.stmts) {
            let Stmt::Loc(text) = stmt else { continue };
            let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
            let numbers = words.by_ref().take(3).filter(|word| word.parse::<u32>().is_ok());
            if numbers.count() < 3 {
                let message = "`.loc` takes the numbers of a file, a line and a column";
                out.push(Diag::error(codes::SYN001, *span, message));
            }
        }
    }
}
