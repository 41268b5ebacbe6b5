//! In which loop a value changes from round to round.

use super::Parts;
use crate::ptx::analysis::source::Nature;
use crate::ptx::flow::LoopId;
use crate::ptx::ir::InstId;
use crate::ptx::isa::Extent;

/// Per value, the innermost loop in which it can change from round to round.
pub(super) fn variance(parts: Parts, natures: &[Nature]) -> Vec<Option<LoopId>> {
    let Parts { cfg, ssa, loops, .. } = parts;
    let mut varies: Vec<Option<LoopId>> = vec![None; ssa.len()];
    let deeper = |a: Option<LoopId>, b: Option<LoopId>| {
        let depth = |id: Option<LoopId>| id.map_or(0, |id| loops.get(id).depth);
        if depth(b) > depth(a) { b } else { a }
    };
    for block in cfg.rpo() {
        let here = loops.innermost(*block);
        for phi in ssa.phis(*block) {
            varies[phi.index()] = here;
        }
        for inst in cfg.insts(*block).map(InstId) {
            let pure = matches!(natures[inst.index()], Nature::AtLeast(Extent::Grid))
                && parts.body.insts[inst.index()].guard.is_none();
            let inputs = ssa.uses(inst).iter().filter(|value| value.is_some());
            let worst = if pure {
                inputs.fold(None, |worst, value| deeper(worst, varies[value.index()]))
            } else {
                here
            };
            // A value from an inner loop, seen out here, is one value of this round.
            let worst = worst.filter(|id| loops.contains(*id, *block)).or(worst.and(here));
            for def in ssa.defs(inst) {
                varies[def.index()] = worst;
            }
        }
    }
    varies
}
