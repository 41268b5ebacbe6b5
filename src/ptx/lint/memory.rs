//! What the rules on single accesses say: bounds, alignment, spaces.

use super::context::Context;
use super::racing::{address, opcode, thread};
use super::trail::{Goal, with_trail};
use super::trials::{Faulty, Tried};
use crate::ptx::analysis::trial::{Fault, FaultKind, Site};
use crate::ptx::diag::{Code, Diag, Edit, Level};
use crate::ptx::ir::{Address, Base, FuncId, Inst, InstId, Operand, SymbolId, Variable};
use crate::ptx::parse::pieces;
use rustc_hash::FxHashSet;

/// MEM001.
pub(super) fn mem001(context: &Context, code: Code) -> Vec<Diag> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<Site> = FxHashSet::default();
    for direct in direct(context) {
        let Some(held) = direct.variable.size().filter(|held| *held > 0) else {
            continue;
        };
        if direct.offset < 0 || direct.offset as u64 + u64::from(direct.size) > held {
            seen.insert(direct.site);
            found.push(outside(
                context,
                code,
                direct.site,
                direct.symbol,
                direct.offset,
                direct.size,
                held,
            ));
        }
    }
    for (_, faulty) in faults(context).filter(|(_, faulty)| faulty.fault.constant && is_certain(faulty)) {
        if let FaultKind::OutOfBounds {
            symbol,
            offset,
            size,
            held,
        } = faulty.fault.kind
            && seen.insert(faulty.fault.site)
        {
            found.push(outside(context, code, faulty.fault.site, symbol, offset, size, held));
        }
    }
    found
}

fn outside(context: &Context, code: Code, site: Site, symbol: SymbolId, offset: i64, size: u32, held: u64) -> Diag {
    let message = format!(
        "{} accesses bytes {offset} to {} of `{}`, which has {held}",
        opcode(context, site),
        offset + i64::from(size) - 1,
        context.parsed.module.name(symbol)
    );
    declared(context, symbol, Diag::error(code, span(context, site), message))
        .help("make the variable larger or the offset smaller")
}

/// MEM002.
pub(super) fn mem002(context: &Context, code: Code) -> Vec<Diag> {
    let varying = faults(context).filter(|(_, faulty)| !faulty.fault.constant && is_certain(faulty));
    varying
        .filter_map(|(tried, faulty)| {
            let Fault {
                site,
                kind,
                thread: index,
                ..
            } = faulty.fault;
            let FaultKind::OutOfBounds {
                symbol,
                offset,
                size,
                held,
            } = kind
            else {
                return None;
            };
            let message = format!(
                "{} accesses bytes {offset} to {} of `{}`, which has {held}, in thread {}",
                opcode(context, site),
                offset + i64::from(size) - 1,
                context.parsed.module.name(symbol),
                thread(index, faulty.block)
            );
            let diag = declared(context, symbol, Diag::error(code, span(context, site), message));
            let diag = with_address(context, site, Goal::Thread, diag);
            Some(
                assume(tried, faulty, diag)
                    .help("make the variable larger, or guard the access against threads that have no place in it"),
            )
        })
        .collect()
}

/// MEM003.
pub(super) fn mem003(context: &Context, code: Code) -> Vec<Diag> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<Site> = FxHashSet::default();
    for direct in direct(context) {
        if direct.size.is_power_of_two() && direct.offset.rem_euclid(i64::from(direct.size)) != 0 {
            seen.insert(direct.site);
            found.push(misaligned(
                context,
                code,
                direct.site,
                direct.symbol,
                direct.offset,
                direct.size,
            ));
        }
    }
    for (_, faulty) in faults(context).filter(|(_, faulty)| faulty.fault.constant && is_certain(faulty)) {
        if let FaultKind::Misaligned { symbol, offset, size } = faulty.fault.kind
            && seen.insert(faulty.fault.site)
        {
            found.push(misaligned(context, code, faulty.fault.site, symbol, offset, size));
        }
    }
    found
}

fn misaligned(context: &Context, code: Code, site: Site, symbol: SymbolId, offset: i64, size: u32) -> Diag {
    let message = format!(
        "{} accesses {size} bytes at {}, which is not a multiple of {size}",
        opcode(context, site),
        address(context, symbol, offset)
    );
    Diag::error(code, span(context, site), message)
        .help("access the elements one by one, or move them to a multiple of the access")
}

