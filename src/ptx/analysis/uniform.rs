//! Uniformity: which values are alike in all threads of the grid, of a CTA, of a warp, and why the others are not.
//!
//! Extents only grow, from the bottom of the ladder, until nothing changes. A value is as far apart as what it is computed from;
//! beyond that there are two ways in which control makes values differ. Where paths from a divergent branch come together,
//! the merged value depends on the branch. And where threads leave a loop in different rounds, what varies in the loop
//! differs behind it, though it is alike within each round.

use super::calls::Call;
use super::converge::Converge;
use super::exact::Evaluator;
use super::source::{Nature, nature, symbol_of};
use super::trips;
use crate::ptx::flow::{Cfg, Condition, Definition, LoopId, Loops, Ssa, ValueId};
use crate::ptx::ir::{Body, FuncId, FunctionKind, Inst, InstId, Module, Operand, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

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
    /// It is stored to, or returned in, this parameter.
    Slot(SymbolId),
}

/// What is known from outside of a function.
pub struct Surroundings<'a> {
    /// The extent of each parameter of the function, by symbol; those absent are alike in all threads.
    pub params: &'a FxHashMap<SymbolId, Extent>,
    /// The extent of what a call returns, given uniform arguments.
    pub returns: &'a dyn Fn(&Call) -> Extent,
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
    slots: FxHashMap<SymbolId, (Extent, Slotted)>,
}

/// What made a slot non-uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slotted {
    /// The caller.
    Caller,
    /// A store or call of this function.
    Inst(InstId),
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

struct Solver<'a, 'e> {
    parts: Parts<'a>,
    surroundings: &'a Surroundings<'a>,
    facts: Uniformity,
    /// Extents that are known exactly and that nothing may exceed.
    caps: FxHashMap<ValueId, Extent>,
    branch_caps: FxHashMap<u32, Extent>,
    users: Users,
    natures: Vec<Nature>,
    pending: VecDeque<Item>,
    queued: Vec<bool>,
    slot_loads: FxHashMap<SymbolId, Vec<u32>>,
    one_warp: bool,
    evaluator: &'a mut Evaluator<'e>,
}

/// Something to look at again.
#[derive(Clone, Copy, Debug)]
enum Item {
    Inst(u32),
    Phi(ValueId),
}

/// For every value, who reads it.
struct Users {
    start: Vec<u32>,
    /// Instructions by number; phis by value, with the top bit set.
    items: Vec<u32>,
}

const PHI: u32 = 1 << 31;

impl Uniformity {
    /// Finds the extents of a function's values.
    pub(super) fn new<'a>(parts: Parts<'a>, surroundings: &'a Surroundings<'a>, evaluator: &'a mut Evaluator<'_>) -> Self {
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

    /// The extent of a parameter or result, and the instruction that stores it, if one of this function does.
    pub fn slot(&self, symbol: SymbolId) -> (Extent, Option<InstId>) {
        match self.slots.get(&symbol) {
            Some((extent, Slotted::Inst(inst))) => (*extent, Some(*inst)),
            Some((extent, Slotted::Caller)) => (*extent, None),
            None => (Extent::Grid, None),
        }
    }
}

