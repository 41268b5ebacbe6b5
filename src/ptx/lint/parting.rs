//! Where threads part before a barrier that all of them must meet: the common ground of BAR001 to BAR005.
//!
//! One cause gives one [`Parting`]. A barrier is laid to the branch that parts threads most and lies nearest.

use super::bounds::{Certainty, certainty, rests_on_unknown};
use crate::ptx::analysis::{BarrierSite, Departure, Unit};
use crate::ptx::diag::Level;
use crate::ptx::flow::{Condition, Definition, LoopId, ValueId};
use crate::ptx::ir::{BarrierOp, FuncId, InstId};
use crate::ptx::isa::Extent;
use rustc_hash::{FxHashMap, FxHashSet};

/// How the threads part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Some go past the barrier (BAR001).
    Branch,
    /// Each arm has barriers of its own (BAR002).
    Arms,
    /// The barrier's own guard (BAR003).
    Guard,
    /// They leave a loop with a barrier in different rounds (BAR004).
    Rounds(LoopId),
    /// Some leave the function (BAR005).
    Leave,
}

/// A cause with the barriers it concerns.
#[derive(Clone, Debug)]
pub(super) struct Parting {
    /// The function.
    pub(super) function: FuncId,
    /// How.
    pub(super) shape: Shape,
    /// The instruction that parts them: a branch, an exit, or the guarded barrier itself.
    pub(super) at: InstId,
    /// Its block.
    pub(super) block: u32,
    /// The value on which it depends.
    pub(super) condition: Option<ValueId>,
    /// [`Extent::Warp`] if whole warps part, [`Extent::Thread`] if lanes do.
    pub(super) extent: Extent,
    /// The barriers concerned, in textual order; at least one.
    pub(super) sites: Vec<BarrierSite>,
    /// How sure it is that trip counts differ; sure for all but [`Shape::Rounds`].
    pub(super) certainty: Certainty,
}

impl Parting {
    /// How bad it is.
    pub(super) fn level(&self) -> Level {
        let lanes = self.extent == Extent::Thread && self.sites.iter().any(|site| site.aligned);
        level(lanes, self.certainty)
    }
}

fn level(lanes: bool, certainty: Certainty) -> Level {
    match certainty {
        Certainty::Sure if lanes => Level::Error,
        Certainty::Rounded => Level::Info,
        _ => Level::Warning,
    }
}

/// A candidate: a branch that parts threads, and the blocks in which they are apart.
struct Split {
    block: u32,
    extent: Extent,
    region: Vec<u32>,
    /// The outermost loop that threads leave here in different rounds.
    rounds: Option<LoopId>,
    /// How sure it is that the trip counts of the loop in the next field differ.
    certainty: Certainty,
    applies_to: Option<LoopId>,
}

/// Finds the partings of a function.
pub(super) fn find(unit: &Unit) -> Vec<Parting> {
    if unit.barriers.is_empty() {
        return Vec::new();
    }
    let mut found = guards(unit);
    let mut splits = splits(unit);
    found.extend(branches(unit, &mut splits));
    found.extend(departures(unit, &splits));
    found
}

/// Barriers with a guard that differs between threads, by guard.
fn guards(unit: &Unit) -> Vec<Parting> {
    let mut found: Vec<Parting> = Vec::new();
    for site in &unit.barriers {
        let row = &unit.body.insts[site.inst.index()];
        let block = unit.cfg.block_of(site.inst);
        let Some(value) = row.guard.and_then(|guard| unit.ssa.use_of(site.inst, guard.reg)) else {
            continue;
        };
        let extent = unit.uniformity.seen_from(&unit.loops, value, block).0;
        if extent < Extent::Warp || !is_hurt(site, extent, false) {
            continue;
        }
        if let Some(known) = found.iter_mut().find(|known| known.condition == Some(value)) {
            known.sites.push(site.clone());
            continue;
        }
        found.push(Parting {
            function: unit.id,
            shape: Shape::Guard,
            at: site.inst,
            block,
            condition: Some(value),
            extent,
            sites: vec![site.clone()],
            certainty: Certainty::Sure,
        });
    }
    found
}

/// Whether it matters for the barrier that threads are so far apart there. `all_arms`: the others meet one of their own.
fn is_hurt(site: &BarrierSite, extent: Extent, all_arms: bool) -> bool {
    match (site.aligned, extent) {
        // The lanes of a warp must execute an aligned barrier together, however many threads it counts.
        (true, Extent::Thread) => true,
        // Warps in roles of their own: that is what counts are for.
        (true, _) => !site.counted,
        (false, _) => !site.counted && !all_arms && site.op != BarrierOp::Arrive,
    }
}

