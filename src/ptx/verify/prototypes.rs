//! Declarations of one name: do they agree?

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Function, FunctionKind, Item, Linkage, Module, SymbolId};
use crate::ptx::parse::Parsed;
use rustc_hash::FxHashMap;

/// Checks functions and variables that are declared more than once.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    functions(parsed, out);
    variables(parsed, out);
    aliases(parsed, out);
}

fn functions(parsed: &Parsed, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let mut earlier: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for (at, function) in module.functions.iter().enumerate() {
        let Some(spans) = parsed.spans.functions.get(at) else {
            continue;
        };
        let name = module.name(function.symbol);
        if function.linkage == Linkage::Extern && function.body.is_some() {
            let message = format!("`{name}` is `.extern`, and has a body");
            out.push(Diag::error(codes::SYN014, spans.name, message).help("drop `.extern`, or the body"));
        } else if function.linkage == Linkage::Common {
            let message = "`.common` is for variables";
            out.push(Diag::error(codes::SYN001, spans.name, message).help("a function can be `.weak`"));
        }
        if let Some(first) = earlier.insert(function.symbol, at)
            && let Some(message) = disagreement(module, &module.functions[first], function)
        {
            let message = format!("`{name}` {message}");
            let related = parsed.spans.functions.get(first).map_or(spans.name, |spans| spans.name);
            out.push(Diag::error(codes::SYN014, spans.name, message).related(related, "declared here"));
        }
    }
}

/// Why a declaration cannot stand behind an earlier one.
fn disagreement(module: &Module, old: &Function, new: &Function) -> Option<String> {
    if old.kind != new.kind {
        let kind = |function: &Function| match function.kind {
            FunctionKind::Entry => "a kernel",
            FunctionKind::Func => "a function",
        };
        return Some(format!("is {} here, and was declared as {}", kind(new), kind(old)));
    }
    if old.body.is_some() && new.body.is_none() {
        return Some("is declared behind its definition".to_owned());
    }
    let defines_extern = old.linkage == Linkage::Extern && new.linkage != Linkage::Extern && new.body.is_some();
    if defines_extern {
        return Some("is defined here, and was declared `.extern`".to_owned());
    }
    for (what, old, new) in [
        ("parameter", &old.params, &new.params),
        ("result", &old.results, &new.results),
    ] {
        if old.len() != new.len() {
            return Some(format!(
                "has {} {what}s here, and was declared with {}",
                new.len(),
                old.len()
            ));
        }
        for (at, (old, new)) in old.iter().zip(new).enumerate() {
            let (Some(old), Some(new)) = (module.variable(*old), module.variable(*new)) else {
                continue;
            };
            let at = at + 1;
            if old.space != new.space {
                let (is, was) = (new.space.name(), old.space.name());
                return Some(format!(
                    "has {what} {at} in `.{is}` here, and was declared with `.{was}`"
                ));
            }
            if (old.ty, old.lanes, &old.dims) != (new.ty, new.lanes, &new.dims) {
                return Some(format!("has {what} {at} of another type than it was declared with"));
            }
            if old.alignment() != new.alignment() {
                let (is, was) = (new.alignment(), old.alignment());
                return Some(format!(
                    "has {what} {at} aligned to {is} bytes here, and was declared with {was}"
                ));
            }
        }
    }
    None
}

/// An `.extern` variable may be defined in the same module, where others could see it too.
fn variables(parsed: &Parsed, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let mut earlier: FxHashMap<&str, SymbolId> = FxHashMap::default();
    for item in &module.items {
        let Item::Variable(symbol) = item else { continue };
        let name = module.name(*symbol);
        let Some(first) = earlier.insert(name, *symbol) else {
            continue;
        };
        let (Some(old), Some(new)) = (module.variable(first), module.variable(*symbol)) else {
            continue;
        };
        let linkages = [old.linkage, new.linkage];
        if !linkages.contains(&Linkage::Extern) {
            continue;
        }
        let same_length = old.dims.iter().zip(&new.dims).all(|(old, new)| {
            let (Some(old), Some(new)) = (old, new) else {
                return true;
            };
            old == new
        });
        let same = (old.space, old.ty, old.lanes, old.dims.len()) == (new.space, new.ty, new.lanes, new.dims.len());
        let message = if !same || !same_length {
            format!("`{name}` is of another type or space than it was declared with")
        } else if linkages.contains(&Linkage::None) {
            format!("`{name}` is `.extern`, and its definition is not visible outside this module")
        } else {
            continue;
        };
        let place = |symbol: SymbolId| parsed.spans.symbols.get(symbol.index()).copied().unwrap_or_default();
        let diag = Diag::error(codes::SYN014, place(*symbol), message).related(place(first), "declared here");
        out.push(if same && same_length {
            diag.help("define it `.visible`, or drop the `.extern` declaration")
        } else {
            diag
        });
    }
}

/// Both names of an `.alias` are functions of one signature, and only one of them has a body.
fn aliases(parsed: &Parsed, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let find = |symbol: SymbolId| {
        let id = module.function_named(module.name(symbol))?;
        Some((module.function(id), parsed.spans.functions.get(id.index())?.name))
    };
    for item in &module.items {
        let Item::Alias(alias, target) = item else { continue };
        let (Some((new, span)), Some((old, _))) = (find(*alias), find(*target)) else {
            continue;
        };
        let (alias, target) = (module.name(*alias), module.name(*target));
        if new.body.is_some() {
            let message = format!("`{alias}` has a body, and is an alias of `{target}` as well");
            out.push(Diag::error(codes::SYN009, span, message).help("declare it without a body"));
            continue;
        }
        let unbound = Function {
            linkage: Linkage::None,
            body: None,
            ..old.clone()
        };
        if let Some(message) = disagreement(module, &unbound, new) {
            let message = format!("`{alias}`, the alias of `{target}`, {message}");
            out.push(Diag::error(codes::SYN014, span, message));
        }
    }
}