impl<'a, 'e> Solver<'a, 'e> {
    fn new(parts: Parts<'a>, surroundings: &'a Surroundings<'a>, evaluator: &'a mut Evaluator<'e>) -> Self {
        let values = parts.ssa.len();
        let mut slot_loads: FxHashMap<SymbolId, Vec<u32>> = FxHashMap::default();
        let mut natures = Vec::with_capacity(parts.body.insts.len());
        for (at, inst) in (0u32..).zip(&parts.body.insts) {
            let own = nature(inst, |inst| is_slot(parts, inst));
            if let (Nature::Slot, Some(symbol)) = (own, symbol_of(inst)) {
                slot_loads.entry(symbol).or_default().push(at);
            }
            natures.push(own);
        }
        let mut solver = Self {
            parts,
            surroundings,
            facts: Uniformity {
                extents: vec![Extent::Grid; values],
                whys: vec![Why::Uniform; values],
                branches: vec![Extent::Grid; parts.cfg.blocks() as usize + 1],
                exits: vec![(Extent::Grid, 0); parts.loops.len()],
                varies: Vec::new(),
                slots: FxHashMap::default(),
            },
            caps: FxHashMap::default(),
            branch_caps: FxHashMap::default(),
            users: Users::new(parts),
            natures,
            pending: VecDeque::new(),
            queued: vec![false; parts.body.insts.len()],
            slot_loads,
            one_warp: evaluator.shape().is_one_warp(),
            evaluator,
        };
        for (symbol, extent) in surroundings.params {
            solver.facts.slots.insert(*symbol, (*extent, Slotted::Caller));
        }
        solver.facts.varies = solver.variance();
        solver
    }

    /// Finds what is known exactly of the values that conditions are computed from.
    fn find_caps(&mut self) {
        let Parts { body, cfg, ssa, loops, .. } = self.parts;
        let mut seen = vec![false; ssa.len()];
        for block in (0..cfg.blocks()).filter(|block| cfg.is_reachable(*block)) {
            let Some(last) = cfg.last(block) else { continue };
            if cfg.condition(body, block).is_some() {
                self.cap_cone(ssa.uses(last), &mut seen);
                for id in loops.around(block) {
                    let leaves = cfg.succs().next(block).iter().any(|to| !loops.contains(id, *to));
                    if leaves && let Some(extent) = trips::exit_extent(self.evaluator, loops, id, block) {
                        self.branch_caps.insert(block, extent);
                        break;
                    }
                }
            }
        }
        for (at, inst) in (0..).map(InstId).zip(&body.insts) {
            if inst.op.effect == Effect::Barrier || inst.op.effect == Effect::Call && inst.guard.is_some() {
                self.cap_cone(ssa.uses(at), &mut seen);
            }
        }
    }

    /// Evaluates the values behind these, as far as pure instructions go.
    fn cap_cone(&mut self, roots: &[ValueId], seen: &mut [bool]) {
        let ssa = self.parts.ssa;
        let mut stack: Vec<ValueId> = roots.to_vec();
        while let Some(id) = stack.pop() {
            let Some(value) = ssa.value(id) else { continue };
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            if let Some(exact) = self.evaluator.value(id) {
                let extent = exact.extent();
                if extent < Extent::Thread {
                    self.caps.insert(id, extent);
                }
            }
            match value.definition {
                Definition::Inst(inst) => stack.extend(ssa.uses(inst).iter().chain(ssa.before(inst))),
                Definition::Phi(_) => stack.extend(ssa.phi_inputs(id)),
                Definition::Undefined => {}
            }
        }
    }

    fn run(&mut self) {
        let cfg = self.parts.cfg;
        for block in cfg.rpo() {
            for phi in self.parts.ssa.phis(*block) {
                self.phi(*phi);
            }
            for inst in cfg.insts(*block) {
                self.inst(inst);
            }
        }
        while let Some(item) = self.pending.pop_front() {
            match item {
                Item::Inst(inst) => {
                    self.queued[inst as usize] = false;
                    self.inst(inst);
                }
                Item::Phi(phi) => self.phi(phi),
            }
        }
    }

    fn seen(&self, id: ValueId, block: u32) -> (Extent, Why) {
        self.facts.seen_from(self.parts.loops, id, block)
    }

    fn phi(&mut self, id: ValueId) {
        let Some(value) = self.parts.ssa.value(id) else { return };
        let block = value.block;
        let inputs = self.parts.ssa.phi_inputs(id).iter().filter(|input| input.is_some());
        let worst = inputs.map(|input| self.seen(*input, block)).max_by_key(|seen| seen.0);
        if let Some((extent, why)) = worst {
            self.raise(id, extent, why);
        }
    }

