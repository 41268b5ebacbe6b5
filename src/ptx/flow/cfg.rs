//! Basic blocks and the edges between them.

use super::{Digraph, DomTree};
use crate::ptx::ir::{Base, Body, Guard, Inst, InstId, LabelId, Module, Operand, Stmt, SymbolKind, TableKind};
use crate::ptx::isa::Effect;
use std::collections::HashMap;
use std::ops::Range;

/// Why the graph does not show every edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowProblem {
    /// A branch whose target could not be read.
    NoTarget(InstId),
    /// A branch to a label that is not defined.
    UndefinedLabel(InstId, LabelId),
    /// An indexed branch whose table is missing.
    NoTable(InstId, LabelId),
}

/// The control-flow graph of a body. Node 0 is the entry, to which no edge leads back: where a branch goes to the first instruction,
/// it is a block without instructions. Node `blocks()` is the exit that all ending threads reach.
#[derive(Clone, Debug)]
pub struct Cfg {
    first: Vec<u32>,
    succs: Digraph,
    preds: Digraph,
    of_inst: Vec<u32>,
    rpo: Vec<u32>,
    dom: DomTree,
    /// What keeps the graph from being complete.
    pub problems: Vec<FlowProblem>,
}

/// What an instruction does to the flow of control.
enum Turn {
    /// Runs on.
    On,
    /// Ends the thread or the function, where it executes.
    End,
    /// Goes to these places, where it executes.
    To(Vec<u32>),
}

impl Cfg {
    /// Builds the graph. Guarded branches and exits fall through too; calls return, save to `.noreturn` functions;
    /// unknown instructions run on; a body that is left at its end exits.
    pub fn new(module: &Module, body: &Body) -> Self {
        let tables = branch_tables(body);
        let mut problems = Vec::new();
        let turns: Vec<Turn> = (0u32..)
            .zip(&body.insts)
            .map(|(at, inst)| turn(module, body, &tables, InstId(at), inst, &mut problems))
            .collect();
        let first = leaders(body, &turns);
        let of_inst = owners(&first, body.insts.len());
        let exit = first.len() as u32;
        let block_at = |inst: u32| of_inst.get(inst as usize).copied().unwrap_or(exit);
        let mut edges = Vec::new();
        for block in 0..exit {
            let end = first
                .get(block as usize + 1)
                .map_or(body.insts.len() as u32, |next| *next);
            let last = end.checked_sub(1).filter(|last| *last >= first[block as usize]);
            let from = edges.len();
            let mut add = |to: u32| {
                if edges[from..].iter().all(|(_, known)| *known != to) {
                    edges.push((block, to));
                }
            };
            let Some(last) = last else {
                // The extra entry, or all of an empty body.
                add(block + 1);
                continue;
            };
            let guarded = body.insts[last as usize].guard.is_some();
            match &turns[last as usize] {
                Turn::On => add(block_at(end)),
                Turn::End => add(exit),
                Turn::To(targets) => targets.iter().for_each(|target| add(block_at(*target))),
            }
            if guarded {
                add(block_at(end));
            }
        }
        let succs = Digraph::new(first.len() + 1, &edges);
        let preds = succs.reversed();
        let rpo = succs.reverse_postorder(0);
        let dom = DomTree::new(&succs, &preds, 0);
        Self {
            first,
            succs,
            preds,
            of_inst,
            rpo,
            dom,
            problems,
        }
    }

    /// Number of blocks; also the number of the exit node.
    pub fn blocks(&self) -> u32 {
        self.first.len() as u32
    }

    /// The node that ending threads reach.
    pub fn exit(&self) -> u32 {
        self.blocks()
    }

    /// The instructions of a block; none for the exit node.
    pub fn insts(&self, block: u32) -> Range<u32> {
        let at = |block: usize| self.first.get(block).copied();
        let end = self.of_inst.len() as u32;
        let first = at(block as usize).unwrap_or(end);
        first..at(block as usize + 1).unwrap_or(end)
    }

    /// The block an instruction is in.
    pub fn block_of(&self, inst: InstId) -> u32 {
        self.of_inst.get(inst.index()).copied().unwrap_or(self.exit())
    }

    /// The last instruction of a block.
    pub fn last(&self, block: u32) -> Option<InstId> {
        let range = self.insts(block);
        (!range.is_empty()).then(|| InstId(range.end - 1))
    }

    /// On what the end of a block depends; `None` where it has one way to go.
    pub fn condition(&self, body: &Body, block: u32) -> Option<Condition> {
        if self.succs.next(block).len() < 2 {
            return None;
        }
        let last = self.last(block)?;
        match body.insts[last.index()].guard {
            Some(guard) => Some(Condition::Guard(guard)),
            None => Some(Condition::Index(last)),
        }
    }

