//! Video instructions: scalar ones on selected bytes and half words, and SIMD ones on two half words or four bytes.
//!
//! Intermediate results are exact; they are cut to the destination only where the ISA says so.

use super::compare::Compare;

/// The part of a register that an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Part {
    /// No selector: all of it.
    #[default]
    Word,
    /// `.b0` to `.b3`
    Byte(u8),
    /// `.h0`, `.h1`
    Half(u8),
}

impl Part {
    /// The part a selector names, without the dot.
    pub fn from_name(name: &str) -> Option<Part> {
        Some(match name {
            "b0" => Part::Byte(0),
            "b1" => Part::Byte(1),
            "b2" => Part::Byte(2),
            "b3" => Part::Byte(3),
            "h0" => Part::Half(0),
            "h1" => Part::Half(1),
            _ => return None,
        })
    }

    /// Where it begins and how many bits it has.
    #[inline]
    const fn bits(self) -> (u32, u32) {
        match self {
            Part::Word => (0, 32),
            Part::Byte(n) => ((n & 3) as u32 * 8, 8),
            Part::Half(n) => ((n & 1) as u32 * 16, 16),
        }
    }

    #[inline]
    fn read(self, word: u32, signed: bool) -> i64 {
        let (start, width) = self.bits();
        extend(word >> start, width, signed)
    }

    #[inline]
    fn write(self, value: i64, into: u32) -> u32 {
        let (start, width) = self.bits();
        let mask = (u32::MAX >> (32 - width)) << start;
        ((value as u32) << start & mask) | (into & !mask)
    }
}

/// The low bits of a word as a number.
#[inline]
fn extend(word: u32, width: u32, signed: bool) -> i64 {
    let top = word << (32 - width);
    if signed {
        i64::from(top.cast_signed() >> (32 - width))
    } else {
        i64::from(top >> (32 - width))
    }
}

#[inline]
fn clamp(value: i128, width: u32, signed: bool) -> i64 {
    let most = (1i128 << (width - u32::from(signed))) - 1;
    let least = if signed { -most - 1 } else { 0 };
    value.clamp(least, most) as i64
}

/// What a video instruction computes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `vadd`, `vadd2`, `vadd4`
    Add,
    /// `vsub` ...
    Sub,
    /// `vabsdiff` ...
    AbsDiff,
    /// `vmin` ...
    Min,
    /// `vmax` ...
    Max,
    /// `vavrg2`, `vavrg4`: the mean, halves rounded up if it is not negative, else down
    Average,
    /// `vshl.clamp`, `vshl.wrap`
    Shl {
        /// Only the low five bits of the count matter; else it stops at 32.
        wrap: bool,
    },
    /// `vshr.clamp`, `vshr.wrap`
    Shr {
        /// Only the low five bits of the count matter; else it stops at 32.
        wrap: bool,
    },
    /// `vset` ...: one if so related, else zero
    Set(Compare),
}

impl Op {
    #[inline]
    fn apply(self, a: i64, b: i64) -> i128 {
        let count = |wrap: bool| if wrap { b & 31 } else { b.clamp(0, 32) };
        let (x, y) = (i128::from(a), i128::from(b));
        match self {
            Op::Add => x + y,
            Op::Sub => x - y,
            Op::AbsDiff => (x - y).abs(),
            Op::Min => x.min(y),
            Op::Max => x.max(y),
            Op::Average => (x + y + i128::from(x + y >= 0)) >> 1,
            Op::Shl { wrap } => x << count(wrap),
            Op::Shr { wrap } => x >> count(wrap),
            Op::Set(compare) => compare.ints(a, b).into(),
        }
    }
}

/// What a scalar video instruction does with its first result and `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Second {
    /// `.add`
    Add,
    /// `.min`
    Min,
    /// `.max`
    Max,
}

impl Second {
    /// The operation a modifier names, without the dot.
    pub fn from_name(name: &str) -> Option<Second> {
        Some(match name {
            "add" => Second::Add,
            "min" => Second::Min,
            "max" => Second::Max,
            _ => return None,
        })
    }
}

/// A scalar video instruction, but `vmad`. `vset` has no destination type: it is unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    /// The operation.
    pub op: Op,
    /// The destination type has a sign.
    pub d_signed: bool,
    /// The first source type has a sign.
    pub a_signed: bool,
    /// The second source type has a sign.
    pub b_signed: bool,
    /// `.sat`
    pub sat: bool,
    /// Part of the destination: the rest comes from `c`.
    pub d: Part,
    /// Part of the first source.
    pub a: Part,
    /// Part of the second source.
    pub b: Part,
    /// The secondary operation, if any; there is none together with a part of the destination.
    pub second: Option<Second>,
}

