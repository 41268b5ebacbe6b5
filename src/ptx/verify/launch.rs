//! Directives between a function's parameters and its body, and the size of the parameters.

use super::gates::Environment;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Attr, Function, FunctionKind, Module};
use crate::ptx::parse::FunctionSpans;
use crate::ptx::source::Span;
use crate::ptx::target::PtxVersion;

/// Directives that only kernels take, with the least version and target (0 for any).
const KERNEL_ONLY: &[(&str, PtxVersion, u16)] = &[
    ("maxntid", PtxVersion::new(1, 3), 0),
    ("reqntid", PtxVersion::new(2, 1), 0),
    ("minnctapersm", PtxVersion::new(2, 0), 0),
    ("maxnctapersm", PtxVersion::new(1, 3), 0),
    ("maxnreg", PtxVersion::new(1, 3), 0),
    ("reqnctapercluster", PtxVersion::new(7, 8), 90),
    ("explicitcluster", PtxVersion::new(7, 8), 90),
    ("maxclusterrank", PtxVersion::new(7, 8), 90),
    ("blocksareclusters", PtxVersion::new(9, 0), 90),
];

/// Pairs that exclude each other.
const CLASHES: &[(&str, &str)] = &[("maxntid", "reqntid"), ("reqnctapercluster", "maxclusterrank")];

/// Bytes of kernel parameters: at most, and at most from PTX 8.1 and sm_70 on.
const PARAMETERS: (u64, u64) = (4352, 32764);

/// Checks the directives of one function.
pub(super) fn check(
    module: &Module,
    function: &Function,
    spans: &FunctionSpans,
    environment: &Environment,
    out: &mut Vec<Diag>,
) {
    for (attr, span) in function.attrs.iter().zip(&spans.attrs) {
        out.extend(directive(function, attr, *span, environment));
    }
    clashes(module, function, spans, out);
    if function.kind == FunctionKind::Entry && function.body.is_some() {
        out.extend(parameters(module, function, spans, environment));
    }
}

/// One directive: does this function take it, does the module have it, are its numbers possible?
fn directive(function: &Function, attr: &Attr, span: Span, environment: &Environment) -> Option<Diag> {
    let name = &*attr.name;
    let kernel_only = KERNEL_ONLY.iter().find(|known| known.0 == name);
    let message = match (function.kind, kernel_only) {
        (FunctionKind::Func, Some(_)) => format!("`.{name}` is for kernels; a `.func` does not take it"),
        (FunctionKind::Entry, None) if name == "noreturn" => "a kernel cannot be `.noreturn`".into(),
        (FunctionKind::Func, None) if name == "noreturn" && !function.results.is_empty() => {
            "a function with results cannot be `.noreturn`".into()
        }
        _ => return numbers(attr, span).or_else(|| gate(attr, span, environment)),
    };
    Some(Diag::error(codes::SYN017, span, message))
}

fn gate(attr: &Attr, span: Span, environment: &Environment) -> Option<Diag> {
    let name = &*attr.name;
    let (_, least, sm) = KERNEL_ONLY.iter().find(|known| known.0 == name)?;
    if let Some(version) = environment.version {
        if name == "maxnctapersm" && version >= PtxVersion::new(2, 1) {
            let message = "`.maxnctapersm` is gone since PTX 2.1";
            return Some(Diag::error(codes::GATE006, span, message).help("write `.minnctapersm`"));
        }
        if version < *least {
            let message = format!("`.{name}` needs PTX {least}; this module says {version}");
            return Some(Diag::error(codes::GATE002, span, message));
        }
    }
    let target = environment.target.filter(|target| target.sm < *sm)?;
    let message = format!("`.{name}` needs target sm_{sm} or newer; this module says {target}");
    Some(Diag::error(codes::GATE001, span, message))
}

/// Numbers that no launch can satisfy.
fn numbers(attr: &Attr, span: Span) -> Option<Diag> {
    let name = &*attr.name;
    let shape = matches!(name, "maxntid" | "reqntid");
    if (shape || name == "maxnreg") && attr.args.contains(&0) {
        let message = format!("the numbers of `.{name}` are positive");
        return Some(Diag::error(codes::ISA015, span, message));
    }
    if !shape {
        return None;
    }
    if attr.args.len() > 3 {
        let message = format!("`.{name}` takes up to 3 numbers, not {}", attr.args.len());
        return Some(Diag::error(codes::SYN017, span, message));
    }
    let threads = attr.args.iter().try_fold(1u64, |all, dim| all.checked_mul(*dim));
    if threads.is_none_or(|threads| threads > 1024) {
        let message = format!("`.{name}` asks for more threads than the 1024 a block may have");
        return Some(Diag::warning(codes::SYN018, span, message));
    }
    let deep = name == "reqntid" && attr.args.get(2).is_some_and(|z| *z > 64);
    deep.then(|| {
        let message = "`.reqntid` asks for a block of more than 64 threads in z";
        Diag::warning(codes::SYN018, span, message)
    })
}

/// Directives that exclude each other, or that need others.
fn clashes(module: &Module, function: &Function, spans: &FunctionSpans, out: &mut Vec<Diag>) {
    let find = |name: &str| function.attrs.iter().position(|attr| &*attr.name == name);
    let span = |at: usize| spans.attrs.get(at).copied().unwrap_or(spans.name);
    let name = module.name(function.symbol);
    // ptxas says so where the function ends: that is where it has seen all of them.
    let end = Span::new(spans.whole.end.saturating_sub(1), spans.whole.end);
    for (one, other) in CLASHES {
        let (Some(first), Some(second)) = (find(one), find(other)) else {
            continue;
        };
        let message = format!("`{name}` states both `.{one}` and `.{other}`");
        let place = if *one == "maxntid" {
            end
        } else {
            span(first.max(second))
        };
        let diag = Diag::error(codes::SYN017, place, message)
            .related(span(first), "one of them")
            .related(span(second), "the other");
        out.push(match *one {
            "maxntid" => diag.help("keep `.reqntid` where the block\'s shape is always the same, `.maxntid` otherwise"),
            _ => diag.help("keep one of the two"),
        });
    }
    if let Some(at) = find("blocksareclusters")
        && (find("reqntid").is_none() || find("reqnctapercluster").is_none())
    {
        let message = "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`";
        out.push(Diag::error(codes::SYN017, end, message).related(span(at), "stated here"));
    }
}

/// More bytes of parameters than a launch can pass.
fn parameters(module: &Module, function: &Function, spans: &FunctionSpans, environment: &Environment) -> Option<Diag> {
    let new = environment
        .version
        .is_none_or(|version| version >= PtxVersion::new(8, 1))
        && environment.target.is_none_or(|target| target.sm >= 70);
    let limit = if new { PARAMETERS.1 } else { PARAMETERS.0 };
    let total = function.params.iter().try_fold(0u64, |total, symbol| {
        let variable = module.variable(*symbol)?;
        let start = total.checked_next_multiple_of(u64::from(variable.alignment().max(1)))?;
        start.checked_add(variable.size()?)
    })?;
    (total > limit).then(|| {
        let end = Span::new(spans.whole.end.saturating_sub(1), spans.whole.end);
        let message = format!(
            "`{}` takes {total} bytes of parameters; the limit is {limit}",
            module.name(function.symbol)
        );
        let diag = Diag::error(codes::ISA022, end, message).related(spans.name, "the kernel");
        if new {
            diag.help("pass a pointer to the rest")
        } else {
            diag.help("PTX 8.1 allows 32764 bytes from sm_70 on; or pass a pointer to the rest")
        }
    })
}
