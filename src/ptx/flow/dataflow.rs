//! A small dataflow engine: only the states at block boundaries are stored, what lies between is recomputed by a cursor.

use super::Cfg;
use std::collections::BTreeSet;

/// Which way facts flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the entry along the edges.
    Forward,
    /// From the exits against the edges.
    Backward,
}

/// A dataflow problem: a join-semilattice of states and what instructions and edges do to them.
///
/// States must only grow under `join`, and chains of growing states must be finite.
pub trait Problem {
    /// What is known at a point.
    type State: Clone;

    /// Which way facts flow.
    const DIRECTION: Direction;

    /// What is known where nothing has flowed yet.
    fn bottom(&self) -> Self::State;

    /// What is known at the entry (or, backwards, at the exit).
    fn boundary(&self) -> Self::State;

    /// Adds `from` to `into`; answers whether that changed it.
    fn join(&self, into: &mut Self::State, from: &Self::State) -> bool;

    /// The effect of one instruction.
    fn inst(&self, state: &mut Self::State, inst: u32);

    /// The effect of going from one block to another, seen in flow direction.
    fn edge(&self, _state: &mut Self::State, _from: u32, _to: u32) {}
}

/// The solution of a [`Problem`]: a state per block, at the side where facts come in.
#[derive(Clone, Debug)]
pub struct Solution<S> {
    states: Vec<S>,
}

/// Solves a problem by iterating in reverse postorder until nothing changes.
pub fn solve<P: Problem>(problem: &P, cfg: &Cfg) -> Solution<P::State> {
    let forward = P::DIRECTION == Direction::Forward;
    let order: Vec<u32> = if forward {
        cfg.rpo().to_vec()
    } else {
        cfg.rpo().iter().rev().copied().collect()
    };
    let mut position = vec![u32::MAX; cfg.blocks() as usize + 1];
    (0u32..)
        .zip(&order)
        .for_each(|(at, block)| position[*block as usize] = at);
    let mut states = vec![problem.bottom(); cfg.blocks() as usize + 1];
    let start = if forward { 0 } else { cfg.exit() };
    states[start as usize] = problem.boundary();
    let mut pending: BTreeSet<u32> = (0..order.len() as u32).collect();
    while let Some(at) = pending.pop_first() {
        let block = order[at as usize];
        let mut out = states[block as usize].clone();
        through(problem, cfg, block, &mut out);
        let next = if forward {
            cfg.succs().next(block)
        } else {
            cfg.preds().next(block)
        };
        for to in next.iter().filter(|to| position[**to as usize] != u32::MAX) {
            let mut along = out.clone();
            problem.edge(&mut along, block, *to);
            if problem.join(&mut states[*to as usize], &along) {
                pending.insert(position[*to as usize]);
            }
        }
    }
    Solution { states }
}

/// Carries a state through the instructions of a block, in flow direction.
fn through<P: Problem>(problem: &P, cfg: &Cfg, block: u32, state: &mut P::State) {
    match P::DIRECTION {
        Direction::Forward => cfg.insts(block).for_each(|inst| problem.inst(state, inst)),
        Direction::Backward => cfg.insts(block).rev().for_each(|inst| problem.inst(state, inst)),
    }
}

impl<S: Clone> Solution<S> {
    /// The state where facts come into the block: at its start, backwards at its end.
    pub fn at(&self, block: u32) -> &S {
        &self.states[block as usize]
    }

    /// The state just before an instruction in flow direction, recomputed from the block's.
    pub fn before<P: Problem<State = S>>(&self, problem: &P, cfg: &Cfg, inst: u32) -> S {
        let block = cfg.block_of(crate::ptx::ir::InstId(inst));
        let mut state = self.at(block).clone();
        match P::DIRECTION {
            Direction::Forward => (cfg.insts(block).start..inst).for_each(|at| problem.inst(&mut state, at)),
            Direction::Backward => {
                let end = cfg.insts(block).end;
                (inst + 1..end).rev().for_each(|at| problem.inst(&mut state, at));
            }
        }
        state
    }
}
