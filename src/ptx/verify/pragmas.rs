//! `.pragma`: is there one of that name, does it stand where it means something, and is its value one?
//!
//! ptxas refuses a pragma that it does not know at module scope, and ignores it in a function.

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Function, FunctionKind, Item, Stmt};
use crate::ptx::needs::pragmas;
use crate::ptx::parse::Parsed;
use crate::ptx::source::Span;

/// The pragmas of PTX 9.0.
const KNOWN: [&str; 4] = ["nounroll", "used_bytes_mask", "enable_smem_spilling", "frequency"];

/// Pragmas that ptxas knows and the manual does not: nothing is said of them.
const UNDOCUMENTED: [&str; 3] = ["abi_param_reg", "coroutine", "local_maxnreg"];

/// Where a pragma stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Module,
    /// Between a kernel's parameters and its body.
    Head,
    Body(FunctionKind),
}

/// Checks every `.pragma`.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    for (item, span) in parsed.module.items.iter().zip(&parsed.spans.items) {
        if let Item::Pragma(text) = item {
            each(text, Scope::Module, *span, out);
        }
    }
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        // A function that is no kernel takes none there, which is reported as that.
        let attrs = function.attrs.iter().zip(&spans.attrs);
        for (attr, span) in attrs.filter(|_| function.kind == FunctionKind::Entry) {
            if &*attr.name == "pragma" {
                each(&attr.text, Scope::Head, *span, out);
            }
        }
        for (text, span) in statements(function, &spans.stmts) {
            each(text, Scope::Body(function.kind), span, out);
        }
    }
}

fn statements<'p>(function: &'p Function, spans: &'p [Span]) -> impl Iterator<Item = (&'p str, Span)> {
    let stmts = function.body.iter().flat_map(|body| &body.stmts);
    stmts.zip(spans).filter_map(|(stmt, span)| match stmt {
        Stmt::Pragma(text) => Some((&**text, *span)),
        _ => None,
    })
}

/// The strings of one `.pragma`.
fn each(text: &str, scope: Scope, span: Span, out: &mut Vec<Diag>) {
    out.extend(pragmas(text).filter_map(|pragma| fault(pragma, scope, span)));
}

fn fault(pragma: &str, scope: Scope, span: Span) -> Option<Diag> {
    let (name, value) = match pragma.split_once(' ') {
        Some((name, value)) => (name, value.trim()),
        None => (pragma, ""),
    };
    if UNDOCUMENTED.contains(&name) {
        return None;
    }
    if !KNOWN.contains(&name) || (name == "nounroll" && !value.is_empty()) {
        return Some(unknown(pragma, scope, span));
    }
    if name != "nounroll" && !matches!(scope, Scope::Body(_)) {
        let message = format!("the pragma `{name}` stands in the body of a function, where its effect begins");
        return Some(Diag::error(codes::SYN001, span, message));
    }
    match name {
        "enable_smem_spilling" if scope == Scope::Body(FunctionKind::Func) => {
            let message = "the pragma `enable_smem_spilling` is for kernels; a `.func` does not take it";
            Some(Diag::error(codes::SYN017, span, message))
        }
        "used_bytes_mask" if !is_number(value.strip_prefix('-').unwrap_or(value)) => {
            Some(value_fault(name, "a mask with one bit a byte, such as `0xfff`", span))
        }
        "frequency" if !is_number(value) || !value.contains(|c: char| c.is_ascii_hexdigit() && c != '0') => {
            Some(value_fault(name, "how often the block is executed, 1 or more", span))
        }
        _ => None,
    }
}

/// Numbers in pragmas have any length, and no binary digits.
fn is_number(value: &str) -> bool {
    let hex = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    let digits = hex.unwrap_or(value);
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(if hex.is_some() { 16 } else { 10 }))
}

fn value_fault(name: &str, wanted: &str, span: Span) -> Diag {
    let message = format!("the pragma `{name}` takes one number: {wanted}");
    Diag::error(codes::SYN001, span, message)
}

fn unknown(pragma: &str, scope: Scope, span: Span) -> Diag {
    let message = format!("PTX has no pragma `{pragma}`");
    let diag = match scope {
        Scope::Module => Diag::error(codes::SYN005, span, message),
        Scope::Head | Scope::Body(_) => {
            Diag::warning(codes::SYN005, span, message).note("ptxas ignores it, with a warning")
        }
    };
    let known = KNOWN.map(|name| format!("`{name}`")).join(", ");
    diag.help(format!("there are {known}"))
}
