//! Names of parameters that the function's body declares again: ptxas has them in one scope.

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Function, Stmt};
use crate::ptx::parse::{FunctionSpans, Parsed};
use rustc_hash::FxHashMap;

/// Checks the outermost scope of every body.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        one(parsed, function, spans, out);
    }
}

fn one(parsed: &Parsed, function: &Function, spans: &FunctionSpans, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let params = function.results.iter().chain(&function.params);
    let params: FxHashMap<&str, usize> = params.map(|symbol| (module.name(*symbol), symbol.index())).collect();
    let Some(body) = function.body.as_ref().filter(|_| !params.is_empty()) else {
        return;
    };
    let mut depth = 0usize;
    for (stmt, span) in body.stmts.iter().zip(&spans.stmts) {
        match stmt {
            Stmt::Open => depth += 1,
            Stmt::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 {
            continue;
        }
        let names: Vec<&str> = match stmt {
            Stmt::Regs(line) => {
                let single = line.names.iter().filter(|name| name.bank.is_none());
                single.map(|name| &*name.name).collect()
            }
            Stmt::Variable(symbol) => vec![module.name(*symbol)],
            _ => continue,
        };
        for name in names {
            if let Some(param) = params.get(name) {
                let first = parsed.spans.symbols.get(*param).copied().unwrap_or_default();
                let message = format!("`{name}` is the name of a parameter already");
                out.push(Diag::error(codes::SYN009, *span, message).related(first, "the parameter"));
            }
        }
    }
}
