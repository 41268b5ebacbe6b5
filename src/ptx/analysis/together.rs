//! Which lanes of a warp come to an instruction together.
//!
//! Barriers are not the only places where threads wait for each other: exchanges and votes name the lanes they wait for.
//! So lanes are followed here as [`Reach`](super::Reach) follows threads, but with every such instruction as a place to meet,
//! and with the threads that have left for good kept apart: a mask may name those.

use super::calls::{Call, Callee};
use super::converge::Converge;
use super::reach::{Split, Threads};
use super::unit::Unit;
use crate::ptx::flow::dataflow::{Solution, solve};
use crate::ptx::ir::{FuncId, FunctionKind, Inst, InstId};
use crate::ptx::isa::{Effect, Extent};
use rustc_hash::FxHashMap;

/// Blocks that may be looked at for all regions together; beyond that, lanes are taken to be apart everywhere.
const BUDGET: usize = 1 << 20;

/// Threads that leave for good while others go on.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// The block at whose end they part from the others.
    pub from: u32,
    /// The threads; an upper bound where it is not sure.
    pub threads: Threads,
    /// Whether all of these leave there whenever the block runs.
    pub sure: bool,
}

/// A branch that parts lanes of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// The block at whose end they part.
    pub block: u32,
    /// Whether it is known in every thread who goes where.
    pub known: bool,
}

/// Who comes to each block, lane by lane.
pub struct Together {
    converge: Converge,
    solution: Solution<Threads>,
    split: Split,
    /// Per block, the branches between whose parting and meeting it lies.
    apart: FxHashMap<u32, Vec<Apart>>,
    gone: Vec<(Gone, Vec<bool>)>,
    /// Whether all threads enter the function.
    whole: bool,
    /// Whether the function was too large to find out.
    lost: bool,
}

/// Who executes an instruction.
#[derive(Clone, Debug)]
pub struct Company {
    /// The threads; an upper bound where it is not sure.
    pub threads: Threads,
    /// Whether all of these execute it, whole warps aside, whenever their warp comes there.
    pub sure: bool,
    /// The branches that part lanes around it.
    pub apart: Vec<Apart>,
    /// Whether its own guard parts lanes in a way that is not known.
    pub guarded: bool,
    /// The threads that have left before for sure.
    pub gone: Threads,
    /// The threads that may have left before.
    pub maybe_gone: Threads,
}

/// Whether lanes of a warp may wait for each other at the instruction, or must execute it together.
pub fn is_joint(inst: &Inst) -> bool {
    match inst.op.effect {
        Effect::Warp => inst.op.has("sync"),
        Effect::Barrier => true,
        _ => inst.op.has("aligned"),
    }
}

impl Together {
    /// Follows the lanes of a unit. `joins` tells of the functions that it calls whether lanes may wait for each other in them.
    pub fn new(unit: &Unit, joins: impl Fn(FuncId) -> bool) -> Self {
        let calls = |inst: u32| {
            let call = Call::of(unit.module, InstId(inst), &unit.body.insts[inst as usize]);
            call.is_some_and(|call| matches!(call.callee, Callee::Known(callee) if joins(callee)))
        };
        let meets =
            |inst: u32| is_joint(&unit.body.insts[inst as usize]) || unit.barrier_at(inst).is_some() || calls(inst);
        let converge = Converge::new(unit.body, &unit.cfg, &unit.loops, true, &meets);
        let mut unknown = Vec::new();
        let split = Split::new(unit, |block| unknown.push(block));
        let solution = solve(&split, &unit.cfg);
        let mut lanes = Self {
            converge,
            solution,
            split,
            apart: FxHashMap::default(),
            gone: Vec::new(),
            whole: unit.function().kind == FunctionKind::Entry,
            lost: false,
        };
        lanes.find_partings(unit, &unknown);
        lanes.find_gone(unit);
        lanes
    }

    fn find_partings(&mut self, unit: &Unit, unknown: &[u32]) {
        let mut left = BUDGET;
        for block in (0..unit.cfg.blocks()).filter(|block| unit.cfg.is_reachable(*block)) {
            if unit.uniformity.branch(block) != Extent::Thread || self.converge.succs(block).len() < 2 {
                continue;
            }
            let known = unknown.binary_search(&block).is_err();
            let region = self.converge.region(block);
            match left.checked_sub(region.len()) {
                Some(rest) => left = rest,
                None => {
                    self.lost = true;
                    return;
                }
            }
            for within in region {
                self.apart.entry(within).or_default().push(Apart { block, known });
            }
        }
    }

    fn find_gone(&mut self, unit: &Unit) {
        for departure in self.converge.departures().to_vec() {
            let before = *self.solution.at(departure.from);
            let takers = self.split.takers(departure.from, departure.to);
            let threads = takers.map_or(before, |takers| before.common(takers));
            let sure = takers.is_some() && !self.apart.contains_key(&departure.from);
            let after = unit
                .cfg
                .succs()
                .reachable(self.converge.succs(departure.from).iter().copied());
            let from = departure.from;
            self.gone.push((Gone { from, threads, sure }, after));
            if self.gone.len() > 64 {
                self.lost = true;
                return;
            }
        }
    }

    /// Where lanes meet, exchanges and votes among the places.
    pub fn converge(&self) -> &Converge {
        &self.converge
    }

    /// The threads that take an edge, where its condition is known in every thread.
    pub fn takers(&self, from: u32, to: u32) -> Option<Threads> {
        self.split.takers(from, to)
    }

    /// The departures before a block.
    pub fn gone_before(&self, block: u32) -> impl Iterator<Item = &Gone> {
        let before = self.gone.iter().filter(move |(_, after)| after[block as usize]);
        before.map(|(gone, _)| gone)
    }

    /// The branches that part lanes around a block.
    pub fn apart(&self, block: u32) -> &[Apart] {
        self.apart.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Who executes an instruction; `None` where that could not be followed.
    pub fn company(&self, unit: &Unit, inst: InstId) -> Option<Company> {
        if self.lost {
            return None;
        }
        let block = unit.cfg.block_of(inst);
        if !unit.cfg.is_reachable(block) {
            return None;
        }
        let mut company = Company {
            threads: *self.solution.at(block),
            sure: self.whole,
            apart: self.apart(block).to_vec(),
            guarded: false,
            gone: Threads::default(),
            maybe_gone: Threads::default(),
        };
        for gone in self.gone_before(block) {
            company.maybe_gone = company.maybe_gone.union(gone.threads);
            if gone.sure {
                company.gone = company.gone.union(gone.threads);
            } else if unit.uniformity.branch(gone.from) == Extent::Thread {
                company.sure = false;
            }
        }
        company.sure &= company.apart.iter().all(|apart| apart.known);
        self.apply_guard(unit, inst, block, &mut company);
        Some(company)
    }

    fn apply_guard(&self, unit: &Unit, inst: InstId, block: u32, company: &mut Company) {
        let Some(guard) = unit.body.insts[inst.index()].guard else {
            return;
        };
        let Some(value) = unit.ssa.use_of(inst, guard.reg) else {
            return;
        };
        match unit.evaluator().value(value) {
            Some(exact) => {
                let runs = |thread: usize| (exact.of(thread) & 1 == 1) != guard.negated;
                company.threads = company.threads.filter(runs);
            }
            None if unit.uniformity.seen_from(&unit.loops, value, block).0 == Extent::Thread => {
                company.guarded = true;
                company.sure = false;
            }
            None => {}
        }
    }
}
