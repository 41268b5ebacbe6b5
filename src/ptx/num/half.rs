//! `.f16` and `.bf16` arithmetic on bits: the format is the first argument. A NaN result is always the canonical NaN
//! (0x7fff in both).
//!
//! Packed `.f16x2` and `.bf16x2` operations apply these to each half: see [`pair`].

use super::format::{BF16, Format};
use super::round::{Mode, Round};
use super::single::{Extreme, signed_sum};

/// Applies an operation to both halves of packed operands.
#[inline(always)]
pub fn pair<const N: usize>(operands: [u32; N], mut op: impl FnMut([u16; N]) -> u16) -> u32 {
    let low = op(operands.map(|x| x as u16));
    let high = op(operands.map(|x| (x >> 16) as u16));
    u32::from(low) | u32::from(high) << 16
}

/// The value as `.f32` bits, exactly.
#[inline]
pub fn to_single(format: Format, a: u16) -> u32 {
    if format == BF16 {
        return u32::from(a) << 16;
    }
    f16_to_single(a)
}

/// `.f16` to `.f32` without branches on the value's kind. The payload of a NaN is kept.
#[inline(always)]
pub fn f16_to_single(a: u16) -> u32 {
    let sign = u32::from(a & 0x8000) << 16;
    let magnitude = u32::from(a & 0x7fff) << 13;
    // Moved to the wider exponent by a multiplication that is exact for subnormals as well.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let top = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    sign | scaled | top
}

/// A `.f32` rounded to the format.
#[inline(always)]
pub fn from_single(format: Format, a: u32, round: Round) -> u16 {
    narrow(format, f64::from(f32::from_bits(a)), round)
}

/// A double, itself exact or rounded to odd, rounded to the format.
#[inline(always)]
pub fn narrow(format: Format, value: f64, round: Round) -> u16 {
    if round == Round::Rn {
        return nearest(format, value);
    }
    format.encode(value, round, false) as u16
}

/// Without branches: adding and subtracting a number whose last place is the format's rounds to that place.
#[inline(always)]
fn nearest(format: Format, value: f64) -> u16 {
    let bias = format.bias();
    let magnitude = value.abs();
    let exponent = ((magnitude.to_bits() >> 52) as i32).clamp(1024 - bias, 1024 + bias);
    let coarse = f64::from_bits(((exponent + 52 - format.fraction as i32) as u64) << 52);
    let rounded = (magnitude + coarse) - coarse;
    // Now it is a number of the format or infinite: the move to the narrower exponent is exact.
    let bits = if format == BF16 {
        (rounded as f32).to_bits() >> 16
    } else {
        let least_beyond = 65536.0;
        let scale = f32::from_bits((127 - 112) << 23);
        (rounded.min(least_beyond) as f32 * scale).to_bits() >> 13
    };
    let sign = (value.to_bits() >> 48) as u16 & 0x8000;
    if value.is_nan() { 0x7fff } else { bits as u16 | sign }
}

#[inline(always)]
fn flush(format: Format, a: u16) -> u16 {
    format.flush(u64::from(a)) as u16
}

#[inline(always)]
fn enter(format: Format, a: u16, mode: Mode) -> f64 {
    let a = if mode.ftz { flush(format, a) } else { a };
    f64::from(f32::from_bits(to_single(format, a)))
}

#[inline(always)]
fn leave(format: Format, value: f64, mode: Mode) -> u16 {
    let result = narrow(format, value, mode.round);
    let result = if mode.ftz { flush(format, result) } else { result };
    if mode.sat { saturate(format, result) } else { result }
}

/// Clamped to [0, 1]: NaN and -0 become +0.
#[inline]
pub fn saturate(format: Format, a: u16) -> u16 {
    let one = (format.bias() as u16) << format.fraction;
    if a & 0x8000 != 0 || format.is_nan(u64::from(a)) {
        0
    } else {
        a.min(one)
    }
}

/// `.relu`: negative numbers and -0 become +0; NaN becomes the canonical NaN.
#[inline]
pub fn relu(format: Format, a: u16) -> u16 {
    if format.is_nan(u64::from(a)) {
        format.nan() as u16
    } else if a & 0x8000 != 0 {
        0
    } else {
        a
    }
}

/// `add{.rnd}{.ftz}{.sat}`.
#[inline]
pub fn add(format: Format, a: u16, b: u16, mode: Mode) -> u16 {
    let sum = signed_sum(enter(format, a, mode), enter(format, b, mode), mode.round);
    leave(format, sum, mode)
}

/// `sub{.rnd}{.ftz}{.sat}`.
#[inline]
pub fn sub(format: Format, a: u16, b: u16, mode: Mode) -> u16 {
    add(format, a, b ^ 0x8000, mode)
}

/// `mul{.rnd}{.ftz}{.sat}`.
#[inline]
pub fn mul(format: Format, a: u16, b: u16, mode: Mode) -> u16 {
    leave(format, enter(format, a, mode) * enter(format, b, mode), mode)
}

/// `fma{.rnd}{.ftz}{.sat}`; for `.relu` apply [`relu`] to the result.
#[inline]
pub fn fma(format: Format, a: u16, b: u16, c: u16, mode: Mode) -> u16 {
    let product = enter(format, a, mode) * enter(format, b, mode);
    leave(format, signed_sum(product, enter(format, c, mode), mode.round), mode)
}

/// `abs{.ftz}`: the sign cleared. A NaN becomes the canonical NaN.
#[inline]
pub fn abs(format: Format, a: u16, ftz: bool) -> u16 {
    neg(format, a, ftz) & 0x7fff
}

/// `neg{.ftz}`: the sign changed. A NaN becomes the canonical NaN.
#[inline]
pub fn neg(format: Format, a: u16, ftz: bool) -> u16 {
    let a = u64::from(a);
    if format.is_nan(a) {
        return format.nan() as u16;
    }
    (if ftz { format.flush(a) } else { a }) as u16 ^ 0x8000
}

/// `min{.ftz}{.NaN}{.xorsign.abs}`; -0 is below +0.
#[inline]
pub fn min(format: Format, a: u16, b: u16, mode: Extreme) -> u16 {
    extreme(format, a, b, mode, super::single::min)
}

/// `max{.ftz}{.NaN}{.xorsign.abs}`; -0 is below +0.
#[inline]
pub fn max(format: Format, a: u16, b: u16, mode: Extreme) -> u16 {
    extreme(format, a, b, mode, super::single::max)
}

/// Both formats embed in `.f32` with order and sign, so the wider operation picks, and its pick converts back exactly.
#[inline]
fn extreme(format: Format, a: u16, b: u16, mode: Extreme, pick: fn(u32, u32, Extreme) -> u32) -> u16 {
    let enter = |x: u16| to_single(format, if mode.ftz { flush(format, x) } else { x });
    let (a, b) = (enter(a), enter(b));
    let picked = pick(a, b, Extreme { ftz: false, ..mode });
    from_single(format, picked, Round::Rz)
}
