//! Products of matrices held by a warp: `mma`, `mma.sp` and `wmma.mma`.
//!
//! Integers and single bits are exact. Doubles are fused multiply-adds over rising `k`, starting from C. For the narrow
//! formats the ISA promises neither the order of additions nor their precision, and hardware differs: here products are
//! exact, they are added to C in doubles over rising `k`, and the sum is rounded to nearest once, to the result's type.

use super::convert::format;
use super::double;
use super::format::{Format, TF32};
use super::half::f16_to_single;
use super::int::Int;
use super::matrix::{BitOp, Fragment, Shape, Side, quad, quad_factor, quad_sum};
use super::round::Round;
use super::single;
use crate::ptx::types::{Kind, Type};

/// A 32-bit register of every lane.
pub type Lanes = [u32; 32];
/// A 64-bit register of every lane.
pub type WideLanes = [u64; 32];

/// The largest factor: 16 by 128.
const ROOM: usize = 2048;

/// A product of matrices of narrow elements in 32-bit registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// The shape.
    pub shape: Shape,
    /// Type of the elements of A.
    pub a: Type,
    /// Type of the elements of B.
    pub b: Type,
    /// Type of the accumulator.
    pub c: Type,
    /// Type of the result.
    pub d: Type,
    /// Bits of a register that an element of A or B takes up: the width of its type, but 8 with `.kind::f8f6f4` and
    /// `.kind::mxf8f6f4`.
    pub slot: u32,
    /// `.satfinite`: an integer result is clamped instead of wrapping.
    pub satfinite: bool,
    /// How single bits are multiplied; means nothing for other types.
    pub bits: BitOp,
}

impl Product {
    /// Multiplies: registers of A, B and C, as many as the shape takes, and room for those of D. Missing ones count as
    /// zero. `None` if the types are not those of a product.
    pub fn apply(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes]) -> Option<()> {
        if self.a == Type::B1 {
            self.bits(a, b, c, d);
        } else if self.a.kind() == Kind::Float {
            let left = spread(self.fragment(Side::A), self.slot, a, self.reader(self.a)?);
            let right = spread(self.fragment(Side::B), self.slot, b, self.reader(self.b)?);
            self.floats(&left, &right, None, c, d);
        } else {
            self.ints(a, b, c, d);
        }
        Some(())
    }

    fn fragment(&self, side: Side) -> Fragment {
        Fragment::new(self.shape, side, self.slot)
    }

    /// How the bits of an element become a number.
    fn reader(&self, ty: Type) -> Option<impl Fn(u32) -> f32 + use<>> {
        let format = format(ty)?;
        let slot = self.slot;
        Some(move |bits| read(ty, format, slot, bits))
    }

    /// Adds the products to the accumulator. The scales, if any, apply to the products of (row, column, `k`).
    pub(super) fn floats(
        &self,
        a: &[f32; ROOM],
        b: &[f32; ROOM],
        scale: Option<&dyn Fn(u32, u32, u32) -> f64>,
        c: &[Lanes],
        d: &mut [Lanes],
    ) {
        let k = self.shape.k as usize;
        for_each(self.shape, |lane, element, row, col| {
            let mut sum = accumulator(self.c, c, lane, element);
            for i in 0..k {
                let product = factor(a, row, k, i) * factor(b, col, k, i);
                sum += scale.map_or(product, |scale| product * scale(row, col, i as u32));
            }
            settle(self.d, d, lane, element, sum);
        });
    }

    fn ints(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes]) {
        let reader = |ty: Type| {
            let (shift, signed) = (32 - self.slot, ty.kind() == Kind::Signed);
            move |bits: u32| {
                let top = bits << shift;
                if signed {
                    top as i32 >> shift
                } else {
                    (top >> shift) as i32
                }
            }
        };
        let left = spread(self.fragment(Side::A), self.slot, a, reader(self.a));
        let right = spread(self.fragment(Side::B), self.slot, b, reader(self.b));
        let k = self.shape.k as usize;
        for_each(self.shape, |lane, element, row, col| {
            let products = (0..k).map(|i| i64::from(at(&left, row, k, i)) * i64::from(at(&right, col, k, i)));
            let sum = products.sum::<i64>() + i64::from(get(c, element, lane) as i32);
            let result = if self.satfinite {
                i32::clamp_from(sum.into())
            } else {
                sum as i32
            };
            put(d, element, lane, result.cast_unsigned());
        });
    }

    /// Single bits, 32 to an element.
    fn bits(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes]) {
        let words = Shape {
            k: self.shape.k / 32,
            ..self.shape
        };
        let left = spread(Fragment::new(words, Side::A, 32), 32, a, |word| word);
        let right = spread(Fragment::new(words, Side::B, 32), 32, b, |word| word);
        let k = words.k as usize;
        for_each(words, |lane, element, row, col| {
            let ones = |i: usize| {
                let (x, y) = (at(&left, row, k, i), at(&right, col, k, i));
                match self.bits {
                    BitOp::Xor => (x ^ y).count_ones(),
                    BitOp::And => (x & y).count_ones(),
                }
            };
            let sum = (0..k).map(ones).sum::<u32>();
            put(d, element, lane, get(c, element, lane).wrapping_add(sum));
        });
    }
}

