//! Sums: what a value is made of by addition, so that what is added on both sides of a comparison cancels out.
//!
//! Compilers turn `a < end` into a comparison of two addresses or indices that both contain the thread's index.
//! The arithmetic is taken not to wrap around, as in the source it was made from.

use super::exact::Evaluator;
use crate::ptx::flow::{Definition, LoopId, Loops, ValueId};
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Sums of more parts than this are taken for unknown values.
const LONGEST: usize = 8;

/// Something that a sum does not look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Leaf {
    /// A value.
    Value(ValueId),
    /// The product of two values.
    Product(ValueId, ValueId),
    /// A special register.
    Special(&'static str),
}

/// A sum of leaves with factors; constants are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    terms: Vec<(Leaf, i64)>,
    /// Whether something cancelled out on the way.
    cancelled: bool,
    /// What each round of a loop adds: alike in all threads if these are.
    steps: Vec<Leaf>,
}

impl Sum {
    fn leaf(leaf: Leaf) -> Self {
        Self {
            terms: vec![(leaf, 1)],
            ..Self::default()
        }
    }

    fn plus(mut self, other: &Sum, factor: i64) -> Option<Self> {
        for (leaf, count) in &other.terms {
            match self.terms.binary_search_by_key(leaf, |term| term.0) {
                Ok(at) => {
                    self.terms[at].1 = self.terms[at].1.wrapping_add(count.wrapping_mul(factor));
                    if self.terms[at].1 == 0 {
                        self.terms.remove(at);
                        self.cancelled = true;
                    }
                }
                Err(at) => self.terms.insert(at, (*leaf, count.wrapping_mul(factor))),
            }
        }
        self.cancelled |= other.cancelled;
        self.steps.extend(&other.steps);
        (self.terms.len() <= LONGEST && self.steps.len() <= LONGEST).then_some(self)
    }

    fn times(mut self, factor: i64) -> Option<Self> {
        self.terms
            .iter_mut()
            .for_each(|term| term.1 = term.1.wrapping_mul(factor));
        self.terms.iter().all(|term| term.1 != 0).then_some(self)
    }

    /// What the sum depends on, where something cancelled out.
    pub(super) fn remains(&self) -> Option<Vec<Leaf>> {
        let leaves = self.terms.iter().map(|term| term.0).chain(self.steps.iter().copied());
        self.cancelled.then(|| leaves.collect())
    }
}

/// Finds sums on demand and keeps them.
pub(super) struct Sums<'l> {
    loops: &'l Loops,
    known: FxHashMap<ValueId, Sum>,
}

