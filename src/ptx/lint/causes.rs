//! Which branch a barrier's trouble is laid to.

use super::bounds::{Certainty, certainty, rests_on_unknown};
use super::parting::{condition, is_hurt, level};
use crate::ptx::analysis::{BarrierSite, Unit};
use crate::ptx::diag::Level;
use crate::ptx::flow::LoopId;
use crate::ptx::ir::BarrierOp;
use crate::ptx::isa::Extent;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// A branch at which threads part and later meet again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    /// [`Extent::Warp`] or [`Extent::Thread`].
    pub(super) extent: Extent,
    /// The outermost loop that threads leave here in different rounds.
    pub(super) rounds: Option<LoopId>,
    /// Whether every arm waits at some barrier.
    all_wait: bool,
}

/// Finds causes, and keeps what it learned of branches.
pub(super) struct Causes<'a, 'm> {
    unit: &'a Unit<'m>,
    controllers: Rc<Vec<Vec<u32>>>,
    branches: FxHashMap<u32, Option<Branch>>,
    /// Per branch and loop: whether the branch decides on the loop's trips, and how sure it is that they differ.
    certainties: FxHashMap<(u32, LoopId), Certainty>,
}

impl<'a, 'm> Causes<'a, 'm> {
    pub(super) fn new(unit: &'a Unit<'m>) -> Self {
        Self {
            unit,
            controllers: Rc::new(unit.converge.controllers()),
            branches: FxHashMap::default(),
            certainties: FxHashMap::default(),
        }
    }

    /// The branch that hurts the barrier most; among equals the nearest.
    pub(super) fn of(&mut self, site: &BarrierSite) -> Option<u32> {
        let mut best: Option<(Level, u32)> = None;
        let unit = self.unit;
        for block in self.above(unit.cfg.block_of(site.inst)) {
            let Some(branch) = self.branch(block) else { continue };
            if !is_hurt(site, branch.extent, branch.all_wait) {
                continue;
            }
            let own = level(
                branch.extent == Extent::Thread && site.aligned,
                self.certainty(block, site),
            );
            if best.is_none_or(|best| own < best.0) {
                best = Some((own, block));
            }
            if own == Level::Error {
                break;
            }
        }
        best.map(|best| best.1)
    }

    /// The nearest branch that parts the threads which come to a block.
    pub(super) fn parting(&mut self, block: u32) -> Option<(u32, Branch)> {
        for above in self.above(block) {
            if let Some(branch) = self.branch(above) {
                return Some((above, branch));
            }
        }
        None
    }

    /// The blocks that decide whether threads come to a block, nearest first.
    fn above(&self, block: u32) -> impl Iterator<Item = u32> + use<> {
        let controllers = Rc::clone(&self.controllers);
        let mut seen = FxHashSet::default();
        let mut queue = VecDeque::from([block]);
        let mut is_start = true;
        std::iter::from_fn(move || {
            loop {
                let at = queue.pop_front()?;
                let news = controllers
                    .get(at as usize)
                    .into_iter()
                    .flatten()
                    .filter(|above| seen.insert(**above));
                queue.extend(news);
                if !std::mem::replace(&mut is_start, false) {
                    return Some(at);
                }
            }
        })
    }

    /// What is known of a branch; `None` where threads do not part.
    pub(super) fn branch(&mut self, block: u32) -> Option<Branch> {
        if let Some(known) = self.branches.get(&block) {
            return *known;
        }
        let unit = self.unit;
        let extent = unit.uniformity.branch(block);
        let found = (extent >= Extent::Warp && unit.converge.succs(block).len() > 1).then(|| {
            let rounds = left_loop(unit, block);
            Branch {
                extent,
                rounds,
                all_wait: rounds.is_none() && every_path_waits(unit, block),
            }
        });
        self.branches.insert(block, found);
        found
    }

    /// How sure it is that the branch hurts the barrier: less so where it decides on trip counts that rest on an unknown number.
    pub(super) fn certainty(&mut self, block: u32, site: &BarrierSite) -> Certainty {
        let unit = self.unit;
        let at = unit.cfg.block_of(site.inst);
        let Some(branch) = self.branch(block) else {
            return Certainty::Sure;
        };
        if let Some(id) = branch.rounds {
            return if unit.loops.contains(id, at) {
                self.trips(block, id)
            } else {
                Certainty::Sure
            };
        }
        // `if (i < n) do { ... } while (i < n);`: the loop's own condition, asked before its first round.
        for id in unit.loops.around(at).filter(|id| !unit.loops.contains(*id, block)) {
            let (extent, exit) = unit.uniformity.loop_exit(id);
            if extent >= Extent::Warp {
                let own = self.trips(exit, id);
                let asked = condition(unit, block).is_some_and(|condition| rests_on_unknown(unit, condition));
                return if asked { own } else { Certainty::Sure };
            }
        }
        Certainty::Sure
    }

    fn trips(&mut self, block: u32, id: LoopId) -> Certainty {
        let unit = self.unit;
        *self.certainties.entry((block, id)).or_insert_with(|| {
            condition(unit, block).map_or(Certainty::Sure, |condition| certainty(unit, id, condition))
        })
    }
}

/// The outermost loop that threads leave in different rounds if they part at the end of a block.
fn left_loop(unit: &Unit, block: u32) -> Option<LoopId> {
    let meeting = unit.converge.meeting(block);
    let left = unit
        .loops
        .around(block)
        .filter(|id| !meeting.is_some_and(|meeting| unit.loops.contains(*id, meeting)));
    left.last()
}

/// Whether the paths from the branch to where threads meet again all pass barriers, and as many of them.
fn every_path_waits(unit: &Unit, block: u32) -> bool {
    // Only barriers that need not be the same instruction in all threads are helped by this.
    if unit.barriers.iter().all(|site| site.aligned) {
        return false;
    }
    let mut passed: FxHashMap<u32, u32> = FxHashMap::default();
    for site in unit.barriers.iter().filter(|site| site.op != BarrierOp::Arrive) {
        *passed.entry(unit.cfg.block_of(site.inst)).or_default() += 1;
    }
    // Rounds of loops are not counted: roles are taken to agree on how many there are.
    let around = unit.loops.innermost(block);
    let is_looped = |at: &u32| passed.contains_key(at) && unit.loops.innermost(*at) != around;
    let count = !unit.converge.region(block).iter().any(is_looped);
    let meeting = unit.converge.meeting(block);
    // How many barriers a path to a block has passed.
    let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
    let mut stack: Vec<(u32, u32)> = unit.converge.succs(block).iter().map(|at| (*at, 0)).collect();
    let mut total = None;
    while let Some((at, before)) = stack.pop() {
        if Some(at) == meeting || at == unit.cfg.exit() {
            if before == 0 || *total.get_or_insert(before) != before {
                return false;
            }
            continue;
        }
        match counts.insert(at, before) {
            Some(known) if known == before || !count => continue,
            Some(_) => return false,
            None => {}
        }
        let here = passed.get(&at).copied().unwrap_or(0);
        if count || here == 0 {
            stack.extend(unit.converge.succs(at).iter().map(|to| (*to, before + here)));
        }
    }
    true
}
