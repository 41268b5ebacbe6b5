//! Integer arithmetic on Rust's integers: `i32` stands for `.s32`, `u16` for `.u16`, and so on.
//!
//! Sums, differences and low products without modifiers are the wrapping operations of the type itself.

/// A PTX integer type.
pub trait Int: Copy + Ord + Eq {
    /// Width in bits.
    const BITS: u32;
    /// Whether the type has a sign.
    const SIGNED: bool;
    /// The type of twice the width.
    type Wide: Copy;

    /// `add.sat`: clamped to the type's range.
    fn add_sat(self, b: Self) -> Self;
    /// `sub.sat`: clamped to the type's range.
    fn sub_sat(self, b: Self) -> Self;
    /// `mul.hi`: the upper half of the product.
    fn mul_hi(self, b: Self) -> Self;
    /// `mul.wide`: the whole product.
    fn mul_wide(self, b: Self) -> Self::Wide;
    /// `mad.lo`, wrapping.
    fn mad_lo(self, b: Self, c: Self) -> Self;
    /// `mad.hi`, wrapping.
    fn mad_hi(self, b: Self, c: Self) -> Self;
    /// `mad.hi.sat`: the sum clamped to the type's range.
    fn mad_hi_sat(self, b: Self, c: Self) -> Self;
    /// `mad.wide`, wrapping.
    fn mad_wide(self, b: Self, c: Self::Wide) -> Self::Wide;
    /// `div`. By zero the ISA promises nothing: all ones here, as current hardware gives. The least number by -1 wraps.
    fn quotient(self, b: Self) -> Self;
    /// `rem`. By zero all ones, as [`Int::quotient`]; its sign is the dividend's.
    fn remainder(self, b: Self) -> Self;
    /// `sad`: `c + |a - b|`, wrapping.
    fn sad(self, b: Self, c: Self) -> Self;
    /// `abs`, wrapping for the least number.
    fn magnitude(self) -> Self;
    /// `neg`, wrapping.
    fn negate(self) -> Self;
    /// `shr`: counts beyond the width shift everything out; signed types keep their sign.
    fn shift_right(self, count: u32) -> Self;
    /// `shl`: counts beyond the width shift everything out.
    fn shift_left(self, count: u32) -> Self;
    /// The nearest value of the type.
    fn clamp_from(value: i128) -> Self;
    /// The value.
    fn widen(self) -> i128;
}

