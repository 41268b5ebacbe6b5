//! Extents that are known exactly: nothing may exceed them.

use super::Parts;
use super::solver::Solver;
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
        for block in (0..cfg.blocks()).filter(|block| cfg.is_reachable(*block)) {
            let Some(last) = cfg.last(block) else { continue };
            if cfg.condition(body, block).is_some() {
                self.cap_cone(ssa.uses(last), &mut seen);
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
                self.cap_cone(ssa.uses(at), &mut seen);
            }
        }
    }

    /// Evaluates the values behind these, as far as pure instructions go.
    fn cap_cone(&mut self, roots: &[ValueId], seen: &mut [bool]) {
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
                Definition::Inst(inst) => stack.extend(ssa.uses(inst).iter().chain(ssa.before(inst))),
                Definition::Phi(_) => stack.extend(ssa.phi_inputs(id)),
                Definition::Undefined => {}
            }
        }
    }
}
