//! `cvt` between any two scalar types.
//!
//! A value stands in the low bits of a `u64`, whatever is above the source's width is ignored, and the result is zero
//! above the destination's width: extending it into a wider register is the caller's.

use super::format::{BF16, E2M1, E2M3, E3M2, E4M3, E5M2, Exact, F16, F32, F64, Format, TF32};
use super::round::Round;
use super::single;
use crate::ptx::types::{Kind, Type};

/// A conversion of one scalar. `tf32` stands as `.f32` bits whose last 13 are zero; fp6 and fp4 in the low bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convert {
    /// The destination type.
    pub to: Type,
    /// The source type.
    pub from: Type,
    /// `.rn` ...: how the result is rounded. From float to integer, and with `integral`, the direction to an integer.
    pub round: Round,
    /// `.rni` ... between floats of one type: the result is an integer.
    pub integral: bool,
    /// `.ftz`: applies to `.f32` alone.
    pub ftz: bool,
    /// `.sat`: integers are clamped to the destination's range, floats to [0, 1] with NaN becoming +0.
    pub sat: bool,
    /// `.relu`: negative numbers become +0.
    pub relu: bool,
    /// `.satfinite`: too large numbers become the largest.
    pub finite: bool,
}

impl Convert {
    /// The plain conversion between two types.
    pub const fn new(to: Type, from: Type) -> Convert {
        Convert {
            to,
            from,
            round: Round::Rn,
            integral: false,
            ftz: false,
            sat: false,
            relu: false,
            finite: false,
        }
    }

    /// Converts; `None` if one of the types is no scalar number.
    #[inline]
    pub fn apply(&self, bits: u64) -> Option<u64> {
        Some(match (format(self.to), format(self.from)) {
            (Some(to), Some(from)) => self.float_to_float(to, from, bits),
            (Some(to), None) => self.int_to_float(to, integer(self.from, bits)?),
            (None, Some(from)) => self.float_to_int(from, bits)?,
            (None, None) => self.int_to_int(integer(self.from, bits)?)?,
        })
    }

    fn int_to_int(&self, value: i128) -> Option<u64> {
        let (least, most) = range(self.to)?;
        let value = if self.sat { value.clamp(least, most) } else { value };
        Some(value as u64 & mask(self.to))
    }

    fn int_to_float(&self, to: Format, value: i128) -> u64 {
        let exact = Exact::from_wide(value < 0, 0, value.unsigned_abs());
        self.finish(to, to.pack(exact, self.round, self.finite))
    }

    /// Out of range the nearest number of the destination. NaN becomes zero, but the least number of the signed type of
    /// the width (its bits) from `.f64` and to 64-bit integers.
    fn float_to_int(&self, from: Format, bits: u64) -> Option<u64> {
        let (least, most) = range(self.to)?;
        let bits = self.source(from, bits);
        if from.is_nan(bits) {
            let open = self.from == Type::F64 || self.to.bits() == 64;
            return Some(if open { 1 << (self.to.bits() - 1) } else { 0 });
        }
        let value = integral(from.decode(bits), self.round);
        // The cast clamps to 128 bits, which hold every range asked for.
        Some((value as i128).clamp(least, most) as u64 & mask(self.to))
    }

    fn float_to_float(&self, to: Format, from: Format, bits: u64) -> u64 {
        let bits = self.source(from, bits);
        if from.is_nan(bits) {
            return self.finish(to, nan(to, from, bits));
        }
        let value = from.decode(bits);
        let value = if self.integral {
            integral(value, self.round)
        } else {
            value
        };
        self.finish(to, to.encode(value, self.round, self.finite))
    }

    fn source(&self, from: Format, bits: u64) -> u64 {
        let bits = if self.from == Type::Tf32 { bits >> 13 } else { bits };
        let bits = bits & (from.sign() | (from.sign() - 1));
        if self.ftz && self.from == Type::F32 {
            from.flush(bits)
        } else {
            bits
        }
    }

    fn finish(&self, to: Format, bits: u64) -> u64 {
        let mut bits = bits;
        if self.ftz && self.to == Type::F32 {
            bits = to.flush(bits);
        }
        if self.relu && bits & to.sign() != 0 && !to.is_nan(bits) {
            bits = 0;
        }
        if self.sat {
            let one = (to.bias() as u64) << to.fraction;
            bits = if bits & to.sign() != 0 || to.is_nan(bits) {
                0
            } else {
                bits.min(one)
            };
        }
        if self.to == Type::Tf32 { bits << 13 } else { bits }
    }
}