/// The branches at which threads part and meet again.
fn splits(unit: &Unit) -> Vec<Split> {
    let parts = |block: &u32| unit.uniformity.branch(*block) >= Extent::Warp && unit.converge.succs(*block).len() > 1;
    (0..unit.cfg.blocks())
        .filter(|block| unit.cfg.is_reachable(*block) && parts(block))
        .map(|block| Split {
            block,
            extent: unit.uniformity.branch(block),
            region: unit.converge.region(block),
            rounds: left_loop(unit, block),
            certainty: Certainty::Sure,
            applies_to: None,
        })
        .collect()
}

/// The outermost loop that threads leave in different rounds if they part at the end of a block.
fn left_loop(unit: &Unit, block: u32) -> Option<LoopId> {
    let meeting = unit.converge.meeting(block);
    let left = unit.loops.around(block).filter(|id| !meeting.is_some_and(|meeting| unit.loops.contains(*id, meeting)));
    left.last()
}

/// Lays each barrier to a branch, and gathers what is laid to the same one.
fn branches(unit: &Unit, splits: &mut [Split]) -> Vec<Parting> {
    let mut sites_of: FxHashMap<u32, Vec<&BarrierSite>> = FxHashMap::default();
    for site in &unit.barriers {
        sites_of.entry(unit.cfg.block_of(site.inst)).or_default().push(site);
    }
    let inside: Vec<Vec<&BarrierSite>> = splits
        .iter()
        .map(|split| {
            let all = split.region.iter().filter_map(|block| sites_of.get(block)).flatten().copied().collect::<Vec<_>>();
            if !all.is_empty() && any_hurt(unit, split, &all) { all } else { Vec::new() }
        })
        .collect();
    judge_loops(unit, splits, &inside);
    // Per barrier, the best cause so far: the worse one, then the one of the smaller region.
    let mut causes: FxHashMap<InstId, (Level, usize, usize)> = FxHashMap::default();
    for (at, (split, inside)) in splits.iter().zip(&inside).enumerate() {
        for site in inside.iter().filter(|site| is_hurt(site, split.extent, false)) {
            let in_loop = split.applies_to.is_some_and(|id| unit.loops.contains(id, unit.cfg.block_of(site.inst)));
            let certainty = if in_loop { split.certainty } else { Certainty::Sure };
            let own = (level(split.extent == Extent::Thread && site.aligned, certainty), split.region.len(), at);
            let cause = causes.entry(site.inst).or_insert(own);
            *cause = own.min(*cause);
        }
    }
    let mut found = Vec::new();
    for (at, split) in splits.iter().enumerate() {
        let own = |site: &&BarrierSite| causes.get(&site.inst).is_some_and(|cause| cause.2 == at);
        let sites: Vec<BarrierSite> = unit.barriers.iter().filter(own).cloned().collect();
        if !sites.is_empty() {
            found.extend(describe(unit, split, sites));
        }
    }
    found
}

/// Judges how sure it is that trip counts differ: of branches that leave loops, and of those that skip such a loop altogether.
fn judge_loops(unit: &Unit, splits: &mut [Split], inside: &[Vec<&BarrierSite>]) {
    let mut judged: FxHashMap<LoopId, Certainty> = FxHashMap::default();
    for (split, _) in splits.iter_mut().zip(inside).filter(|(_, inside)| !inside.is_empty()) {
        if let (Some(id), Some(condition)) = (split.rounds, condition(unit, split.block)) {
            split.certainty = certainty(unit, id, condition);
            split.applies_to = Some(id);
            judged.insert(id, split.certainty);
        }
    }
    for (split, inside) in splits.iter_mut().zip(inside).filter(|(split, _)| split.rounds.is_none()) {
        let Some(first) = inside.first() else { continue };
        // `if (i < n) do { ... } while (i < n);`: the loop's own condition, asked before its first round.
        let entered = unit.loops.around(unit.cfg.block_of(first.inst)).find_map(|id| {
            let outside = !unit.loops.contains(id, split.block);
            judged.get(&id).copied().filter(|_| outside).map(|certainty| (id, certainty))
        });
        if let (Some((id, known)), Some(condition)) = (entered, condition(unit, split.block))
            && rests_on_unknown(unit, condition)
        {
            (split.certainty, split.applies_to) = (known, Some(id));
        }
    }
}

/// Whether any barrier between parting and meeting suffers. Unaligned barriers do not, if every arm has as many of them.
fn any_hurt(unit: &Unit, split: &Split, inside: &[&BarrierSite]) -> bool {
    if inside
        .iter()
        .any(|site| site.aligned && is_hurt(site, split.extent, false))
    {
        return true;
    }
    let all_arms = split.rounds.is_none() && every_path_waits(unit, split, inside);
    inside.iter().any(|site| is_hurt(site, split.extent, all_arms))
}

