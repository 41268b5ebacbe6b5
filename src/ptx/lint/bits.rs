//! A small dataflow problem that several rules share: facts that some instructions start and others end, a bit each.

use crate::ptx::flow::dataflow::{Direction, Problem, Solution, solve};
use crate::ptx::flow::Cfg;
use crate::ptx::ir::InstId;
use rustc_hash::FxHashMap;

/// Facts that hold on some path to a point.
pub(super) struct Bits {
    /// Per instruction, the facts that end there, and then those that start there.
    events: FxHashMap<u32, (u64, u64)>,
    /// What holds when the function is entered.
    entry: u64,
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
}

impl Bits {
    /// No facts yet.
    pub(super) fn new() -> Self {
        Self {
            events: FxHashMap::default(),
            entry: 0,
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