    /// Edges out of each block, the exit node included. A two-way branch lists its target first.
    pub fn succs(&self) -> &Digraph {
        &self.succs
    }

    /// Edges into each block.
    pub fn preds(&self) -> &Digraph {
        &self.preds
    }

    /// The reachable blocks (and the exit, if reachable) in reverse postorder.
    pub fn rpo(&self) -> &[u32] {
        &self.rpo
    }

    /// Dominators from the entry.
    pub fn dom(&self) -> &DomTree {
        &self.dom
    }

    /// Whether the entry reaches the block.
    pub fn is_reachable(&self, block: u32) -> bool {
        self.dom.is_reachable(block)
    }
}

/// The branch targets of each table.
fn branch_tables(body: &Body) -> HashMap<LabelId, &[LabelId]> {
    let tables = body.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Table(table) => match &table.kind {
            TableKind::Branch(labels) => Some((table.label, labels.as_slice())),
            _ => None,
        },
        _ => None,
    });
    tables.collect()
}

fn turn(
    module: &Module,
    body: &Body,
    tables: &HashMap<LabelId, &[LabelId]>,
    at: InstId,
    inst: &Inst,
    problems: &mut Vec<FlowProblem>,
) -> Turn {
    match inst.op.effect {
        Effect::Exit => Turn::End,
        Effect::Call if is_noreturn(module, inst) => Turn::End,
        Effect::Branch => {
            let Some(branch) = inst.as_branch() else {
                problems.push(FlowProblem::NoTarget(at));
                return Turn::On;
            };
            if !branch.indexed {
                return match body.labels.get(branch.target.index()).and_then(|label| label.at) {
                    Some(target) => Turn::To(vec![target.0]),
                    None => {
                        problems.push(FlowProblem::UndefinedLabel(at, branch.target));
                        Turn::On
                    }
                };
            }
            let Some(labels) = tables.get(&branch.target) else {
                problems.push(FlowProblem::NoTable(at, branch.target));
                return Turn::On;
            };
            let mut targets = Vec::new();
            for label in *labels {
                match body.labels.get(label.index()).and_then(|label| label.at) {
                    Some(target) => targets.push(target.0),
                    None => problems.push(FlowProblem::UndefinedLabel(at, *label)),
                }
            }
            Turn::To(targets)
        }
        _ => Turn::On,
    }
}

/// Whether the instruction calls a function that is declared never to return.
pub fn is_noreturn(module: &Module, inst: &Inst) -> bool {
    let callee = inst.operands.iter().find_map(|operand| match operand {
        Operand::Symbol(symbol, _) => Some(*symbol),
        Operand::Address(address) => match address.base {
            Base::Symbol(symbol) => Some(symbol),
            _ => None,
        },
        _ => None,
    });
    let Some(SymbolKind::Function(function)) = callee.map(|symbol| &module.symbol(symbol).kind) else {
        return false;
    };
    module.function(*function).attr("noreturn").is_some()
}

/// Where blocks begin: at the start, at labels, and behind whatever turns.
fn leaders(body: &Body, turns: &[Turn]) -> Vec<u32> {
    let count = body.insts.len();
    let mut leads = vec![false; count + 1];
    leads[0] = true;
    for at in body.labels.iter().filter_map(|label| label.at) {
        if at.index() < count {
            leads[at.index()] = true;
        }
    }
    for (at, turn) in turns.iter().enumerate() {
        if !matches!(turn, Turn::On) {
            leads[at + 1] = true;
        }
    }
    leads.truncate(count.max(1));
    let starts = (0u32..).zip(&leads).filter(|(_, leads)| **leads).map(|(at, _)| at);
    // Control enters a block that nothing leads back to.
    let is_target = |turn: &Turn| matches!(turn, Turn::To(targets) if targets.contains(&0));
    let extra = turns.iter().any(is_target).then_some(0);
    extra.into_iter().chain(starts).collect()
}

fn owners(first: &[u32], count: usize) -> Vec<u32> {
    let mut owners = Vec::with_capacity(count);
    for (block, start) in first.iter().enumerate() {
        let end = first.get(block + 1).map_or(count, |next| *next as usize);
        owners.resize(end.max(*start as usize), block as u32);
    }
    owners
}

/// The condition on which a block's end depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A guard: the target is taken (or the thread ends) where it holds.
    Guard(Guard),
    /// The index of an indexed branch.
    Index(InstId),
}
