//! Exits that only some threads take, while others go on to a barrier.

use super::bounds::Certainty;
use super::causes::Causes;
use super::parting::{Parting, Shape, condition};
use crate::ptx::analysis::{BarrierSite, Unit};
use crate::ptx::isa::Extent;

/// Counted barriers looked at per function: the rest is taken for uncounted.
const MOST_COUNTED: usize = 32;

/// Finds them. Of the barriers that follow, the first one is named, and those that count threads.
pub(super) fn find(unit: &Unit, causes: &mut Causes) -> Vec<Parting> {
    let mut found = Vec::new();
    let departures: Vec<_> = unit
        .converge
        .departures()
        .iter()
        .filter(|departure| !departure.fatal)
        .collect();
    if departures.is_empty() {
        return found;
    }
    let after = After::new(unit);
    for departure in departures {
        let extent = unit.uniformity.branch(departure.from);
        // Threads that are apart already leave on a branch of their own.
        let (block, extent) = match extent >= Extent::Warp {
            true => (departure.from, extent),
            false => match causes.parting(departure.from) {
                Some((block, branch)) => (block, branch.extent),
                None => continue,
            },
        };
        let Some(at) = unit.cfg.last(departure.from) else {
            continue;
        };
        let stay = unit
            .cfg
            .succs()
            .next(departure.from)
            .iter()
            .copied()
            .filter(|to| *to != departure.to);
        let sites = after.sites(unit, stay.collect());
        if !sites.is_empty() {
            found.push(Parting {
                function: unit.id,
                shape: Shape::Leave,
                at,
                block,
                condition: condition(unit, block),
                extent,
                sites,
                certainty: Certainty::Sure,
            });
        }
    }
    found
}

/// Which barriers can be met from the start of each block.
struct After {
    /// The first one in the text, by index among the function's barriers.
    first: Vec<Option<usize>>,
    /// Counted ones, with the blocks from which each can be met.
    counted: Vec<(usize, Vec<bool>)>,
}

impl After {
    fn new(unit: &Unit) -> Self {
        let mut first = vec![None; unit.cfg.blocks() as usize + 1];
        let mut stack = Vec::new();
        for (at, site) in unit.barriers.iter().enumerate() {
            stack.push(unit.cfg.block_of(site.inst));
            while let Some(block) = stack.pop() {
                if first[block as usize].is_none() {
                    first[block as usize] = Some(at);
                    stack.extend(unit.cfg.preds().next(block));
                }
            }
        }
        let counted = unit
            .barriers
            .iter()
            .enumerate()
            .filter(|(_, site)| site.counted && site.callee.is_none())
            .take(MOST_COUNTED);
        let counted = counted
            .map(|(at, site)| (at, unit.cfg.preds().reachable([unit.cfg.block_of(site.inst)])))
            .collect();
        Self { first, counted }
    }

    fn sites(&self, unit: &Unit, from: Vec<u32>) -> Vec<BarrierSite> {
        let first = from.iter().filter_map(|block| self.first[*block as usize]).min();
        let counted = self
            .counted
            .iter()
            .filter(|(_, meets)| from.iter().any(|block| meets[*block as usize]));
        let mut all: Vec<usize> = counted.map(|(at, _)| *at).chain(first).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|at| unit.barriers[at].clone()).collect()
    }
}
