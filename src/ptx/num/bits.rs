//! Bit manipulation.

/// `bfind.u32`, `bfind.u64`: the place of the highest one, or all ones if there is none. For the signed types give
/// [`unsign_32`] or [`unsign_64`] of the operand. With `.shiftamt` the distance from the top.
#[inline(always)]
pub const fn bfind_32(a: u32, shiftamt: bool) -> u32 {
    match (a, shiftamt) {
        (0, _) => u32::MAX,
        (_, true) => a.leading_zeros(),
        (_, false) => 31 - a.leading_zeros(),
    }
}

/// As [`bfind_32`].
#[inline(always)]
pub const fn bfind_64(a: u64, shiftamt: bool) -> u32 {
    match (a, shiftamt) {
        (0, _) => u32::MAX,
        (_, true) => a.leading_zeros(),
        (_, false) => 63 - a.leading_zeros(),
    }
}

/// A negative number inverted, so that the highest bit unlike the sign is the highest one.
#[inline(always)]
pub const fn unsign_32(a: u32) -> u32 {
    a ^ (a as i32 >> 31) as u32
}

/// As [`unsign_32`].
#[inline(always)]
pub const fn unsign_64(a: u64) -> u64 {
    a ^ (a as i64 >> 63) as u64
}

/// `fns.b32`: the place of the n-th one from `base` on, upwards or downwards, all ones if there is none. Of `base` only
/// the low five bits count; the ISA leaves larger ones open.
#[inline]
pub const fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let base = base & 31;
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    let mut left = offset.unsigned_abs();
    let mut place = base as i32;
    while place >= 0 && place < 32 {
        left -= mask >> place & 1;
        if left == 0 {
            return place as u32;
        }
        place += offset.signum();
    }
    u32::MAX
}

macro_rules! fields {
    ($($unsigned:ty, $signed:ty, $bfe:ident, $bfe_signed:ident, $bfi:ident, $shl:ident, $shr:ident;)*) => { $(
        /// `bfe` of the unsigned type: the field of `len` bits at `pos`; of both only the low eight bits count.
        #[inline(always)]
        pub const fn $bfe(a: $unsigned, pos: u32, len: u32) -> $unsigned {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let field = $shr(a, pos);
            if len >= <$unsigned>::BITS { field } else { field & ((1 << len) - 1) }
        }

        /// `bfe` of the signed type: as the unsigned one, filled up with the field's sign, which is the operand's top bit
        /// where the field reaches beyond it.
        #[inline(always)]
        pub const fn $bfe_signed(a: $unsigned, pos: u32, len: u32) -> $unsigned {
            const TOP: u32 = <$unsigned>::BITS - 1;
            let (pos, len) = (pos & 0xff, len & 0xff);
            if len == 0 {
                return 0;
            }
            let last = if pos + len - 1 > TOP { TOP } else { pos + len - 1 };
            let aligned = (a << (TOP - last)) as $signed;
            let start = if pos > last { last } else { pos };
            // Beyond the top bit nothing is left of the field but its sign.
            let shift = if pos > TOP { TOP } else { TOP - last + start };
            (aligned >> shift) as $unsigned
        }

        /// `bfi`: the low `len` bits of `a` at `pos` of `b`; of both only the low eight bits count.
        #[inline(always)]
        pub const fn $bfi(a: $unsigned, b: $unsigned, pos: u32, len: u32) -> $unsigned {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let ones = if len >= <$unsigned>::BITS { <$unsigned>::MAX } else { (1 << len) - 1 };
            let mask = $shl(ones, pos);
            (b & !mask) | ($shl(a, pos) & mask)
        }

        /// `shl`: counts beyond the width give zero.
        #[inline(always)]
        pub const fn $shl(a: $unsigned, count: u32) -> $unsigned {
            if count < <$unsigned>::BITS { a << count } else { 0 }
        }

        /// `shr` without sign: counts beyond the width give zero.
        #[inline(always)]
        pub const fn $shr(a: $unsigned, count: u32) -> $unsigned {
            if count < <$unsigned>::BITS { a >> count } else { 0 }
        }
    )* };
}

fields! {
    u32, i32, bfe_u32, bfe_s32, bfi_b32, shl_b32, shr_u32;
    u64, i64, bfe_u64, bfe_s64, bfi_b64, shl_b64, shr_u64;
}

/// `bmsk.clamp` and `.wrap`: ones from bit `a` on, `b` of them.
#[inline]
pub const fn bmsk(a: u32, b: u32, wrap: bool) -> u32 {
    let (start, width) = if wrap { (a & 31, b & 31) } else { (a, b) };
    let ones = if width >= 32 { u32::MAX } else { (1 << width) - 1 };
    shl_b32(ones, start)
}

