//! Directives between a function's parameters and its body, and the size of the parameters.

use super::gates::Environment;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Attr, Function, FunctionKind, Module};
use crate::ptx::parse::FunctionSpans;
use crate::ptx::source::Span;
use crate::ptx::target::PtxVersion;

/// Directives that only kernels take.
const KERNEL_ONLY: &[&str] = &[
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
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
    let kernel_only = KERNEL_ONLY.iter().find(|known| **known == name);
    let message = match (function.kind, kernel_only) {
        (FunctionKind::Func, Some(_)) => format!("`.{name}` is for kernels; a `.func` does not take it"),
        (FunctionKind::Entry, None) if name == "noreturn" => "a kernel cannot be `.noreturn`".into(),
        (FunctionKind::Entry, None) if name.starts_with("abi_preserve") => {
            format!("`.{name}` is for functions; a kernel does not take it")
        }
        (FunctionKind::Func, None) if name == "pragma" => {
            "`.pragma` stands in the body of a `.func`, not in front of it".into()
        }
        (FunctionKind::Func, None) if name == "noreturn" && !function.results.is_empty() => {
            "a function with results cannot be `.noreturn`".into()
        }
        _ => return numbers(attr, span).or_else(|| gone(attr, span, environment)),
    };
    Some(Diag::error(codes::SYN017, span, message))
}

/// What newer versions took back; what older ones lack is found with the other directives.
fn gone(attr: &Attr, span: Span, environment: &Environment) -> Option<Diag> {
    let version = environment.version?;
    (&*attr.name == "maxnctapersm" && version >= PtxVersion::new(2, 1)).then(|| {
        let message = "`.maxnctapersm` is gone since PTX 2.1";
        Diag::error(codes::GATE006, span, message).help("write `.minnctapersm`")
    })
}

/// Numbers that no launch can satisfy.
fn numbers(attr: &Attr, span: Span) -> Option<Diag> {
    let name = &*attr.name;
    let shape = matches!(name, "maxntid" | "reqntid");
    let most = match name {
        "maxntid" | "reqntid" | "reqnctapercluster" => 3,
        "minnctapersm" | "maxnctapersm" | "maxnreg" | "maxclusterrank" | "abi_preserve" | "abi_preserve_control" => 1,
        "noreturn" | "explicitcluster" | "blocksareclusters" => 0,
        _ => return None,
    };
    if attr.args.len() > most || (most > 0 && attr.args.is_empty()) {
        let wanted = match most {
            0 => "no number",
            1 => "one number",
            _ => "one to three numbers",
        };
        let message = format!("`.{name}` takes {wanted}, not {}", attr.args.len());
        return Some(Diag::error(codes::SYN017, span, message));
    }
    if (shape || matches!(name, "maxnreg" | "minnctapersm" | "maxnctapersm")) && attr.args.contains(&0) {
        let message = format!("the numbers of `.{name}` are positive");
        return Some(Diag::error(codes::ISA015, span, message));
    }
    if !shape {
        return None;
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
