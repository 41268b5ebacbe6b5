//! `.f64` arithmetic on bits.
//!
//! The ISA does not say which NaN an operation gives: here a NaN operand comes back quiet, the first one if there are
//! several, and a NaN out of none is [`NAN`].

use super::format::{Exact, F64, Parts};
use super::round::Round;
use super::single::Extreme;

/// The NaN of an invalid operation.
pub const NAN: u64 = 0xfff8_0000_0000_0000;
const SIGN: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;

/// Whether the bits are a NaN.
#[inline(always)]
pub const fn is_nan(a: u64) -> bool {
    F64.is_nan(a)
}

#[inline(always)]
fn float(a: u64) -> f64 {
    f64::from_bits(a)
}

/// A native result, unless it is a NaN: then the rule of this file, whatever the host's is.
#[inline(always)]
fn settle(value: f64, operands: &[u64]) -> u64 {
    if value.is_nan() {
        pass_on(operands)
    } else {
        value.to_bits()
    }
}

#[inline]
fn pass_on(operands: &[u64]) -> u64 {
    operands
        .iter()
        .find(|bits| is_nan(**bits))
        .map_or(NAN, |bits| bits | QUIET)
}

/// `add.rn.f64`.
#[inline(always)]
pub fn add(a: u64, b: u64) -> u64 {
    settle(float(a) + float(b), &[a, b])
}

/// `sub.rn.f64`.
#[inline(always)]
pub fn sub(a: u64, b: u64) -> u64 {
    settle(float(a) - float(b), &[a, b])
}

/// `mul.rn.f64`.
#[inline(always)]
pub fn mul(a: u64, b: u64) -> u64 {
    settle(float(a) * float(b), &[a, b])
}

/// `fma.rn.f64`.
#[inline(always)]
pub fn fma(a: u64, b: u64, c: u64) -> u64 {
    settle(float(a).mul_add(float(b), float(c)), &[a, b, c])
}

/// `div.rn.f64`.
#[inline(always)]
pub fn div(a: u64, b: u64) -> u64 {
    settle(float(a) / float(b), &[a, b])
}

/// `sqrt.rn.f64`.
#[inline(always)]
pub fn sqrt(a: u64) -> u64 {
    settle(float(a).sqrt(), &[a])
}

/// `add{.rnd}.f64`.
#[inline]
pub fn add_with(a: u64, b: u64, round: Round) -> u64 {
    if round == Round::Rn {
        return add(a, b);
    }
    match (F64.parts(a), F64.parts(b)) {
        (Parts::Finite(x), Parts::Finite(y)) => sum(raise(x), raise(y), round),
        // Nothing to round unless both count, save for the sign of a zero.
        (Parts::Zero { negative: x }, Parts::Zero { negative: y }) if x != y => zero(round == Round::Rm),
        _ => add(a, b),
    }
}

/// `sub{.rnd}.f64`.
#[inline]
pub fn sub_with(a: u64, b: u64, round: Round) -> u64 {
    if round == Round::Rn || is_nan(b) {
        return sub(a, b);
    }
    add_with(a, b ^ SIGN, round)
}

/// `mul{.rnd}.f64`.
#[inline]
pub fn mul_with(a: u64, b: u64, round: Round) -> u64 {
    match (round, F64.parts(a), F64.parts(b)) {
        (Round::Rn, ..) => mul(a, b),
        (_, Parts::Finite(x), Parts::Finite(y)) => {
            let product = multiply(x, y);
            F64.pack(
                Exact::from_wide(product.negative, product.exponent, product.significand),
                round,
                false,
            )
        }
        _ => mul(a, b),
    }
}

/// `fma.rnd.f64`.
#[inline]
pub fn fma_with(a: u64, b: u64, c: u64, round: Round) -> u64 {
    if round == Round::Rn {
        return fma(a, b, c);
    }
    match (F64.parts(a), F64.parts(b), F64.parts(c)) {
        (Parts::Finite(x), Parts::Finite(y), Parts::Finite(z)) => sum(multiply(x, y), raise(z), round),
        (Parts::Finite(_), Parts::Finite(_), Parts::Zero { .. }) => mul_with(a, b, round),
        (Parts::Zero { .. } | Parts::Finite(_), Parts::Zero { .. } | Parts::Finite(_), Parts::Zero { negative }) => {
            let product = (a ^ b) & SIGN != 0;
            zero(if product == negative {
                negative
            } else {
                round == Round::Rm
            })
        }
        _ => fma(a, b, c),
    }
}

/// `div.rnd.f64`.
#[inline]
pub fn div_with(a: u64, b: u64, round: Round) -> u64 {
    let (x, y) = match (round, F64.parts(a), F64.parts(b)) {
        (Round::Rn, ..) => return div(a, b),
        (_, Parts::Finite(x), Parts::Finite(y)) => (x, y),
        _ => return div(a, b),
    };
    // The dividend is moved up so far that the quotient has at least 64 bits.
    let up = x.significand.leading_zeros() + 63;
    let (high, low) = (u128::from(x.significand) << up, u128::from(y.significand));
    let (quotient, rest) = (high / low, high % low);
    let exponent = x.exponent - up as i32 - y.exponent;
    pack_with_rest(x.negative != y.negative, exponent, quotient, rest != 0, round)
}

