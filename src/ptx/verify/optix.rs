//! Programs for OptiX: they call functions that nothing declares, and ptxas cannot assemble them ("requires call
//! prototype"). OptiX reads them with a compiler of its own, so this is said once and is no error.

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Symbol, SymbolKind};
use crate::ptx::parse::{Parsed, is_optix_function};
use crate::ptx::source::Span;

/// Beginnings of the names of programs, by what they do.
const PROGRAMS: [&str; 8] = [
    "__raygen__",
    "__intersection__",
    "__anyhit__",
    "__closesthit__",
    "__miss__",
    "__direct_callable__",
    "__continuation_callable__",
    "__exception__",
];

/// One information for a module that is a program for OptiX.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    let symbols = || parsed.module.symbols.iter().zip(&parsed.spans.symbols);
    let mut called = symbols().filter(|(symbol, _)| is_called(symbol));
    if let Some((symbol, span)) = called.next() {
        let more = called.count();
        out.push(with_calls(&symbol.name, *span, more));
    } else if let Some((symbol, span)) = symbols().find(|(symbol, _)| is_program(symbol)) {
        let message = format!(
            "`{}` is a program for OptiX, which calls it: nobody launches it",
            symbol.name
        );
        out.push(Diag::info(codes::DIA001, *span, message));
    }
}

fn is_called(symbol: &Symbol) -> bool {
    symbol.kind == SymbolKind::Undefined && is_optix_function(&symbol.name)
}

fn is_program(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Function(_)) && PROGRAMS.iter().any(|start| symbol.name.starts_with(start))
}

fn with_calls(name: &str, span: Span, more: usize) -> Diag {
    let subject = match more {
        0 => format!("`{name}` comes"),
        1 => format!("`{name}` and another function come"),
        _ => format!("`{name}` and {more} other functions come"),
    };
    Diag::info(
        codes::DIA001,
        span,
        format!("{subject} with OptiX: this is a program for its compiler"),
    )
    .note("nothing declares these functions, so `ptxas` cannot assemble the module")
    .help("load it with `optixModuleCreate`")
}
