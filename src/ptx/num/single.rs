//! `.f32` arithmetic on bits. A NaN result is always the canonical NaN.

use super::format::F32;
use super::round::{Mode, Round};

/// The canonical NaN of `.f32`.
pub const NAN: u32 = 0x7fff_ffff;
const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

/// Whether the bits are a NaN.
#[inline(always)]
pub const fn is_nan(a: u32) -> bool {
    a & !SIGN > INFINITY
}

/// The bits, or the canonical NaN if they are any NaN.
#[inline(always)]
pub const fn canonical(a: u32) -> u32 {
    if is_nan(a) { NAN } else { a }
}

/// The bits, or zero of the same sign if they are subnormal.
#[inline(always)]
pub const fn flush(a: u32) -> u32 {
    if a & INFINITY == 0 { a & SIGN } else { a }
}

/// Clamped to [0, 1]: NaN and -0 become +0.
#[inline(always)]
pub const fn saturate(a: u32) -> u32 {
    let one = 1f32.to_bits();
    if a >= SIGN || is_nan(a) {
        0
    } else if a > one {
        one
    } else {
        a
    }
}

#[inline(always)]
fn float(a: u32) -> f32 {
    f32::from_bits(a)
}

#[inline(always)]
fn wide(a: u32) -> f64 {
    f64::from(f32::from_bits(a))
}

#[inline(always)]
fn bits(value: f32) -> u32 {
    canonical(value.to_bits())
}

/// `add.rn.f32`.
#[inline(always)]
pub fn add(a: u32, b: u32) -> u32 {
    bits(float(a) + float(b))
}

/// `sub.rn.f32`.
#[inline(always)]
pub fn sub(a: u32, b: u32) -> u32 {
    bits(float(a) - float(b))
}

/// `mul.rn.f32`.
#[inline(always)]
pub fn mul(a: u32, b: u32) -> u32 {
    bits(float(a) * float(b))
}

/// `fma.rn.f32`, exact without fused hardware: the product and the sum are formed in doubles, rounded to odd.
#[inline(always)]
pub fn fma(a: u32, b: u32, c: u32) -> u32 {
    bits(odd_sum(wide(a) * wide(b), wide(c)) as f32)
}

/// `fma.rn.f32` by the host's own fused operation: the same result as [`fma`], fast where the host has the instruction.
#[inline(always)]
pub fn fma_native(a: u32, b: u32, c: u32) -> u32 {
    bits(float(a).mul_add(float(b), float(c)))
}

/// `div.rn.f32`.
#[inline(always)]
pub fn div(a: u32, b: u32) -> u32 {
    bits(float(a) / float(b))
}

/// `sqrt.rn.f32`.
#[inline(always)]
pub fn sqrt(a: u32) -> u32 {
    bits(float(a).sqrt())
}

/// `a + b` in doubles, rounded to odd: if inexact, the neighbour with an odd last bit.
///
/// Such a value can be rounded once more, in any mode, to a format with at least two bits less, and the result is that
/// of a single rounding.
#[inline(always)]
pub fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let virtual_b = sum - a;
    let error = (a - (sum - virtual_b)) + (b - virtual_b);
    odd(sum, error)
}

/// The value `sum + error` rounded to odd, for a `sum` rounded to nearest and the `error` of that, NaN where not finite.
#[inline(always)]
pub fn odd(sum: f64, error: f64) -> f64 {
    let bits = sum.to_bits();
    // False for NaN.
    let inexact = error.abs() > 0.0;
    let outwards = (error > 0.0) == (sum > 0.0);
    let moved = if outwards {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    f64::from_bits(if inexact && bits & 1 == 0 { moved } else { bits })
}

/// Rounds a double, itself exact or rounded to odd, to `.f32`.
///
/// What was rounded to nearest and went the wrong way is moved back by one place.
#[inline(always)]
pub fn narrow(value: f64, round: Round) -> u32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    let directed = match round {
        Round::Rn => nearest,
        Round::Rz if back.abs() > value.abs() => f32::from_bits(nearest.to_bits() - 1),
        Round::Rm if back > value => nearest.next_down(),
        Round::Rp if back < value => nearest.next_up(),
        Round::Rna => return F32.encode(value, round, false) as u32,
        _ => nearest,
    };
    bits(directed)
}

#[inline(always)]
fn enter(a: u32, mode: Mode) -> u32 {
    if mode.ftz { flush(a) } else { a }
}

#[inline(always)]
pub(super) fn leave(a: u32, mode: Mode) -> u32 {
    let a = if mode.ftz { flush(a) } else { a };
    if mode.sat { saturate(a) } else { a }
}

/// [`odd_sum`] with the sign of zero that the mode asks for: numbers that cancel give -0 when rounding down, +0 otherwise.
#[inline(always)]
pub(super) fn signed_sum(a: f64, b: f64, round: Round) -> f64 {
    let sum = odd_sum(a, b);
    let cancelled = sum == 0.0 && a.is_sign_negative() != b.is_sign_negative();
    if cancelled && round == Round::Rm { -0.0 } else { sum }
}

/// `add{.rnd}{.ftz}{.sat}.f32`.
#[inline(always)]
pub fn add_with(a: u32, b: u32, mode: Mode) -> u32 {
    let (a, b) = (enter(a, mode), enter(b, mode));
    let sum = match mode.round {
        Round::Rn => add(a, b),
        round => narrow(signed_sum(wide(a), wide(b), round), round),
    };
    leave(sum, mode)
}

/// `sub{.rnd}{.ftz}{.sat}.f32`.
#[inline(always)]
pub fn sub_with(a: u32, b: u32, mode: Mode) -> u32 {
    add_with(a, b ^ SIGN, mode)
}

