//! Where an operand's value comes from, told from the finding back to the source: an address to the variable or the thread's index in it,
//! a number to where it was put into the register.

use super::context::Context;
use crate::ptx::analysis::Code;
use crate::ptx::diag::Diag;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{Base, Inst, InstId, Operand, RegId, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Values that are looked at before the search gives up.
const MOST: usize = 128;
/// Links that are told.
const LONGEST: usize = 5;

/// What the trail leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The address of a variable.
    Symbol(SymbolId),
    /// The index of a thread, or another number that threads differ in.
    Thread,
    /// A number.
    Number,
    /// The place of a CTA in the grid.
    Cta,
}

/// Adds how the operand's value came about, nearest first; nothing where the goal is not met.
pub(super) fn with_trail(context: &Context, code: Code, inst: InstId, operand: usize, goal: Goal, diag: Diag) -> Diag {
    let row = &code.body.insts[inst.index()];
    let reg = row.operands.get(operand).and_then(register);
    match reg.and_then(|reg| code.ssa.use_of(inst, reg)) {
        Some(start) => with_trail_of(context, code, start, goal, diag),
        None => diag,
    }
}

/// Whether the value is computed from what is asked for, by instructions that do nothing but compute.
pub(super) fn leads_to(code: Code, start: ValueId, goal: Goal) -> bool {
    !find(code, start, goal).is_empty()
}

/// Adds how a value came about, nearest first; nothing where the goal is not met.
pub(super) fn with_trail_of(context: &Context, code: Code, start: ValueId, goal: Goal, mut diag: Diag) -> Diag {
    let trail = find(code, start, goal);
    for (at, made) in trail.iter().enumerate().take(LONGEST) {
        let span = context.span(code.id, *made);
        if span == diag.span || diag.related.iter().any(|known| known.span == span) {
            continue;
        }
        let register = written(code, *made);
        let message = match trail.get(at + 1) {
            Some(next) => format!("{register} is computed from {} here", written(code, *next)),
            None => end(context, code, *made, &register, goal),
        };
        diag = diag.related(span, message);
    }
    diag
}

/// The instructions from the one that makes the value to the one that meets the goal.
fn find(code: Code, start: ValueId, goal: Goal) -> Vec<InstId> {
    let mut seen: FxHashSet<ValueId> = FxHashSet::from_iter([start]);
    // Each value with the place in the list from which it was come to.
    let mut list: Vec<(ValueId, Option<usize>)> = vec![(start, None)];
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        let (value, _) = list[at];
        let next: Vec<ValueId> = match code.ssa.value(value).map(|value| value.definition) {
            Some(Definition::Inst(made)) => {
                if meets(&code.body.insts[made.index()], goal) {
                    return way(code, &list, at);
                }
                match code.body.insts[made.index()].op.effect {
                    Effect::Pure => code.ssa.uses(made).to_vec(),
                    _ => Vec::new(),
                }
            }
            Some(Definition::Phi(_)) => code.ssa.phi_inputs(value).to_vec(),
            _ => Vec::new(),
        };
        for value in next {
            if list.len() < MOST && seen.insert(value) {
                list.push((value, Some(at)));
                queue.push_back(list.len() - 1);
            }
        }
    }
    Vec::new()
}

/// The makers of the values on the way, from the start.
fn way(code: Code, list: &[(ValueId, Option<usize>)], end: usize) -> Vec<InstId> {
    let mut way = Vec::new();
    let mut at = Some(end);
    while let Some((value, from)) = at.and_then(|at| list.get(at)) {
        if let Some(Definition::Inst(made)) = code.ssa.value(*value).map(|value| value.definition) {
            way.push(made);
        }
        at = *from;
    }
    way.reverse();
    way
}

fn meets(row: &Inst, goal: Goal) -> bool {
    let sources = || row.operands.iter().skip(1);
    match goal {
        Goal::Symbol(symbol) => sources().any(
            |operand| matches!(operand, Operand::Symbol(named, _) | Operand::Element(named, _) if *named == symbol),
        ),
        Goal::Thread => sources().any(|operand| special(operand, Extent::Warp).is_some()),
        Goal::Cta => sources().any(|operand| special(operand, Extent::Cta).is_some()),
        Goal::Number => {
            row.guard.is_none()
                && !row.operands.is_empty()
                && sources().all(|operand| matches!(operand, Operand::Imm(_)))
        }
    }
}

fn register(operand: &Operand) -> Option<RegId> {
    match operand {
        Operand::Reg(reg) | Operand::Sum(reg, _) => Some(*reg),
        Operand::Address(address) => match address.base {
            Base::Reg(reg) => Some(reg),
            _ => None,
        },
        _ => None,
    }
}

/// The register that an instruction writes first, in backquotes.
fn written(code: Code, inst: InstId) -> String {
    let mut first = None;
    code.body.insts[inst.index()].defs(&mut |reg| first = first.or(Some(reg)));
    let name = first.and_then(|reg| code.body.regs.get(reg.index()));
    name.map_or_else(|| "a value".to_owned(), |register| format!("`{}`", register.name))
}

fn end(context: &Context, code: Code, inst: InstId, register: &str, goal: Goal) -> String {
    match goal {
        Goal::Symbol(symbol) => format!("{register} is the address of `{}`", context.parsed.module.name(symbol)),
        Goal::Thread | Goal::Cta => {
            let least = if goal == Goal::Cta { Extent::Cta } else { Extent::Warp };
            let row = &code.body.insts[inst.index()];
            let found = row.operands.iter().find_map(|operand| special(operand, least));
            format!("{register} is computed from `{}`", found.unwrap_or("its place"))
        }
        Goal::Number => format!("{register} gets its value here"),
    }
}

/// The special register, where it tells threads at least so far apart.
fn special(operand: &Operand, least: Extent) -> Option<&'static str> {
    match operand {
        Operand::Special(special) if special.info().extent >= least => Some(special.name()),
        _ => None,
    }
}
