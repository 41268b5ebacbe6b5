//! Uses of registers that nothing may have written.
//!
//! What is computed from an undefined value is undefined too; it does no harm until it is stored, is an address, or decides
//! something. First a cheap look over all values: which may be undefined on some path, all paths taken for possible. Where one
//! of those matters, a walk back from there asks again and keeps account of what must have held on the way: definitions and
//! uses under one predicate, flags that say whether something was found, first rounds of loops.

mod facts;
#[cfg(test)]
mod tests;
mod walk;

use super::fold::Folder;
use super::graphs::Code;
use crate::ptx::flow::{Definition, Value, ValueId};
use crate::ptx::ir::{Inst, InstId, Operand, RegId};
use crate::ptx::isa::{Effect, Role};
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use walk::Walker;

/// A use of a register that may not have been written.
#[derive(Clone, Debug)]
pub struct Unwritten {
    /// The instruction that makes something of the register's content.
    pub inst: InstId,
    /// Where what it makes of it matters: it is stored, or an address, or decides something. May be the same.
    pub sink: InstId,
    /// The undefined value behind it.
    pub root: ValueId,
    /// Whether no path writes it at all.
    pub always: bool,
    /// How control comes to the use without a write, from the entry on.
    pub path: Vec<Step>,
    /// How many further instructions use the register like this.
    pub more: usize,
}

/// A step on a path to a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The write here does not execute: its guard does not hold.
    Skipped(InstId),
    /// The value is copied here.
    Copied(InstId),
    /// Something is computed from it here.
    Through(InstId),
    /// Control goes from a block to another one.
    Edge(u32, u32),
}

/// How well defined a value is. Later ones win where paths meet, except that undefined on all paths needs all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Unseen,
    Defined,
    Maybe,
    Never,
}

impl Level {
    /// What is known of something that is computed from two values.
    fn and(self, other: Level) -> Level {
        use Level::{Defined, Maybe, Never, Unseen};
        match (self, other) {
            (Never, _) | (_, Never) => Never,
            (Unseen, _) | (_, Unseen) => Unseen,
            (Maybe, _) | (_, Maybe) => Maybe,
            (Defined, Defined) => Defined,
        }
    }

    /// What is known where two paths meet.
    fn meet(self, other: Level) -> Level {
        match (self, other) {
            (Level::Unseen, level) | (level, Level::Unseen) => level,
            (a, b) if a == b => a,
            _ => Level::Maybe,
        }
    }
}

/// What an instruction makes of undefined sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// It hands on this operand's value.
    Copy(RegId),
    /// It hands on the first where the predicate (negated, if the flag says so) holds, else the second.
    Select(Option<RegId>, Option<RegId>, RegId, bool),
    /// Its results are as undefined as they are.
    Computes,
    /// Its results are those of one thread, which may be the one that has a value.
    Picks,
    /// They matter here.
    Matters,
    /// It moves them about in parts, or hands them to others, who may not look at them.
    Nothing,
}

/// Finds the uses of a function's unwritten registers that matter, one for each register, in textual order.
pub fn unwritten(code: Code) -> Vec<Unwritten> {
    if !code.cfg.problems.is_empty() {
        return Vec::new();
    }
    let Some(levels) = levels(code) else { return Vec::new() };
    let mut walker = Walker::new(code, Folder::new(code), &levels);
    let mut found: FxHashMap<ValueId, Vec<Unwritten>> = FxHashMap::default();
    for (at, row) in (0..).map(InstId).zip(&code.body.insts) {
        if !code.cfg.is_reachable(code.cfg.block_of(at)) {
            continue;
        }
        for value in suspects(code, at, row, &levels) {
            let Some((root, path)) = walker.walk(at, value) else {
                continue;
            };
            let through = path.iter().find_map(|step| match step {
                Step::Through(inst) => Some(*inst),
                _ => None,
            });
            found.entry(root).or_default().push(Unwritten {
                inst: through.unwrap_or(at),
                sink: at,
                root,
                always: levels[value.index()] == Level::Never,
                path,
                more: 0,
            });
        }
    }
    let mut found: Vec<Unwritten> = found.into_values().filter_map(first).collect();
    found.sort_by_key(|unwritten| (unwritten.inst, unwritten.root));
    found
}

/// The first use of a register, with the number of others.
fn first(mut uses: Vec<Unwritten>) -> Option<Unwritten> {
    uses.sort_by_key(|unwritten| (unwritten.inst, unwritten.sink));
    uses.dedup_by_key(|unwritten| unwritten.inst);
    let more = uses.len().saturating_sub(1);
    let first = uses.into_iter().next()?;
    Some(Unwritten { more, ..first })
}

/// The values that may be undefined and matter to an instruction.
fn suspects(code: Code, at: InstId, row: &Inst, levels: &[Level]) -> SmallVec<[ValueId; 2]> {
    let mut suspects = SmallVec::new();
    let uses = code.ssa.uses(at);
    let level = |value: ValueId| levels.get(value.index()).copied();
    if !uses
        .iter()
        .any(|value| matches!(level(*value), Some(Level::Maybe | Level::Never)))
    {
        return suspects;
    }
    let mut see = |reg: RegId, in_vector: bool| {
        let Some(value) = code.ssa.use_of(at, reg) else { return };
        let suspect = match level(value) {
            Some(Level::Maybe) => true,
            // Compilers leave parts of a vector out that nobody wants.
            Some(Level::Never) => !in_vector,
            _ => false,
        };
        if suspect && !suspects.contains(&value) {
            suspects.push(value);
        }
    };
    if let Some(guard) = row.guard {
        see(guard.reg, false);
    }
    if passing(row) == Passing::Matters {
        row.walk(&mut |operand, role| {
            // An accumulator that is written as well may be told not to be read.
            if role == Role::Use {
                operand.for_each_reg(&mut |reg| see(reg, is_vector(operand)));
            }
        });
    }
    suspects
}

