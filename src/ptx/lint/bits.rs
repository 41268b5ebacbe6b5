//! A small dataflow problem that several rules share: facts that some instructions start and others end, a bit each.

use super::parting::condition;
use crate::ptx::analysis::{Together, Unit};
use crate::ptx::flow::dataflow::{Direction, Problem, Solution, solve};
use crate::ptx::flow::{Cfg, ValueId};
use crate::ptx::ir::InstId;
use rustc_hash::FxHashMap;

/// Facts that hold on some path to a point.
pub(super) struct Bits {
    /// Per instruction, the facts that end there, and then those that start there.
    events: FxHashMap<u32, (u64, u64)>,
    /// What holds when the function is entered.
    entry: u64,
    /// Facts that do not pass an edge: it is not taken by the threads that they are about.
    blocked: FxHashMap<(u32, u32), u64>,
}

/// What holds at each point.
pub(super) struct Holding<'c> {
    bits: Bits,
    cfg: &'c Cfg,
    solution: Solution<u64>,
}

impl Problem for Bits {
    type State = u64;

    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> u64 {
        0
    }

    fn boundary(&self) -> u64 {
        self.entry
    }

    fn join(&self, into: &mut u64, from: &u64) -> bool {
        let sum = *into | from;
        sum != std::mem::replace(into, sum)
    }

    fn inst(&self, state: &mut u64, inst: u32) {
        if let Some((ends, starts)) = self.events.get(&inst) {
            *state = *state & !ends | starts;
        }
    }

    fn edge(&self, state: &mut u64, from: u32, to: u32) {
        if let Some(blocked) = self.blocked.get(&(from, to)) {
            *state &= !blocked;
        }
    }
}

impl Bits {
    /// No facts yet.
    pub(super) fn new() -> Self {
        Self {
            events: FxHashMap::default(),
            entry: 0,
            blocked: FxHashMap::default(),
        }
    }

    /// These facts hold when the function is entered.
    pub(super) fn enter(&mut self, bits: u64) {
        self.entry |= bits;
    }

    /// The instruction starts these facts.
    pub(super) fn start(&mut self, inst: InstId, bits: u64) {
        self.events.entry(inst.0).or_default().1 |= bits;
    }

    /// The instruction ends these facts.
    pub(super) fn end(&mut self, inst: InstId, bits: u64) {
        self.events.entry(inst.0).or_default().0 |= bits;
    }

    /// The facts are about the threads that execute an instruction: they do not pass edges that these cannot take. Such are
    /// edges whose takers are known to be others, and those on the other side of the predicate that chose them.
    pub(super) fn about(&mut self, unit: &Unit, lanes: &Together, inst: InstId, bits: u64) {
        let Some(company) = lanes.company(unit, inst) else {
            return;
        };
        let block = unit.cfg.block_of(inst);
        let chosen: Vec<(ValueId, u32)> = company
            .apart
            .iter()
            .filter(|apart| !apart.known)
            .filter_map(|apart| Some((condition(unit, apart.block)?, arm_of(unit, lanes, apart.block, block)?)))
            .collect();
        for from in 0..unit.cfg.blocks() {
            let [target, fall] = unit.cfg.succs().next(from) else {
                continue;
            };
            let value = condition(unit, from);
            for (at, to) in [(0, *target), (1, *fall)] {
                let others = lanes
                    .takers(from, to)
                    .is_some_and(|takers| takers.common(company.threads).is_empty());
                let refused = chosen
                    .iter()
                    .any(|(chooser, arm)| value == Some(*chooser) && side(unit, from, at) != *arm);
                if others || refused {
                    *self.blocked.entry((from, to)).or_default() |= bits;
                }
            }
        }
    }

    /// Follows them.
    pub(super) fn follow(self, cfg: &Cfg) -> Holding<'_> {
        let solution = solve(&self, cfg);
        Holding {
            bits: self,
            cfg,
            solution,
        }
    }
}

impl Holding<'_> {
    /// The facts that hold before an instruction on some path.
    pub(super) fn before(&self, inst: InstId) -> u64 {
        self.solution.before(&self.bits, self.cfg, inst.0)
    }
}

/// Whether the predicate behind a two-way branch holds (1) or not (0) where its `at`-th successor is taken.
fn side(unit: &Unit, block: u32, at: usize) -> u32 {
    let last = unit
        .cfg
        .last(block)
        .and_then(|last| unit.body.insts[last.index()].guard);
    let negated = last.is_some_and(|guard| guard.negated);
    u32::from((at == 0) != negated)
}

/// On which side of a branch a block lies; `None` where on both.
fn arm_of(unit: &Unit, lanes: &Together, branch: u32, block: u32) -> Option<u32> {
    let succs = unit.cfg.succs().next(branch);
    let within = |at: usize| {
        succs
            .get(at)
            .is_some_and(|arm| lanes.converge().arm(branch, &[*arm]).contains(&block))
    };
    match (within(0), within(1)) {
        (true, false) => Some(side(unit, branch, 0)),
        (false, true) => Some(side(unit, branch, 1)),
        _ => None,
    }
}
