//! Floating-point formats, and the one place where an exact value becomes the bits of one.

use std::cmp::Ordering;

use super::round::Round;

/// What the topmost codes of a format mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Top {
    /// The highest exponent holds infinity and NaN, as in IEEE 754.
    Ieee,
    /// No infinity; NaN is the code with every bit set (e4m3).
    OneNan,
    /// Neither infinity nor NaN (e3m2, e2m3, e2m1).
    Finite,
}

/// A signed binary format: one sign bit, then the exponent, then the fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Bits of the exponent field.
    pub exponent: u32,
    /// Bits of the fraction field: the precision is one more.
    pub fraction: u32,
    /// What the highest codes mean.
    pub top: Top,
}

const fn ieee(exponent: u32, fraction: u32) -> Format {
    Format {
        exponent,
        fraction,
        top: Top::Ieee,
    }
}

/// `.f16`.
pub const F16: Format = ieee(5, 10);
/// `.bf16`.
pub const BF16: Format = ieee(8, 7);
/// `.tf32`: 19 bits, which a register holds in its upper part (see [`super::convert::tf32`]).
pub const TF32: Format = ieee(8, 10);
/// `.f32`.
pub const F32: Format = ieee(8, 23);
/// `.f64`.
pub const F64: Format = ieee(11, 52);
/// `.e5m2`.
pub const E5M2: Format = ieee(5, 2);
/// `.e4m3`.
pub const E4M3: Format = Format {
    exponent: 4,
    fraction: 3,
    top: Top::OneNan,
};
/// `.e3m2`.
pub const E3M2: Format = Format {
    exponent: 3,
    fraction: 2,
    top: Top::Finite,
};
/// `.e2m3`.
pub const E2M3: Format = Format {
    exponent: 2,
    fraction: 3,
    top: Top::Finite,
};
/// `.e2m1`.
pub const E2M1: Format = Format {
    exponent: 2,
    fraction: 1,
    top: Top::Finite,
};

/// A finite value other than zero that is known exactly, or with its last bit standing for everything below it:
/// `significand * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) significand: u64,
}

impl Exact {
    /// The same from 128 bits: what does not fit is noted in the last bit.
    #[inline]
    pub(super) fn from_wide(negative: bool, exponent: i32, significand: u128) -> Exact {
        let surplus = 64u32.saturating_sub(significand.leading_zeros());
        let lost = significand & ((1u128 << surplus) - 1) != 0;
        Exact {
            negative,
            exponent: exponent + surplus as i32,
            significand: (significand >> surplus) as u64 | u64::from(lost),
        }
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    Nan,
    Infinite { negative: bool },
    Zero { negative: bool },
    Finite(Exact),
}

impl Format {
    /// Width in bits, sign included.
    #[inline]
    pub const fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The exponent bias.
    #[inline]
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The sign bit.
    #[inline]
    pub const fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    /// The exponent of the last place of a subnormal number.
    #[inline]
    const fn lowest(self) -> i32 {
        1 - self.bias() - self.fraction as i32
    }

    /// The largest finite number.
    #[inline]
    pub const fn max(self) -> u64 {
        match self.top {
            Top::Ieee => self.infinity() - 1,
            Top::OneNan => self.sign() - 2,
            Top::Finite => self.sign() - 1,
        }
    }

    /// Positive infinity; meaningless for formats without one.
    #[inline]
    const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The canonical NaN, every bit but the sign set; the largest number where there is no NaN.
    #[inline]
    pub const fn nan(self) -> u64 {
        self.sign() - 1
    }

