//! `cvt` of packed values: fp8, fp6 and fp4 pairs and quads, `.f16x2`, `.bf16x2`, `.ue8m0x2`, and stochastic rounding.

use super::convert::{Convert, format};
use super::format::{F32, Format, Parts};
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