/// The number an element's bits stand for. What of a `.tf32` is below its precision is ignored, as hardware does; fp4 in a
/// slot of eight bits stands in the middle.
#[inline]
fn read(ty: Type, format: Format, slot: u32, bits: u32) -> f32 {
    match ty {
        Type::F16 => f32::from_bits(f16_to_single(bits as u16)),
        Type::Bf16 => f32::from_bits(bits << 16),
        Type::Tf32 => f32::from_bits(bits & !((1 << (23 - TF32.fraction)) - 1)),
        Type::E2m1 if slot == 8 => format.decode(u64::from(bits >> 2)) as f32,
        _ => format.decode(u64::from(bits)) as f32,
    }
}

/// A factor as a table, line after line of `k` elements: rows of A, columns of B.
fn spread<T: Copy + Default>(fragment: Fragment, slot: u32, registers: &[Lanes], read: impl Fn(u32) -> T) -> [T; ROOM] {
    let mut out = [T::default(); ROOM];
    let per_register = 32 / slot.clamp(1, 32);
    let mask = u32::MAX >> (32 - slot.clamp(1, 32));
    for element in 0..fragment.elements() {
        for lane in 0..32 {
            let word = get(registers, element / per_register, lane);
            let bits = word >> (element % per_register * slot) & mask;
            if let Some(place) = out.get_mut(fragment.index(lane, element)) {
                *place = read(bits);
            }
        }
    }
    out
}

#[inline(always)]
fn at<T: Copy + Default>(table: &[T; ROOM], line: u32, k: usize, i: usize) -> T {
    table.get(line as usize * k + i).copied().unwrap_or_default()
}

#[inline(always)]
fn factor(table: &[f32; ROOM], line: u32, k: usize, i: usize) -> f64 {
    f64::from(at(table, line, k, i))
}

#[inline(always)]
fn get(registers: &[Lanes], register: u32, lane: u32) -> u32 {
    registers
        .get(register as usize)
        .map_or(0, |lanes| lanes[lane as usize % 32])
}

#[inline(always)]
fn put(registers: &mut [Lanes], register: u32, lane: u32, value: u32) {
    if let Some(lanes) = registers.get_mut(register as usize) {
        lanes[lane as usize % 32] = value;
    }
}

/// Calls for every element of the accumulator: lane, element, row, column.
fn for_each(shape: Shape, mut visit: impl FnMut(u32, u32, u32, u32)) {
    let fragment = Fragment::new(shape, Side::C, 32);
    for element in 0..fragment.elements() {
        for lane in 0..32 {
            let (row, col) = fragment.place(lane, element);
            visit(lane, element, row, col);
        }
    }
}