impl Video {
    /// The result; `c` is ignored where the instruction has none.
    #[inline]
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let first = self
            .op
            .apply(self.a.read(a, self.a_signed), self.b.read(b, self.b_signed));
        let first = if self.sat {
            clamp(first, self.d.bits().1, self.d_signed)
        } else {
            first as i64
        };
        let third = extend(c, 32, self.d_signed);
        match self.second {
            Some(Second::Add) => (first.wrapping_add(third)) as u32,
            Some(Second::Min) => first.min(third) as u32,
            Some(Second::Max) => first.max(third) as u32,
            None => self.d.write(first, c),
        }
    }
}

/// `vmad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMad {
    /// The first source type has a sign.
    pub a_signed: bool,
    /// The second source type has a sign.
    pub b_signed: bool,
    /// Part of the first source.
    pub a: Part,
    /// Part of the second source.
    pub b: Part,
    /// The product is negated: exactly one of its factors is.
    pub negate_product: bool,
    /// `c` is negated.
    pub negate_c: bool,
    /// `.po`: one more.
    pub plus_one: bool,
    /// The result is moved down by so many bits: 7 with `.shr7`, 15 with `.shr15`.
    pub shift: u32,
    /// `.sat`
    pub sat: bool,
}

impl VideoMad {
    /// The result.
    #[inline]
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let signed = self.a_signed || self.b_signed || self.negate_product || self.negate_c;
        let product = i128::from(self.a.read(a, self.a_signed)) * i128::from(self.b.read(b, self.b_signed));
        let product = if self.negate_product { -product } else { product };
        // The bits of c are inverted before they are widened.
        let c = if self.negate_c { !c } else { c };
        let one = i128::from(self.plus_one) + i128::from(self.negate_c);
        let sum = (product + i128::from(extend(c, 32, signed)) + one) >> self.shift.min(32);
        if self.sat {
            clamp(sum, 32, signed) as u32
        } else {
            sum as u32
        }
    }
}

/// A SIMD video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Simd {
    /// The operation.
    pub op: Op,
    /// Bits of a lane: 16 for two of them, 8 for four.
    pub width: u32,
    /// The destination type has a sign.
    pub d_signed: bool,
    /// The first source type has a sign.
    pub a_signed: bool,
    /// The second source type has a sign.
    pub b_signed: bool,
    /// `.sat`
    pub sat: bool,
    /// `.add`: the lanes are added to `c`; else they are merged into it.
    pub add: bool,
    /// Which lanes count, one bit each.
    pub mask: u8,
    /// Which of the lanes of `{b, a}` each lane of the first source is, lowest lane first.
    pub a: [u8; 4],
    /// The same for the second source.
    pub b: [u8; 4],
}

impl Simd {
    /// The mask a selector of the destination names, without the dot: `h10`, `b3210`.
    pub fn mask_from_name(name: &str) -> Option<u8> {
        let digits = name.strip_prefix(['h', 'b'])?;
        digits.bytes().try_fold(0u8, |mask, digit| {
            let lane = digit.wrapping_sub(b'0');
            (lane < 4).then(|| mask | 1 << lane)
        })
    }

    /// The lanes a selector of a source names, without the dot: `h32`, `b7654`; lowest lane first.
    pub fn lanes_from_name(name: &str) -> Option<[u8; 4]> {
        let (digits, lanes) = match name.strip_prefix('h') {
            Some(digits) => (digits, 2),
            None => (name.strip_prefix('b')?, 4),
        };
        let mut out = [0; 4];
        if digits.len() != lanes {
            return None;
        }
        for (place, digit) in out.iter_mut().zip(digits.bytes().rev()) {
            *place = digit.wrapping_sub(b'0');
            if usize::from(*place) >= 2 * lanes {
                return None;
            }
        }
        Some(out)
    }

    /// The result.
    #[inline]
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let both = u64::from(b) << 32 | u64::from(a);
        let width = self.width.clamp(8, 16);
        let pick =
            |lane: u8, signed: bool| extend((both >> ((u32::from(lane & 7) * width) & 63)) as u32, width, signed);
        let mut out = if self.add { c } else { 0 };
        for lane in 0..(32 / width).min(4) {
            let (x, y) = (self.a[lane as usize], self.b[lane as usize]);
            let result = self.op.apply(pick(x, self.a_signed), pick(y, self.b_signed));
            let result = if self.sat {
                clamp(result, width, self.d_signed)
            } else {
                result as i64
            };
            let counts = self.mask >> lane & 1 == 1;
            let (start, ones) = (lane * width, u32::MAX >> (32 - width));
            if self.add {
                out = out.wrapping_add(if counts { result as u32 } else { 0 });
            } else if counts {
                out |= (result as u32 & ones) << start;
            } else {
                out |= c & ones << start;
            }
        }
        out
    }
}