/// `rcp.rnd.f64`.
#[inline]
pub fn rcp_with(a: u64, round: Round) -> u64 {
    div_with(1f64.to_bits(), a, round)
}

/// `sqrt.rnd.f64`.
#[inline]
pub fn sqrt_with(a: u64, round: Round) -> u64 {
    let x = match (round, F64.parts(a)) {
        (Round::Rn, _) => return sqrt(a),
        (_, Parts::Finite(x)) if !x.negative => x,
        _ => return sqrt(a),
    };
    // An even exponent, and a radicand of 126 or 127 bits: 63 or 64 bits of root.
    let mut up = x.significand.leading_zeros() + 62;
    up += (x.exponent - up as i32) as u32 & 1;
    let radicand = u128::from(x.significand) << up;
    let root = radicand.isqrt();
    pack_with_rest(
        false,
        (x.exponent - up as i32) / 2,
        root,
        root * root != radicand,
        round,
    )
}

fn pack_with_rest(negative: bool, exponent: i32, significand: u128, rest: bool, round: Round) -> u64 {
    let doubled = (significand << 1) | u128::from(rest);
    F64.pack(Exact::from_wide(negative, exponent - 1, doubled), round, false)
}

fn zero(negative: bool) -> u64 {
    if negative { SIGN } else { 0 }
}

/// A finite value with 128 bits of significand.
#[derive(Clone, Copy)]
struct Wide {
    negative: bool,
    exponent: i32,
    significand: u128,
}

fn raise(x: Exact) -> Wide {
    Wide {
        negative: x.negative,
        exponent: x.exponent,
        significand: u128::from(x.significand),
    }
}

fn multiply(x: Exact, y: Exact) -> Wide {
    Wide {
        negative: x.negative != y.negative,
        exponent: x.exponent + y.exponent,
        significand: u128::from(x.significand) * u128::from(y.significand),
    }
}

/// The same with the highest bit at place 125: there is room for a carry above and, below a product of 106 bits, for 20 more.
fn normal(x: Wide) -> Wide {
    let up = x.significand.leading_zeros() - 2;
    Wide {
        significand: x.significand << up,
        exponent: x.exponent - up as i32,
        ..x
    }
}

fn sum(x: Wide, y: Wide, round: Round) -> u64 {
    let (x, y) = (normal(x), normal(y));
    let (x, y) = if (x.exponent, x.significand) >= (y.exponent, y.significand) {
        (x, y)
    } else {
        (y, x)
    };
    let down = (x.exponent - y.exponent) as u32;
    // What is shifted out is noted in the last bit; where bits cancel, nothing was shifted out.
    let low = match y.significand.checked_shr(down) {
        Some(kept) => kept | u128::from(kept << down != y.significand),
        None => 1,
    };
    let significand = if x.negative == y.negative {
        x.significand + low
    } else {
        x.significand - low
    };
    if significand == 0 {
        return zero(round == Round::Rm);
    }
    F64.pack(Exact::from_wide(x.negative, x.exponent, significand), round, false)
}

/// `abs.f64`: the sign cleared.
#[inline(always)]
pub const fn abs(a: u64) -> u64 {
    a & !SIGN
}

/// `neg.f64`: the sign changed.
#[inline(always)]
pub const fn neg(a: u64) -> u64 {
    a ^ SIGN
}

/// `copysign.f64`: the sign of `a` on the magnitude of `b`.
#[inline(always)]
pub const fn copysign(a: u64, b: u64) -> u64 {
    (a & SIGN) | (b & !SIGN)
}

/// Orders numbers as integers, -0 below +0.
#[inline(always)]
const fn key(a: u64) -> i64 {
    a as i64 ^ (((a as i64 >> 63) as u64) >> 1) as i64
}

#[inline(always)]
fn extreme(a: u64, b: u64, mode: Extreme, most: bool) -> u64 {
    let first = if most { key(a) > key(b) } else { key(a) < key(b) };
    match (is_nan(a), is_nan(b)) {
        (false, false) => {
            if first {
                a
            } else {
                b
            }
        }
        (true, false) if !mode.nan => b,
        (false, true) if !mode.nan => a,
        _ => pass_on(&[a, b]),
    }
}

/// `min.f64`; -0 is below +0, and a NaN is passed over unless both are.
#[inline(always)]
pub fn min(a: u64, b: u64) -> u64 {
    extreme(a, b, Extreme::default(), false)
}

/// `max.f64`; -0 is below +0, and a NaN is passed over unless both are.
#[inline(always)]
pub fn max(a: u64, b: u64) -> u64 {
    extreme(a, b, Extreme::default(), true)
}