    fn inst(&mut self, at: u32) {
        let Parts { ssa, cfg, body, .. } = self.parts;
        let id = InstId(at);
        let inst = &body.insts[at as usize];
        let block = cfg.block_of(id);
        if !cfg.is_reachable(block) {
            return;
        }
        let defs = ssa.defs(id);
        if !defs.is_empty() {
            let (extent, why) = self.result(id, block);
            for (def, before) in defs.iter().zip(ssa.before(id)) {
                let (extent, why) = self.guarded(id, block, *before, (extent, why));
                self.raise(*def, extent, why);
            }
        }
        match inst.op.effect {
            Effect::Store => self.store(id, block),
            Effect::Call => self.call(id, block),
            _ => {}
        }
        if cfg.last(block) == Some(id) {
            self.branch(block, id);
        }
    }

    /// The extent of what an instruction computes, its guard aside.
    fn result(&self, id: InstId, block: u32) -> (Extent, Why) {
        let operands = || self.operands(id, block);
        let own = |extent: Extent| (extent, Why::Nature);
        let larger = |a: (Extent, Why), b: (Extent, Why)| if b.0 > a.0 { b } else { a };
        match self.natures[id.index()] {
            Nature::Always(extent) => own(extent),
            Nature::AtLeast(Extent::Cta) if self.reads_own_memory(id) => own(Extent::Thread),
            Nature::AtLeast(extent) => larger(operands(), own(extent)),
            Nature::AtMost(extent) => {
                let operands = operands();
                if operands.0 > extent { own(extent) } else { operands }
            }
            Nature::OneLane => self.one_lane(id, block),
            Nature::Slot => match symbol_of(&self.parts.body.insts[id.index()]) {
                Some(symbol) => {
                    let extent = self.facts.slots.get(&symbol).map_or(Extent::Grid, |slot| slot.0);
                    larger(operands(), (extent, Why::Slot(symbol)))
                }
                None => operands(),
            },
            Nature::Call => self.call_result(id, block),
        }
    }

    /// `shfl.idx`: all lanes get the value of one, if all name the same.
    fn one_lane(&self, id: InstId, block: u32) -> (Extent, Why) {
        let inst = &self.parts.body.insts[id.index()];
        let part = |at: usize| match inst.operands.get(at) {
            Some(Operand::Reg(reg)) => self.parts.ssa.use_of(id, *reg).map(|value| self.seen(value, block)),
            _ => None,
        };
        let uniform = (Extent::Grid, Why::Uniform);
        let (value, lane) = (part(1).unwrap_or(uniform), part(2).unwrap_or(uniform));
        if lane.0 > Extent::Warp {
            (Extent::Thread, lane.1)
        } else if value.0 > Extent::Warp {
            (Extent::Warp, Why::Nature)
        } else if value.0 > lane.0 {
            value
        } else {
            lane
        }
    }

    /// The worst of the operands, special registers included.
    fn operands(&self, id: InstId, block: u32) -> (Extent, Why) {
        let inst = &self.parts.body.insts[id.index()];
        let mut worst = (Extent::Grid, Why::Uniform);
        for operand in &inst.operands {
            let extent = special_extent(operand, self.evaluator);
            if extent > worst.0 {
                worst = (extent, Why::Nature);
            }
        }
        let guard = usize::from(inst.guard.is_some());
        for value in self.parts.ssa.uses(id).iter().skip(guard) {
            let seen = self.seen(*value, block);
            if seen.0 > worst.0 {
                worst = seen;
            }
        }
        worst
    }

    /// Adds what a guard does: where it does not hold, the value from before stays.
    fn guarded(&self, id: InstId, block: u32, before: ValueId, result: (Extent, Why)) -> (Extent, Why) {
        let Some(value) = self.parts.ssa.value(before) else { return result };
        let mut worst = result;
        // Nothing was there before: what is read later is what was written.
        if value.definition == Definition::Undefined {
            return worst;
        }
        let old = self.seen(before, block);
        if old.0 > worst.0 {
            worst = old;
        }
        if let Some(guard) = self.guard_value(id) {
            let (extent, _) = self.seen(guard, block);
            if extent > worst.0 {
                worst = (extent, Why::Guard(guard));
            }
        }
        worst
    }

