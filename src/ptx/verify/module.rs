//! The module as a whole: header, launch directives, static shared memory.

use super::gates::Environment;
use super::launch;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{
    Base, FuncId, Function, FunctionKind, Item, Linkage, Module, Operand, Stmt, SymbolId, SymbolKind,
};
use crate::ptx::parse::Parsed;
use crate::ptx::source::Span;
use crate::ptx::target::{PtxVersion, Target, TargetOption};
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;

/// Bytes of static shared memory that a CTA may have.
const SHARED_LIMIT: u64 = 48 * 1024;

/// Checks what is not an instruction.
pub(super) fn check(parsed: &Parsed, environment: &Environment, out: &mut Vec<Diag>) {
    header(parsed, environment, out);
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        launch::check(&parsed.module, function, spans, environment, out);
        kernel_parameters(parsed, function, out);
        if function.kind == FunctionKind::Entry && function.body.is_some() {
            shared(parsed, function, out);
        }
    }
}

/// Version and target: known, and made for each other.
fn header(parsed: &Parsed, environment: &Environment, out: &mut Vec<Diag>) {
    let header = &parsed.module.header;
    if let (Some(text), Some(span)) = (&header.version, parsed.spans.header.version)
        && environment.version.is_none()
    {
        let message = format!("there is no PTX version {text}");
        let newest = PtxVersion::NEWEST;
        let help = match text.parse::<PtxVersion>() {
            Ok(version) => format!("the nearest is {}; the newest known is {newest}", version.nearest()),
            Err(_) => format!("the newest known is {newest}"),
        };
        out.push(Diag::error(codes::GATE005, span, message).help(help));
    }
    let Some(span) = parsed.spans.header.target else { return };
    for (at, word) in header.target.iter().enumerate() {
        if at == 0 && !word.starts_with("sm_") && TargetOption::from_name(word).is_some() {
            continue;
        }
        let unknown = match at {
            0 => word.parse::<Target>().err().map(|error| error.to_string()),
            _ if TargetOption::from_name(word).is_some() || word.parse::<Target>().is_ok() => None,
            _ => Some(format!("`{word}` is no target and no option of one")),
        };
        if let Some(message) = unknown.or_else(|| option_finding(&header.target, at, environment)) {
            out.push(Diag::error(codes::GATE005, span, message));
        }
    }
    if out.is_empty() && !header.target.iter().any(|word| word.parse::<Target>().is_ok()) {
        let message = "`.target` names no GPU";
        out.push(Diag::error(codes::SYN003, span, message).help("write for instance `.target sm_80, debug`"));
    }
    if out.is_empty() {
        debug_data(parsed, span, out);
    }
    if let (Some(version), Some(target)) = (environment.version, environment.target)
        && let Some(least) = target.min_ptx()
        && version < least
        // An instruction that needs a newer version is the same cause, said more precisely.
        && out.iter().all(|diag| diag.code != codes::GATE002)
    {
        let message = format!("PTX {version} does not know {target}");
        let help = format!("write `.version {least}` or newer");
        out.push(Diag::error(codes::GATE004, span, message).help(help));
    }
}

/// `.target ..., debug` promises sections of debug data.
fn debug_data(parsed: &Parsed, span: Span, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let promised = module.header.target.iter().any(|word| &**word == "debug");
    let is_there = |item: &Item| match item {
        Item::Section(_) => true,
        Item::Raw(text) => text.starts_with("@@DWARF"),
        _ => false,
    };
    if promised && !module.items.iter().any(is_there) {
        let message = "`debug` promises a `.section` of debug data, and there is none";
        let help = "drop `debug` from `.target`; `.loc` and `.file` do without";
        out.push(Diag::error(codes::SYN003, span, message).help(help));
    }
}

/// A kernel's parameters come from memory: they cannot be registers.
fn kernel_parameters(parsed: &Parsed, function: &Function, out: &mut Vec<Diag>) {
    if function.kind != FunctionKind::Entry {
        return;
    }
    for symbol in &function.params {
        let in_register = parsed
            .module
            .variable(*symbol)
            .is_some_and(|variable| variable.space == Space::Reg);
        if in_register {
            let span = parsed.spans.symbols.get(symbol.index()).copied().unwrap_or_default();
            let message = format!("the kernel's parameter `{}` is in `.reg`", parsed.module.name(*symbol));
            out.push(Diag::error(codes::ISA012, span, message).help("declare it `.param`"));
        }
    }
}