/// What an instruction does to its operands, as far as sums go.
enum Shape<'i> {
    Same(&'i Operand),
    Add(&'i Operand, &'i Operand, i64),
    Scale(&'i Operand, i64),
    Product(&'i Operand, &'i Operand, Option<&'i Operand>),
}

impl<'l> Sums<'l> {
    pub(super) fn new(loops: &'l Loops) -> Self {
        Self {
            loops,
            known: FxHashMap::default(),
        }
    }

    /// The value as a sum.
    pub(super) fn of(&mut self, evaluator: &mut Evaluator, id: ValueId) -> Sum {
        let mut stack = vec![(id, false)];
        while let Some((at, ready)) = stack.pop() {
            if ready {
                let sum = self
                    .combine(evaluator, at)
                    .unwrap_or_else(|| Sum::leaf(Leaf::Value(at)));
                self.known.insert(at, sum);
            } else if let Entry::Vacant(place) = self.known.entry(at) {
                // What depends on itself is a leaf.
                place.insert(Sum::leaf(Leaf::Value(at)));
                stack.push((at, true));
                if let Some(inst) = linear(evaluator, at) {
                    stack.extend(
                        evaluator
                            .ssa()
                            .uses(inst)
                            .iter()
                            .filter(|used| used.is_some())
                            .map(|used| (*used, false)),
                    );
                }
            }
        }
        self.known.get(&id).cloned().unwrap_or_default()
    }

    fn combine(&mut self, evaluator: &mut Evaluator, id: ValueId) -> Option<Sum> {
        if let Some(exact) = evaluator.value(id)
            && exact.constant().is_some()
        {
            return Some(Sum::default());
        }
        let inst = linear(evaluator, id)?;
        let row = &evaluator.body().insts[inst.index()];
        match shape(evaluator, inst, row)? {
            Shape::Same(a) => self.operand(evaluator, inst, a),
            Shape::Add(a, b, sign) => {
                let other = self.operand(evaluator, inst, b)?;
                self.operand(evaluator, inst, a)?.plus(&other, sign)
            }
            Shape::Scale(a, factor) => self.operand(evaluator, inst, a)?.times(factor),
            Shape::Product(a, b, plus) => {
                let product = match (constant(evaluator, inst, a), constant(evaluator, inst, b)) {
                    (Some(factor), _) => self.operand(evaluator, inst, b)?.times(factor)?,
                    (_, Some(factor)) => self.operand(evaluator, inst, a)?.times(factor)?,
                    _ => {
                        let (a, b) = (self.single(evaluator, inst, a)?, self.single(evaluator, inst, b)?);
                        Sum::leaf(Leaf::Product(a.min(b), a.max(b)))
                    }
                };
                match plus {
                    Some(plus) => product.plus(&self.operand(evaluator, inst, plus)?, 1),
                    None => Some(product),
                }
            }
        }
    }

    fn operand(&self, evaluator: &Evaluator, inst: InstId, operand: &Operand) -> Option<Sum> {
        match operand {
            Operand::Imm(_) => Some(Sum::default()),
            Operand::Special(special) => Some(Sum::leaf(Leaf::Special(special.name()))),
            Operand::Reg(reg) => {
                let value = evaluator.ssa().use_of(inst, *reg)?;
                Some(
                    self.known
                        .get(&value)
                        .cloned()
                        .unwrap_or_else(|| Sum::leaf(Leaf::Value(value))),
                )
            }
            _ => None,
        }
    }

    /// The value behind a factor, copies looked through.
    fn single(&self, evaluator: &Evaluator, inst: InstId, operand: &Operand) -> Option<ValueId> {
        let value = evaluator.ssa().use_of(inst, operand.as_reg()?)?;
        match self.known.get(&value).map(|sum| sum.terms.as_slice()) {
            Some([(Leaf::Value(leaf), 1)]) => Some(*leaf),
            _ => Some(value),
        }
    }

    /// The difference of a comparison's operands, with the counters of the loops around it taken apart.
    pub(super) fn difference(&mut self, evaluator: &mut Evaluator, inst: InstId) -> Option<Sum> {
        let row = &evaluator.body().insts[inst.index()];
        let (a, b) = (row.operands.get(1)?, row.operands.get(2)?);
        let mut sides = [Sum::default(), Sum::default()];
        for (side, operand) in sides.iter_mut().zip([a, b]) {
            if let Operand::Reg(reg) = operand {
                let value = evaluator.ssa().use_of(inst, *reg)?;
                self.of(evaluator, value);
            }
            *side = self.operand(evaluator, inst, operand)?;
        }
        let [a, b] = sides;
        self.unroll(evaluator, a.plus(&b, -1)?, evaluator.cfg().block_of(inst))
    }

    /// Replaces counters of the loops around a block by what they start from; their steps are kept apart.
    pub(super) fn unroll(&mut self, evaluator: &mut Evaluator, mut sum: Sum, block: u32) -> Option<Sum> {
        for _ in 0..LONGEST {
            let counter = sum.terms.iter().find_map(|(leaf, count)| {
                let Leaf::Value(value) = leaf else { return None };
                let id = self
                    .counter_loop(evaluator, *value)
                    .filter(|id| self.loops.contains(*id, block))?;
                Some((*leaf, *value, *count, id))
            });
            let Some((leaf, value, count, id)) = counter else { break };
            let Some((start, steps)) = self.counter(evaluator, value, id) else {
                break;
            };
            sum.terms.retain(|term| term.0 != leaf);
            sum = sum.plus(&start, count)?;
            sum.steps.extend(steps);
        }
        Some(sum)
    }

    fn counter_loop(&self, evaluator: &Evaluator, value: ValueId) -> Option<LoopId> {
        let Definition::Phi(block) = evaluator.ssa().value(value)?.definition else {
            return None;
        };
        self.loops
            .innermost(block)
            .filter(|id| self.loops.get(*id).header == block && self.loops.get(*id).is_natural())
    }

    /// Where a counter starts, and what is added to it in each round.
    fn counter(&mut self, evaluator: &mut Evaluator, phi: ValueId, id: LoopId) -> Option<(Sum, Vec<Leaf>)> {
        let header = self.loops.get(id).header;
        let inputs = evaluator.ssa().phi_inputs(phi);
        let mut start: Option<Sum> = None;
        let mut steps = Vec::new();
        for (pred, input) in evaluator.cfg().preds().next(header).iter().zip(inputs) {
            let sum = self.of(evaluator, *input);
            if !self.loops.contains(id, *pred) {
                if start.as_ref().is_some_and(|known| *known != sum) {
                    return None;
                }
                start = Some(sum);
                continue;
            }
            let own = |term: &&(Leaf, i64)| term.0 == Leaf::Value(phi);
            if sum.terms.iter().find(own).map(|term| term.1) != Some(1) || !sum.steps.is_empty() {
                return None;
            }
            steps.extend(
                sum.terms
                    .iter()
                    .map(|term| term.0)
                    .filter(|leaf| *leaf != Leaf::Value(phi)),
            );
        }
        Some((start?, steps))
    }
}

/// The instruction behind a value, if sums look into such.
fn linear(evaluator: &Evaluator, id: ValueId) -> Option<InstId> {
    let Definition::Inst(inst) = evaluator.ssa().value(id)?.definition else {
        return None;
    };
    let row = &evaluator.body().insts[inst.index()];
    let known = matches!(
        row.op.base(),
        "mov" | "cvt" | "add" | "sub" | "neg" | "shl" | "mul" | "mad" | "mul24" | "mad24" | "cvta"
    );
    let integral = row.op.types.iter().all(|ty| ty.is_integral());
    (known && integral && row.op.effect == Effect::Pure && row.guard.is_none() && !row.op.has("hi")).then_some(inst)
}

fn shape<'i>(evaluator: &mut Evaluator, inst: InstId, row: &'i Inst) -> Option<Shape<'i>> {
    let part = |at: usize| row.operands.get(at);
    Some(match row.op.base() {
        "mov" | "cvt" | "cvta" => Shape::Same(part(1)?),
        "add" => Shape::Add(part(1)?, part(2)?, 1),
        "sub" => Shape::Add(part(1)?, part(2)?, -1),
        "neg" => Shape::Scale(part(1)?, -1),
        "shl" => Shape::Scale(
            part(1)?,
            1i64.checked_shl(u32::try_from(constant(evaluator, inst, part(2)?)?).ok()?)?,
        ),
        "mul" | "mul24" => Shape::Product(part(1)?, part(2)?, None),
        "mad" | "mad24" => Shape::Product(part(1)?, part(2)?, part(3)),
        _ => return None,
    })
}

fn constant(evaluator: &mut Evaluator, inst: InstId, operand: &Operand) -> Option<i64> {
    Some(evaluator.operand(inst, operand)?.constant()? as i64)
}