/// What an instruction makes of undefined sources.
pub(super) fn passing(row: &Inst) -> Passing {
    if !row.op.is_known() {
        return Passing::Nothing;
    }
    match (row.op.base(), row.operands.as_slice()) {
        ("mov", [to, Operand::Reg(from) | Operand::Not(from)]) if !is_vector(to) => Passing::Copy(*from),
        ("selp", [_, a, b, predicate]) => match predicate.as_reg() {
            Some(reg) => Passing::Select(a.as_reg(), b.as_reg(), reg, matches!(predicate, Operand::Not(_))),
            None => Passing::Computes,
        },
        // These pick parts of their operands: the undefined part may be the one that is dropped.
        ("mov" | "prmt" | "bfi" | "bfe" | "lop3" | "shf", _) => Passing::Nothing,
        _ => match row.op.effect {
            Effect::Warp if row.op.base() == "shfl" && row.op.has("idx") => Passing::Picks,
            Effect::Pure | Effect::Warp => Passing::Computes,
            Effect::Other
                if row
                    .op
                    .row
                    .is_some_and(|known| matches!(known.base(), "add" | "sub" | "mad" | "addc" | "subc" | "madc")) =>
            {
                Passing::Computes
            }
            Effect::Call | Effect::Exit | Effect::Fence => Passing::Nothing,
            Effect::Store if row.op.space == Space::Param => Passing::Nothing,
            _ => Passing::Matters,
        },
    }
}

fn is_vector(operand: &Operand) -> bool {
    matches!(operand, Operand::Vector(_))
}

/// How well defined each value is, all paths taken for possible; `None` where all are defined.
fn levels(code: Code) -> Option<Vec<Level>> {
    let ssa = code.ssa;
    let undefined = |(_, value): &(ValueId, &Value)| value.definition == Definition::Undefined;
    let roots: Vec<ValueId> = ssa
        .values()
        .filter(undefined)
        .filter(|(_, value)| !code.is_foreign(value.reg))
        .map(|(id, _)| id)
        .collect();
    if roots.is_empty() {
        return None;
    }
    let mut levels = vec![Level::Unseen; ssa.len()];
    ssa.values()
        .filter(undefined)
        .for_each(|(id, _)| levels[id.index()] = Level::Defined);
    roots.iter().for_each(|root| levels[root.index()] = Level::Never);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for block in code.cfg.rpo() {
            for phi in ssa.phis(*block) {
                let inputs = ssa
                    .phi_inputs(*phi)
                    .iter()
                    .filter_map(|input| levels.get(input.index()));
                let level = inputs.fold(Level::Unseen, |level, input| level.meet(*input));
                changed |= std::mem::replace(&mut levels[phi.index()], level) != level;
            }
            for inst in code.cfg.insts(*block).map(InstId) {
                for (place, def) in ssa.defs(inst).iter().enumerate() {
                    let level = level_of_def(code, inst, place, &levels);
                    changed |= std::mem::replace(&mut levels[def.index()], level) != level;
                }
            }
        }
    }
    Some(levels)
}

fn level_of_def(code: Code, inst: InstId, place: usize, levels: &[Level]) -> Level {
    let row = &code.body.insts[inst.index()];
    let uses = code.ssa.uses(inst);
    let sources = uses.get(usize::from(row.guard.is_some())..).unwrap_or(&[]);
    // Most instructions have defined sources only.
    let written = if sources
        .iter()
        .all(|value| levels.get(value.index()) == Some(&Level::Defined))
    {
        Level::Defined
    } else {
        level_of_result(code, inst, sources, levels)
    };
    match (row.guard, code.ssa.before(inst).get(place)) {
        (Some(_), Some(before)) if before.is_some() => written.meet(levels[before.index()]),
        _ => written,
    }
}

fn level_of_result(code: Code, inst: InstId, sources: &[ValueId], levels: &[Level]) -> Level {
    let of_reg = |reg: RegId| {
        code.ssa
            .use_of(inst, reg)
            .map_or(Level::Defined, |value| levels[value.index()])
    };
    match passing(&code.body.insts[inst.index()]) {
        Passing::Copy(from) => of_reg(from),
        Passing::Select(a, b, predicate, _) => {
            let of_choice = |reg: Option<RegId>| reg.map_or(Level::Defined, of_reg);
            of_choice(a).meet(of_choice(b)).and(of_reg(predicate))
        }
        how @ (Passing::Computes | Passing::Picks) => {
            let known = sources.iter().filter_map(|value| levels.get(value.index()));
            match known.fold(Level::Defined, |level, source| level.and(*source)) {
                Level::Maybe if how == Passing::Picks => Level::Defined,
                level => level,
            }
        }
        Passing::Matters | Passing::Nothing => Level::Defined,
    }
}