/// `mul{.rnd}{.ftz}{.sat}.f32`.
#[inline(always)]
pub fn mul_with(a: u32, b: u32, mode: Mode) -> u32 {
    let (a, b) = (enter(a, mode), enter(b, mode));
    let product = match mode.round {
        Round::Rn => mul(a, b),
        round => narrow(wide(a) * wide(b), round),
    };
    leave(product, mode)
}

/// `fma.rnd{.ftz}{.sat}.f32`, and `mad` of targets that fuse.
#[inline(always)]
pub fn fma_with(a: u32, b: u32, c: u32, mode: Mode) -> u32 {
    let (a, b, c) = (enter(a, mode), enter(b, mode), enter(c, mode));
    let sum = match mode.round {
        Round::Rn => fma(a, b, c),
        round => narrow(signed_sum(wide(a) * wide(b), wide(c), round), round),
    };
    leave(sum, mode)
}

/// `div.rnd{.ftz}.f32`.
///
/// The quotient of two 24-bit numbers is never so close to a 24-bit number or the middle of two that its rounding to
/// 53 bits could hide on which side it lies.
#[inline]
pub fn div_with(a: u32, b: u32, mode: Mode) -> u32 {
    let (a, b) = (enter(a, mode), enter(b, mode));
    let quotient = match mode.round {
        Round::Rn => div(a, b),
        round => narrow(wide(a) / wide(b), round),
    };
    leave(quotient, mode)
}

/// `rcp.rnd{.ftz}.f32`.
#[inline]
pub fn rcp_with(a: u32, mode: Mode) -> u32 {
    div_with(1f32.to_bits(), a, mode)
}

/// `sqrt.rnd{.ftz}.f32`. As with [`div_with`], 53 bits are enough to round from.
#[inline]
pub fn sqrt_with(a: u32, mode: Mode) -> u32 {
    let a = enter(a, mode);
    let root = match mode.round {
        Round::Rn => sqrt(a),
        round => narrow(wide(a).sqrt(), round),
    };
    leave(root, mode)
}

/// `abs{.ftz}.f32`: the sign cleared. A NaN becomes the canonical NaN.
#[inline(always)]
pub const fn abs(a: u32, ftz: bool) -> u32 {
    let a = if ftz { flush(a) } else { a };
    canonical(a) & !SIGN
}

/// `neg{.ftz}.f32`: the sign changed. A NaN becomes the canonical NaN.
#[inline(always)]
pub const fn neg(a: u32, ftz: bool) -> u32 {
    let a = if ftz { flush(a) } else { a };
    canonical(a ^ SIGN)
}

/// `copysign.f32`: the sign of `a` on the magnitude of `b`.
#[inline(always)]
pub const fn copysign(a: u32, b: u32) -> u32 {
    (a & SIGN) | (b & !SIGN)
}

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Extreme {
    /// `.ftz`.
    pub ftz: bool,
    /// `.NaN`: any NaN input gives NaN; otherwise a NaN is passed over.
    pub nan: bool,
    /// `.xorsign.abs`: magnitudes are compared, and the sign is the exclusive or of the signs.
    pub xorsign_abs: bool,
}

/// Orders numbers as integers, -0 below +0.
#[inline(always)]
const fn key(a: u32) -> i32 {
    a as i32 ^ (((a as i32 >> 31) as u32) >> 1) as i32
}

#[inline(always)]
const fn extreme(a: u32, b: u32, mode: Extreme, most: bool) -> u32 {
    let (a, b) = if mode.ftz { (flush(a), flush(b)) } else { (a, b) };
    let sign = (a ^ b) & SIGN;
    let (a, b) = if mode.xorsign_abs {
        (a & !SIGN, b & !SIGN)
    } else {
        (a, b)
    };
    let first = if most { key(a) > key(b) } else { key(a) < key(b) };
    let pick = if is_nan(a) {
        if mode.nan { NAN } else { b }
    } else if is_nan(b) {
        if mode.nan { NAN } else { a }
    } else if first {
        a
    } else {
        b
    };
    if is_nan(pick) {
        NAN
    } else if mode.xorsign_abs {
        pick | sign
    } else {
        pick
    }
}

/// `min{.ftz}{.NaN}{.xorsign.abs}.f32`; -0 is below +0.
#[inline(always)]
pub const fn min(a: u32, b: u32, mode: Extreme) -> u32 {
    extreme(a, b, mode, false)
}

/// `max{.ftz}{.NaN}{.xorsign.abs}.f32`; -0 is below +0.
#[inline(always)]
pub const fn max(a: u32, b: u32, mode: Extreme) -> u32 {
    extreme(a, b, mode, true)
}

/// `min{.ftz}{.NaN}{.abs}.f32` of three numbers: as of the first two and then of the third, magnitudes with `abs`.
#[inline]
pub const fn min3(a: u32, b: u32, c: u32, mode: Extreme, abs: bool) -> u32 {
    let [a, b, c] = magnitudes([a, b, c], abs);
    min(min(a, b, mode), c, mode)
}

/// `max{.ftz}{.NaN}{.abs}.f32` of three numbers: as of the first two and then of the third, magnitudes with `abs`.
#[inline]
pub const fn max3(a: u32, b: u32, c: u32, mode: Extreme, abs: bool) -> u32 {
    let [a, b, c] = magnitudes([a, b, c], abs);
    max(max(a, b, mode), c, mode)
}

#[inline]
const fn magnitudes([a, b, c]: [u32; 3], abs: bool) -> [u32; 3] {
    let mask = if abs { !SIGN } else { u32::MAX };
    [a & mask, b & mask, c & mask]
}