    fn guard_value(&self, id: InstId) -> Option<ValueId> {
        let guard = self.parts.body.insts[id.index()].guard?;
        self.parts.ssa.use_of(id, guard.reg)
    }

    fn raise(&mut self, id: ValueId, extent: Extent, why: Why) {
        let mut extent = self.caps.get(&id).map_or(extent, |cap| extent.min(*cap));
        if self.one_warp && extent == Extent::Warp {
            extent = Extent::Cta;
        }
        let at = id.index();
        if self.facts.extents.get(at).is_some_and(|known| *known < extent) {
            self.facts.extents[at] = extent;
            self.facts.whys[at] = why;
            self.notify(id, None);
        }
    }

    /// Queues the users of a value; with a loop, only those outside of it.
    fn notify(&mut self, id: ValueId, outside: Option<LoopId>) {
        let Parts { cfg, ssa, loops, .. } = self.parts;
        for at in self.users.start[id.index()]..self.users.start[id.index() + 1] {
            let user = self.users.items[at as usize];
            let (item, block) = if user & PHI != 0 {
                let phi = ValueId(user & !PHI);
                (Item::Phi(phi), ssa.value(phi).map_or(0, |value| value.block))
            } else {
                (Item::Inst(user), cfg.block_of(InstId(user)))
            };
            if outside.is_some_and(|id| loops.contains(id, block)) {
                continue;
            }
            if let Item::Inst(inst) = item
                && std::mem::replace(&mut self.queued[inst as usize], true)
            {
                continue;
            }
            self.pending.push_back(item);
        }
    }

    /// Looks at the condition at a block's end.
    fn branch(&mut self, block: u32, last: InstId) {
        let Parts { body, cfg, ssa, .. } = self.parts;
        let value = match cfg.condition(body, block) {
            Some(Condition::Guard(guard)) => ssa.use_of(last, guard.reg),
            Some(Condition::Index(inst)) => ssa.uses(inst).first().copied(),
            None => None,
        };
        let Some(value) = value else { return };
        let mut extent = self.seen(value, block).0;
        if let Some(cap) = self.branch_caps.get(&block) {
            extent = extent.min(*cap);
        }
        if self.one_warp && extent == Extent::Warp {
            extent = Extent::Cta;
        }
        if extent <= self.facts.branches[block as usize] {
            return;
        }
        self.facts.branches[block as usize] = extent;
        // Below the warp, no thread of a CTA goes another way than its neighbours: nothing parts.
        if extent >= Extent::Warp {
            self.part(block, extent);
        }
    }

    /// Threads part at the end of a block: values merged behind it differ, and so do those of loops left in different rounds.
    fn part(&mut self, block: u32, extent: Extent) {
        let Parts { cfg, ssa, loops, converge, .. } = self.parts;
        if converge.succs(block).len() > 1 {
            for join in converge.joins(cfg, block) {
                for phi in ssa.phis(join) {
                    let inputs = ssa.phi_inputs(*phi);
                    if inputs.iter().any(|input| *input != inputs[0]) {
                        self.raise(*phi, extent, Why::Join(block));
                    }
                }
            }
        }
        let meeting = converge.meeting(block);
        let left: Vec<LoopId> = loops
            .around(block)
            .filter(|id| !meeting.is_some_and(|meeting| loops.contains(*id, meeting)))
            .filter(|_| converge.succs(block).len() > 1)
            .collect();
        for id in left {
            if self.facts.exits[id.0 as usize].0 < extent {
                self.facts.exits[id.0 as usize] = (extent, block);
                self.leave(id);
            }
        }
    }

