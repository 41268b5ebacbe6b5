//! Where threads part before a barrier that all of them must meet: the common ground of BAR001 to BAR005.
//!
//! One cause gives one [`Parting`]. A barrier is laid to the branch that parts threads most and lies nearest.

use super::bounds::Certainty;
use super::causes::Causes;
use super::departures;
use crate::ptx::analysis::{BarrierSite, Unit, Why};
use crate::ptx::diag::Level;
use crate::ptx::flow::{Condition, Definition, LoopId, ValueId};
use crate::ptx::ir::{BarrierOp, FuncId, InstId};
use crate::ptx::isa::Extent;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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
    fn is_rounds(&self) -> bool {
        matches!(self.shape, Shape::Rounds(_))
    }

    /// How bad it is.
    pub(super) fn level(&self) -> Level {
        let lanes = self.extent == Extent::Thread && self.sites.iter().any(|site| site.aligned);
        level(lanes, self.certainty)
    }
}

/// How bad it is, for lanes or for warps.
pub(super) fn level(lanes: bool, certainty: Certainty) -> Level {
    match certainty {
        Certainty::Sure if lanes => Level::Error,
        Certainty::Rounded => Level::Info,
        _ => Level::Warning,
    }
}

/// Whether it matters for the barrier that threads are so far apart there. `all_arms`: the others meet one of their own.
pub(super) fn is_hurt(site: &BarrierSite, extent: Extent, all_arms: bool) -> bool {
    match (site.aligned, extent) {
        // The lanes of a warp must execute an aligned barrier together, however many threads it counts.
        (true, Extent::Thread) => true,
        // Warps in roles of their own: that is what counts are for.
        (true, _) => !site.counted,
        (false, _) => !site.counted && !all_arms && site.op != BarrierOp::Arrive,
    }
}

/// Finds the partings of a function.
pub(super) fn find(unit: &Unit) -> Vec<Parting> {
    if unit.barriers.is_empty() {
        return Vec::new();
    }
    let mut causes = Causes::new(unit);
    let mut found = guards(unit);
    found.extend(branches(unit, &mut causes));
    let loops: FxHashSet<u32> = found
        .iter()
        .filter(|parting| parting.is_rounds())
        .map(|parting| parting.block)
        .collect();
    found.retain(|parting| !follows(unit, parting, &loops));
    found.extend(departures::find(unit, &mut causes));
    found
}

/// Whether threads part only because they left one of those loops in different rounds: it has a finding of its own,
/// and what repairs it repairs this.
fn follows(unit: &Unit, parting: &Parting, loops: &FxHashSet<u32>) -> bool {
    let mut seen = FxHashSet::default();
    let mut next = parting.condition.map(|value| (value, parting.block));
    while let Some((value, block)) = next.filter(|(value, _)| seen.insert(*value)) {
        let why = match unit.uniformity.seen_from(&unit.loops, value, block).1 {
            Why::Operand(_) => unit.uniformity.why(value),
            rounds => rounds,
        };
        let own = unit.ssa.value(value).map_or(block, |value| value.block);
        next = match why {
            Why::Rounds(_, exit) if exit != parting.block && loops.contains(&exit) => return true,
            Why::Rounds(_, exit) | Why::Join(exit) => condition(unit, exit).map(|value| (value, exit)),
            Why::Operand(from) | Why::Guard(from) => Some((from, own)),
            _ => None,
        };
    }
    false
}

/// Barriers with a guard that differs between threads, by guard.
fn guards(unit: &Unit) -> Vec<Parting> {
    let mut found: Vec<Parting> = Vec::new();
    let mut by_guard: FxHashMap<ValueId, usize> = FxHashMap::default();
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
        let known = by_guard.get(&value).and_then(|at| found.get_mut(*at));
        if let Some(known) = known {
            known.sites.push(site.clone());
            continue;
        }
        by_guard.insert(value, found.len());
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

/// Lays each barrier to a branch, and gathers what is laid to the same one.
fn branches(unit: &Unit, causes: &mut Causes) -> Vec<Parting> {
    let mut by_branch: BTreeMap<u32, Vec<BarrierSite>> = BTreeMap::new();
    for site in &unit.barriers {
        if let Some(branch) = causes.of(site) {
            by_branch.entry(branch).or_default().push(site.clone());
        }
    }
    by_branch
        .into_iter()
        .filter_map(|(block, sites)| describe(unit, causes, block, sites))
        .collect()
}

/// Says how threads part at a branch. Those in a loop that they leave there in different rounds are told apart.
fn describe(unit: &Unit, causes: &mut Causes, block: u32, sites: Vec<BarrierSite>) -> Option<Parting> {
    let branch = causes.branch(block)?;
    let inside = |id: LoopId, site: &BarrierSite| unit.loops.contains(id, unit.cfg.block_of(site.inst));
    let shape = match branch.rounds {
        Some(id) if sites.iter().any(|site| inside(id, site)) => Shape::Rounds(id),
        _ if in_several_arms(unit, block, &sites) => Shape::Arms,
        _ => Shape::Branch,
    };
    let certainty = sites
        .iter()
        .map(|site| causes.certainty(block, site))
        .min_by_key(|certainty| *certainty as u8);
    Some(Parting {
        function: unit.id,
        shape,
        at: unit.cfg.last(block)?,
        block,
        condition: condition(unit, block),
        extent: branch.extent,
        sites,
        certainty: certainty.unwrap_or(Certainty::Sure),
    })
}

/// Whether the arms of the branch have different barriers.
fn in_several_arms(unit: &Unit, block: u32, sites: &[BarrierSite]) -> bool {
    if sites.len() < 2 {
        return false;
    }
    let blocks: Vec<u32> = sites.iter().map(|site| unit.cfg.block_of(site.inst)).collect();
    let holds = |arm: &u32| {
        unit.converge
            .arm(block, &[*arm])
            .iter()
            .any(|block| blocks.contains(block))
    };
    unit.converge.succs(block).iter().filter(|arm| holds(arm)).count() > 1
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
