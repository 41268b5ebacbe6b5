//! Threads that run in step: their registers, and which of them are where.

use super::mask::Mask;
use super::program::Program;
use super::value::Value;
use crate::ptx::ir::{FuncId, SymbolId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Never reached: the entry runs until its threads end.
pub(super) const NEVER: u32 = u32::MAX;

/// Threads that go on at one instruction.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) pc: u32,
    pub(super) mask: Mask,
    /// Where they meet those in the entry below.
    pub(super) until: u32,
    /// The other way that they may have taken instead.
    pub(super) fork: Option<Box<Fork>>,
}

/// A branch whose condition is not known: one way is run after the other, and the outcomes are merged.
#[derive(Clone, Debug)]
pub(super) struct Fork {
    /// The registers at the branch.
    pub(super) start: Vec<Value>,
    /// The registers at the end of the first way.
    pub(super) first: Option<Vec<Value>>,
}

/// Who executes an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    /// The threads that do.
    pub(super) holds: Mask,
    /// Those that may, or may not.
    pub(super) unknown: Mask,
}

impl Who {
    /// These threads, and no others.
    pub(super) fn sure(holds: Mask) -> Self {
        Self {
            holds,
            unknown: Mask::default(),
        }
    }

    /// All that may.
    pub(super) fn lanes(&self) -> Mask {
        self.holds.or(&self.unknown)
    }

    /// Whether nobody does.
    pub(super) fn is_empty(&self) -> bool {
        self.holds.is_empty() && self.unknown.is_empty()
    }
}

/// A function in execution.
pub(super) struct Frame<'m> {
    pub(super) function: FuncId,
    pub(super) program: Rc<Program<'m>>,
    pub(super) regs: Vec<Value>,
    pub(super) stack: Vec<Entry>,
    /// Per loop, how often its header has been passed since it was entered.
    pub(super) rounds: Vec<u32>,
    /// Per block, whether the branch at its end has rested on a number that was made up.
    pub(super) guessed: Vec<bool>,
}

impl<'m> Frame<'m> {
    pub(super) fn new(function: FuncId, program: Rc<Program<'m>>, mask: Mask) -> Self {
        let entry = Entry {
            pc: 0,
            mask,
            until: NEVER,
            fork: None,
        };
        Self {
            function,
            regs: vec![Value::UNSET; program.body.regs.len()],
            rounds: vec![0; program.loops.len()],
            guessed: vec![false; program.cfg.blocks() as usize + 1],
            stack: vec![entry],
            program,
        }
    }

    /// Whether what runs now may not run at all.
    pub(super) fn is_maybe(&self) -> bool {
        self.stack.iter().any(|entry| entry.fork.is_some())
    }

    /// Whether it rests on made-up numbers that control has come to a block.
    pub(super) fn is_guessed(&self, block: u32) -> bool {
        let Program {
            cfg, loops, converge, ..
        } = &*self.program;
        let dominators = std::iter::successors(cfg.dom().idom(block), |above| cfg.dom().idom(*above));
        let mut decides = dominators.filter(|above| self.guessed[*above as usize]);
        if decides.any(|above| !converge.is_passed_after(block, above)) {
            return true;
        }
        let again = loops.around(block).filter(|id| self.rounds[id.0 as usize] > 0);
        let mut exits = again
            .flat_map(|id| (0..cfg.blocks()).filter(move |at| self.guessed[*at as usize] && loops.contains(id, *at)));
        exits.next().is_some()
    }

    /// Counts rounds of loops when control goes from one block to another.
    pub(super) fn pass(&mut self, from: u32, to: u32) {
        let Some(id) = self.program.loops.innermost(to) else {
            return;
        };
        if self.program.loops.get(id).header != to {
            return;
        }
        let again = self.program.loops.contains(id, from);
        let rounds = &mut self.rounds[id.0 as usize];
        *rounds = if again { *rounds + 1 } else { 0 };
    }
}

/// What local variables and arguments hold: by variable and place, how many bytes, and their content.
pub(super) type Cells = BTreeMap<(SymbolId, i64), (u32, Value)>;

/// Threads that run in step.
pub(super) struct Fiber<'m> {
    pub(super) frames: Vec<Frame<'m>>,
    /// Those that have not exited.
    pub(super) alive: Mask,
    /// The barrier that is waited for.
    pub(super) waits: Option<u64>,
    /// Whether it has come to that barrier before, and must come to it again.
    pub(super) again: bool,
    pub(super) cells: Cells,
}
