//! `cvt` of packed values: fp8, fp6 and fp4 pairs and quads, `.f16x2`, `.bf16x2`, `.ue8m0x2`, and stochastic rounding.

use super::convert::{Convert, format};
use super::format::{BF16, F32, Format, Parts};
use super::round::Round;
use crate::ptx::types::Type;

/// Bits an element takes up in a packed value: fp6 stands in the low bits of a byte.
pub const fn container(element: Type) -> u32 {
    match element {
        Type::E2m1 => 4,
        Type::E4m3 | Type::E5m2 | Type::E3m2 | Type::E2m3 | Type::Ue8m0 => 8,
        other => other.bits(),
    }
}

/// Converts each input and packs the results, the first one uppermost, as operands are written. The conversion is that of
/// one element; `None` if it is between no scalar numbers.
#[inline]
pub fn pack(convert: &Convert, inputs: &[u64]) -> Option<u64> {
    let width = container(convert.to);
    inputs
        .iter()
        .try_fold(0, |packed, input| Some(packed << width | element(convert, *input)?))
}

/// Converts each of a packed value's elements, `count` of them, and packs the results in the same order.
#[inline]
pub fn repack(convert: &Convert, packed: u64, count: u32) -> Option<u64> {
    let (from, to) = (container(convert.from), container(convert.to));
    (0..count).try_fold(0, |out, i| {
        let input = packed.checked_shr(from * i)?;
        Some(out | element(convert, input)?.checked_shl(to * i)?)
    })
}

#[inline]
fn element(convert: &Convert, bits: u64) -> Option<u64> {
    match (convert.to, convert.from) {
        (Type::Ue8m0, Type::F32) => Some(scale_from_single(bits as u32, convert.round, convert.finite).into()),
        (Type::Ue8m0, Type::Bf16) => Some(scale_from_single((bits as u32) << 16, convert.round, convert.finite).into()),
        (Type::Bf16, Type::Ue8m0) => Some(scale_to_brain(bits as u8).into()),
        _ => convert.apply(bits),
    }
}

/// `.ue8m0`: the power of two that the magnitude of a `.f32` is rounded to, down with `.rz` and up with `.rp`; the code
/// counts from 2^-127. NaN is 0xff, and so is what exceeds 2^127 unless `finite`, which makes it 2^127.
pub fn scale_from_single(a: u32, round: Round, finite: bool) -> u8 {
    let magnitude = a & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0xff;
    }
    let (field, fraction) = (magnitude >> 23, magnitude & 0x7f_ffff);
    let up = match field {
        // Subnormals lie between 0 and 2^-126; 2^-127, the lowest code, is in their middle.
        0 => fraction > 0x40_0000,
        _ => fraction != 0,
    };
    let code = field + u32::from(up && round == Round::Rp);
    match code {
        255.. if finite => 0xfe,
        _ => code.min(255) as u8,
    }
}

/// The `.bf16` that a `.ue8m0` stands for.
pub const fn scale_to_brain(code: u8) -> u16 {
    match code {
        // 2^-127 is subnormal.
        0 => 0x0040,
        0xff => 0x7fff,
        _ => (code as u16) << 7,
    }
}

/// A `.f32` rounded to `.f16` or `.bf16` by `.rs`: the random bits are added to the part that is cut off, of which as many
/// bits count, and a carry rounds away from zero. `.f16` takes 13 of them, `.bf16` 16.
#[inline]
pub fn stochastic(to: Format, a: u32, random: u32, finite: bool) -> u16 {
    let value = match F32.parts(a.into()) {
        Parts::Finite(value) => value,
        _ => return to.encode(f64::from(f32::from_bits(a)), Round::Rz, finite) as u16,
    };
    let width = F32.fraction - to.fraction;
    let random = random & ((1 << width) - 1);
    to.pack_random(value, random, width, finite) as u16
}