/// MEM004.
pub(super) fn mem004(context: &Context, code: Code) -> Vec<Diag> {
    let mut declared_low: FxHashSet<SymbolId> = FxHashSet::default();
    let mut found = Vec::new();
    for (tried, faulty) in faults(context) {
        let Fault {
            site,
            kind,
            thread: index,
            constant,
            ..
        } = faulty.fault;
        match kind {
            FaultKind::Misaligned { symbol, offset, size } if !constant && is_certain(faulty) => {
                let mut diag = misaligned(context, code, site, symbol, offset, size);
                diag.label = format!("in thread {}", thread(index, faulty.block));
                let diag = with_address(context, site, Goal::Thread, diag);
                found.push(assume(tried, faulty, diag));
            }
            FaultKind::Underaligned { symbol, align, size } if declared_low.insert(symbol) => {
                found.push(underaligned(context, code, site, symbol, align, size));
            }
            _ => {}
        }
    }
    found
}

fn underaligned(context: &Context, code: Code, site: Site, symbol: SymbolId, align: u32, size: u32) -> Diag {
    let sized = context
        .parsed
        .module
        .variable(symbol)
        .is_some_and(|variable| variable.size().is_some_and(|size| size > 0));
    let level = if sized { Level::Warning } else { Level::Info };
    let message = format!(
        "{} needs a multiple of {size}, but `{}` is only aligned to {align}",
        opcode(context, site),
        context.parsed.module.name(symbol)
    );
    declared(context, symbol, Diag::new(code, level, span(context, site), message))
        .help(format!("declare it with `.align {size}`"))
}

/// MEM005.
pub(super) fn mem005(context: &Context, code: Code) -> Vec<Diag> {
    let mut found = Vec::new();
    for tried in context.tried() {
        let raw = |faulty: &&Faulty| matches!(faulty.fault.kind, FaultKind::RawShared { .. });
        let mut all = tried.faults.iter().filter(raw);
        let Some(first) = all.next() else { continue };
        let message = format!(
            "{} addresses shared memory by a number: no variable went into its address",
            opcode(context, first.fault.site)
        );
        let mut diag = Diag::warning(code, span(context, first.fault.site), message);
        let more = all.count();
        if more > 0 {
            diag = diag.note(format!("{more} more accesses of the kernel do so"));
        }
        found.push(
            diag.note(
                "from sm_90 on, the first 1024 bytes of shared memory are reserved, and variables start behind them",
            )
            .help("add the address of the shared variable: `mov.u32 %r, name;`"),
        );
    }
    found
}

/// MEM007.
pub(super) fn mem007(context: &Context, code: Code) -> Vec<Diag> {
    let mut seen: FxHashSet<(FuncId, Option<SymbolId>)> = FxHashSet::default();
    let mut found = Vec::new();
    for (_, faulty) in faults(context) {
        let site = faulty.fault.site;
        let diag = match faulty.fault.kind {
            FaultKind::NotGeneric { symbol } if seen.insert((site.function, Some(symbol))) => {
                let space = context
                    .parsed
                    .module
                    .variable(symbol)
                    .map_or("shared", |variable| variable.space.name());
                let name = context.parsed.module.name(symbol);
                let message = format!(
                    "{} takes the .{space} address of `{name}` for a generic one",
                    opcode(context, site)
                );
                let diag = Diag::error(code, span(context, site), message);
                with_address(context, site, Goal::Symbol(symbol), diag).help(format!(
                    "convert the address with `cvta.{space}.u64`, or access it with `.{space}`"
                ))
            }
            FaultKind::NotGlobal { symbol } if seen.insert((site.function, Some(symbol))) => {
                let variable = context.parsed.module.variable(symbol);
                let space = variable.map_or("shared", |variable| variable.space.name());
                let name = context.parsed.module.name(symbol);
                let message = format!(
                    "{} takes the address of `{name}`, which lies in .{space}, for one in .global",
                    opcode(context, site)
                );
                let diag = Diag::error(code, span(context, site), message);
                with_address(context, site, Goal::Symbol(symbol), diag).help("leave out `.global`")
            }
            FaultKind::Generic { space } if seen.insert((site.function, None)) => {
                let space = space.name();
                let message = format!("{} takes a generic address for one in .{space}", opcode(context, site));
                Diag::error(code, span(context, site), message).help(format!(
                    "convert the address with `cvta.to.{space}.u64`, or leave out `.{space}`"
                ))
            }
            _ => continue,
        };
        found.push(diag);
    }
    found
}