/// The canonical NaN; doubles keep sign and payload, which the ISA leaves open.
fn nan(to: Format, from: Format, bits: u64) -> u64 {
    if to != F64 {
        return to.nan();
    }
    let sign = if bits & from.sign() != 0 { to.sign() } else { 0 };
    let payload = (bits & ((1 << from.fraction) - 1)) << (to.fraction - from.fraction);
    sign | 0x7ff8_0000_0000_0000 | payload
}

/// The format of a floating-point type.
pub const fn format(ty: Type) -> Option<Format> {
    Some(match ty {
        Type::F16 => F16,
        Type::Bf16 => BF16,
        Type::Tf32 => TF32,
        Type::F32 => F32,
        Type::F64 => F64,
        Type::E4m3 => E4M3,
        Type::E5m2 => E5M2,
        Type::E3m2 => E3M2,
        Type::E2m3 => E2M3,
        Type::E2m1 => E2M1,
        _ => return None,
    })
}

const fn mask(ty: Type) -> u64 {
    if ty.bits() >= 64 {
        u64::MAX
    } else {
        (1 << ty.bits()) - 1
    }
}

/// The range of an integer type; untyped bits count as unsigned.
const fn range(ty: Type) -> Option<(i128, i128)> {
    let bits = ty.bits();
    match ty.kind() {
        Kind::Unsigned | Kind::Bits if bits <= 64 => Some((0, (1 << bits) - 1)),
        Kind::Signed if bits <= 64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => None,
    }
}

/// The value of the bits as an integer type.
fn integer(ty: Type, bits: u64) -> Option<i128> {
    let (least, _) = range(ty)?;
    let value = i128::from(bits & mask(ty));
    // The top bit of a signed type counts negatively.
    let negative = least < 0 && value >= -least;
    Some(if negative { value + 2 * least } else { value })
}

/// The value rounded to an integer, the sign of zero kept.
#[inline]
fn integral(value: f64, round: Round) -> f64 {
    match round {
        Round::Rn => value.round_ties_even(),
        Round::Rz => value.trunc(),
        Round::Rm => value.floor(),
        Round::Rp => value.ceil(),
        Round::Rna => value.round(),
    }
}

/// `cvt.rn.f16.f32`.
#[inline(always)]
pub fn f16_from_f32(a: u32) -> u16 {
    super::half::from_single(F16, a, Round::Rn)
}

/// `cvt.f32.f16`: a NaN becomes the canonical NaN.
#[inline(always)]
pub fn f32_from_f16(a: u16) -> u32 {
    single::canonical(super::half::f16_to_single(a))
}

/// `cvt.rn.bf16.f32`.
#[inline(always)]
pub fn bf16_from_f32(a: u32) -> u16 {
    if single::is_nan(a) {
        return 0x7fff;
    }
    // Half of the last kept place, less one if that is even; a carry runs into the exponent, at last to infinity.
    ((a + 0x7fff + (a >> 16 & 1)) >> 16) as u16
}

/// `cvt.f32.bf16`: a NaN becomes the canonical NaN.
#[inline(always)]
pub fn f32_from_bf16(a: u16) -> u32 {
    single::canonical(u32::from(a) << 16)
}

/// `cvt.rn.tf32.f32`, `.rz` and `.rna`: `.f32` bits whose last 13 are zero.
#[inline]
pub fn tf32(a: u32, round: Round) -> u32 {
    (TF32.encode(f64::from(f32::from_bits(a)), round, false) as u32) << 13
}

/// `cvt.rzi.s32.f32` and `.rni`, `.rmi`, `.rpi`.
#[inline(always)]
pub fn s32_from_f32(a: u32, round: Round) -> i32 {
    match round {
        // The cast itself goes towards zero, clamps, and makes zero of NaN.
        Round::Rz => f32::from_bits(a) as i32,
        _ => integral(f64::from(f32::from_bits(a)), round) as i32,
    }
}

/// `cvt.rzi.u32.f32` and `.rni`, `.rmi`, `.rpi`.
#[inline(always)]
pub fn u32_from_f32(a: u32, round: Round) -> u32 {
    match round {
        Round::Rz => f32::from_bits(a) as u32,
        _ => integral(f64::from(f32::from_bits(a)), round) as u32,
    }
}

/// `cvt.rn.f32.s32`.
#[inline(always)]
pub fn f32_from_s32(a: i32) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.rn.f32.u32`.
#[inline(always)]
pub fn f32_from_u32(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.f64.f32`.
#[inline(always)]
pub fn f64_from_f32(a: u32) -> u64 {
    if single::is_nan(a) {
        return nan(F64, F32, u64::from(a));
    }
    f64::from(f32::from_bits(a)).to_bits()
}

/// `cvt.rn.f32.f64`.
#[inline(always)]
pub fn f32_from_f64(a: u64) -> u32 {
    single::canonical((f64::from_bits(a) as f32).to_bits())
}
