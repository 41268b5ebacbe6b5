//! Products of matrices held by a warp: `mma`, `mma.sp` and `wmma.mma`.
//!
//! Integers and single bits are exact. Doubles are fused multiply-adds over rising `k`, starting from C. For the narrow
//! formats the ISA promises neither the order of additions nor their precision, and hardware differs: here products are
//! exact, they are added to C in doubles over rising `k`, and the sum is rounded to nearest once, to the result's type.

use super::convert::format;
use super::double;
use super::format::{E4M3, F16, Format, TF32};
use super::half::{self, f16_to_single};
use super::matrix::{BitOp, Fragment, Shape, Side, quad, quad_factor, quad_sum};
use super::packed::scale_value;
use super::round::Round;
use super::single;
use crate::ptx::types::{Kind, Type};

/// A 32-bit register of every lane.
pub type Lanes = [u32; 32];
/// A 64-bit register of every lane.
pub type WideLanes = [u64; 32];

/// The largest factor: 16 by 128, a sparse one.
const LARGEST: usize = 2048;
/// The largest dense factor: 16 by 64.
const LARGE: usize = 1024;
/// Enough for most: 16 by 16.
const SMALL: usize = 256;
/// The largest sum: 16 by 16.
const SUMS: usize = 256;

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
        let Shape { m, n, k } = self.shape;
        let size = (m.max(n) * k) as usize;
        match self.a.kind() {
            Kind::Bits => self.bits(a, b, c, d),
            Kind::Float if size <= SMALL => self.floats::<SMALL>(a, b, c, d, None)?,
            Kind::Float if size <= LARGE => self.floats::<LARGE>(a, b, c, d, None)?,
            Kind::Float => self.floats::<LARGEST>(a, b, c, d, None)?,
            _ if size <= SMALL => self.ints::<SMALL>(a, b, c, d),
            _ if size <= LARGE => self.ints::<LARGE>(a, b, c, d),
            _ => self.ints::<LARGEST>(a, b, c, d),
        }
        Some(())
    }

    fn fragment(&self, side: Side) -> Fragment {
        Fragment::new(self.shape, side, self.slot)
    }

    fn floats<const N: usize>(
        &self,
        a: &[Lanes],
        b: &[Lanes],
        c: &[Lanes],
        d: &mut [Lanes],
        scales: Option<&Scales>,
    ) -> Option<()> {
        let (left, right) = (format(self.a)?, format(self.b)?);
        let mut left: [_; N] = spread(self.fragment(Side::A), self.slot, a, |bits| {
            read(self.a, left, self.slot, bits)
        });
        let mut right: [_; N] = spread(self.fragment(Side::B), self.slot, b, |bits| {
            read(self.b, right, self.slot, bits)
        });
        if let Some(scales) = scales {
            scales.apply(self.shape, &mut left, &mut right);
        }
        let mut sums = [0.0; SUMS];
        for_each(self.shape, |lane, element, place| {
            put(&mut sums, place, accumulator(self.c, c, lane, element))
        });
        // Products are exact, so this is not fused.
        multiply(self.shape, &left, &right, &mut sums, |sum, x, y| sum + x * y);
        for_each(self.shape, |lane, element, place| {
            settle(self.d, d, lane, element, get(&sums, place))
        });
        Some(())
    }

    fn ints<const N: usize>(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes]) {
        let reader = |ty: Type| {
            let (shift, signed) = (32 - self.slot, ty.kind() == Kind::Signed);
            move |bits: u32| {
                let top = bits << shift;
                if signed {
                    top.cast_signed() >> shift
                } else {
                    (top >> shift).cast_signed()
                }
            }
        };
        let left: [_; N] = spread(self.fragment(Side::A), self.slot, a, reader(self.a));
        let right: [_; N] = spread(self.fragment(Side::B), self.slot, b, reader(self.b));
        // At most 256 products of 16 bits: they fit.
        let mut sums = [0i32; SUMS];
        multiply(self.shape, &left, &right, &mut sums, |sum, x, y| {
            sum.wrapping_add(x.wrapping_mul(y))
        });
        for_each(self.shape, |lane, element, place| {
            let (sum, start) = (get(&sums, place), lane_of(c, element, lane).cast_signed());
            let result = if self.satfinite {
                sum.saturating_add(start)
            } else {
                sum.wrapping_add(start)
            };
            set_lane(d, element, lane, result.cast_unsigned());
        });
    }

    /// Single bits, 32 to an element.
    fn bits(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes]) {
        let words = Shape {
            k: self.shape.k / 32,
            ..self.shape
        };
        let left: [_; SMALL] = spread(Fragment::new(words, Side::A, 32), 32, a, |word| word);
        let right = spread(Fragment::new(words, Side::B, 32), 32, b, |word| word);
        let mut sums = [0; SUMS];
        multiply(words, &left, &right, &mut sums, |sum, x, y| {
            let product = match self.bits {
                BitOp::Xor => x ^ y,
                BitOp::And => x & y,
            };
            sum + product.count_ones()
        });
        for_each(words, |lane, element, place| {
            set_lane(
                d,
                element,
                lane,
                lane_of(c, element, lane).wrapping_add(get(&sums, place)),
            );
        });
    }
}

