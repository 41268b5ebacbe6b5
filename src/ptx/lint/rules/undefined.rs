//! What the rules on unwritten registers have in common.

use crate::ptx::analysis::{Code, Step, Unwritten};
use crate::ptx::diag::{Diag, Related};
use crate::ptx::flow::{Condition, Definition, ValueId};
use crate::ptx::ir::{FuncId, Guard, InstId, RegId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;

/// More places of a path than this are not told.
const LONGEST: usize = 8;

/// Further registers of one finding that are named.
const TOGETHER: usize = 3;

/// Calls `say` for the unwritten registers that a rule is about: those that no path writes, or the others by their class.
pub(super) fn findings(
    context: &Context,
    wanted: impl Fn(&Unwritten, bool) -> bool,
    say: impl Fn(&Context, Code, &Unwritten) -> Diag,
) -> Vec<Diag> {
    let mut found = Vec::new();
    for (function, unwritten) in context.unwritten() {
        let Some(code) = context.code(*function) else { continue };
        let is_predicate = register(code, unwritten.root).is_some_and(|(_, ty)| ty == Type::Pred);
        if wanted(unwritten, is_predicate) {
            found.push(say(context, code, unwritten));
        }
    }
    found
}

/// As [`findings`], with those of one function together that no path's own write is to blame for: values that are loaded under one
/// condition and used under another come in numbers, and have one cause.
pub(super) fn gathered(
    context: &Context,
    wanted: impl Fn(&Unwritten, bool) -> bool,
    say: impl Fn(&Context, Code, &Unwritten) -> Diag,
) -> Vec<Diag> {
    let mut found: Vec<Diag> = Vec::new();
    // Per function, where its finding is in the list, and how many registers it does not name.
    let mut first: FxHashMap<FuncId, (usize, usize)> = FxHashMap::default();
    for (function, unwritten) in context.unwritten() {
        let Some(code) = context.code(*function) else { continue };
        let is_predicate = register(code, unwritten.root).is_some_and(|(_, ty)| ty == Type::Pred);
        if !wanted(unwritten, is_predicate) {
            continue;
        }
        let skips = unwritten.path.iter().any(|step| matches!(step, Step::Skipped(_)));
        let known = first.get_mut(function).filter(|_| !skips);
        let Some((at, more)) = known else {
            if !skips {
                first.insert(*function, (found.len(), 0));
            }
            found.push(say(context, code, unwritten));
            continue;
        };
        *more += 1;
        if *more <= TOGETHER {
            let message = format!(
                "{} may be read without having been written, too",
                name(code, unwritten.root)
            );
            let span = context.span(code.id, unwritten.inst);
            found[*at].related.push(Related { span, message });
        }
    }
    for (at, more) in first.into_values().filter(|(_, more)| *more > TOGETHER) {
        found[at].notes.push(format!(
            "{} more registers of the function are read like this",
            more - TOGETHER
        ));
    }
    found
}

/// The name and type of a value's register.
fn register<'a>(code: Code<'a>, value: ValueId) -> Option<(&'a str, Type)> {
    let reg = code.body.regs.get(code.ssa.value(value)?.reg.index())?;
    Some((&reg.name, reg.ty))
}

/// The name of a value's register, in backquotes.
pub(super) fn name(code: Code, value: ValueId) -> String {
    register(code, value).map_or_else(|| "a register".to_owned(), |(name, _)| format!("`{name}`"))
}

/// A guard as written, in backquotes.
pub(super) fn guard_text(code: Code, guard: Guard) -> String {
    let name = code.body.regs.get(guard.reg.index()).map_or("", |reg| &reg.name);
    format!("`@{}{name}`", if guard.negated { "!" } else { "" })
}

/// Adds how control comes to the use without a write, and where the register is written otherwise.
pub(super) fn with_path(context: &Context, code: Code, unwritten: &Unwritten, mut diag: Diag) -> Diag {
    let told = unwritten.path.iter().filter_map(|step| tell(context, code, *step));
    diag.related.extend(told.take(LONGEST));
    diag = with_sink(context, code, unwritten, diag);
    let root = code.ssa.value(unwritten.root).map(|value| value.reg);
    if let Some(reg) = root {
        for inst in writes(code, reg, unwritten).take(2) {
            let message = format!("{} is written here, on another path", name(code, unwritten.root));
            diag = diag.related(context.span(code.id, inst), message);
        }
    }
    with_count(unwritten, diag)
}

/// Adds where what comes of the register's content matters.
pub(super) fn with_sink(context: &Context, code: Code, unwritten: &Unwritten, diag: Diag) -> Diag {
    if unwritten.sink == unwritten.inst {
        return diag;
    }
    let row = &code.body.insts[unwritten.sink.index()];
    let message = match row.op.effect {
        Effect::Store => "what comes of it is stored, or is an address, here",
        Effect::Load | Effect::Atomic => "what comes of it is part of an address here",
        _ => "what comes of it decides here",
    };
    diag.related(context.span(code.id, unwritten.sink), message)
}

/// Says how many uses there are beside the first.
pub(super) fn with_count(unwritten: &Unwritten, diag: Diag) -> Diag {
    match unwritten.more {
        0 => diag,
        1 => diag.note("one more use of it is reached like this"),
        more => diag.note(format!("{more} more uses of it are reached like this")),
    }
}

fn tell(context: &Context, code: Code, step: Step) -> Option<crate::ptx::diag::Related> {
    let (inst, message) = match step {
        Step::Skipped(inst) => {
            let guard = code.body.insts[inst.index()].guard?;
            (
                inst,
                format!(
                    "this write does not execute where {} does not hold",
                    guard_text(code, guard)
                ),
            )
        }
        Step::Through(_) => return None,
        Step::Copied(inst) => (inst, "what it holds is copied here".to_owned()),
        Step::Edge(from, to) => {
            let last = code.cfg.last(from)?;
            let message = match code.cfg.condition(code.body, from)? {
                Condition::Guard(_) if code.cfg.succs().next(from).first() == Some(&to) => "if this branch is taken",
                Condition::Guard(_) => "if this branch is not taken",
                Condition::Index(_) => "if this branch goes there",
            };
            (last, message.to_owned())
        }
    };
    let span = context.span(code.id, inst);
    Some(crate::ptx::diag::Related { span, message })
}

/// The instructions that write the register elsewhere than on the path.
fn writes<'a>(code: Code<'a>, reg: RegId, unwritten: &'a Unwritten) -> impl Iterator<Item = InstId> + 'a {
    let of_reg = move |(_, value): &(ValueId, &crate::ptx::flow::Value)| value.reg == reg;
    let insts = code
        .ssa
        .values()
        .filter(of_reg)
        .filter_map(|(_, value)| match value.definition {
            Definition::Inst(inst) => Some(inst),
            _ => None,
        });
    insts.filter(|inst| !unwritten.path.contains(&Step::Skipped(*inst)))
}
