//! What must have held for control to come to a use: conditions on values, carried backwards.

use crate::ptx::analysis::fold::{Folder, Step};
use crate::ptx::analysis::graphs::Code;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{Guard, InstId, Operand};
use crate::ptx::isa::Effect;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Conditions are followed through so many instructions.
const LONGEST: usize = 8;

/// A condition: what the steps make of the value, from the last one to the first, is a predicate that holds or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) value: ValueId,
    steps: SmallVec<[Step; 2]>,
    holds: bool,
}

impl Fact {
    /// Whether the condition is as it should be for this content of the value.
    fn fits(&self, value: u64) -> Option<bool> {
        let result = self
            .steps
            .iter()
            .rev()
            .try_fold(value, |value, step| step.apply(value))?;
        Some((result & 1 == 1) == self.holds)
    }

    /// A number that tells conditions apart, nearly always.
    fn mark(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.value, self.holds, self.steps.len()).hash(&mut hasher);
        self.steps
            .iter()
            .flat_map(Step::constants)
            .for_each(|constant| constant.hash(&mut hasher));
        hasher.finish()
    }

    /// Contents of the value that may tell conditions apart.
    fn samples(&self) -> impl Iterator<Item = u64> + '_ {
        let constants = self.steps.iter().flat_map(|step| step.constants());
        constants.flat_map(|constant| [constant.wrapping_sub(1), constant, constant.wrapping_add(1)])
    }

    /// Whether no content of the value makes both conditions what they should be.
    fn excludes(&self, other: &Fact) -> bool {
        if self.value != other.value {
            return false;
        }
        if self.steps == other.steps {
            return self.holds != other.holds;
        }
        let samples = [
            0,
            1,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            1 << 63,
            u64::MAX >> 1,
            u64::MAX,
        ];
        let mut samples = samples.into_iter().chain(self.samples()).chain(other.samples());
        // A condition that cannot be computed excludes nothing.
        !samples.any(|value| self.fits(value) != Some(false) && other.fits(value) != Some(false))
    }
}

/// Comparisons of two values: the same one made twice counts as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Comparison {
    opcode: Box<str>,
    a: ValueId,
    b: ValueId,
}

/// Makes facts.
pub(super) struct Facts<'a> {
    code: Code<'a>,
    pub(super) folder: Folder<'a>,
    comparisons: FxHashMap<Comparison, ValueId>,
}

/// A set of facts that hold together.
pub(super) type Known = Vec<Fact>;

/// A number that tells sets of facts apart, whatever their order.
pub(super) fn mark(known: &Known) -> u64 {
    known.iter().fold(0, |mark, fact| mark.wrapping_add(fact.mark()))
}

impl<'a> Facts<'a> {
    pub(super) fn new(code: Code<'a>, folder: Folder<'a>) -> Self {
        Self {
            code,
            folder,
            comparisons: FxHashMap::default(),
        }
    }

    /// Adds that a guard at an instruction holds or does not; answers whether that can be.
    pub(super) fn add_guard(&mut self, known: &mut Known, inst: InstId, guard: Guard, holds: bool) -> bool {
        match self.code.ssa.use_of(inst, guard.reg) {
            Some(predicate) => self.add(known, predicate, holds != guard.negated),
            None => true,
        }
    }

    /// Adds that a predicate holds or does not; answers whether that can be.
    pub(super) fn add(&mut self, known: &mut Known, predicate: ValueId, holds: bool) -> bool {
        let mut pending = vec![(predicate, holds)];
        let mut rounds = 0;
        while let Some((predicate, holds)) = pending.pop() {
            rounds += 1;
            if rounds <= LONGEST {
                pending.extend(self.parts(predicate, holds));
            }
            let fact = Fact {
                value: predicate,
                steps: SmallVec::new(),
                holds,
            };
            if !self.join(known, fact) {
                return false;
            }
        }
        true
    }

    /// Adds a fact, followed to the value behind it; answers whether that can be.
    pub(super) fn join(&mut self, known: &mut Known, mut fact: Fact) -> bool {
        while fact.steps.len() < LONGEST {
            if let Some(constant) = self.folder.constant(fact.value) {
                return fact.fits(constant) != Some(false);
            }
            let Some((value, step)) = self.folder.step(fact.value) else {
                break;
            };
            fact.value = value;
            fact.steps.push(step);
        }
        self.unify(&mut fact);
        if known.contains(&fact) {
            return true;
        }
        if known.iter().any(|other| other.excludes(&fact)) {
            return false;
        }
        known.push(fact);
        true
    }