/// Why an option may not stand behind this target, or beside the options before it.
fn option_finding(words: &[Box<str>], at: usize, environment: &Environment) -> Option<String> {
    let option = TargetOption::from_name(words.get(at)?)?;
    if let Some(target) = environment.target.filter(|target| !option.allowed_with(*target)) {
        return Some(format!(
            "`{option}` is for GPUs without double precision, and {target} has it"
        ));
    }
    let other = match option {
        TargetOption::TexmodeIndependent => TargetOption::TexmodeUnified,
        TargetOption::TexmodeUnified => TargetOption::TexmodeIndependent,
        _ => return None,
    };
    let clash = words
        .iter()
        .take(at)
        .any(|word| TargetOption::from_name(word) == Some(other));
    clash.then(|| format!("`{option}` and `{other}` exclude each other"))
}

/// The shared memory of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// Bytes that variables with a size take, those of the functions it calls included.
    pub bytes: u64,
    /// The largest of them.
    pub largest: Option<SymbolId>,
    /// Whether there is a variable without a size as well: its size is given at launch.
    pub dynamic: bool,
}

/// The shared memory that a kernel uses, itself or in what it calls.
pub fn shared_memory(module: &Module, function: &Function) -> SharedMemory {
    let mut variables = FxHashSet::default();
    collect(module, function, &mut variables);
    let mut variables: Vec<_> = variables.into_iter().collect();
    variables.sort_unstable();
    let mut found = SharedMemory::default();
    let mut most = 0;
    for symbol in variables {
        let Some(variable) = module.variable(symbol) else {
            continue;
        };
        let Some(size) = variable.size().filter(|_| variable.linkage != Linkage::Extern) else {
            found.dynamic = true;
            continue;
        };
        let start = found.bytes.next_multiple_of(u64::from(variable.alignment().max(1)));
        found.bytes = start.saturating_add(size);
        if found.largest.is_none() || size > most {
            found.largest = Some(symbol);
            most = size;
        }
    }
    found
}

/// Static shared memory beyond what a CTA may have.
fn shared(parsed: &Parsed, function: &Function, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let memory = shared_memory(module, function);
    let total = memory.bytes;
    let Some(symbol) = memory.largest.filter(|_| total > SHARED_LIMIT) else {
        return;
    };
    let span = parsed.spans.symbols.get(symbol.index()).copied().unwrap_or_default();
    let message = format!(
        "`{}` has {total} bytes of static shared memory; the limit is {SHARED_LIMIT}",
        module.name(function.symbol)
    );
    let help = "declare it `.extern .shared` without a size and give the size at launch";
    out.push(Diag::error(codes::ISA019, span, message).help(help));
}

/// The shared variables that a function and its callees mention.
fn collect(module: &Module, function: &Function, found: &mut FxHashSet<SymbolId>) {
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    let mut open = vec![function];
    while let Some(function) = open.pop() {
        let Some(body) = &function.body else { continue };
        for stmt in &body.stmts {
            if let Stmt::Variable(symbol) = stmt {
                note(module, *symbol, found);
            }
        }
        for operand in body.insts.iter().flat_map(|inst| &inst.operands) {
            for_each_symbol(operand, &mut |symbol| match module.symbol(symbol).kind {
                SymbolKind::Function(callee) => {
                    if seen.insert(callee) {
                        open.push(module.function(callee));
                    }
                }
                _ => note(module, symbol, found),
            });
        }
    }
}

fn note(module: &Module, symbol: SymbolId, found: &mut FxHashSet<SymbolId>) {
    if module
        .variable(symbol)
        .is_some_and(|variable| variable.space == Space::Shared)
    {
        found.insert(symbol);
    }
}

/// Calls `see` with every symbol in an operand.
pub(super) fn for_each_symbol(operand: &Operand, see: &mut impl FnMut(SymbolId)) {
    match operand {
        Operand::Symbol(symbol, _) => see(*symbol),
        Operand::Address(address) => {
            if let Base::Symbol(symbol) = address.base {
                see(symbol);
            }
        }
        Operand::Bracket(parts) | Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| for_each_symbol(part, see));
        }
        _ => {}
    }
}