/// MEM011.
pub(super) fn mem011(context: &Context, code: Code) -> Vec<Diag> {
    let pairs = context.tried().iter().flat_map(|tried| &tried.read_only);
    pairs
        .map(|(load, store)| {
            let message = format!(
                "{} reads through the read-only path what the kernel writes",
                opcode(context, *load)
            );
            let at = span(context, *load);
            let diag = Diag::warning(code, at, message)
                .related(span(context, *store), "it is written here")
                .help("load without `.nc`");
            let nc = pieces(context.text, at)
                .mods
                .into_iter()
                .find(|span| span.of(context.text) == ".nc");
            match nc {
                Some(nc) => diag.safe_fix(vec![Edit::remove(nc)]),
                None => diag,
            }
        })
        .collect()
}

fn faults<'c>(context: &'c Context) -> impl Iterator<Item = (&'c Tried, &'c Faulty)> {
    context
        .tried()
        .iter()
        .flat_map(|tried| tried.faults.iter().map(move |faulty| (tried, faulty)))
}

/// Whether it happens at every launch that is thought of.
fn is_certain(faulty: &Faulty) -> bool {
    faulty.level == Level::Error
}

fn span(context: &Context, site: Site) -> crate::ptx::source::Span {
    context.span(site.function, site.inst)
}

/// Adds how the address of an access came about.
fn with_address(context: &Context, site: Site, goal: Goal, diag: Diag) -> Diag {
    let Some(code) = context.code(site.function) else {
        return diag;
    };
    let operands = &code.body.insts[site.inst.index()].operands;
    let at = operands
        .iter()
        .position(|operand| matches!(operand, Operand::Address(_)));
    match at {
        Some(at) => with_trail(context, code, site.inst, at, goal, diag),
        None => diag,
    }
}

fn declared(context: &Context, symbol: SymbolId, diag: Diag) -> Diag {
    match context.parsed.spans.symbols.get(symbol.index()) {
        Some(span) => diag.related(*span, "declared here"),
        None => diag,
    }
}

fn assume(tried: &Tried, faulty: &Faulty, diag: Diag) -> Diag {
    let [x, y, z] = faulty.block;
    if tried.assumed {
        diag.note(format!(
            "holds for all usual shapes of the CTA, shown for {x} x {y} x {z} threads"
        ))
    } else {
        diag
    }
}

/// An access whose address names a variable.
struct Direct<'p> {
    site: Site,
    symbol: SymbolId,
    variable: &'p Variable,
    offset: i64,
    size: u32,
}

/// The accesses of all functions whose address names a variable.
fn direct<'p>(context: &Context<'p>) -> Vec<Direct<'p>> {
    let module = &context.parsed.module;
    let mut found = Vec::new();
    for (function, body) in (0..)
        .map(FuncId)
        .zip(&module.functions)
        .filter_map(|(id, function)| Some((id, function.body.as_ref()?)))
    {
        for (inst, row) in (0..).map(InstId).zip(&body.insts) {
            let Some((symbol, offset, size)) = named(row) else {
                continue;
            };
            if let Some(variable) = module.variable(symbol) {
                found.push(Direct {
                    site: Site { function, inst },
                    symbol,
                    variable,
                    offset,
                    size,
                });
            }
        }
    }
    found
}

fn named(inst: &Inst) -> Option<(SymbolId, i64, u32)> {
    let view = inst.as_mem()?;
    let Address {
        base: Base::Symbol(symbol),
        offset,
    } = *view.address
    else {
        return None;
    };
    // An index that is added is not seen here.
    let plain = !inst
        .operands
        .iter()
        .any(|operand| matches!(operand, Operand::Element(..)));
    plain.then(|| (symbol, offset, view.ty.bytes().max(1) * u32::from(view.lanes)))
}
