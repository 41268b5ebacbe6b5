//! Places in shared memory: which array an address points into, and how far, thread by thread.

use super::exact::{Evaluator, Exact};
use super::unit::Unit;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{Address, Base, Inst, InstId, Operand, SymbolId, SymbolKind};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// A place in a shared array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The array.
    pub symbol: SymbolId,
    /// Bytes from its start, in each thread; `None` where not known.
    pub offset: Option<Exact>,
}

impl Place {
    /// The offset of a thread in bytes, where it is known.
    pub fn at(&self, thread: usize) -> Option<i64> {
        Some(self.offset.as_ref()?.of(thread) as i64)
    }

    /// The offset, where all threads have the same.
    pub fn constant(&self) -> Option<i64> {
        Some(self.offset.as_ref()?.constant()? as i64)
    }
}

/// Finds places on demand and keeps them.
pub struct Places<'u> {
    unit: &'u Unit<'u>,
    evaluator: Evaluator<'u>,
    known: FxHashMap<ValueId, Option<Place>>,
}

impl<'u> Places<'u> {
    /// For one function.
    pub fn new(unit: &'u Unit<'u>) -> Self {
        Self {
            unit,
            evaluator: unit.evaluator(),
            known: FxHashMap::default(),
        }
    }

    /// The evaluator of numbers.
    pub fn evaluator(&mut self) -> &mut Evaluator<'u> {
        &mut self.evaluator
    }

    /// The place that an address means.
    pub fn address(&mut self, inst: InstId, address: &Address) -> Option<Place> {
        let place = match address.base {
            Base::Symbol(symbol) => self.symbol(symbol),
            Base::Reg(reg) => {
                let value = self.unit.ssa.use_of(inst, reg)?;
                self.value(value)
            }
            Base::Absolute => None,
        };
        let mut place = place?;
        place.offset = place.offset.map(|offset| self.shifted(&offset, address.offset));
        Some(place)
    }

    /// The place that the operand in brackets means.
    pub fn operand(&mut self, inst: InstId, operand: &Operand) -> Option<Place> {
        match operand {
            Operand::Address(address) => self.address(inst, address),
            Operand::Symbol(symbol, by) => {
                let mut place = self.symbol(*symbol)?;
                place.offset = place.offset.map(|offset| self.shifted(&offset, *by));
                Some(place)
            }
            Operand::Reg(reg) => {
                let value = self.unit.ssa.use_of(inst, *reg)?;
                self.value(value)
            }
            _ => None,
        }
    }

    fn symbol(&self, symbol: SymbolId) -> Option<Place> {
        let SymbolKind::Variable(variable) = &self.unit.module.symbol(symbol).kind else {
            return None;
        };
        (variable.space == Space::Shared).then_some(Place {
            symbol,
            offset: Some(Exact::Same(0)),
        })
    }

    /// The place that a value means.
    pub fn value(&mut self, id: ValueId) -> Option<Place> {
        let mut stack = vec![(id, false)];
        while let Some((at, ready)) = stack.pop() {
            if ready {
                let place = self.compute(at);
                self.known.insert(at, place);
            } else if let Entry::Vacant(entry) = self.known.entry(at) {
                // What depends on itself stays unknown while it is looked at.
                entry.insert(None);
                stack.push((at, true));
                match self.unit.ssa.value(at).map(|value| value.definition) {
                    Some(Definition::Inst(inst)) if self.unit.body.insts[inst.index()].op.effect == Effect::Pure => {
                        stack.extend(
                            self.unit
                                .ssa
                                .uses(inst)
                                .iter()
                                .filter(|used| used.is_some())
                                .map(|used| (*used, false)),
                        );
                    }
                    Some(Definition::Phi(_)) => {
                        stack.extend(self.unit.ssa.phi_inputs(at).iter().map(|input| (*input, false)));
                    }
                    _ => {}
                }
            }
        }
        self.known.get(&id).cloned().flatten()
    }

    fn compute(&mut self, id: ValueId) -> Option<Place> {
        match self.unit.ssa.value(id)?.definition {
            Definition::Undefined => None,
            Definition::Phi(_) => self.phi(id),
            Definition::Inst(inst) => self.instruction(inst),
        }
    }

    /// Inputs that are all in one array; an input that is the merged value itself, further on, leaves only the array.
    fn phi(&mut self, id: ValueId) -> Option<Place> {
        let inputs = self.unit.ssa.phi_inputs(id);
        let places: Vec<Option<Place>> = inputs
            .iter()
            .map(|input| self.known.get(input).cloned().flatten())
            .collect();
        let first = places.iter().flatten().next()?.clone();
        if places.iter().flatten().any(|place| place.symbol != first.symbol) {
            return None;
        }
        let same = places.iter().all(|place| place.as_ref() == Some(&first)) && first.constant().is_some();
        Some(Place {
            symbol: first.symbol,
            offset: first.offset.filter(|_| same),
        })
    }

    fn instruction(&mut self, inst: InstId) -> Option<Place> {
        let row: &Inst = &self.unit.body.insts[inst.index()];
        if row.op.effect != Effect::Pure || row.guard.is_some() {
            return None;
        }
        let part = |at: usize| row.operands.get(at);
        match row.op.base() {
            "mov" | "cvt" | "cvta" => self.known_operand(inst, part(1)?),
            "add" => self.sum(inst, part(1)?, part(2)?),
            "sub" => {
                let place = self.known_operand(inst, part(1)?)?;
                let by = self.evaluator.operand(inst, part(2)?);
                Some(self.moved(place, by, -1, row))
            }
            "mad" => {
                let place = self.known_operand(inst, part(3)?)?;
                let product = self.product(inst, row);
                Some(self.moved(place, product, 1, row))
            }
            _ => {
                let mut found = row
                    .operands
                    .iter()
                    .skip(1)
                    .filter_map(|operand| self.known_operand(inst, operand));
                let first = found.next()?;
                found.all(|place| place.symbol == first.symbol).then_some(Place {
                    symbol: first.symbol,
                    offset: None,
                })
            }
        }
    }

    fn known_operand(&self, inst: InstId, operand: &Operand) -> Option<Place> {
        match operand {
            Operand::Symbol(symbol, by) => {
                let mut place = self.symbol(*symbol)?;
                place.offset = place.offset.map(|offset| self.shifted(&offset, *by));
                Some(place)
            }
            Operand::Reg(reg) => {
                let value = self.unit.ssa.use_of(inst, *reg)?;
                self.known.get(&value).cloned().flatten()
            }
            Operand::Sum(reg, by) => {
                let value = self.unit.ssa.use_of(inst, *reg)?;
                let mut place = self.known.get(&value).cloned().flatten()?;
                place.offset = place.offset.map(|offset| self.shifted(&offset, *by));
                Some(place)
            }
            _ => None,
        }
    }

    fn sum(&mut self, inst: InstId, a: &Operand, b: &Operand) -> Option<Place> {
        let (place, other) = match (self.known_operand(inst, a), self.known_operand(inst, b)) {
            (Some(place), None) => (place, b),
            (None, Some(place)) => (place, a),
            _ => return None,
        };
        let by = self.evaluator.operand(inst, other);
        let row = &self.unit.body.insts[inst.index()];
        Some(self.moved(place, by, 1, row))
    }

    fn product(&mut self, inst: InstId, row: &Inst) -> Option<Exact> {
        if row.op.has("hi") {
            return None;
        }
        let (a, b) = (
            self.evaluator.operand(inst, row.operands.get(1)?)?,
            self.evaluator.operand(inst, row.operands.get(2)?)?,
        );
        Some(self.each(|thread| signed(a.of(thread), row).wrapping_mul(signed(b.of(thread), row))))
    }

    fn moved(&self, place: Place, by: Option<Exact>, sign: i64, row: &Inst) -> Place {
        let offset =
            match (&place.offset, by) {
                (Some(offset), Some(by)) => Some(self.each(|thread| {
                    (offset.of(thread) as i64).wrapping_add(signed(by.of(thread), row).wrapping_mul(sign))
                })),
                _ => None,
            };
        Place {
            symbol: place.symbol,
            offset,
        }
    }

    fn shifted(&self, offset: &Exact, by: i64) -> Exact {
        match offset {
            Exact::Same(value) => Exact::Same((*value as i64).wrapping_add(by) as u64),
            Exact::Ramp(_) | Exact::Each(_) => self.each(|thread| (offset.of(thread) as i64).wrapping_add(by)),
        }
    }

    fn each(&self, of: impl Fn(usize) -> i64) -> Exact {
        let threads = self.unit.shape.most_threads() as usize;
        Exact::from_values((0..threads).map(|thread| of(thread) as u64).collect())
    }
}