/// An element of the accumulator: one to a register, or two halves.
fn accumulator(ty: Type, c: &[Lanes], lane: u32, element: u32) -> f64 {
    if ty == Type::F16 {
        let word = get(c, element / 2, lane);
        let half = (word >> (16 * (element % 2))) as u16;
        f64::from(f32::from_bits(f16_to_single(half)))
    } else {
        f64::from(f32::from_bits(get(c, element, lane)))
    }
}

/// Rounds a sum and puts it where it belongs.
fn settle(ty: Type, d: &mut [Lanes], lane: u32, element: u32, sum: f64) {
    if ty == Type::F16 {
        let half = super::format::F16.encode(sum, Round::Rn, false) as u32;
        let shift = 16 * (element % 2);
        let old = get(d, element / 2, lane) & !(0xffff << shift);
        put(d, element / 2, lane, old | half << shift);
    } else {
        put(d, element, lane, single::narrow(sum, Round::Rn));
    }
}

/// `mma` and `wmma.mma` of doubles.
pub fn doubles(shape: Shape, round: Round, a: &[WideLanes], b: &[WideLanes], c: &[WideLanes], d: &mut [WideLanes]) {
    let get = |registers: &[WideLanes], register: u32, lane: u32| {
        registers
            .get(register as usize)
            .map_or(0, |lanes| lanes[lane as usize % 32])
    };
    let table = |side: Side, registers: &[WideLanes]| {
        let fragment = Fragment::new(shape, side, 64);
        let mut out = [0; 256];
        for element in 0..fragment.elements() {
            for lane in 0..32 {
                if let Some(place) = out.get_mut(fragment.index(lane, element)) {
                    *place = get(registers, element, lane);
                }
            }
        }
        out
    };
    let (left, right) = (table(Side::A, a), table(Side::B, b));
    for_each(shape, |lane, element, row, col| {
        let line =
            |table: &[u64; 256], line: u32, i: u32| table.get((line * shape.k + i) as usize).copied().unwrap_or(0);
        let sum = (0..shape.k).fold(get(c, element, lane), |sum, i| {
            double::fma_with(line(&left, row, i), line(&right, col, i), sum, round)
        });
        if let Some(lanes) = d.get_mut(element as usize) {
            lanes[lane as usize % 32] = sum;
        }
    });
}

/// The four products of `mma.m8n8k4` with `.f16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quads {
    /// A is `.row`.
    pub a_row: bool,
    /// B is `.row`.
    pub b_row: bool,
    /// Type of the accumulator, `.f16` or `.f32`.
    pub c: Type,
    /// Type of the result, `.f16` or `.f32`.
    pub d: Type,
}

impl Quads {
    /// Multiplies: two registers of A and of B, four or eight of C and of D.
    pub fn apply(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes]) {
        let (mut left, mut right, mut sums) = ([[[0f32; 4]; 8]; 4], [[[0f32; 4]; 8]; 4], [[[0f64; 8]; 8]; 4]);
        for lane in 0..32 {
            let part = quad(lane) as usize;
            for element in 0..4 {
                let half = |registers| {
                    let word = get(registers, element / 2, lane);
                    f32::from_bits(f16_to_single((word >> (16 * (element % 2))) as u16))
                };
                let (row, k) = quad_factor(lane, element, self.a_row);
                left[part][row as usize % 8][k as usize % 4] = half(a);
                let (col, k) = quad_factor(lane, element, !self.b_row);
                right[part][col as usize % 8][k as usize % 4] = half(b);
            }
            for element in 0..8 {
                let (row, col) = quad_sum(lane, element, self.c == Type::F32);
                sums[part][row as usize % 8][col as usize % 8] = accumulator(self.c, c, lane, element);
            }
        }
        for lane in 0..32 {
            let part = quad(lane) as usize;
            for element in 0..8 {
                let (row, col) = quad_sum(lane, element, self.d == Type::F32);
                let (row, col) = (row as usize % 8, col as usize % 8);
                let products = (0..4).map(|k| f64::from(left[part][row][k]) * f64::from(right[part][col][k]));
                let sum = products.fold(sums[part][row][col], |sum, product| sum + product);
                settle(self.d, d, lane, element, sum);
            }
        }
    }
}
