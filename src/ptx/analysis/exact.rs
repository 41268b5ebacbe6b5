//! Exact values: what a register holds in every thread of the CTA, where that follows from the thread's index alone.

use super::geometry::{Shape, WARP};
use super::given::Given;
use super::scalar::{self, Column, Ramp, Scalar};
use crate::ptx::flow::{Cfg, Condition, Definition, Ssa, ValueId};
use crate::ptx::ir::{Body, InstId, Operand, RegId};
use crate::ptx::isa::{Effect, Extent};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// How many thread values a function's analysis may compute before it gives up on further ones.
const BUDGET: usize = 8 << 20;

/// What a register holds in the threads of a CTA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exact {
    /// The same in every thread.
    Same(u64),
    /// Values that rise evenly from thread to thread.
    Ramp(Ramp),
    /// One value per thread, by linear index.
    Each(Rc<[u64]>),
}

impl Exact {
    /// The value of one thread.
    pub fn of(&self, thread: usize) -> u64 {
        match self {
            Exact::Same(value) => *value,
            Exact::Ramp(ramp) => ramp.at(thread),
            Exact::Each(values) => values.get(thread).copied().unwrap_or(0),
        }
    }

    /// The value, where all threads have the same.
    pub fn constant(&self) -> Option<u64> {
        match self {
            Exact::Same(value) => Some(*value),
            Exact::Ramp(_) | Exact::Each(_) => None,
        }
    }

    /// How far apart the threads' values are.
    pub fn extent(&self) -> Extent {
        match self {
            Exact::Same(_) => Extent::Grid,
            Exact::Ramp(_) => Extent::Thread,
            Exact::Each(values) => {
                let even = |warp: &[u64]| warp.iter().all(|value| *value == warp[0]);
                if values.chunks(WARP as usize).all(even) {
                    Extent::Warp
                } else {
                    Extent::Thread
                }
            }
        }
    }

    pub(super) fn from_values(values: Vec<u64>) -> Self {
        match Ramp::of(&values) {
            Some(ramp) => Exact::from_ramp(ramp),
            None if values.is_empty() => Exact::Same(0),
            None => Exact::Each(values.into()),
        }
    }

    fn from_ramp(ramp: Ramp) -> Self {
        match ramp.as_constant() {
            Some(value) => Exact::Same(value),
            None => Exact::Ramp(ramp),
        }
    }

    fn ramp(&self) -> Option<Ramp> {
        match self {
            Exact::Same(value) => Some(Ramp::constant(*value)),
            Exact::Ramp(ramp) => Some(*ramp),
            Exact::Each(_) => None,
        }
    }

    fn column(&self) -> Column<'_> {
        match self {
            Exact::Same(value) => Column::Same(*value),
            Exact::Ramp(ramp) => Column::Ramp(*ramp),
            Exact::Each(values) => Column::Each(values),
        }
    }
}

/// A source operand of a decoded instruction.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A known value.
    Known(Exact),
    /// Another value, and whether it is negated.
    Value(ValueId, bool),
}

/// What has been computed of a function's values, and how many thread values may still be.
#[derive(Debug)]
pub(super) struct Memo {
    known: FxHashMap<ValueId, Option<Exact>>,
    left: usize,
}

impl Default for Memo {
    fn default() -> Self {
        Self {
            known: FxHashMap::default(),
            left: BUDGET,
        }
    }
}

