//! Tells why a value differs between threads: the chain from a condition to where the difference comes from.

use super::context::Context;
use super::parting::{condition, maker};
use crate::ptx::analysis::{Filled, Slot, Unit, Why};
use crate::ptx::diag::Related;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::source::Span;
use rustc_hash::FxHashSet;

/// More links than this are not told.
const LONGEST: usize = 10;

/// A chain of causes, nearest first.
pub(super) struct Chain {
    /// The places.
    pub(super) links: Vec<Related>,
}

/// Follows a value that is seen from `block` to where the difference between threads comes from.
pub(super) fn chain(context: &Context, unit: &Unit, value: ValueId, block: u32) -> Chain {
    let mut chain = Chain { links: Vec::new() };
    let mut seen = FxHashSet::default();
    let mut next = Some((value, block));
    while let Some((value, block)) = next.filter(|(value, _)| seen.insert(*value)) {
        if chain.links.len() >= LONGEST {
            break;
        }
        let (_, why) = unit.uniformity.seen_from(&unit.loops, value, block);
        if let Why::Rounds(_, exit) = why {
            chain.rounds(context, unit, value, exit);
            next = condition(unit, exit).map(|value| (value, exit));
            continue;
        }
        next = chain.step(context, unit, value);
    }
    chain
}

impl Chain {
    fn push(&mut self, span: Span, message: String) {
        // A link at the place of the last one replaces nothing and adds nothing.
        if self.links.last().is_none_or(|last| last.span != span) {
            self.links.push(Related { span, message });
        }
    }

    fn rounds(&mut self, context: &Context, unit: &Unit, value: ValueId, exit: u32) {
        if let Some(last) = unit.cfg.last(exit) {
            let message = format!(
                "{} varies in a loop that threads leave here in different rounds",
                name(unit, value)
            );
            self.push(context.span(unit.id, last), message);
        }
    }

    /// Tells one link and answers what to look at next, and from where.
    fn step(&mut self, context: &Context, unit: &Unit, value: ValueId) -> Option<(ValueId, u32)> {
        let register = name(unit, value);
        let at = maker(unit, value);
        let span = at.map(|inst| context.span(unit.id, inst));
        let block = unit.ssa.value(value)?.block;
        match unit.uniformity.why(value) {
            Why::Uniform => None,
            Why::Nature => {
                let at = at?;
                let message = nature(&register, &unit.body.insts[at.index()], unit.uniformity.extent(value));
                self.push(context.span(unit.id, at), message);
                None
            }
            Why::Operand(from) | Why::Rounds(from, _) => {
                if let Some(span) = span {
                    self.push(span, format!("{register} is computed from {} here", name(unit, from)));
                }
                Some((from, block))
            }
            Why::Guard(guard) => {
                if let Some(span) = span {
                    let message = format!("{register} is written here only where {} allows it", name(unit, guard));
                    self.push(span, message);
                }
                Some((guard, block))
            }
            Why::Join(branch) => {
                let last = unit.cfg.last(branch)?;
                let message = format!("which value {register} has depends on the way taken here");
                self.push(context.span(unit.id, last), message);
                condition(unit, branch).map(|value| (value, branch))
            }
            Why::Slot(slot) => {
                if let Some(span) = span {
                    self.push(
                        span,
                        format!("{register} is read from `{}` here", slot_name(unit, slot)),
                    );
                }
                self.slot(context, unit, slot)
            }
        }
    }

    /// A parameter or local variable: who put the differing value there.
    fn slot(&mut self, context: &Context, unit: &Unit, slot: Slot) -> Option<(ValueId, u32)> {
        let name = slot_name(unit, slot);
        let (inst, apart) = match unit.uniformity.slot(slot).1? {
            Filled::Inst(inst) => (inst, None),
            Filled::Apart(inst, branch) => (inst, Some(branch)),
            Filled::Caller => {
                if let Slot::Param(symbol) = slot {
                    let span = context
                        .parsed
                        .spans
                        .symbols
                        .get(symbol.index())
                        .copied()
                        .unwrap_or_default();
                    self.push(
                        span,
                        format!("a caller passes in `{name}` what differs between threads"),
                    );
                }
                return None;
            }
        };
        let span = context.span(unit.id, inst);
        if let Some(branch) = apart {
            self.push(span, format!("only some threads store to `{name}` here"));
            let last = unit.cfg.last(branch)?;
            self.push(context.span(unit.id, last), "they part here".to_owned());
            return condition(unit, branch).map(|value| (value, branch));
        }
        self.push(
            span,
            match unit.body.insts[inst.index()].op.effect {
                Effect::Store => format!("`{name}` is stored here"),
                _ => format!("`{name}` is passed on here, and may hold something else in each thread afterwards"),
            },
        );
        let block = unit.cfg.block_of(inst);
        let seen = |value: &&ValueId| unit.uniformity.seen_from(&unit.loops, **value, block).0 >= Extent::Warp;
        unit.ssa.uses(inst).iter().find(seen).map(|value| (*value, block))
    }
}

/// The name of the parameter or variable.
fn slot_name<'m>(unit: &Unit<'m>, slot: Slot) -> &'m str {
    match slot {
        Slot::Param(symbol) => unit.module.name(symbol),
        Slot::Frame(word) => unit.module.name(word.symbol),
    }
}

/// The register of a value, as written, in backquotes.
pub(super) fn name(unit: &Unit, value: ValueId) -> String {
    let register = unit
        .ssa
        .value(value)
        .and_then(|value| unit.body.regs.get(value.reg.index()));
    register.map_or_else(|| "a value".to_owned(), |register| format!("`{}`", register.name))
}

/// Says what makes the result of an instruction differ.
fn nature(register: &str, inst: &Inst, extent: Extent) -> String {
    let special = inst.operands.iter().find_map(|operand| match operand {
        Operand::Special(special) if special.info().extent >= Extent::Warp => Some(special.name()),
        _ => None,
    });
    let who = if extent == Extent::Warp {
        "each warp"
    } else {
        "each thread"
    };
    if let Some(special) = special {
        return format!("{register} is computed from `{special}`, which {who} has its own of");
    }
    match inst.op.effect {
        Effect::Load => format!("{register} is loaded here from memory of {who}'s own"),
        Effect::Atomic => format!("{register} is the result of an atomic: {who} gets another"),
        Effect::Warp => format!("{register} is a result of `{}`: {who} gets its own", inst.op.text),
        Effect::Call => {
            format!("{register} is returned by a function that is not known: it may differ between threads")
        }
        _ => format!(
            "{register} is a result of `{}`, which may differ between threads",
            inst.op.text
        ),
    }
}

/// Whether the instruction is guarded, for wording.
pub(super) fn guard_name(unit: &Unit, inst: InstId) -> Option<String> {
    let guard = unit.body.insts.get(inst.index())?.guard?;
    let register = unit.body.regs.get(guard.reg.index())?;
    Some(format!("`@{}{}`", if guard.negated { "!" } else { "" }, register.name))
}