/// The scales of `mma` with `.block_scale`: one for each chunk of a row of A, and of a column of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales {
    /// `.ue8m0`, a power of two, or `.ue4m3`, an unsigned number with three bits of fraction.
    pub ty: Type,
    /// Chunks of a row or column: 1, 2 or 4 by `.scale_vec`.
    pub chunks: u32,
    /// The register with the scales of A.
    pub a: Lanes,
    /// The first byte of it that counts, and which half of each four lanes gives it: the lane for the upper rows, then
    /// the one for the lower rows.
    pub a_from: (u32, u32),
    /// The register with the scales of B.
    pub b: Lanes,
    /// The first byte of it that counts, and which of each four lanes gives it.
    pub b_from: (u32, u32),
}

impl Scales {
    /// Multiplies the factors. Elements and scales are so short that this is exact.
    fn apply<const N: usize>(&self, shape: Shape, a: &mut [f64; N], b: &mut [f64; N]) {
        let (n, k) = (shape.n.max(1), shape.k.max(1));
        for (place, value) in a.iter_mut().take((shape.m * k) as usize).enumerate() {
            let (row, i) = (place as u32 / k, place as u32 % k);
            let lane = row % 8 * 4 + (self.a_from.1 & 1) * 2 + row / 8 % 2;
            *value *= self.scale(&self.a, lane, self.a_from.0, i, k);
        }
        for (place, value) in b.iter_mut().take((k * n) as usize).enumerate() {
            let (i, col) = (place as u32 / n, place as u32 % n);
            let lane = col % 8 * 4 + (self.b_from.1 & 3);
            *value *= self.scale(&self.b, lane, self.b_from.0, i, k);
        }
    }

    fn scale(&self, register: &Lanes, lane: u32, byte: u32, i: u32, k: u32) -> f64 {
        let byte = (byte + i * self.chunks / k) & 3;
        let code = register[lane as usize % 32] >> (8 * byte) & 0xff;
        match self.ty {
            Type::Ue4m3 => E4M3.decode(u64::from(code & 0x7f)),
            _ => scale_value(code as u8),
        }
    }
}

impl Product {
    /// As [`Product::apply`], with scales. `None` if the elements are no floats.
    pub fn apply_scaled(&self, a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &mut [Lanes], scales: &Scales) -> Option<()> {
        let Shape { m, n, k } = self.shape;
        match (m.max(n) * k) as usize <= LARGE {
            true => self.floats::<LARGE>(a, b, c, d, Some(scales)),
            false => self.floats::<LARGEST>(a, b, c, d, Some(scales)),
        }
    }
}

/// The number that a scale stands for, of `.ue8m0` or of `.ue4m3`.
pub fn scale(powers: bool, code: u8) -> f64 {
    match powers {
        true => scale_value(code),
        false => E4M3.decode(u64::from(code & 0x7f)),
    }
}

/// The number that an element in a slot of so many bits stands for; nothing where it is no float.
pub fn element(ty: Type, slot: u32, bits: u32) -> Option<f64> {
    Some(read(ty, format(ty)?, slot, bits))
}

/// The number an element's bits stand for. What of a `.tf32` is below its precision is ignored, as hardware does; fp4 in a
/// slot of eight bits stands in the middle.
#[inline(always)]
fn read(ty: Type, format: Format, slot: u32, bits: u32) -> f64 {
    let single = match ty {
        Type::F16 => f16_to_single(bits as u16),
        Type::Bf16 => bits << 16,
        Type::Tf32 => bits & !((1 << (23 - TF32.fraction)) - 1),
        Type::E2m1 if slot == 8 => return format.decode(u64::from(bits >> 2)),
        _ => return format.decode(u64::from(bits)),
    };
    f64::from(f32::from_bits(single))
}

/// A factor as a table, row after row.
fn spread<T: Copy + Default, const N: usize>(
    fragment: Fragment,
    slot: u32,
    registers: &[Lanes],
    read: impl Fn(u32) -> T,
) -> [T; N] {
    let mut out = [T::default(); N];
    let slot = slot.clamp(1, 32);
    let (per_register, mask) = (32 / slot, u32::MAX >> (32 - slot));
    let step = fragment.step();
    for register in 0..fragment.elements() / per_register {
        let Some(words) = registers.get(register as usize) else {
            break;
        };
        for (lane, word) in words.iter().enumerate() {
            // The elements of a register are neighbours.
            let first = fragment.index(lane as u32, register * per_register);
            for part in 0..per_register {
                let place = first + part as usize * step;
                put(&mut out, place, read(word >> (part * slot) & mask));
            }
        }
    }
    out
}