    /// Whether the bits are a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        match self.top {
            Top::Ieee => magnitude > self.infinity(),
            Top::OneNan => magnitude == self.sign() - 1,
            Top::Finite => false,
        }
    }

    /// Whether the bits are an infinity.
    #[inline]
    pub const fn is_infinite(self, bits: u64) -> bool {
        matches!(self.top, Top::Ieee) && bits & (self.sign() - 1) == self.infinity()
    }

    /// Whether the bits are subnormal: not zero, below the smallest normal number.
    #[inline]
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        magnitude != 0 && magnitude >> self.fraction == 0
    }

    /// The bits, or zero of the same sign if they are subnormal.
    #[inline]
    pub const fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) {
            bits & self.sign()
        } else {
            bits
        }
    }

    /// Takes a number apart.
    #[inline]
    pub(super) fn parts(self, bits: u64) -> Parts {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        if self.is_nan(bits) {
            return Parts::Nan;
        }
        if self.is_infinite(bits) {
            return Parts::Infinite { negative };
        }
        if magnitude == 0 {
            return Parts::Zero { negative };
        }
        let (field, fraction) = (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
        let hidden = u64::from(field != 0) << self.fraction;
        Parts::Finite(Exact {
            negative,
            exponent: self.lowest() + (field.max(1) - 1) as i32,
            significand: hidden | fraction,
        })
    }

    /// Rounds an exact value. Too large a value becomes infinity or the largest number as the mode says; with `finite`
    /// (`.satfinite`), or in a format without infinity, always the largest number, and in e4m3 otherwise NaN.
    #[inline]
    pub(super) fn pack(self, value: Exact, round: Round, finite: bool) -> u64 {
        let sign = if value.negative { self.sign() } else { 0 };
        if value.significand == 0 {
            return sign;
        }
        let top = value.exponent + 63 - value.significand.leading_zeros() as i32;
        let place = (top - self.fraction as i32).max(self.lowest());
        match self.assemble(place, cut(value, place, round)) {
            Some(magnitude) => sign | magnitude,
            None => sign | self.overflow(round, value.negative, finite),
        }
    }

    /// The magnitude `kept * 2^place`, if it is in range; a carry out of the significand runs into the exponent, where it
    /// belongs.
    #[inline]
    fn assemble(self, place: i32, kept: u64) -> Option<u64> {
        let field = (place - self.lowest()) as u64;
        if field >= 1 << self.exponent {
            return None;
        }
        let magnitude = (field << self.fraction) + kept;
        (magnitude <= self.max()).then_some(magnitude)
    }

    /// Rounds a value of at most 24 bits by random bits: they are added to the first `width` bits of what is cut off.
    #[inline]
    pub(super) fn pack_random(self, value: Exact, random: u32, width: u32, finite: bool) -> u64 {
        let top = value.exponent + 63 - value.significand.leading_zeros() as i32;
        let place = (top - self.fraction as i32).max(self.lowest());
        let shift = place - width as i32 - value.exponent;
        let counted = if shift >= 0 {
            value.significand.checked_shr(shift as u32).unwrap_or(0)
        } else {
            value.significand << -shift
        };
        match self.assemble(place, (counted + u64::from(random)) >> width) {
            Some(magnitude) if value.negative => magnitude | self.sign(),
            Some(magnitude) => magnitude,
            None => self.encode_infinity(value.negative, finite),
        }
    }

    #[inline]
    fn overflow(self, round: Round, negative: bool, finite: bool) -> u64 {
        match self.top {
            _ if finite || round.stops_at_max(negative) => self.max(),
            Top::Ieee => self.infinity(),
            Top::OneNan => self.nan(),
            Top::Finite => self.max(),
        }
    }

    /// Rounds a double to this format. NaN becomes the canonical NaN, positive; where the format has none, the largest
    /// positive number. With `finite` infinity becomes the largest number.
    ///
    /// The double may itself be rounded to odd (see [`super::single::odd`]): with two bits to spare the result is still right.
    #[inline]
    pub fn encode(self, value: f64, round: Round, finite: bool) -> u64 {
        match F64.parts(value.to_bits()) {
            Parts::Nan => self.nan(),
            Parts::Infinite { negative } => self.encode_infinity(negative, finite),
            Parts::Zero { negative } => u64::from(negative) * self.sign(),
            Parts::Finite(exact) => self.pack(exact, round, finite),
        }
    }

    #[inline]
    fn encode_infinity(self, negative: bool, finite: bool) -> u64 {
        let magnitude = match self.top {
            _ if finite => self.max(),
            Top::Ieee => self.infinity(),
            Top::OneNan => self.nan(),
            Top::Finite => self.max(),
        };
        if negative { magnitude | self.sign() } else { magnitude }
    }

    /// The value as a double, exactly; bits above the format's width are ignored.
    #[inline]
    pub fn decode(self, bits: u64) -> f64 {
        let magnitude = match self.parts(bits) {
            Parts::Nan => return f64::NAN,
            Parts::Infinite { negative } => return if negative { f64::NEG_INFINITY } else { f64::INFINITY },
            Parts::Zero { negative } => return if negative { -0.0 } else { 0.0 },
            Parts::Finite(exact) => exact,
        };
        f64::from_bits(F64.pack(magnitude, Round::Rz, false))
    }
}

/// The significand in units of `2^place`, rounded.
#[inline]
fn cut(value: Exact, place: i32, round: Round) -> u64 {
    let shift = place - value.exponent;
    if shift <= 0 {
        return value.significand << -shift;
    }
    let (kept, rest, half) = if shift > 64 {
        (0, 0, 1)
    } else if shift == 64 {
        (0, value.significand, 1 << 63)
    } else {
        let kept = value.significand >> shift;
        (kept, value.significand - (kept << shift), 1 << (shift - 1))
    };
    // Beyond 64 places nothing is kept and the rest is below a half, but not zero.
    let order = if shift > 64 { Ordering::Less } else { rest.cmp(&half) };
    let exact = shift <= 64 && rest == 0;
    kept + u64::from(round.grows(value.negative, kept & 1 == 1, exact, order))
}
