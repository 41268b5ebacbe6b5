//! The solver: raises extents until nothing changes.

use super::slots::is_param_slot;
use super::users::{User, Users};
use super::variance::variance;
use super::{Filled, Parts, Slot, Surroundings, Uniformity, Why};
use crate::ptx::analysis::exact::Evaluator;
use crate::ptx::analysis::frames::Frames;
use crate::ptx::analysis::linear::Leaf;
use crate::ptx::analysis::source::{Nature, nature};
use crate::ptx::flow::{Condition, LoopId, ValueId};
use crate::ptx::ir::{InstId, Operand};
use crate::ptx::isa::{Effect, Extent};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

pub(super) struct Solver<'a, 'e> {
    pub(super) parts: Parts<'a>,
    pub(super) surroundings: &'a Surroundings<'a>,
    pub(super) facts: Uniformity,
    /// Extents that are known exactly and that nothing may exceed.
    pub(super) caps: FxHashMap<ValueId, Extent>,
    /// The same for the ends of blocks.
    pub(super) branch_caps: FxHashMap<u32, Extent>,
    /// What is left of values where something cancels out.
    pub(super) cancelled: FxHashMap<ValueId, Vec<Leaf>>,
    /// Instructions to look at again when a value changes that they do not read themselves.
    pub(super) watchers: FxHashMap<ValueId, Vec<u32>>,
    pub(super) natures: Vec<Nature>,
    pub(super) frames: Frames,
    pub(super) slot_readers: FxHashMap<Slot, Vec<u32>>,
    /// Per block, the stores to slots.
    pub(super) slot_stores: FxHashMap<u32, Vec<InstId>>,
    pub(super) pending: VecDeque<User>,
    pub(super) queued: Vec<bool>,
    pub(super) evaluator: &'a mut Evaluator<'e>,
    users: Users,
    one_warp: bool,
    /// Per loop, the loops directly within it.
    inner: Vec<Vec<LoopId>>,
    /// Per loop, the values that vary in it and in none within it.
    varying: Vec<Vec<ValueId>>,
}

impl<'a, 'e> Solver<'a, 'e> {
    pub(super) fn new(parts: Parts<'a>, surroundings: &'a Surroundings<'a>, evaluator: &'a mut Evaluator<'e>) -> Self {
        let values = parts.ssa.len();
        let natures: Vec<Nature> = (0..)
            .map(InstId)
            .zip(&parts.body.insts)
            .map(|(id, inst)| {
                let number = |operand: &Operand| evaluator.operand(id, operand)?.constant();
                nature(inst, |inst| is_param_slot(parts, inst), number)
            })
            .collect();
        let mut solver = Self {
            parts,
            surroundings,
            facts: Uniformity {
                extents: vec![Extent::Grid; values],
                whys: vec![Why::Uniform; values],
                branches: vec![Extent::Grid; parts.cfg.blocks() as usize + 1],
                exits: vec![(Extent::Grid, 0); parts.loops.len()],
                varies: variance(parts, &natures),
                slots: FxHashMap::default(),
            },
            caps: FxHashMap::default(),
            branch_caps: FxHashMap::default(),
            cancelled: FxHashMap::default(),
            watchers: FxHashMap::default(),
            natures,
            frames: Frames::new(parts.module, parts.body, parts.cfg, parts.ssa),
            slot_readers: FxHashMap::default(),
            slot_stores: FxHashMap::default(),
            pending: VecDeque::new(),
            queued: vec![false; parts.body.insts.len()],
            users: Users::new(parts),
            one_warp: evaluator.shape().is_one_warp(),
            evaluator,
            inner: vec![Vec::new(); parts.loops.len()],
            varying: vec![Vec::new(); parts.loops.len()],
        };
        for (id, natural) in parts.loops.iter() {
            if let Some(parent) = natural.parent {
                solver.inner[parent.0 as usize].push(id);
            }
        }
        for (value, id) in (0..).map(ValueId).zip(&solver.facts.varies) {
            if let Some(id) = id {
                solver.varying[id.0 as usize].push(value);
            }
        }
        for (symbol, extent) in surroundings.params {
            solver
                .facts
                .slots
                .insert(Slot::Param(*symbol), (*extent, Filled::Caller));
        }
        solver.find_slots();
        solver
    }

    pub(super) fn run(&mut self) {
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
                User::Inst(inst) => {
                    self.queued[inst as usize] = false;
                    self.inst(inst);
                }
                User::Phi(phi) => self.phi(phi),
            }
        }
    }

    pub(super) fn seen(&self, id: ValueId, block: u32) -> (Extent, Why) {
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
            let result = self.result(id, block);
            for (def, before) in defs.iter().zip(ssa.before(id)) {
                let own = self
                    .left_over(*def, block)
                    .filter(|left| left.0 < result.0)
                    .unwrap_or(result);
                let (extent, why) = self.guarded(id, block, *before, own);
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
        let watchers = self
            .watchers
            .get(&id)
            .into_iter()
            .flatten()
            .map(|inst| User::Inst(*inst));
        for user in self.users.of(id).chain(watchers) {
            let block = match user {
                User::Phi(phi) => ssa.value(phi).map_or(0, |value| value.block),
                User::Inst(inst) => cfg.block_of(InstId(inst)),
            };
            if outside.is_some_and(|id| loops.contains(id, block)) {
                continue;
            }
            if let User::Inst(inst) = user
                && std::mem::replace(&mut self.queued[inst as usize], true)
            {
                continue;
            }
            self.pending.push_back(user);
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
        let Parts {
            cfg,
            ssa,
            loops,
            converge,
            ..
        } = self.parts;
        if converge.succs(block).len() > 1 {
            for join in converge.joins(cfg, loops, block) {
                for phi in ssa.phis(join) {
                    let inputs = ssa.phi_inputs(*phi);
                    if inputs.iter().any(|input| *input != inputs[0]) {
                        self.raise(*phi, extent, Why::Join(block));
                    }
                }
            }
        }
        self.stores_apart(block, extent);
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
        let mut stack = vec![id];
        while let Some(inner) = stack.pop() {
            stack.extend_from_slice(&self.inner[inner.0 as usize]);
            for value in std::mem::take(&mut self.varying[inner.0 as usize]) {
                self.notify(value, Some(id));
                self.varying[inner.0 as usize].push(value);
            }
        }
    }
}
