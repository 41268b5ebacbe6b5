//! What is declared and defined nowhere in the module. ptxas 13.5 rejects it, unless it makes a relocatable object (`-c`):
//! then `.extern` may stay open, and nothing else.

use super::module::for_each_symbol;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{FuncId, Function, FunctionKind, InitValue, Item, Linkage, Module, SymbolId, SymbolKind};
use crate::ptx::parse::Parsed;
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;

const LINK: &str = "link it with the module that defines it; for a module to be linked, say `--relocatable`";

/// Checks functions without a body and variables that live elsewhere.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let is_open = |id: &FuncId| {
        let function = module.function(*id);
        function.kind == FunctionKind::Func && function.body.is_none() && !is_defined(module, function)
    };
    let open: Vec<FuncId> = (0..module.functions.len() as u32).map(FuncId).filter(is_open).collect();
    if !open.is_empty() {
        let mentioned = mentioned(module);
        let mut told = FxHashSet::default();
        for id in open {
            let function = module.function(id);
            let is_used = function.linkage != Linkage::Extern || mentioned.contains(&function.symbol);
            if is_used && told.insert(function.symbol) {
                out.push(open_function(parsed, id));
            }
        }
    }
    for item in &module.items {
        if let Item::Variable(symbol) = item {
            out.extend(open_variable(parsed, *symbol));
        }
    }
}

/// Whether the driver provides the function: ptxas takes these names as they are.
fn is_provided(name: &str) -> bool {
    matches!(name, "vprintf" | "malloc" | "free" | "__assertfail")
        || name.starts_with("__cuda_syscall_")
        || name.starts_with("cnp")
}

/// Whether another declaration of the name has a body or is the new name in an `.alias`, or the driver has it.
fn is_defined(module: &Module, function: &Function) -> bool {
    let name = module.name(function.symbol);
    let has_body = |id| module.function(id).body.is_some();
    let is_alias = |item: &Item| matches!(item, Item::Alias(alias, _) if module.name(*alias) == name);
    is_provided(name) || module.function_named(name).is_some_and(has_body) || module.items.iter().any(is_alias)
}

fn open_function(parsed: &Parsed, id: FuncId) -> Diag {
    let function = parsed.module.function(id);
    let name = parsed.module.name(function.symbol);
    let span = parsed
        .spans
        .functions
        .get(id.index())
        .map(|spans| spans.name)
        .unwrap_or_default();
    if function.linkage == Linkage::Extern {
        let message = format!("`{name}` is used, and defined nowhere in this module");
        return Diag::error(codes::SYN019, span, message).help(LINK);
    }
    let message = format!("`{name}` is declared, and defined nowhere in this module");
    let help = format!("define it, or declare it `.extern .func {name}` if another module does");
    Diag::error(codes::SYN008, span, message).help(help)
}

/// ptxas makes a definition of an `.extern` variable whose size it knows, and only warns.
fn open_variable(parsed: &Parsed, symbol: SymbolId) -> Option<Diag> {
    let module = &parsed.module;
    let variable = module
        .variable(symbol)
        .filter(|variable| variable.linkage == Linkage::Extern)?;
    let name = module.name(symbol);
    let sized = variable.size().is_some();
    let is_dynamic = variable.space == Space::Shared && !sized;
    if is_dynamic || is_defined_too(module, symbol) {
        return None;
    }
    let span = parsed.spans.symbols.get(symbol.index()).copied().unwrap_or_default();
    let diag = if sized {
        let message = format!("`{name}` is defined nowhere in this module, so it gets a variable of its own");
        Diag::warning(codes::SYN019, span, message)
    } else {
        let message = format!("`{name}` is defined nowhere in this module");
        Diag::error(codes::SYN019, span, message)
    };
    Some(diag.help(LINK))
}

/// Whether the module defines a variable that it declares `.extern` as well.
fn is_defined_too(module: &Module, symbol: SymbolId) -> bool {
    module.items.iter().any(|item| match item {
        Item::Variable(other) => {
            module.name(*other) == module.name(symbol)
                && module
                    .variable(*other)
                    .is_some_and(|variable| variable.linkage != Linkage::Extern)
        }
        _ => false,
    })
}

/// The symbols that instructions and initialisers mention.
fn mentioned(module: &Module) -> FxHashSet<SymbolId> {
    let mut found = FxHashSet::default();
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    for operand in bodies.flat_map(|body| &body.insts).flat_map(|inst| &inst.operands) {
        for_each_symbol(operand, &mut |symbol| {
            found.insert(symbol);
        });
    }
    for symbol in &module.symbols {
        if let SymbolKind::Variable(variable) = &symbol.kind {
            let values = variable.init.iter().flat_map(|init| &init.values);
            values.for_each(|value| initial(value, &mut found));
        }
    }
    found
}

fn initial(value: &InitValue, found: &mut FxHashSet<SymbolId>) {
    match value {
        InitValue::Symbol(symbol) => {
            found.insert(symbol.symbol);
        }
        InitValue::Row(values) => values.iter().for_each(|value| initial(value, found)),
        InitValue::Imm(_) | InitValue::Field(_) => {}
    }
}