macro_rules! int {
    ($($ty:ty, $wide:ty, $signed:literal;)*) => { $(
        impl Int for $ty {
            const BITS: u32 = <$ty>::BITS;
            const SIGNED: bool = $signed;
            type Wide = $wide;

            #[inline(always)]
            fn add_sat(self, b: Self) -> Self { self.saturating_add(b) }
            #[inline(always)]
            fn sub_sat(self, b: Self) -> Self { self.saturating_sub(b) }
            #[inline(always)]
            fn mul_hi(self, b: Self) -> Self { (self.mul_wide(b) >> <$ty>::BITS) as $ty }
            #[inline(always)]
            fn mul_wide(self, b: Self) -> $wide { <$wide>::from(self) * <$wide>::from(b) }
            #[inline(always)]
            fn mad_lo(self, b: Self, c: Self) -> Self { self.wrapping_mul(b).wrapping_add(c) }
            #[inline(always)]
            fn mad_hi(self, b: Self, c: Self) -> Self { self.mul_hi(b).wrapping_add(c) }
            #[inline(always)]
            fn mad_hi_sat(self, b: Self, c: Self) -> Self { self.mul_hi(b).saturating_add(c) }
            #[inline(always)]
            fn mad_wide(self, b: Self, c: $wide) -> $wide { self.mul_wide(b).wrapping_add(c) }
            #[inline(always)]
            fn quotient(self, b: Self) -> Self { if b == 0 { !0 } else { self.wrapping_div(b) } }
            #[inline(always)]
            fn remainder(self, b: Self) -> Self { if b == 0 { !0 } else { self.wrapping_rem(b) } }
            #[inline(always)]
            fn sad(self, b: Self, c: Self) -> Self {
                c.wrapping_add(if self < b { b.wrapping_sub(self) } else { self.wrapping_sub(b) })
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn magnitude(self) -> Self { if self < 0 { self.wrapping_neg() } else { self } }
            #[inline(always)]
            fn negate(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn shift_right(self, count: u32) -> Self {
                if count < <$ty>::BITS { self >> count } else { (self >> (<$ty>::BITS - 1)) >> 1 }
            }
            #[inline(always)]
            fn shift_left(self, count: u32) -> Self { if count < <$ty>::BITS { self << count } else { 0 } }
            #[inline(always)]
            fn clamp_from(value: i128) -> Self {
                value.clamp(i128::from(<$ty>::MIN), i128::from(<$ty>::MAX)) as $ty
            }
            #[inline(always)]
            fn widen(self) -> i128 { i128::from(self) }
        }
    )* };
}

int! {
    u8, u16, false;
    i8, i16, true;
    u16, u32, false;
    i16, i32, true;
    u32, u64, false;
    i32, i64, true;
    u64, u128, false;
    i64, i128, true;
}

macro_rules! carry {
    ($($ty:ty, $wide:ty, $add:ident, $sub:ident, $mad_lo:ident, $mad_hi:ident, $mad_hi_signed:ident;)*) => { $(
        /// `add.cc`, `addc`, `addc.cc`: the sum and the carry out.
        #[inline(always)]
        pub const fn $add(a: $ty, b: $ty, carry: bool) -> ($ty, bool) {
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(carry as $ty);
            (sum, first | second)
        }

        /// `sub.cc`, `subc`, `subc.cc`: the difference and the borrow out.
        #[inline(always)]
        pub const fn $sub(a: $ty, b: $ty, borrow: bool) -> ($ty, bool) {
            let (rest, first) = a.overflowing_sub(b);
            let (rest, second) = rest.overflowing_sub(borrow as $ty);
            (rest, first | second)
        }

        /// `mad.lo.cc`, `madc.lo`: the sum and the carry out.
        #[inline(always)]
        pub const fn $mad_lo(a: $ty, b: $ty, c: $ty, carry: bool) -> ($ty, bool) {
            $add(a.wrapping_mul(b), c, carry)
        }

        /// `mad.hi.cc`, `madc.hi` of the unsigned type: the sum and the carry out.
        #[inline(always)]
        pub const fn $mad_hi(a: $ty, b: $ty, c: $ty, carry: bool) -> ($ty, bool) {
            $add((((a as $wide) * (b as $wide)) >> <$ty>::BITS) as $ty, c, carry)
        }

        /// `mad.hi.cc`, `madc.hi` of the signed type, on its bits: the sum and the carry out.
        #[inline(always)]
        pub fn $mad_hi_signed(a: $ty, b: $ty, c: $ty, carry: bool) -> ($ty, bool) {
            $add(a.cast_signed().mul_hi(b.cast_signed()).cast_unsigned(), c, carry)
        }
    )* };
}

carry! {
    u32, u64, add_carry_32, sub_borrow_32, mad_lo_carry_32, mad_hi_carry_u32, mad_hi_carry_s32;
    u64, u128, add_carry_64, sub_borrow_64, mad_lo_carry_64, mad_hi_carry_u64, mad_hi_carry_s64;
}

/// The 48-bit product of the low 24 bits of each, by sign or without, in the low bits.
#[inline(always)]
const fn product_24(a: u32, b: u32, signed: bool) -> u64 {
    if signed {
        let (a, b) = ((a << 8) as i32 >> 8, (b << 8) as i32 >> 8);
        (a as i64 * b as i64) as u64
    } else {
        (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64
    }
}

/// `mul24.lo` and `.hi`: bits 31..0, or 47..16, of the product.
#[inline(always)]
pub const fn mul24(a: u32, b: u32, signed: bool, high: bool) -> u32 {
    let product = product_24(a, b, signed);
    if high { (product >> 16) as u32 } else { product as u32 }
}

/// `mad24.lo` and `.hi`, wrapping.
#[inline(always)]
pub const fn mad24(a: u32, b: u32, c: u32, signed: bool, high: bool) -> u32 {
    mul24(a, b, signed, high).wrapping_add(c)
}

/// `mad24.hi.sat.s32`: the sum clamped.
#[inline(always)]
pub const fn mad24_hi_sat(a: u32, b: u32, c: u32) -> u32 {
    (mul24(a, b, true, true) as i32).saturating_add(c as i32) as u32
}

/// `dp4a`: the dot product of four bytes each, added to `c`, wrapping. The flags say which operand has signs.
#[inline(always)]
pub fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let term = |i: usize| extend_8(a.to_le_bytes()[i], a_signed).wrapping_mul(extend_8(b.to_le_bytes()[i], b_signed));
    (0..4).fold(c, |sum, i| sum.wrapping_add(term(i).cast_unsigned()))
}

/// `dp2a`: the dot product of two half words of `a` with two bytes of `b`, the upper two with `high`, added to `c`.
#[inline(always)]
pub fn dp2a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, high: bool) -> u32 {
    let bytes = if high { b >> 16 } else { b };
    let half = |i: u32| {
        let bits = (a >> (16 * i)) as u16;
        if a_signed {
            i32::from(bits as i16)
        } else {
            i32::from(bits)
        }
    };
    let term = |i: u32| half(i).wrapping_mul(extend_8((bytes >> (8 * i)) as u8, b_signed));
    c.wrapping_add(term(0).cast_unsigned())
        .wrapping_add(term(1).cast_unsigned())
}

#[inline(always)]
fn extend_8(byte: u8, signed: bool) -> i32 {
    if signed { i32::from(byte as i8) } else { i32::from(byte) }
}

/// Applies an operation to both half words: `add.u16x2`, `min.s16x2` and so on.
#[inline(always)]
pub fn pair<const N: usize>(operands: [u32; N], op: impl FnMut([u16; N]) -> u16) -> u32 {
    super::half::pair(operands, op)
}

/// Applies an operation to each of the four bytes: `add.u8x4` and so on.
#[inline(always)]
pub fn quad<const N: usize>(operands: [u32; N], mut op: impl FnMut([u8; N]) -> u8) -> u32 {
    let byte = |i: u32| operands.map(|x| (x >> (8 * i)) as u8);
    (0..4).fold(0, |out, i| out | u32::from(op(byte(i))) << (8 * i))
}
