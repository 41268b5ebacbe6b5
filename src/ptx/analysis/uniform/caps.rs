//! Extents that are known exactly: nothing may exceed them.

use super::solver::Solver;
use super::transfer::special_named;
use super::{Parts, Why};
use crate::ptx::analysis::linear::{Leaf, Sums};
use crate::ptx::analysis::trips;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::InstId;
use crate::ptx::isa::{Effect, Extent};

impl Solver<'_, '_> {
    /// Finds what is known exactly of the values that conditions are computed from.
    pub(super) fn find_caps(&mut self) {
        let Parts {
            body, cfg, ssa, loops, ..
        } = self.parts;
        let mut seen = vec![false; ssa.len()];
        let mut sums = Sums::new(loops);
        for block in (0..cfg.blocks()).filter(|block| cfg.is_reachable(*block)) {
            let Some(last) = cfg.last(block) else { continue };
            if cfg.condition(body, block).is_some() {
                self.cap_cone(ssa.uses(last), &mut seen, &mut sums);
                for id in loops.around(block) {
                    let leaves = cfg.succs().next(block).iter().any(|to| !loops.contains(id, *to));
                    if leaves && let Some(extent) = trips::exit_extent(self.evaluator, loops, id, block) {
                        self.branch_caps.insert(block, extent);
                        break;
                    }
                }
            }
        }
        for (at, inst) in (0..).map(InstId).zip(&body.insts) {
            if inst.op.effect == Effect::Barrier || inst.op.effect == Effect::Call && inst.guard.is_some() {
                self.cap_cone(ssa.uses(at), &mut seen, &mut sums);
            }
        }
    }

    /// Evaluates the values behind these, as far as pure instructions go.
    fn cap_cone(&mut self, roots: &[ValueId], seen: &mut [bool], sums: &mut Sums) {
        let ssa = self.parts.ssa;
        let mut stack: Vec<ValueId> = roots.to_vec();
        while let Some(id) = stack.pop() {
            let Some(value) = ssa.value(id) else { continue };
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            if let Some(exact) = self.evaluator.value(id) {
                let extent = exact.extent();
                if extent < Extent::Thread {
                    self.caps.insert(id, extent);
                }
            }
            match value.definition {
                Definition::Inst(inst) => {
                    self.cancel(id, inst, value.block, sums);
                    stack.extend(ssa.uses(inst).iter().chain(ssa.before(inst)));
                }
                Definition::Phi(_) => stack.extend(ssa.phi_inputs(id)),
                Definition::Undefined => {}
            }
        }
    }

    /// Notes where something cancels out: what is left decides how far apart the value is.
    fn cancel(&mut self, id: ValueId, inst: InstId, block: u32, sums: &mut Sums) {
        let row = &self.parts.body.insts[inst.index()];
        if row.guard.is_some() || !row.op.types.iter().all(|ty| ty.is_integral()) {
            return;
        }
        let sum = match row.op.base() {
            "setp" if row.operands.len() == 3 => sums.difference(self.evaluator, inst),
            "add" | "sub" | "mad" => {
                let sum = sums.of(self.evaluator, id);
                sums.unroll(self.evaluator, sum, block)
            }
            _ => None,
        };
        let Some(left) = sum.and_then(|sum| sum.remains()) else {
            return;
        };
        for leaf in &left {
            for value in leaf_values(*leaf) {
                self.watchers.entry(value).or_default().push(inst.0);
            }
        }
        self.cancelled.insert(id, left);
    }

    /// The worst of what is left of a value where something cancels out.
    pub(super) fn left_over(&self, id: ValueId, block: u32) -> Option<(Extent, Why)> {
        let mut worst = (Extent::Grid, Why::Uniform);
        for leaf in self.cancelled.get(&id)? {
            let seen = match leaf {
                Leaf::Special(name) => (special_named(name, self.evaluator), Why::Nature),
                _ => {
                    let seen = leaf_values(*leaf).map(|value| self.seen(value, block));
                    seen.max_by_key(|seen| seen.0).unwrap_or(worst)
                }
            };
            if seen.0 > worst.0 {
                worst = seen;
            }
        }
        Some(worst)
    }
}

fn leaf_values(leaf: Leaf) -> impl Iterator<Item = ValueId> {
    let (a, b) = match leaf {
        Leaf::Value(a) => (Some(a), None),
        Leaf::Product(a, b) => (Some(a), Some(b)),
        Leaf::Special(_) => (None, None),
    };
    a.into_iter().chain(b)
}
