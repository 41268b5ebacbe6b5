//! Which threads can get where: conditions that are known in every thread split the CTA.

use super::converge::Departure;
use super::geometry::WARP;
use super::unit::Unit;
use crate::ptx::flow::dataflow::{Direction, Problem, Solution, solve};
use crate::ptx::ir::InstId;
use crate::ptx::isa::Extent;
use rustc_hash::{FxHashMap, FxHashSet};

/// A set of a CTA's threads, by linear index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads([u64; 16]);

impl Threads {
    /// The first `count` threads.
    pub fn first(count: u32) -> Self {
        Self::default().with((0..count as usize).filter(|thread| *thread < 1024))
    }

    fn with(mut self, threads: impl Iterator<Item = usize>) -> Self {
        threads.for_each(|thread| self.0[thread / 64] |= 1 << (thread % 64));
        self
    }

    /// The threads for which the predicate holds.
    #[must_use]
    pub fn filter(self, holds: impl Fn(usize) -> bool) -> Self {
        Self::default().with(self.iter().filter(|thread| holds(*thread)))
    }

    /// The threads, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let words = std::iter::successors(Some(word).filter(|word| *word != 0), rest);
            words.map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }

    /// Those of a warp, a bit for each lane.
    pub fn warp(self, warp: usize) -> u32 {
        self.0.get(warp / 2).map_or(0, |word| (word >> (warp % 2 * 32)) as u32)
    }

    /// Those in either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let mut sum = self;
        sum.0.iter_mut().zip(other.0).for_each(|(into, from)| *into |= from);
        sum
    }

    /// Whether the thread is one of them.
    pub fn contains(self, thread: usize) -> bool {
        self.0
            .get(thread / 64)
            .is_some_and(|word| word >> (thread % 64) & 1 == 1)
    }

    /// Those that are not in the other set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        let mut rest = self;
        rest.0.iter_mut().zip(other.0).for_each(|(into, from)| *into &= !from);
        rest
    }

    /// Those in both.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        self.without(self.without(other))
    }

    /// The set with one thread more.
    pub fn insert(&mut self, thread: usize) {
        if let Some(word) = self.0.get_mut(thread / 64) {
            *word |= 1 << (thread % 64);
        }
    }

    /// How many.
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How many warps have a thread in the set.
    pub fn warps(self) -> u32 {
        let half = |word: &u64| u32::from(*word as u32 != 0) + u32::from(*word >> WARP != 0);
        self.0.iter().map(half).sum()
    }
}

/// Which threads can reach each block.
pub struct Reach {
    solution: Solution<Threads>,
    /// Blocks whose set is an upper bound only: a condition that is not known decides who gets there.
    unsure: FxHashSet<u32>,
    /// Those among them where the condition may part threads: to the others come all of the set, or none.
    parted: FxHashSet<u32>,
}

/// The problem: conditions that are known in every thread split the CTA.
pub(super) struct Split {
    all: Threads,
    /// Per edge out of a known condition, who takes it.
    edges: FxHashMap<(u32, u32), Threads>,
}

impl Split {
    /// Reads the conditions of a unit; hands the blocks whose condition is not known to `unknown`.
    pub(super) fn new(unit: &Unit, mut unknown: impl FnMut(u32)) -> Self {
        let mut evaluator = unit.evaluator();
        let all = Threads::first(unit.shape.most_threads());
        let mut edges = FxHashMap::default();
        for block in (0..unit.cfg.blocks()).filter(|block| unit.cfg.is_reachable(*block)) {
            let succs = unit.cfg.succs().next(block);
            if succs.len() < 2 {
                continue;
            }
            match (evaluator.taken(block), succs) {
                (Some(taken), [target, fall]) => {
                    edges.insert((block, *target), all.filter(|thread| taken.of(thread) == 1));
                    edges.insert((block, *fall), all.filter(|thread| taken.of(thread) != 1));
                }
                _ => unknown(block),
            }
        }
        Self { all, edges }
    }

    /// The threads that take an edge, where its condition is known.
    pub(super) fn takers(&self, from: u32, to: u32) -> Option<Threads> {
        self.edges.get(&(from, to)).copied()
    }
}

impl Problem for Split {
    type State = Threads;

    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> Threads {
        Threads::default()
    }

    fn boundary(&self) -> Threads {
        self.all
    }

    fn join(&self, into: &mut Threads, from: &Threads) -> bool {
        let sum = into.union(*from);
        sum != std::mem::replace(into, sum)
    }

    fn inst(&self, _: &mut Threads, _: u32) {}

    fn edge(&self, state: &mut Threads, from: u32, to: u32) {
        if let Some(takers) = self.edges.get(&(from, to)) {
            state
                .0
                .iter_mut()
                .zip(takers.0)
                .for_each(|(state, takers)| *state &= takers);
        }
    }
}

impl Reach {
    /// Finds the threads that can reach each block of a unit.
    pub fn new(unit: &Unit) -> Self {
        let mut unsure = FxHashSet::default();
        let mut unknown = Vec::new();
        let split = Split::new(unit, |block| unknown.push(block));
        let mut parted = FxHashSet::default();
        for block in unknown {
            unsure.extend(unit.converge.region(block));
            if unit.uniformity.branch(block) < Extent::Warp {
                continue;
            }
            parted.extend(unit.converge.region(block));
            // Where nobody knows who leaves there, nobody knows who is left.
            let leaves = |departure: &Departure| departure.from == block && !departure.fatal;
            if unit.converge.departures().iter().any(leaves) {
                let stay = unit.cfg.succs().reachable(unit.converge.succs(block).iter().copied());
                let stay = (0u32..).zip(stay).filter(|(_, stays)| *stays).map(|(at, _)| at);
                parted.extend(stay);
                unsure.extend(parted.iter().copied());
            }
        }
        Self {
            solution: solve(&split, &unit.cfg),
            unsure,
            parted,
        }
    }

    /// Whether the threads that can reach an instruction without a guard come there all together, or none of them.
    pub fn is_whole(&self, unit: &Unit, inst: InstId) -> bool {
        let guarded = unit.body.insts.get(inst.index()).is_none_or(|row| row.guard.is_some());
        !guarded && !self.parted.contains(&unit.cfg.block_of(inst))
    }

    /// The threads that can reach a block.
    pub fn block(&self, block: u32) -> Threads {
        *self.solution.at(block)
    }

    /// Whether all of them do.
    pub fn is_sure(&self, block: u32) -> bool {
        !self.unsure.contains(&block)
    }

    /// The threads that can execute an instruction, its guard included, and whether all of them do.
    pub fn inst(&self, unit: &Unit, inst: InstId) -> (Threads, bool) {
        let block = unit.cfg.block_of(inst);
        let threads = self.block(block);
        let sure = self.is_sure(block);
        let Some(guard) = unit.body.insts.get(inst.index()).and_then(|row| row.guard) else {
            return (threads, sure);
        };
        let value = unit.ssa.use_of(inst, guard.reg);
        match value.and_then(|value| unit.evaluator().value(value)) {
            Some(exact) => (
                threads.filter(|thread| (exact.of(thread) & 1 == 1) != guard.negated),
                sure,
            ),
            None => (threads, false),
        }
    }
}
