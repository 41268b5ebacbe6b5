//! One value in the lanes of a warp, and arithmetic on such.

use crate::ptx::analysis::geometry::WARP;
use crate::ptx::analysis::scalar;
use crate::ptx::ir::{Inst, Operand};

/// Lanes of a warp.
pub(super) const LANES: usize = WARP as usize;

/// What the lanes of a warp hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Per lane, the value, or its distance from lane 0's.
    pub lanes: [i64; LANES],
    /// Whether these are the values themselves.
    pub exact: bool,
}

impl Line {
    pub(super) const UNIFORM: Line = Line {
        lanes: [0; LANES],
        exact: false,
    };

    pub(super) fn exact(value: i64) -> Self {
        Self {
            lanes: [value; LANES],
            exact: true,
        }
    }

    /// Whether all lanes hold the same.
    pub fn is_uniform(&self) -> bool {
        self.lanes.iter().all(|lane| *lane == self.lanes[0])
    }

    /// The same without its base. `bits` is the width in which lanes differ.
    pub(super) fn relative(&self, bits: u32) -> Line {
        if !self.exact {
            return *self;
        }
        let first = self.lanes[0];
        let narrow = |distance: i64| {
            if bits <= 32 {
                i64::from(distance as i32)
            } else {
                distance
            }
        };
        Line {
            lanes: self.lanes.map(|lane| narrow(lane.wrapping_sub(first))),
            exact: false,
        }
    }

    pub(super) fn map2(&self, other: &Line, join: impl Fn(i64, i64) -> i64) -> Line {
        let mut lanes = [0; LANES];
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = join(self.lanes[at], other.lanes[at]);
        }
        Line { lanes, exact: false }
    }

    /// What is known of something that is one or the other, alike in all lanes.
    pub(super) fn or(&self, other: &Line, bits: u32) -> Option<Line> {
        if self == other {
            return Some(*self);
        }
        let (a, b) = (self.relative(bits), other.relative(bits));
        (a == b).then_some(a)
    }
}

/// The result where all operands are known.
pub(super) fn exact(row: &Inst, args: &[Line]) -> Option<Line> {
    if !matches!(row.operands.first()?, Operand::Reg(_)) {
        return None;
    }
    let scalar = scalar::decode(row)?;
    let mut lanes = [0; LANES];
    for (at, lane) in lanes.iter_mut().enumerate() {
        let mut values = [0u64; 4];
        values
            .iter_mut()
            .zip(args)
            .for_each(|(value, line)| *value = line.lanes[at] as u64);
        *lane = scalar.apply(values.get(..scalar.arity)?)? as i64;
    }
    Some(Line { lanes, exact: true })
}

/// The result relative to lane 0, where the instruction keeps distances or multiplies them.
pub(super) fn relative(row: &Inst, args: &[Line]) -> Option<Line> {
    let bits = row.op.types.last()?.bits();
    if !row.op.types.iter().all(|ty| ty.is_integral()) || row.op.has("hi") {
        return None;
    }
    let part = |at: usize| args.get(at).map(|line: &Line| line.relative(bits));
    let product = |a: &Line, b: &Line| {
        let factor = if b.exact && b.is_uniform() { b } else { a };
        let other = if std::ptr::eq(factor, b) { a } else { b };
        let by = factor.lanes[0];
        let by = if bits <= 32 { i64::from(by as i32) } else { by };
        (factor.exact && factor.is_uniform()).then(|| Line {
            lanes: other.relative(bits).lanes.map(|lane| lane.wrapping_mul(by)),
            exact: false,
        })
    };
    match (row.op.base(), args) {
        ("mov" | "cvt" | "cvta", [a]) => Some(a.relative(bits)),
        ("add", [..]) => Some(part(0)?.map2(&part(1)?, i64::wrapping_add)),
        ("sub", [..]) => Some(part(0)?.map2(&part(1)?, i64::wrapping_sub)),
        ("shl", [a, by]) if by.exact && by.is_uniform() && (0..63).contains(&by.lanes[0]) => {
            Some(product(a, &Line::exact(1 << by.lanes[0]))?)
        }
        ("mul", [a, b]) => product(a, b),
        ("mad", [a, b, c]) => Some(product(a, b)?.map2(
            &c.relative(if row.op.has("wide") { bits * 2 } else { bits }),
            i64::wrapping_add,
        )),
        _ => None,
    }
}