/// `szext.clamp` and `.wrap`: the low `b` bits of `a`, extended by their sign or by zeros.
#[inline]
pub const fn szext(a: u32, b: u32, signed: bool, wrap: bool) -> u32 {
    let width = if wrap { b & 31 } else { b };
    match width {
        0 => 0,
        32.. => a,
        _ if signed => ((a << (32 - width)) as i32 >> (32 - width)) as u32,
        _ => a & ((1 << width) - 1),
    }
}

/// `shf.l`: the upper word of `{b, a}` shifted left, by at most 32 or, with `wrap`, by the low five bits.
#[inline(always)]
pub const fn shf_l(a: u32, b: u32, c: u32, wrap: bool) -> u32 {
    (shift_both(a, b, c, wrap, true) >> 32) as u32
}

/// `shf.r`: the lower word of `{b, a}` shifted right, by at most 32 or, with `wrap`, by the low five bits.
#[inline(always)]
pub const fn shf_r(a: u32, b: u32, c: u32, wrap: bool) -> u32 {
    shift_both(a, b, c, wrap, false) as u32
}

#[inline(always)]
const fn shift_both(a: u32, b: u32, c: u32, wrap: bool, left: bool) -> u64 {
    let both = (b as u64) << 32 | a as u64;
    let count = if wrap {
        c & 31
    } else if c > 32 {
        32
    } else {
        c
    };
    if left { both << count } else { both >> count }
}

/// A mode of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permute {
    /// No modifier: four selectors of four bits, the top one of each replicating the byte's sign.
    Index,
    /// `.f4e`: four bytes forwards
    F4e,
    /// `.b4e`: four bytes backwards
    B4e,
    /// `.rc8`: one byte everywhere
    Rc8,
    /// `.ecl`: edge clamp, left
    Ecl,
    /// `.ecr`: edge clamp, right
    Ecr,
    /// `.rc16`: one half word twice
    Rc16,
}

impl Permute {
    /// The mode a modifier names, without the dot.
    pub fn from_name(name: &str) -> Option<Permute> {
        Some(match name {
            "f4e" => Permute::F4e,
            "b4e" => Permute::B4e,
            "rc8" => Permute::Rc8,
            "ecl" => Permute::Ecl,
            "ecr" => Permute::Ecr,
            "rc16" => Permute::Rc16,
            _ => return None,
        })
    }

    /// The selectors of the four bytes, lowest first in the low bits, as the plain form takes them.
    #[inline]
    pub const fn selectors(self, c: u32) -> u32 {
        let n = (c & 3) as usize;
        match self {
            Permute::Index => c & 0xffff,
            Permute::F4e => [0x3210, 0x4321, 0x5432, 0x6543][n],
            Permute::B4e => [0x5670, 0x6701, 0x7012, 0x0123][n],
            Permute::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333][n],
            Permute::Ecl => [0x3210, 0x3211, 0x3222, 0x3333][n],
            Permute::Ecr => [0x0000, 0x1110, 0x2210, 0x3210][n],
            Permute::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232][n],
        }
    }
}

/// `prmt.b32`: four of the eight bytes of `{b, a}`.
#[inline(always)]
pub const fn prmt(a: u32, b: u32, c: u32, mode: Permute) -> u32 {
    let bytes = (b as u64) << 32 | a as u64;
    let selectors = mode.selectors(c);
    let mut out = 0;
    let mut i = 0;
    while i < 4 {
        let selector = selectors >> (4 * i);
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 {
            (byte as i8 >> 7) as u8
        } else {
            byte
        };
        out |= (byte as u32) << (8 * i);
        i += 1;
    }
    out
}

macro_rules! lop3 {
    ($name:ident, $ty:ty) => {
        /// `lop3`: the truth table's entry for each triple of bits.
        #[inline(always)]
        pub const fn $name(a: $ty, b: $ty, c: $ty, table: u8) -> $ty {
            let mut out = 0;
            let mut i = 0;
            while i < 8 {
                if table >> i & 1 == 1 {
                    let a = if i & 4 != 0 { a } else { !a };
                    let b = if i & 2 != 0 { b } else { !b };
                    let c = if i & 1 != 0 { c } else { !c };
                    out |= a & b & c;
                }
                i += 1;
            }
            out
        }
    };
}

lop3!(lop3, u32);

/// `cnot`: one if `a` is zero, else zero.
#[inline(always)]
pub const fn cnot(a: u64) -> u64 {
    (a == 0) as u64
}
