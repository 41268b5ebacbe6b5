//! `.approx` operations. The ISA gives error bounds, hardware differs from one generation to the next; here every result
//! is the true value to within half a unit in the last place and a little, which is inside every bound, and the same on
//! every machine: only IEEE operations on doubles are used. Special cases are those of the ISA's tables.

use super::double;
use super::format::{F64, Format};
use super::round::{Mode, Round};
use super::single::{self, NAN, flush};

const ONE: u32 = 0x3f80_0000;
const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

fn enter(a: u32, ftz: bool) -> u32 {
    if ftz { flush(a) } else { a }
}

fn leave(value: f64, ftz: bool) -> u32 {
    enter(single::narrow(value, Round::Rn), ftz)
}

fn wide(a: u32) -> f64 {
    f64::from(f32::from_bits(a))
}

/// `rcp.approx{.ftz}.f32`.
#[inline]
pub fn rcp(a: u32, ftz: bool) -> u32 {
    single::rcp_with(a, Mode::RN.ftz(ftz))
}

/// `sqrt.approx{.ftz}.f32`.
#[inline]
pub fn sqrt(a: u32, ftz: bool) -> u32 {
    single::sqrt_with(a, Mode::RN.ftz(ftz))
}

/// `rsqrt.approx{.ftz}.f32`.
#[inline]
pub fn rsqrt(a: u32, ftz: bool) -> u32 {
    let a = enter(a, ftz);
    leave(1.0 / wide(a).sqrt(), ftz)
}

/// `div.full{.ftz}.f32`.
#[inline]
pub fn div_full(a: u32, b: u32, ftz: bool) -> u32 {
    single::div_with(a, b, Mode::RN.ftz(ftz))
}

/// `div.approx{.ftz}.f32`. A divisor above 2^126 has no reciprocal in range: the quotient is zero, or NaN of an
/// infinite dividend.
#[inline]
pub fn div(a: u32, b: u32, ftz: bool) -> u32 {
    let magnitude = b & !SIGN;
    let beyond = magnitude > (126 + 127) << 23 && magnitude < INFINITY;
    if !beyond || single::is_nan(a) {
        return div_full(a, b, ftz);
    }
    if a & !SIGN == INFINITY { NAN } else { (a ^ b) & SIGN }
}

/// `lg2.approx{.ftz}.f32`.
#[inline]
pub fn lg2(a: u32, ftz: bool) -> u32 {
    let a = enter(a, ftz);
    if a & !SIGN == 0 {
        return SIGN | INFINITY;
    }
    if a & SIGN != 0 || single::is_nan(a) {
        return NAN;
    }
    if a == INFINITY {
        return INFINITY;
    }
    leave(log2(wide(a)), ftz)
}

/// `ex2.approx{.ftz}.f32`.
#[inline]
pub fn ex2(a: u32, ftz: bool) -> u32 {
    leave(exp2(wide(enter(a, ftz))), ftz)
}

/// `ex2.approx.f16`, `ex2.approx.ftz.bf16`.
#[inline]
pub fn ex2_half(format: Format, a: u16, ftz: bool) -> u16 {
    let enter = |x: u64| if ftz { format.flush(x) } else { x };
    enter(format.encode(exp2(format.decode(enter(u64::from(a)))), Round::Rn, false)) as u16
}

/// `tanh.approx.f32`.
#[inline]
pub fn tanh(a: u32) -> u32 {
    leave(hyperbolic_tangent(wide(a)), false)
}

/// `tanh.approx.f16` and `.bf16`.
#[inline]
pub fn tanh_half(format: Format, a: u16) -> u16 {
    let value = hyperbolic_tangent(format.decode(u64::from(a)));
    format.encode(value, Round::Rn, false) as u16
}

/// `sin.approx{.ftz}.f32`.
#[inline]
pub fn sin(a: u32, ftz: bool) -> u32 {
    let a = enter(a, ftz);
    if a & !SIGN == 0 {
        return a;
    }
    turn(a, 0).map_or(NAN, |value| leave(value, ftz))
}

/// `cos.approx{.ftz}.f32`.
#[inline]
pub fn cos(a: u32, ftz: bool) -> u32 {
    let a = enter(a, ftz);
    if a & !SIGN == 0 {
        return ONE;
    }
    turn(a & !SIGN, 1).map_or(NAN, |value| leave(value, ftz))
}

/// `rcp.approx.ftz.f64`: only the upper 32 bits of the operand count, and only those of the result are set.
#[inline]
pub fn rcp_gross(a: u64) -> u64 {
    gross(a, |a| double::div(1f64.to_bits(), a))
}

/// `rsqrt.approx.ftz.f64`: as [`rcp_gross`].
#[inline]
pub fn rsqrt_gross(a: u64) -> u64 {
    gross(a, rsqrt_double)
}

/// `rsqrt.approx.f64`.
#[inline]
pub fn rsqrt_double(a: u64) -> u64 {
    double::div(1f64.to_bits(), double::sqrt(a))
}

fn gross(a: u64, op: impl Fn(u64) -> u64) -> u64 {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    let result = op(F64.flush(a & UPPER));
    if double::is_nan(result) {
        result & UPPER | 1 << 51
    } else {
        F64.flush(result & UPPER)
    }
}