    /// Values that vary in a loop are seen differently from outside now.
    fn leave(&mut self, id: LoopId) {
        let Parts { loops, ssa, .. } = self.parts;
        let varies: Vec<ValueId> = ssa
            .values()
            .map(|(value, _)| value)
            .filter(|value| self.facts.varies[value.index()].is_some_and(|inner| within(loops, inner, id)))
            .collect();
        for value in varies {
            self.notify(value, Some(id));
        }
    }

    /// Per value, the innermost loop in which it can change from round to round.
    fn variance(&self) -> Vec<Option<LoopId>> {
        let Parts { cfg, ssa, loops, .. } = self.parts;
        let mut varies: Vec<Option<LoopId>> = vec![None; ssa.len()];
        let deeper = |a: Option<LoopId>, b: Option<LoopId>| {
            let depth = |id: Option<LoopId>| id.map_or(0, |id| loops.get(id).depth);
            if depth(b) > depth(a) { b } else { a }
        };
        for block in cfg.rpo() {
            let here = loops.innermost(*block);
            for phi in ssa.phis(*block) {
                varies[phi.index()] = here;
            }
            for inst in cfg.insts(*block).map(InstId) {
                let pure = matches!(self.natures[inst.index()], Nature::AtLeast(Extent::Grid))
                    && self.parts.body.insts[inst.index()].guard.is_none();
                let inputs = ssa.uses(inst).iter().filter(|value| value.is_some());
                let worst = if pure {
                    inputs.fold(None, |worst, value| deeper(worst, varies[value.index()]))
                } else {
                    here
                };
                // A value from an inner loop, seen out here, is one value of this round.
                let worst = worst.filter(|id| loops.contains(*id, *block)).or(worst.and(here));
                for def in ssa.defs(inst) {
                    varies[def.index()] = worst;
                }
            }
        }
        varies
    }

    /// Whether a load's address leads into the thread's own memory.
    fn reads_own_memory(&self, id: InstId) -> bool {
        let inst = &self.parts.body.insts[id.index()];
        if inst.op.effect != Effect::Load || inst.op.space != crate::ptx::types::Space::Generic {
            return false;
        }
        is_local_address(self.parts, id)
    }

    fn slot(&mut self, symbol: SymbolId, extent: Extent, from: InstId) {
        let slot = self.facts.slots.entry(symbol).or_insert((Extent::Grid, Slotted::Inst(from)));
        if slot.0 >= extent {
            return;
        }
        *slot = (extent, Slotted::Inst(from));
        for load in self.slot_loads.get(&symbol).into_iter().flatten() {
            if !std::mem::replace(&mut self.queued[*load as usize], true) {
                self.pending.push_back(Item::Inst(*load));
            }
        }
    }

    /// A store to a parameter.
    fn store(&mut self, id: InstId, block: u32) {
        let inst = &self.parts.body.insts[id.index()];
        if inst.op.space == crate::ptx::types::Space::Param
            && let Some(symbol) = symbol_of(inst)
        {
            let extent = self.operands(id, block).0;
            self.slot(symbol, extent, id);
        }
    }

    /// What a call leaves in the parameters that take its results.
    fn call(&mut self, id: InstId, block: u32) {
        let body = self.parts.body;
        let Some(call) = Call::of(self.parts.module, id, &body.insts[id.index()]) else { return };
        let symbols = call.results.iter().filter_map(|operand| match operand {
            Operand::Symbol(symbol, _) => Some(*symbol),
            _ => None,
        });
        let extent = self.call_result(id, block).0;
        for symbol in symbols {
            self.slot(symbol, extent, id);
        }
        // Arguments live in slots too: their loads are in the callee, but the call must be looked at again when they change.
        for symbol in call.args.iter().filter_map(|operand| match operand {
            Operand::Symbol(symbol, _) => Some(*symbol),
            _ => None,
        }) {
            let watchers = self.slot_loads.entry(symbol).or_default();
            if !watchers.contains(&id.0) {
                watchers.push(id.0);
            }
        }
    }