    /// What a conjunction that holds, or a disjunction that does not, says of its parts.
    fn parts(&self, predicate: ValueId, holds: bool) -> SmallVec<[(ValueId, bool); 2]> {
        let mut parts = SmallVec::new();
        let Some(Definition::Inst(inst)) = self.code.ssa.value(predicate).map(|value| value.definition) else {
            return parts;
        };
        let row = &self.code.body.insts[inst.index()];
        let splits = match (row.op.base(), holds) {
            ("and", true) | ("or", false) => true,
            ("setp", holds) => row.op.has(if holds { "and" } else { "or" }),
            _ => false,
        };
        if !splits || row.guard.is_some() || row.op.effect != Effect::Pure {
            return parts;
        }
        // The comparison itself has no value of its own; its other part has.
        let sources = if row.op.base() == "setp" {
            row.operands.get(3..)
        } else {
            row.operands.get(1..)
        };
        for operand in sources.unwrap_or(&[]) {
            let part = operand.as_reg().and_then(|reg| self.code.ssa.use_of(inst, reg));
            if let Some(part) = part {
                parts.push((part, holds != matches!(operand, Operand::Not(_))));
            }
        }
        parts
    }

    /// A comparison that another instruction makes as well is taken for that one's.
    fn unify(&mut self, fact: &mut Fact) {
        let Some(Definition::Inst(inst)) = self.code.ssa.value(fact.value).map(|value| value.definition) else {
            return;
        };
        let row = &self.code.body.insts[inst.index()];
        let [Operand::Reg(_), Operand::Reg(a), Operand::Reg(b)] = row.operands.as_slice() else {
            return;
        };
        if row.op.base() != "setp" || row.guard.is_some() || fact.steps.len() > 1 {
            return;
        }
        let (Some(a), Some(b)) = (self.code.ssa.use_of(inst, *a), self.code.ssa.use_of(inst, *b)) else {
            return;
        };
        let (opcode, flipped) = canonical(&row.op.text);
        let comparison = Comparison { opcode, a, b };
        let first = *self.comparisons.entry(comparison).or_insert(fact.value);
        if fact.steps.is_empty() {
            fact.holds ^= flipped;
            fact.value = first;
        } else if !flipped {
            fact.value = first;
        }
    }

    /// Carries facts backwards over an edge into a block; `None` if they cannot hold there.
    pub(super) fn over_edge(&mut self, known: &Known, from: u32, to: u32) -> Option<Known> {
        let Code { cfg, ssa, .. } = self.code;
        let place = cfg.preds().next(to).iter().position(|pred| *pred == from)?;
        let back = cfg.dom().dominates(to, from);
        let mut carried = Vec::new();
        for fact in known {
            let value = ssa.value(fact.value)?;
            if value.definition == Definition::Phi(to) {
                let input = ssa
                    .phi_inputs(fact.value)
                    .get(place)
                    .copied()
                    .filter(|input| input.is_some());
                if let Some(value) = input {
                    let fact = Fact { value, ..fact.clone() };
                    if !self.join(&mut carried, fact) {
                        return None;
                    }
                }
                continue;
            }
            // In an earlier round of a loop, what the loop computes was something else.
            let lasts =
                value.block != to && cfg.dom().dominates(value.block, to) || value.definition == Definition::Undefined;
            if (!back || lasts) && !self.join(&mut carried, fact.clone()) {
                return None;
            }
        }
        Some(carried)
    }
}

/// The comparison with its relation or the opposite one; the flag says which.
///
/// Only integers: a floating-point comparison and its opposite may both fail.
fn canonical(opcode: &str) -> (Box<str>, bool) {
    const OPPOSITE: &[(&str, &str)] = &[("ne", "eq"), ("ge", "lt"), ("gt", "le"), ("hs", "lo"), ("hi", "ls")];
    let float = opcode
        .split('.')
        .any(|part| part.starts_with('f') || part.starts_with("bf"));
    let mut flipped = false;
    let parts: Vec<&str> = opcode
        .split('.')
        .map(|part| match OPPOSITE.iter().find(|(name, _)| *name == part && !float) {
            Some((_, opposite)) => {
                flipped = true;
                *opposite
            }
            None => part,
        })
        .collect();
    (parts.join(".").into(), flipped)
}
