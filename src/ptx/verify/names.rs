//! Names of parameters that the function's body declares again: ptxas has them in one scope.

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Function, Module, Stmt};
use crate::ptx::parse::{FunctionSpans, Parsed};

/// Checks the outermost scope of every body.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        one(parsed, function, spans, out);
    }
}

fn one(parsed: &Parsed, function: &Function, spans: &FunctionSpans, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let params = function.results.iter().chain(&function.params);
    let params: Vec<(&str, usize)> = params.map(|symbol| (module.name(*symbol), symbol.index())).collect();
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
        let again = params.iter().filter(|(name, _)| declares(module, stmt, name));
        for (name, param) in again {
            let first = parsed.spans.symbols.get(*param).copied().unwrap_or_default();
            let message = format!("`{name}` is the name of a parameter already");
            out.push(Diag::error(codes::SYN009, *span, message).related(first, "the parameter"));
        }
    }
}

/// Whether a statement brings a name into its scope.
fn declares(module: &Module, stmt: &Stmt, wanted: &str) -> bool {
    let number = |prefix: &str| wanted.strip_prefix(prefix)?.parse::<u32>().ok();
    match stmt {
        Stmt::Regs(line) => line.names.iter().any(|name| match name.bank {
            None => *name.name == *wanted,
            Some(size) => number(&name.name).is_some_and(|number| number < size),
        }),
        Stmt::Variable(symbol) => module.name(*symbol) == wanted,
        _ => false,
    }
}