/// Adds the products to the sums, over rising `k`.
fn multiply<T: Copy + Default, S: Copy, const N: usize>(
    shape: Shape,
    a: &[T; N],
    b: &[T; N],
    sums: &mut [S; SUMS],
    op: impl Fn(S, T, T) -> S,
) {
    match shape.n {
        8 => columns::<T, S, 8>(shape, a, b, sums, op),
        16 => columns::<T, S, 16>(shape, a, b, sums, op),
        _ => columns::<T, S, 32>(shape, a, b, sums, op),
    }
}

/// The same for a number of columns that is known when this is compiled.
#[inline(always)]
fn columns<T: Copy, S: Copy, const C: usize>(
    shape: Shape,
    a: &[T],
    b: &[T],
    sums: &mut [S],
    op: impl Fn(S, T, T) -> S,
) {
    let k = shape.k as usize;
    let rows = a.chunks_exact(k.max(1)).zip(sums.as_chunks_mut::<C>().0);
    for (left, sums) in rows.take(shape.m as usize) {
        let mut line = *sums;
        for (x, right) in left.iter().zip(b.as_chunks::<C>().0) {
            for (sum, y) in line.iter_mut().zip(right) {
                *sum = op(*sum, *x, *y);
            }
        }
        *sums = line;
    }
}

#[inline(always)]
fn get<T: Copy + Default, const N: usize>(table: &[T; N], place: usize) -> T {
    table.get(place).copied().unwrap_or_default()
}

#[inline(always)]
fn put<T, const N: usize>(table: &mut [T; N], place: usize, value: T) {
    if let Some(slot) = table.get_mut(place) {
        *slot = value;
    }
}

#[inline(always)]
fn lane_of<T: Copy + Default>(registers: &[[T; 32]], register: u32, lane: u32) -> T {
    registers
        .get(register as usize)
        .map_or(T::default(), |lanes| lanes[lane as usize % 32])
}

#[inline(always)]
fn set_lane<T>(registers: &mut [[T; 32]], register: u32, lane: u32, value: T) {
    if let Some(lanes) = registers.get_mut(register as usize) {
        lanes[lane as usize % 32] = value;
    }
}

/// Calls for every element of the accumulator: lane, element, place in the table of sums.
#[inline(always)]
fn for_each(shape: Shape, mut visit: impl FnMut(u32, u32, usize)) {
    let fragment = Fragment::new(shape, Side::C, 32);
    for element in 0..fragment.elements() {
        for lane in 0..32 {
            visit(lane, element, fragment.index(lane, element));
        }
    }
}

/// An element of the accumulator: one to a register, or two halves.
fn accumulator(ty: Type, c: &[Lanes], lane: u32, element: u32) -> f64 {
    if ty == Type::F16 {
        let word = lane_of(c, element / 2, lane);
        let half = (word >> (16 * (element % 2))) as u16;
        f64::from(f32::from_bits(f16_to_single(half)))
    } else {
        f64::from(f32::from_bits(lane_of(c, element, lane)))
    }
}

/// Rounds a sum and puts it where it belongs.
fn settle(ty: Type, d: &mut [Lanes], lane: u32, element: u32, sum: f64) {
    if ty == Type::F16 {
        let half = u32::from(half::narrow(F16, sum, Round::Rn));
        let shift = 16 * (element % 2);
        let old = lane_of(d, element / 2, lane) & !(0xffff << shift);
        set_lane(d, element / 2, lane, old | half << shift);
    } else {
        set_lane(d, element, lane, single::narrow(sum, Round::Rn));
    }
}

/// `mma` and `wmma.mma` of doubles.
pub fn doubles(shape: Shape, round: Round, a: &[WideLanes], b: &[WideLanes], c: &[WideLanes], d: &mut [WideLanes]) {
    let table = |side: Side, registers: &[WideLanes]| {
        let fragment = Fragment::new(shape, side, 64);
        let mut out = [0; SMALL];
        for element in 0..fragment.elements() {
            for lane in 0..32 {
                put(
                    &mut out,
                    fragment.index(lane, element),
                    lane_of(registers, element, lane),
                );
            }
        }
        out
    };
    let (left, right) = (table(Side::A, a), table(Side::B, b));
    let mut sums = [0; SUMS];
    for_each(shape, |lane, element, place| {
        put(&mut sums, place, lane_of(c, element, lane))
    });
    multiply(shape, &left, &right, &mut sums, |sum, x, y| {
        double::fma_with(x, y, sum, round)
    });
    for_each(shape, |lane, element, place| {
        set_lane(d, element, lane, get(&sums, place))
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
                let half = |registers: &[Lanes]| {
                    let word = lane_of(registers, element / 2, lane);
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
