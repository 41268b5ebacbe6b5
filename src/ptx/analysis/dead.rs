//! Results that nobody reads.

use super::graphs::Code;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;

/// The instructions whose only effect is their results, where none of these is read, in textual order.
pub fn unused(code: Code) -> Vec<InstId> {
    let ssa = code.ssa;
    let mut read = vec![false; ssa.len()];
    let mut see = |value: &ValueId| {
        if let Some(read) = read.get_mut(value.index()) {
            *read = true;
        }
    };
    for block in code.cfg.rpo() {
        for phi in ssa.phis(*block) {
            ssa.phi_inputs(*phi).iter().for_each(&mut see);
        }
        for inst in code.cfg.insts(*block).map(InstId) {
            ssa.uses(inst).iter().chain(ssa.before(inst)).for_each(&mut see);
        }
    }
    let is_unused = |(at, row): &(InstId, &Inst)| {
        let defs = ssa.defs(*at);
        let is_unread = |def: &ValueId| read.get(def.index()) == Some(&false);
        let is_own = |def: &ValueId| ssa.value(*def).is_some_and(|value| !code.is_foreign(value.reg));
        has_results_only(row) && !defs.is_empty() && defs.iter().all(is_unread) && defs.iter().all(is_own)
    };
    let insts = (0..).map(InstId).zip(&code.body.insts);
    insts.filter(is_unused).map(|(at, _)| at).collect()
}

/// Whether the instruction could go if nobody read its results.
fn has_results_only(row: &Inst) -> bool {
    match row.op.effect {
        Effect::Pure => true,
        // Loading all parameters at the start is a habit, and costs nothing.
        Effect::Load if row.op.space == Space::Param => false,
        Effect::Load => {
            let ordered = |name: &str| matches!(name, "volatile" | "relaxed" | "acquire" | "mmio");
            matches!(row.op.base(), "ld" | "ldu") && !row.op.mods().any(ordered)
        }
        _ => false,
    }
}
