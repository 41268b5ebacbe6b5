//! Uniformity: which values are alike in all threads of the grid, of a CTA, of a warp, and why the others are not.
//!
//! Extents only grow, from the bottom of the ladder, until nothing changes. A value is as far apart as what it is computed from;
//! beyond that there are two ways in which control makes values differ. Where paths from a divergent branch come together,
//! the merged value depends on the branch. And where threads leave a loop in different rounds, what varies in the loop
//! differs behind it, though it is alike within each round.

mod caps;
mod slots;
mod solver;
mod transfer;
mod users;
mod variance;

use super::calls::Call;
use super::converge::Converge;
use super::exact::Evaluator;
use super::frames::FrameWord;
use crate::ptx::flow::{Cfg, LoopId, Loops, Ssa, ValueId};
use crate::ptx::ir::{Body, FuncId, InstId, Module, SymbolId};
use crate::ptx::isa::Extent;
use rustc_hash::FxHashMap;
pub(super) use slots::is_param_slot;
use solver::Solver;

/// Memory of a thread's own that is followed like a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A parameter or result: of this function, or around a call.
    Param(SymbolId),
    /// A word of a local variable.
    Frame(FrameWord),
}

/// Why a value differs between threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It does not.
    Uniform,
    /// The instruction's own doing: it reads a special register, loads, exchanges, ...
    Nature,
    /// It is computed from this value.
    Operand(ValueId),
    /// It is merged from paths that part at the end of this block.
    Join(u32),
    /// It is this value, which varies in a loop that threads leave in different rounds, at the end of this block.
    Rounds(ValueId, u32),
    /// It is written only where this predicate holds.
    Guard(ValueId),
    /// It is read from here.
    Slot(Slot),
}

/// What made the content of a slot differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// The caller.
    Caller,
    /// A store or call of this function.
    Inst(InstId),
    /// A store that only some threads execute: they part at the end of this block.
    Apart(InstId, u32),
}

/// What is known from outside of a function.
pub struct Surroundings<'a> {
    /// The extent of each parameter of the function, by symbol; those absent are alike in all threads.
    pub params: &'a FxHashMap<SymbolId, Extent>,
    /// The extent of what a call returns: given uniform arguments, and whatever the arguments are.
    pub returns: &'a dyn Fn(&Call) -> (Extent, Extent),
}

/// A function's parts that the analysis reads.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) module: &'a Module,
    pub(super) function: FuncId,
    pub(super) body: &'a Body,
    pub(super) cfg: &'a Cfg,
    pub(super) loops: &'a Loops,
    pub(super) ssa: &'a Ssa,
    pub(super) converge: &'a Converge,
}

/// How far apart the values and branches of a function are.
#[derive(Clone, Debug, Default)]
pub struct Uniformity {
    extents: Vec<Extent>,
    whys: Vec<Why>,
    /// Per block, how far apart threads are in what they do at its end.
    branches: Vec<Extent>,
    /// Per loop, how far apart threads are in leaving it, and the block that decides.
    exits: Vec<(Extent, u32)>,
    /// Per value, the loop in which it varies.
    varies: Vec<Option<LoopId>>,
    slots: FxHashMap<Slot, (Extent, Filled)>,
}

impl Uniformity {
    /// Finds the extents of a function's values.
    pub(super) fn new<'a>(
        parts: Parts<'a>,
        surroundings: &'a Surroundings<'a>,
        evaluator: &'a mut Evaluator<'_>,
    ) -> Self {
        let mut solver = Solver::new(parts, surroundings, evaluator);
        solver.find_caps();
        solver.run();
        solver.facts
    }

    /// How far apart threads are in the value, seen where it is defined.
    pub fn extent(&self, id: ValueId) -> Extent {
        self.extents.get(id.index()).copied().unwrap_or(Extent::Grid)
    }

    /// Why the value differs.
    pub fn why(&self, id: ValueId) -> Why {
        self.whys.get(id.index()).copied().unwrap_or(Why::Uniform)
    }

    /// How far apart threads are in the value, seen from another block, and why.
    pub fn seen_from(&self, loops: &Loops, id: ValueId, block: u32) -> (Extent, Why) {
        let mut seen = (self.extent(id), Why::Operand(id));
        let mut around = self.varies.get(id.index()).copied().flatten();
        while let Some(at) = around.filter(|at| !loops.contains(*at, block)) {
            let (extent, exit) = self.exits[at.0 as usize];
            if extent > seen.0 {
                seen = (extent, Why::Rounds(id, exit));
            }
            around = loops.get(at).parent;
        }
        seen
    }

    /// How far apart threads are in what they do at the end of a block.
    pub fn branch(&self, block: u32) -> Extent {
        self.branches.get(block as usize).copied().unwrap_or(Extent::Grid)
    }

    /// How far apart threads are in leaving a loop, and the block at whose end they part.
    pub fn loop_exit(&self, id: LoopId) -> (Extent, u32) {
        self.exits.get(id.0 as usize).copied().unwrap_or((Extent::Grid, 0))
    }

    /// The extent of a slot's content, and what made it so; nothing where all threads hold the same.
    pub fn slot(&self, slot: Slot) -> (Extent, Option<Filled>) {
        match self.slots.get(&slot) {
            Some((extent, filled)) => (*extent, Some(*filled)),
            None => (Extent::Grid, None),
        }
    }
}