/// Computes exact values on demand and keeps them for all evaluators of the function.
pub struct Evaluator<'a> {
    body: &'a Body,
    cfg: &'a Cfg,
    ssa: &'a Ssa,
    shape: Shape,
    given: &'a Given,
    memo: Rc<RefCell<Memo>>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for one function.
    pub(super) fn new(
        body: &'a Body,
        cfg: &'a Cfg,
        ssa: &'a Ssa,
        launch: (Shape, &'a Given),
        memo: &Rc<RefCell<Memo>>,
    ) -> Self {
        Self {
            body,
            cfg,
            ssa,
            shape: launch.0,
            given: launch.1,
            memo: Rc::clone(memo),
        }
    }

    /// The shape of the CTA that values are computed for.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The value, where it is known in every thread.
    pub fn value(&mut self, id: ValueId) -> Option<Exact> {
        if let Some(known) = self.memo.borrow().known.get(&id) {
            return known.clone();
        }
        // A value is looked at twice: first its inputs are asked for, then it is computed from them.
        let mut stack = vec![(id, false)];
        while let Some((at, ready)) = stack.pop() {
            if !ready {
                if self.memo.borrow().known.contains_key(&at) {
                    continue;
                }
                // What depends on itself stays unknown.
                self.memo.borrow_mut().known.insert(at, None);
                stack.push((at, true));
                let mut inputs = Vec::new();
                self.inputs(at, &mut inputs);
                stack.extend(inputs.into_iter().map(|input| (input, false)));
            } else {
                let result = self.compute(at);
                self.memo.borrow_mut().known.insert(at, result);
            }
        }
        self.known(id)
    }

    /// An operand of an instruction, where it is known in every thread.
    pub fn operand(&mut self, inst: InstId, operand: &Operand) -> Option<Exact> {
        match self.source(inst, operand)? {
            Source::Known(value) => Some(value),
            Source::Value(id, false) => self.value(id),
            Source::Value(id, true) => {
                let value = self.value(id)?;
                Some(self.map(&value, |value| value ^ 1))
            }
        }
    }

    /// The condition at the end of a block, as the place among its successors that each thread takes; only for guards.
    pub fn taken(&mut self, block: u32) -> Option<Exact> {
        let Some(Condition::Guard(guard)) = self.cfg.condition(self.body, block) else {
            return None;
        };
        let last = self.cfg.last(block)?;
        let value = self.value(self.ssa.use_of(last, guard.reg)?)?;
        Some(self.map(&value, |value| (value & 1) ^ u64::from(guard.negated)))
    }

    fn map(&self, value: &Exact, change: impl Fn(u64) -> u64) -> Exact {
        match value {
            Exact::Same(value) => Exact::Same(change(*value)),
            Exact::Ramp(ramp) => {
                let threads = 0..self.shape.most_threads() as usize;
                Exact::from_values(threads.map(|thread| change(ramp.at(thread))).collect())
            }
            Exact::Each(values) => Exact::from_values(values.iter().map(|value| change(*value)).collect()),
        }
    }

    /// The values that a value is computed from.
    fn inputs(&self, id: ValueId, out: &mut Vec<ValueId>) {
        match self.ssa.value(id).map(|value| value.definition) {
            Some(Definition::Inst(inst)) if self.body.insts[inst.index()].op.effect == Effect::Pure => {
                out.extend(self.ssa.uses(inst).iter().copied().filter(|used| used.is_some()));
                out.extend(self.ssa.before(inst).iter().copied().filter(|before| before.is_some()));
            }
            Some(Definition::Phi(block)) => {
                out.extend(self.ssa.phi_inputs(id).iter().copied().filter(|input| input.is_some()));
                if let Some((fork, _)) = self.diamond(block) {
                    out.extend(self.condition_value(fork));
                }
            }
            _ => {}
        }
    }

    fn compute(&mut self, id: ValueId) -> Option<Exact> {
        match self.ssa.value(id)?.definition {
            Definition::Undefined => None,
            Definition::Inst(inst) => self.instruction(id, inst),
            Definition::Phi(block) => self.phi(id, block),
        }
    }

    fn known(&self, id: ValueId) -> Option<Exact> {
        self.memo.borrow().known.get(&id).cloned().flatten()
    }

    /// All inputs alike, or a fork whose condition says which input each thread gets.
    fn phi(&mut self, id: ValueId, block: u32) -> Option<Exact> {
        let inputs = self.ssa.phi_inputs(id).to_vec();
        let values: Vec<Option<Exact>> = inputs.iter().map(|input| self.known(*input)).collect();
        let first = values.first()?.as_ref();
        if first.is_some_and(|first| first.constant().is_some()) && values.iter().all(|value| value.as_ref() == first) {
            return first.cloned();
        }
        let (fork, taken_input) = self.diamond(block)?;
        let taken = self.taken_known(fork)?;
        // Where all threads go one way, it is nothing to them what the other one brings.
        if let Some(taken) = taken.constant() {
            let input = if taken == 1 { taken_input } else { 1 - taken_input };
            return values.get(input)?.clone();
        }
        let (yes, no) = (values.get(taken_input)?.clone()?, values.get(1 - taken_input)?.clone()?);
        self.zip(|thread| {
            Some(if taken.of(thread) == 1 {
                yes.of(thread)
            } else {
                no.of(thread)
            })
        })
    }

    /// Like [`Evaluator::taken`], from what is known already.
    fn taken_known(&self, block: u32) -> Option<Exact> {
        let Some(Condition::Guard(guard)) = self.cfg.condition(self.body, block) else {
            return None;
        };
        let value = self.known(self.ssa.use_of(self.cfg.last(block)?, guard.reg)?)?;
        Some(self.map(&value, |value| (value & 1) ^ u64::from(guard.negated)))
    }

    fn condition_value(&self, block: u32) -> Option<ValueId> {
        match self.cfg.condition(self.body, block)? {
            Condition::Guard(guard) => self.ssa.use_of(self.cfg.last(block)?, guard.reg),
            Condition::Index(_) => None,
        }
    }

    /// The two-way fork whose arms meet in this block and nowhere before, with the place of the input along its taken arm.
    fn diamond(&self, join: u32) -> Option<(u32, usize)> {
        let preds = self.cfg.preds().next(join);
        let dom = self.cfg.dom();
        let fork = dom.idom(join)?;
        let [target, fall] = self.cfg.succs().next(fork) else {
            return None;
        };
        let [first, second] = preds else { return None };
        let from = |pred: u32, arm: u32| (arm == join && pred == fork) || (arm != join && dom.dominates(arm, pred));
        let single = |arm: u32| arm == join || self.cfg.preds().next(arm).len() == 1;
        if dom.dominates(join, fork) || !single(*target) || !single(*fall) || target == fall {
            return None;
        }
        if from(*first, *target) && from(*second, *fall) {
            Some((fork, 0))
        } else if from(*second, *target) && from(*first, *fall) {
            Some((fork, 1))
        } else {
            None
        }
    }

    fn instruction(&mut self, id: ValueId, inst: InstId) -> Option<Exact> {
        let row = &self.body.insts[inst.index()];
        if let Some(loaded) = self.given.loaded(row) {
            return Some(loaded);
        }
        let (scalar, sources, second) = decoded(self, id, inst)?;
        let mut args: Vec<Exact> = Vec::with_capacity(sources.len());
        for source in sources {
            args.push(match source {
                Source::Known(value) => value,
                Source::Value(id, negated) => {
                    let value = self.known(id)?;
                    if negated {
                        self.map(&value, |value| value ^ 1)
                    } else {
                        value
                    }
                }
            });
        }
        let result = self.apply(scalar, &args)?;
        let result = if second {
            self.map(&result, |value| value ^ 1)
        } else {
            result
        };
        let Some(guard) = row.guard else { return Some(result) };
        let position = self.ssa.defs(inst).iter().position(|def| *def == id)?;
        let condition = self.known(self.ssa.use_of(inst, guard.reg)?)?;
        let before = self.known(*self.ssa.before(inst).get(position)?)?;
        self.zip(|thread| {
            let executes = (condition.of(thread) & 1 == 1) != guard.negated;
            Some(if executes { result.of(thread) } else { before.of(thread) })
        })
    }

    /// What an instruction makes of its sources, within the budget.
    fn apply(&self, scalar: Scalar, args: &[Exact]) -> Option<Exact> {
        let threads = self.shape.most_threads() as usize;
        let constants: Option<SmallVec<[u64; 4]>> = args.iter().map(Exact::constant).collect();
        if let Some(constants) = constants {
            return scalar.apply(&constants).map(Exact::Same);
        }
        let ramps: Option<SmallVec<[Ramp; 4]>> = args.iter().map(Exact::ramp).collect();
        if let Some(ramp) = ramps.and_then(|ramps| scalar.apply_ramps(&ramps, threads.saturating_sub(1))) {
            return Some(Exact::from_ramp(ramp));
        }
        self.spend(threads)?;
        let columns: SmallVec<[Column; 4]> = args.iter().map(Exact::column).collect();
        let mut values = vec![0; threads];
        scalar
            .apply_all(&columns, &mut values)
            .then(|| Exact::from_values(values))
    }

    /// Takes from the budget; `None` once it is used up.
    pub(super) fn spend(&self, work: usize) -> Option<()> {
        let mut memo = self.memo.borrow_mut();
        memo.left = memo.left.checked_sub(work)?;
        Some(())
    }

    /// Computes one value per thread, within the budget.
    fn zip(&self, each: impl Fn(usize) -> Option<u64>) -> Option<Exact> {
        let threads = self.shape.most_threads() as usize;
        self.spend(threads)?;
        let values: Option<Vec<u64>> = (0..threads).map(each).collect();
        Some(Exact::from_values(values?))
    }

    /// Reads a source operand.
    pub(super) fn source(&self, inst: InstId, operand: &Operand) -> Option<Source> {
        match operand {
            Operand::Imm(imm) => Some(Source::Known(Exact::Same(imm.as_int()? as u64))),
            Operand::Special(special) => {
                if let Some(known) = self.given.special(*special) {
                    return Some(Source::Known(known));
                }
                let threads = self.shape.most_threads();
                if self.shape.counts_threads(*special) {
                    return Some(Source::Known(Exact::from_ramp(Ramp::rising(threads))));
                }
                let values: Option<Vec<u64>> = (0..threads).map(|at| self.shape.special(*special, at)).collect();
                Some(Source::Known(Exact::from_values(values?)))
            }
            Operand::Reg(reg) => Some(Source::Value(self.used(inst, *reg)?, false)),
            Operand::Not(reg) => Some(Source::Value(self.used(inst, *reg)?, true)),
            _ => None,
        }
    }

    fn used(&self, inst: InstId, reg: RegId) -> Option<ValueId> {
        self.ssa.use_of(inst, reg)
    }

    pub(super) fn body(&self) -> &'a Body {
        self.body
    }

    pub(super) fn cfg(&self) -> &'a Cfg {
        self.cfg
    }

    pub(super) fn ssa(&self) -> &'a Ssa {
        self.ssa
    }
}

/// The instruction behind a value, decoded, with its sources; the flag says that the value is the second of a pair (`%p|%q`), the complement.
pub(super) fn decoded(evaluator: &Evaluator, id: ValueId, inst: InstId) -> Option<(Scalar, Vec<Source>, bool)> {
    let row = &evaluator.body.insts[inst.index()];
    if row.op.effect != Effect::Pure {
        return None;
    }
    let scalar = scalar::decode(row)?;
    let reg = evaluator.ssa.value(id)?.reg;
    let second = match row.operands.first()? {
        Operand::Reg(_) => false,
        Operand::Pair(pair) => pair.1.as_reg() == Some(reg) && pair.0.as_reg() != Some(reg),
        _ => return None,
    };
    // `p|q` gives the complement of the comparison before it is joined with the third operand: known only without one.
    if second && scalar.arity > 2 {
        return None;
    }
    let sources = row.operands.get(1..=scalar.arity)?;
    let sources: Option<Vec<Source>> = sources.iter().map(|operand| evaluator.source(inst, operand)).collect();
    Some((scalar, sources?, second))
}