    fn call_result(&self, id: InstId, block: u32) -> (Extent, Why) {
        let Some(call) = Call::of(self.parts.module, id, &self.parts.body.insts[id.index()]) else {
            return (Extent::Thread, Why::Nature);
        };
        let mut worst = ((self.surroundings.returns)(&call), Why::Nature);
        for operand in call.args {
            let seen = match operand {
                Operand::Symbol(symbol, _) => {
                    let extent = self.facts.slots.get(symbol).map_or(Extent::Grid, |slot| slot.0);
                    (extent, Why::Slot(*symbol))
                }
                Operand::Reg(reg) => match self.parts.ssa.use_of(id, *reg) {
                    Some(value) => self.seen(value, block),
                    None => continue,
                },
                _ => continue,
            };
            if seen.0 > worst.0 {
                worst = seen;
            }
        }
        worst
    }
}

/// Whether a loop is the other one or lies within it.
fn within(loops: &Loops, inner: LoopId, outer: LoopId) -> bool {
    std::iter::successors(Some(inner), |id| loops.get(*id).parent).any(|id| id == outer)
}

/// Whether a load reads a parameter that is passed around a call, or a device function's own: its content is tracked.
fn is_slot(parts: Parts, inst: &Inst) -> bool {
    let function = parts.module.function(parts.function);
    symbol_of(inst).is_some_and(|symbol| function.kind == FunctionKind::Func || !function.params.contains(&symbol))
}

/// The extent of a special register where one is read directly; what follows from the shape is taken into account.
fn special_extent(operand: &Operand, evaluator: &Evaluator) -> Extent {
    let Operand::Special(special) = operand else { return Extent::Grid };
    match evaluator.shape().special_is_constant(*special) {
        true => Extent::Grid,
        false => special.info().extent,
    }
}

/// Follows a load's address to its root: whether that is the thread's local memory.
fn is_local_address(parts: Parts, id: InstId) -> bool {
    use crate::ptx::types::Space;
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack: Vec<ValueId> = parts.ssa.uses(id).to_vec();
    let is_local = |operand: &Operand| match operand {
        Operand::Symbol(symbol, _) => parts.module.variable(*symbol).is_some_and(|variable| variable.space == Space::Local),
        _ => false,
    };
    while let Some(at) = stack.pop() {
        if seen.len() > 64 || !seen.insert(at) {
            continue;
        }
        match parts.ssa.value(at).map(|value| value.definition) {
            Some(Definition::Inst(inst)) => {
                let row = &parts.body.insts[inst.index()];
                if row.operands.iter().any(is_local) || (row.op.base() == "cvta" && row.op.has("local")) {
                    return true;
                }
                if row.op.effect == Effect::Pure {
                    stack.extend(parts.ssa.uses(inst));
                }
            }
            Some(Definition::Phi(_)) => stack.extend(parts.ssa.phi_inputs(at)),
            _ => {}
        }
    }
    false
}

impl Users {
    fn new(parts: Parts) -> Self {
        let ssa = parts.ssa;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for at in 0..parts.body.insts.len() as u32 {
            let inst = InstId(at);
            let read = ssa.uses(inst).iter().chain(ssa.before(inst)).filter(|value| value.is_some());
            pairs.extend(read.map(|value| (value.0, at)));
        }
        for (phi, _) in ssa.values() {
            let read = ssa.phi_inputs(phi).iter().filter(|value| value.is_some());
            pairs.extend(read.map(|value| (value.0, phi.0 | PHI)));
        }
        let mut start = vec![0u32; ssa.len() + 1];
        pairs.iter().for_each(|(value, _)| start[*value as usize + 1] += 1);
        for at in 0..ssa.len() {
            start[at + 1] += start[at];
        }
        let mut next = start.clone();
        let mut items = vec![0; pairs.len()];
        for (value, user) in pairs {
            items[next[value as usize] as usize] = user;
            next[value as usize] += 1;
        }
        Self { start, items }
    }
}