/// The binary logarithm of a positive, normal double.
fn log2(x: f64) -> f64 {
    // x = 2^n * m with m between sqrt(1/2) and sqrt(2).
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let n = (shifted as i64) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((n as u64) << 52));
    // ln m = 2 (s + s^3/3 + s^5/5 + ...) with s at most 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = LOGARITHM.iter().rev().fold(0.0, |sum, term| sum * square + term);
    n as f64 + 2.0 * std::f64::consts::LOG2_E * s * series
}

/// The reciprocals of the odd numbers.
const LOGARITHM: [f64; 12] = {
    let mut terms = [1.0; 12];
    let mut k = 1;
    while k < 12 {
        terms[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    terms
};

/// Adding it rounds a number below 2^51 to an integer, which then stands in the last bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// 2 to the power; NaN stays NaN.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond these everything over- or underflows in every format asked for.
    let x = x.clamp(-1000.0, 1000.0);
    let moved = x + TO_INTEGER;
    let n = moved.to_bits().wrapping_sub(TO_INTEGER.to_bits());
    let rest = (x - (moved - TO_INTEGER)) * std::f64::consts::LN_2;
    let series = EXPONENTIAL.iter().rev().fold(0.0, |sum, term| sum * rest + term);
    series * f64::from_bits(n.wrapping_add(1023) << 52)
}

/// The reciprocals of the factorials: enough for 2^-42 with at most 0.35 in magnitude.
const EXPONENTIAL: [f64; 12] = {
    let mut terms = [1.0; 12];
    let mut k = 1;
    while k < 12 {
        terms[k] = terms[k - 1] / k as f64;
        k += 1;
    }
    terms
};

fn hyperbolic_tangent(x: f64) -> f64 {
    let magnitude = x.abs();
    // Below, x itself is right to 2^-26 of itself; above, one is.
    let result = if magnitude < 0.000_15 {
        magnitude
    } else if magnitude > 20.0 {
        1.0
    } else {
        let power = exp2(2.0 * std::f64::consts::LOG2_E * magnitude);
        (power - 1.0) / (power + 1.0)
    };
    if x.is_nan() { x } else { result.copysign(x) }
}

/// The first 256 bits of 2/pi behind the point.
const TWO_OVER_PI: [u64; 4] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
];

/// 96 bits of 2/pi, the first of which has weight `2^-first`; those before the point are zero.
fn window(first: i32) -> u128 {
    let bit = |i: i32| match usize::try_from(i - 1) {
        Ok(i) => TWO_OVER_PI.get(i / 64).map_or(0, |word| word >> (63 - i % 64) & 1),
        Err(_) => 0,
    };
    (first..first + 96).fold(0, |bits, i| bits << 1 | u128::from(bit(i)))
}

/// The sine of a finite angle and of that many quarter turns more; `None` for an infinite one or NaN.
fn turn(a: u32, quarters: u32) -> Option<f64> {
    if a & INFINITY == INFINITY {
        return None;
    }
    let negative = a & SIGN != 0;
    let magnitude = wide(a & !SIGN);
    let (quadrant, angle) = if magnitude <= std::f64::consts::FRAC_PI_4 {
        (0, magnitude)
    } else {
        reduce(a & !SIGN)
    };
    let value = match (quadrant + quarters) & 3 {
        0 => sine(angle),
        1 => cosine(angle),
        2 => -sine(angle),
        _ => -cosine(angle),
    };
    Some(if negative { -value } else { value })
}

/// The quadrant and the rest, at most pi/4 in magnitude, of a normal angle above pi/4.
fn reduce(a: u32) -> (u32, f64) {
    let exponent = (a >> 23) as i32 - 150;
    let significand = u128::from(a & 0x7f_ffff | 0x80_0000);
    // Bits of 2/pi that make multiples of four quarters are left out; what remains counts 2^-94 quarters.
    let quarters = significand * window(exponent - 1);
    let rounded = quarters.wrapping_add(1 << 93);
    let quadrant = (rounded >> 94) as u32 & 3;
    let rest = (rounded & ((1 << 94) - 1)) as i128 - (1 << 93);
    (
        quadrant,
        rest as f64 * f64::from_bits((1023 - 94) << 52) * std::f64::consts::FRAC_PI_2,
    )
}

/// For at most pi/4 in magnitude.
fn sine(x: f64) -> f64 {
    let square = x * x;
    x * SINE.iter().rev().fold(0.0, |sum, term| sum * square + term)
}

/// For at most pi/4 in magnitude.
fn cosine(x: f64) -> f64 {
    let square = x * x;
    COSINE.iter().rev().fold(0.0, |sum, term| sum * square + term)
}

/// The terms of the series of the sine, and of the cosine: one over the factorials, with alternating signs.
const SINE: [f64; 9] = alternating(1);
const COSINE: [f64; 9] = alternating(0);

const fn alternating(odd: usize) -> [f64; 9] {
    let mut terms = [1.0; 9];
    let mut k = 1;
    while k < 9 {
        terms[k] = -terms[k - 1] / ((2 * k + odd) * (2 * k + odd - 1)) as f64;
        k += 1;
    }
    terms
}