/// `cvt.rs{.relu}{.satfinite}.f16x2.f32` and `.bf16x2`: each half of `random` serves the input that goes there.
#[inline]
pub fn stochastic_pair(to: Type, a: u32, b: u32, random: u32, relu: bool, finite: bool) -> Option<u32> {
    let narrow = format(to)?;
    let one = |input: u32, random: u32| {
        let half = stochastic(narrow, input, random, finite);
        u32::from(if relu { super::half::relu(narrow, half) } else { half })
    };
    Some(one(a, random >> 16) << 16 | one(b, random & 0xffff))
}

/// `cvt.rs` of four `.f32` to fp8, fp6 or fp4, the first one uppermost. The ISA deals the random bits out: the upper half serves
/// the first two inputs and the lower half the last two; for fp4 it is the upper and the lower bytes of both halves. That the
/// sixteen bits are added to the first sixteen that are cut off is what makes rounding up as likely as it should be.
#[inline]
pub fn stochastic_quad(to: Type, inputs: [u32; 4], random: u32, relu: bool) -> Option<u32> {
    let narrow = format(to)?;
    let [first, last] = match to {
        Type::E2m1 => [8, 0].map(|shift| random >> (shift + 8) & 0xff00 | random >> shift & 0xff),
        _ => [random >> 16, random & 0xffff],
    };
    let one = |input: u32, random: u32| {
        let code = match F32.parts(input.into()) {
            Parts::Finite(value) => narrow.pack_random(value, random, 16, true),
            _ => narrow.encode(f64::from(f32::from_bits(input)), Round::Rz, true),
        };
        let negative = code & narrow.sign() != 0 && !narrow.is_nan(code);
        if relu && negative { 0 } else { code as u32 }
    };
    let width = container(to);
    let [a, b, e, f] = inputs;
    let parts = [(a, first), (b, first), (e, last), (f, last)];
    Some(
        parts
            .into_iter()
            .fold(0, |packed, (input, random)| packed << width | one(input, random)),
    )
}

/// `.s2f6` from a number: in sixty-fourths, as an integer of eight bits with a sign. What has no such number becomes the nearest
/// one, and NaN the largest.
#[inline]
pub fn fixed(value: f64, relu: bool) -> u8 {
    if value.is_nan() {
        return 0x7f;
    }
    let least = if relu { 0.0 } else { -128.0 };
    let code = (value * 64.0).round_ties_even().clamp(least, 127.0);
    (code as i8).cast_unsigned()
}

/// The number that a `.s2f6` stands for.
#[inline]
pub fn from_fixed(code: u8) -> f64 {
    f64::from(code.cast_signed()) / 64.0
}

/// The number that a `.ue8m0` stands for.
#[inline]
pub fn scale_value(code: u8) -> f64 {
    match code {
        0xff => f64::NAN,
        _ => f64::from_bits((u64::from(code) + 1023 - 127) << 52),
    }
}

/// A number as `.bf16`, rounded to nearest.
#[inline]
pub fn to_brain(value: f64, relu: bool, finite: bool) -> u16 {
    let half = BF16.encode(value, Round::Rn, finite) as u16;
    if relu { super::half::relu(BF16, half) } else { half }
}

/// `cvt.pack.sat`: two `.s32` clamped to narrow integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pack {
    /// Width of the narrow integers: 2, 4, 8 or 16.
    pub width: u32,
    /// Whether they have a sign.
    pub signed: bool,
}

impl Pack {
    /// The two results in the low bits, that of `a` above that of `b`; above them the low bits of `c`, zero where the
    /// instruction has none.
    #[inline]
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let (least, most) = if self.signed {
            (-(1i64 << (self.width - 1)), (1i64 << (self.width - 1)) - 1)
        } else {
            (0, (1i64 << self.width) - 1)
        };
        let mask = (1u64 << self.width) - 1;
        let clamp = |x: u32| i64::from(x.cast_signed()).clamp(least, most).cast_unsigned() & mask;
        let both = clamp(a) << self.width | clamp(b);
        (both | u64::from(c) << (2 * self.width)) as u32
    }
}
