//! What a trial run takes parameters and special registers to hold where the text does not say.
//!
//! Integers are large and round, so that guards against the end of the data let all threads pass. Two samples differ enough
//! that a coincidence in one is none in the other.

use super::program::{Arg, Program, Step};
use super::space::Layout;
use super::value::Value;
use crate::ptx::analysis::geometry::Shape;
use crate::ptx::ir::{RegId, Special, SymbolId};
use crate::ptx::types::{Kind, Space, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// The launch that a trial run plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Threads of the CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs of the grid, where known.
    pub grid: Option<[u32; 3]>,
    /// Which CTA runs; `None` picks one.
    pub cta: Option<[u32; 3]>,
    /// Which sample of made-up numbers to use.
    pub sample: u32,
    /// Whether branches on what is not known take the way that no run has taken yet.
    pub explore: bool,
}

impl Setup {
    pub(super) fn threads(&self) -> usize {
        self.block
            .iter()
            .map(|dim| *dim as usize)
            .product::<usize>()
            .clamp(1, 1024)
    }

    /// What a special register holds.
    pub(super) fn special(&self, special: Special) -> Value {
        let shape = Shape::Exact(self.block);
        let threads = self.threads() as u32;
        let values: Option<Vec<u64>> = (0..threads).map(|thread| shape.special(special, thread)).collect();
        if let Some(values) = values {
            return Value::each(values, super::Mask::default());
        }
        let dimension = ["x", "y", "z"]
            .iter()
            .position(|dim| special.name().ends_with(&format!(".{dim}")));
        let name = special.name().split('.').next().unwrap_or("");
        match (name, dimension) {
            ("%ctaid", Some(dim)) => self.ctaid(dim),
            ("%nctaid", Some(dim)) => match self.grid {
                Some(grid) => Value::same(u64::from(grid[dim])),
                None => Value::guessed([64, 32, 8][dim] + 8 * u64::from(self.sample)),
            },
            ("%warpid", _) => {
                let warps: Vec<u64> = (0..u64::from(threads)).map(|thread| thread / 32).collect();
                let mut value = Value::each(warps, super::Mask::default());
                value.guess = true;
                value
            }
            ("%nwarpid", _) => Value::guessed(u64::from(threads.div_ceil(32))),
            ("%cluster_ctaid" | "%clusterid" | "%cluster_ctarank", _) => Value::guessed(0),
            ("%cluster_nctaid" | "%nclusterid" | "%cluster_nctarank", _) => Value::guessed(1),
            ("%dynamic_smem_size" | "%total_smem_size" | "%aggr_smem_size", _) => Value::guessed(0xc000),
            _ => match special.info().extent {
                crate::ptx::isa::Extent::Grid | crate::ptx::isa::Extent::Cta => Value::some(),
                _ => Value::chaos(),
            },
        }
    }

    fn ctaid(&self, dim: usize) -> Value {
        if let Some(cta) = self.cta {
            return Value::guessed(u64::from(cta[dim]));
        }
        match self.grid {
            Some(grid) if grid[dim] == 1 => Value::same(0),
            Some(grid) => Value::guessed(u64::from(self.sample.min(grid[dim] - 1))),
            None => Value::guessed(3 + 2 * dim as u64 + 3 * u64::from(self.sample)),
        }
    }
}

/// The kernel's parameters: which are addresses, and what they hold.
pub(super) struct Params {
    pointers: FxHashSet<(SymbolId, i64)>,
    numbers: FxHashMap<(SymbolId, i64), u32>,
    sample: u32,
}

impl Params {
    pub(super) fn new(program: &Program, sample: u32) -> Self {
        Self {
            pointers: pointers(program),
            numbers: FxHashMap::default(),
            sample,
        }
    }

    /// What is read from a parameter.
    pub(super) fn read(&mut self, symbol: SymbolId, offset: i64, ty: Type) -> Value {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry((symbol, offset)).or_insert(next);
        if ty.kind() == Kind::Float {
            return Value::token(0x4000_0000 + u64::from(number));
        }
        if ty.bits() == 64 && self.pointers.contains(&(symbol, offset)) {
            return Value::guessed(Layout::buffer(number));
        }
        let size = u64::from(number % 3);
        let value = match (ty.bits(), self.sample % 2) {
            (..=15, _) => 1,
            (_, 0) => 2048 << size,
            _ => 3072 << size,
        };
        Value::guessed(value)
    }

    /// The parameter whose buffer has this number.
    pub(super) fn buffer(&self, number: u32) -> Option<SymbolId> {
        self.numbers
            .iter()
            .find(|(_, known)| **known == number)
            .map(|((symbol, _), _)| *symbol)
    }
}

/// The 64-bit parameters that end up in addresses.
fn pointers(program: &Program) -> FxHashSet<(SymbolId, i64)> {
    let mut origins: FxHashMap<RegId, FxHashSet<(SymbolId, i64)>> = FxHashMap::default();
    let mut found = FxHashSet::default();
    // A second pass takes what went around loops.
    for _ in 0..2 {
        for row in &program.rows {
            let of = |arg: &Arg| match arg {
                Arg::Reg(reg, ..) => origins.get(reg).cloned(),
                _ => None,
            };
            let mut made: FxHashSet<(SymbolId, i64)> = FxHashSet::default();
            match &row.step {
                Step::Access(access) => {
                    if let (Space::Param, Arg::Symbol(symbol, by), true) = (access.space, &access.base, access.reads)
                        && access.bytes == 8
                    {
                        for element in 0..access.elements {
                            let origin = (*symbol, by + access.offset + i64::from(element) * 8);
                            let def = row.defs.get(element as usize);
                            def.into_iter().for_each(|reg| {
                                origins.entry(*reg).or_default().insert(origin);
                            });
                        }
                        continue;
                    }
                    found.extend(of(&access.base).into_iter().flatten());
                    if access.bytes == 8 {
                        access
                            .values
                            .iter()
                            .for_each(|value| found.extend(of(value).into_iter().flatten()));
                    }
                }
                Step::Cvta(_, _, arg) => {
                    found.extend(of(arg).into_iter().flatten());
                    made.extend(of(arg).into_iter().flatten());
                }
                Step::Move(arg) => made.extend(of(arg).into_iter().flatten()),
                Step::Select(a, b, _) => made.extend([a, b].into_iter().filter_map(of).flatten()),
                Step::Scalar { scalar, args, .. } if scalar.is_sum() => {
                    // Only the addend of a product is an address.
                    let skip = if args.len() == 3 { 2 } else { 0 };
                    made.extend(args.iter().skip(skip).filter_map(of).flatten());
                }
                Step::Chaos | Step::Call(_) => {
                    found.extend(row.uses.iter().filter_map(|reg| origins.get(reg)).flatten().copied());
                }
                _ => {}
            }
            if !made.is_empty() {
                row.defs
                    .iter()
                    .for_each(|reg| origins.entry(*reg).or_default().extend(made.iter().copied()));
            }
        }
    }
    found
}