/// A number of the instruction's width with its sign: offsets below zero are written as large unsigned numbers too.
fn signed(value: u64, row: &Inst) -> i64 {
    match row.op.ty().map(crate::ptx::types::Type::bits) {
        Some(32) => i64::from(value as u32 as i32),
        _ => value as i64,
    }
}

/// Two threads whose bytes overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The thread of the first access.
    pub first: usize,
    /// The thread of the second.
    pub second: usize,
    /// A byte, from the array's start, that both touch.
    pub byte: i64,
}

/// Bytes that threads touch: a place, a number of bytes, and who.
#[derive(Clone, Copy)]
pub struct Footprint<'a> {
    /// Where.
    pub place: &'a Place,
    /// How many bytes.
    pub size: i64,
    /// Who.
    pub threads: super::reach::Threads,
}

impl Footprint<'_> {
    /// The first byte touched, and one past the last.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let all = || self.threads.iter().filter_map(|thread| self.place.at(thread));
        if let Some(at) = self.place.constant() {
            return Some((at, at + self.size));
        }
        Some((all().min()?, all().max()? + self.size))
    }

    /// The first pair of threads, among those that `wanted` allows, whose bytes overlap.
    pub fn clash(&self, other: &Footprint, wanted: impl Fn(usize, usize) -> bool) -> Option<Clash> {
        if self.place.symbol != other.place.symbol || other.place.offset.is_none() {
            return None;
        }
        let (own, theirs) = (self.bounds()?, other.bounds()?);
        if own.1 <= theirs.0 || theirs.1 <= own.0 {
            return None;
        }
        let mut others: Vec<(i64, usize)> = other
            .threads
            .iter()
            .filter_map(|thread| Some((other.place.at(thread)?, thread)))
            .collect();
        others.sort_unstable();
        for first in self.threads.iter() {
            let start = self.place.at(first)?;
            let from = others.partition_point(|(at, _)| *at <= start - other.size);
            let near = others[from..].iter().take_while(|(at, _)| *at < start + self.size);
            if let Some((at, second)) = near.take(64).find(|(_, second)| wanted(first, *second)) {
                return Some(Clash {
                    first,
                    second: *second,
                    byte: start.max(*at),
                });
            }
        }
        None
    }
}
