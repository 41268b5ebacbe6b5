//! The walk back from a use to where its register is not yet written.

use super::facts::{Facts, Known, mark};
use super::{Level, Passing, Step, passing};
use crate::ptx::analysis::fold::Folder;
use crate::ptx::analysis::graphs::Code;
use crate::ptx::flow::{Condition, Definition, ValueId};
use crate::ptx::ir::{Guard, InstId};
use rustc_hash::FxHashSet;

/// One walk looks at no more places than this; where it gives up, nothing is said.
const MOST: usize = 400;

/// All walks of a function together look at no more places than this.
const BUDGET: usize = 40_000;

/// So many branches above a block are remembered as having been taken.
const CONDITIONS: usize = 24;

pub(super) struct Walker<'a> {
    code: Code<'a>,
    facts: Facts<'a>,
    levels: &'a [Level],
    left: usize,
}

/// A place of the walk: the value, what holds there, and how the use is reached from there.
struct Place {
    value: ValueId,
    known: Known,
    /// The place before, and the step from this one to it.
    next: Option<(usize, Option<Step>)>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(code: Code<'a>, folder: Folder<'a>, levels: &'a [Level]) -> Self {
        Self {
            code,
            facts: Facts::new(code, folder),
            levels,
            left: BUDGET,
        }
    }

    /// Walks back from a use; the undefined value that is found, and the way from there to the use.
    pub(super) fn walk(&mut self, inst: InstId, value: ValueId) -> Option<(ValueId, Vec<Step>)> {
        let mut known = Known::new();
        if let Some(guard) = self.code.body.insts[inst.index()].guard
            && self.code.ssa.use_of(inst, guard.reg) != Some(value)
            && !self.facts.add_guard(&mut known, inst, guard, true)
        {
            return None;
        }
        if !self.add_conditions(&mut known, self.code.cfg.block_of(inst)) {
            return None;
        }
        let mut places = vec![Place {
            value,
            known,
            next: None,
        }];
        let mut open = vec![0];
        let mut seen: FxHashSet<(ValueId, u64)> = FxHashSet::default();
        while let Some(at) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            if places.len() > MOST {
                return None;
            }
            let value = places[at].value;
            // A value is looked at again where something else is known: a loop is gone round until that is settled.
            if !seen.insert((value, mark(&places[at].known))) {
                continue;
            }
            if self.is_undefined(value) {
                return Some((value, path(&places, at)));
            }
            for (value, known, step) in self.sources(&places[at]) {
                if matches!(self.levels.get(value.index()), Some(Level::Maybe | Level::Never)) {
                    open.push(places.len());
                    places.push(Place {
                        value,
                        known,
                        next: Some((at, step)),
                    });
                }
            }
        }
        None
    }

    fn is_undefined(&self, value: ValueId) -> bool {
        self.code
            .ssa
            .value(value)
            .is_some_and(|value| value.definition == Definition::Undefined)
    }

    /// Where the value at a place may come from.
    fn sources(&mut self, place: &Place) -> Vec<(ValueId, Known, Option<Step>)> {
        match self.code.ssa.value(place.value).map(|value| value.definition) {
            Some(Definition::Inst(inst)) => self.through(place, inst),
            Some(Definition::Phi(block)) => self.merged(place, block),
            _ => Vec::new(),
        }
    }

    /// Back through an instruction: the value before a write that may not execute, and what a copy copies.
    fn through(&mut self, place: &Place, inst: InstId) -> Vec<(ValueId, Known, Option<Step>)> {
        let Code { ssa, body, .. } = self.code;
        let row = &body.insts[inst.index()];
        let mut found = Vec::new();
        let position = ssa.defs(inst).iter().position(|def| *def == place.value);
        let before = position
            .and_then(|at| ssa.before(inst).get(at))
            .copied()
            .filter(|before| before.is_some());
        let mut executed = Some(place.known.clone());
        if let Some(guard) = row.guard {
            executed = self.with_guard(&place.known, inst, guard, true);
            if let Some(before) = before
                && let Some(known) = self.with_guard(&place.known, inst, guard, false)
            {
                found.push((before, known, Some(Step::Skipped(inst))));
            }
        }
        let Some(known) = executed else { return found };
        match passing(row) {
            Passing::Copy(from) => {
                if let Some(value) = ssa.use_of(inst, from) {
                    found.push((value, known, Some(Step::Copied(inst))));
                }
            }
            Passing::Select(a, b, reg, negated) => {
                let guard = Guard { reg, negated };
                for (choice, holds) in [(a, true), (b, false)] {
                    let value = choice.and_then(|reg| ssa.use_of(inst, reg));
                    if let Some(value) = value
                        && let Some(known) = self.with_guard(&known, inst, guard, holds)
                    {
                        found.push((value, known, Some(Step::Copied(inst))));
                    }
                }
                if let Some(value) = ssa.use_of(inst, reg) {
                    found.push((value, known, Some(Step::Through(inst))));
                }
            }
            Passing::Computes | Passing::Picks => {
                let sources = ssa.uses(inst).get(usize::from(row.guard.is_some())..).unwrap_or(&[]);
                for value in sources {
                    found.push((*value, known.clone(), Some(Step::Through(inst))));
                }
            }
            Passing::Matters | Passing::Nothing => {}
        }
        found
    }

    fn with_guard(&mut self, known: &Known, inst: InstId, guard: Guard, holds: bool) -> Option<Known> {
        let mut known = known.clone();
        self.facts.add_guard(&mut known, inst, guard, holds).then_some(known)
    }

    /// Back over the edges into a block.
    fn merged(&mut self, place: &Place, block: u32) -> Vec<(ValueId, Known, Option<Step>)> {
        let Code { ssa, cfg, .. } = self.code;
        let mut found = Vec::new();
        for (pred, input) in cfg.preds().next(block).iter().zip(ssa.phi_inputs(place.value)) {
            if !input.is_some() || !cfg.is_reachable(*pred) {
                continue;
            }
            let Some(mut known) = self.facts.over_edge(&place.known, *pred, block) else {
                continue;
            };
            if self.add_edge(&mut known, *pred, block) && self.add_conditions(&mut known, *pred) {
                found.push((*input, known, Some(Step::Edge(*pred, block))));
            }
        }
        found
    }

    /// Adds the condition for going from one block to the next.
    fn add_edge(&mut self, known: &mut Known, from: u32, to: u32) -> bool {
        let Code { cfg, body, .. } = self.code;
        let (Some(Condition::Guard(guard)), Some(last)) = (cfg.condition(body, from), cfg.last(from)) else {
            return true;
        };
        // The first edge is the one that is taken where the guard holds; an edge past a guarded exit has it first as well.
        let holds = cfg.succs().next(from).first() == Some(&to);
        self.facts.add_guard(known, last, guard, holds)
    }

    /// Adds the conditions of the branches that control must have taken to come to a block.
    fn add_conditions(&mut self, known: &mut Known, block: u32) -> bool {
        let Code { cfg, .. } = self.code;
        let mut at = block;
        for _ in 0..CONDITIONS {
            let Some(above) = cfg.dom().idom(at) else { break };
            if cfg.preds().next(at) == [above] && !self.add_edge(known, above, at) {
                return false;
            }
            at = above;
        }
        true
    }
}

/// The steps from a place to the use.
fn path(places: &[Place], from: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = from;
    while let Some((next, step)) = places[at].next {
        steps.extend(step);
        at = next;
    }
    steps
}