/// Whether no path from the branch to where threads meet again avoids all of the barriers.
fn every_path_waits(unit: &Unit, split: &Split, inside: &[&BarrierSite]) -> bool {
    let stops: FxHashSet<u32> = inside.iter().map(|site| unit.cfg.block_of(site.inst)).collect();
    let meeting = unit.converge.meeting(split.block);
    let mut seen = FxHashSet::default();
    let mut stack = unit.converge.succs(split.block).to_vec();
    while let Some(block) = stack.pop() {
        if stops.contains(&block) || !seen.insert(block) {
            continue;
        }
        if Some(block) == meeting || block == unit.cfg.exit() {
            return false;
        }
        stack.extend(unit.converge.succs(block));
    }
    true
}

/// Says how threads part at a branch. Those in a loop that they leave there in different rounds are told apart.
fn describe(unit: &Unit, split: &Split, sites: Vec<BarrierSite>) -> Vec<Parting> {
    let in_loop = |site: &BarrierSite| split.rounds.is_some_and(|id| unit.loops.contains(id, unit.cfg.block_of(site.inst)));
    let shape = match split.rounds {
        Some(id) if sites.iter().any(in_loop) => Shape::Rounds(id),
        _ if in_several_arms(unit, split, &sites) => Shape::Arms,
        _ => Shape::Branch,
    };
    let Some(at) = unit.cfg.last(split.block) else { return Vec::new() };
    let within = |site: &BarrierSite| split.applies_to.is_some_and(|id| unit.loops.contains(id, unit.cfg.block_of(site.inst)));
    let sites_uncertain = sites.iter().all(within);
    vec![Parting {
        function: unit.id,
        shape,
        at,
        block: split.block,
        condition: condition(unit, split.block),
        extent: split.extent,
        sites,
        certainty: if sites_uncertain { split.certainty } else { Certainty::Sure },
    }]
}

/// Whether the arms of the branch have different barriers.
fn in_several_arms(unit: &Unit, split: &Split, sites: &[BarrierSite]) -> bool {
    let blocks: FxHashSet<u32> = sites.iter().map(|site| unit.cfg.block_of(site.inst)).collect();
    let arms = unit.converge.succs(split.block).iter().map(|arm| {
        let reached = unit.converge.arm(split.block, &[*arm]).into_iter();
        reached.filter(|block| blocks.contains(block)).collect::<Vec<u32>>()
    });
    arms.filter(|reached| !reached.is_empty()).count() > 1
}

/// Exits that only some threads take, while others go on to a barrier.
fn departures(unit: &Unit, splits: &[Split]) -> Vec<Parting> {
    let mut found = Vec::new();
    for departure in unit.converge.departures().iter().filter(|departure| !departure.fatal) {
        let extent = unit.uniformity.branch(departure.from);
        // Threads that are apart already leave on a branch of their own.
        let parted = || {
            splits
                .iter()
                .filter(|split| split.region.contains(&departure.from))
                .min_by_key(|split| split.region.len())
        };
        let (block, extent) = match extent >= Extent::Warp {
            true => (departure.from, extent),
            false => match parted() {
                Some(split) => (split.block, split.extent),
                None => continue,
            },
        };
        let Some(at) = unit.cfg.last(departure.from) else {
            continue;
        };
        let sites = sites_after(unit, departure);
        if sites.is_empty() {
            continue;
        }
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
    found
}

/// The barriers that threads can meet which stay.
fn sites_after(unit: &Unit, departure: &Departure) -> Vec<BarrierSite> {
    let stays = unit
        .cfg
        .succs()
        .next(departure.from)
        .iter()
        .copied()
        .filter(|to| *to != departure.to);
    let reached = unit.cfg.succs().reachable(stays);
    let after = |site: &&BarrierSite| reached[unit.cfg.block_of(site.inst) as usize];
    unit.barriers.iter().filter(after).cloned().collect()
}

/// The value on which the end of a block depends.
pub(super) fn condition(unit: &Unit, block: u32) -> Option<ValueId> {
    let last = unit.cfg.last(block)?;
    match unit.cfg.condition(unit.body, block)? {
        Condition::Guard(guard) => unit.ssa.use_of(last, guard.reg),
        Condition::Index(inst) => unit.ssa.uses(inst).first().copied(),
    }
}

/// The instruction that makes a value; of a merged one none.
pub(super) fn maker(unit: &Unit, value: ValueId) -> Option<InstId> {
    match unit.ssa.value(value)?.definition {
        Definition::Inst(inst) => Some(inst),
        _ => None,
    }
}
