//! Integer operations against plain arithmetic in 128 bits, and bit manipulation against the ISA's loops.

use super::super::{Int, bits, int};
use super::cases::{Cases, count};

macro_rules! against_wide {
    ($($ty:ty),*) => { $({
        let mut cases = Cases::new(31);
        for _ in 0..count(20_000) {
            let [a, b, c] = [cases.int() as $ty, cases.int() as $ty, cases.int() as $ty];
            let [x, y, z] = [a, b, c].map(Int::widen);
            let fit = |value: i128| <$ty>::clamp_from(value);
            let width = <$ty>::BITS;
            assert_eq!(a.add_sat(b), fit(x + y));
            assert_eq!(a.sub_sat(b), fit(x - y));
            assert_eq!(a.mad_lo(b, c), x.wrapping_mul(y).wrapping_add(z) as $ty);
            if width < 64 {
                assert_eq!(a.mul_hi(b), ((x * y) >> width) as $ty);
                assert_eq!(a.mul_wide(b) as i128, x * y);
                assert_eq!(a.mad_hi(b, c), (((x * y) >> width) + z) as $ty);
                assert_eq!(a.mad_hi_sat(b, c), fit(((x * y) >> width) + z));
            }
            assert_eq!(a.sad(b, c), (z + (x - y).abs()) as $ty);
            assert_eq!(a.magnitude(), x.unsigned_abs() as $ty);
            assert_eq!(a.negate(), (-x) as $ty);
            if y != 0 {
                assert_eq!(a.quotient(b), (x / y) as $ty);
                assert_eq!(a.remainder(b), (x % y) as $ty);
            } else {
                assert_eq!((a.quotient(b), a.remainder(b)), (!0, !0));
            }
            let count = cases.below(80) as u32;
            assert_eq!(a.shift_right(count), (x >> count.min(127)) as $ty);
            assert_eq!(a.shift_left(count), if count < 64 { (x << count) as $ty } else { 0 });
        }
    })* };
}

#[test]
fn arithmetic() {
    against_wide!(u8, i8, u16, i16, u32, i32, u64, i64);
    assert_eq!(i32::MIN.quotient(-1), i32::MIN);
    assert_eq!(i64::MIN.remainder(-1), 0);
    assert_eq!(u64::MAX.mul_hi(u64::MAX), u64::MAX - 1);
    assert_eq!(i64::MIN.mul_hi(i64::MIN), 1 << 62);
    assert_eq!(i64::MIN.mul_hi(-1), 0);
    assert_eq!(i32::MIN.mul_wide(i32::MIN), 1 << 62);
    assert_eq!(i32::MIN.mad_wide(i32::MIN, i64::MAX), i64::MAX.wrapping_add(1 << 62));
}

#[test]
fn carries_chain() {
    let mut cases = Cases::new(32);
    for _ in 0..count(20_000) {
        let (a, b) = (cases.int(), cases.int());
        let split = |x: u64| (x as u32, (x >> 32) as u32);
        let ((al, ah), (bl, bh)) = (split(a), split(b));
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let (low, carry) = int::add_carry_32(al, bl, false);
        let (high, out) = int::add_carry_32(ah, bh, carry);
        assert_eq!((join(low, high), out), a.overflowing_add(b));
        let (low, borrow) = int::sub_borrow_32(al, bl, false);
        let (high, out) = int::sub_borrow_32(ah, bh, borrow);
        assert_eq!((join(low, high), out), a.overflowing_sub(b));
        let (low, carry) = int::mad_lo_carry_32(al, bl, ah, false);
        let (high, _) = int::mad_hi_carry_u32(al, bl, bh, carry);
        assert_eq!(
            join(low, high),
            (u64::from(al) * u64::from(bl)).wrapping_add(join(ah, bh))
        );
        let (low, carry) = int::mad_lo_carry_32(al, bl, ah, false);
        let (high, _) = int::mad_hi_carry_s32(al, bl, bh, carry);
        let product = i64::from(al as i32) * i64::from(bl as i32);
        assert_eq!(join(low, high), (product as u64).wrapping_add(join(ah, bh)));
        let (low, carry) = int::mad_lo_carry_64(a, b, 5, false);
        let (high, _) = int::mad_hi_carry_u64(a, b, 0, carry);
        assert_eq!(
            u128::from(high) << 64 | u128::from(low),
            u128::from(a) * u128::from(b) + 5
        );
    }
}

#[test]
fn products_of_24_bits() {
    assert_eq!(int::mul24(0x12ff_ffff, 0xff_ffff, false, false), 0xfe00_0001);
    assert_eq!(int::mul24(0x12ff_ffff, 0xff_ffff, false, true), 0xffff_fe00);
    assert_eq!(int::mul24(0xff_ffff, 5, true, false), (-5i32).cast_unsigned());
    assert_eq!(int::mul24(0x80_0000, 0x80_0000, true, true), 0x4000_0000);
    assert_eq!(int::mad24_hi_sat(0x80_0000, 0x80_0000, 0x7fff_ffff), 0x7fff_ffff);
    assert_eq!(int::mad24(3, 4, 5, false, false), 17);
}

#[test]
fn dot_products() {
    assert_eq!(int::dp4a(0x0102_03ff, 0x0101_01ff, 10, true, true), 10 + 1 + 2 + 3 + 1);
    assert_eq!(
        int::dp4a(0x0000_00ff, 0x0000_00ff, 0, false, true),
        (-255i32).cast_unsigned()
    );
    assert_eq!(int::dp2a(0xffff_0002, 0x0000_0303, 0, true, false, false), 6 - 3);
    assert_eq!(
        int::dp2a(0xffff_0002, 0x0303_0000, 1, false, false, true),
        1 + 6 + 3 * 0xffff
    );
}

/// The ISA's loop, bit by bit, on the low `width` bits.
fn extract(a: u64, width: u32, signed: bool, pos: u32, len: u32) -> u64 {
    let (pos, len, msb) = (pos & 255, len & 255, width - 1);
    let bit = |i: u32| a >> i & 1;
    let sign = if !signed || len == 0 {
        0
    } else {
        bit((pos + len - 1).min(msb))
    };
    (0..width).fold(0, |d, i| {
        d | (if i < len && pos + i <= msb { bit(pos + i) } else { sign }) << i
    })
}

fn insert(a: u64, b: u64, width: u32, pos: u32, len: u32) -> u64 {
    let (pos, len) = (pos & 255, len & 255);
    (0..len.min(width))
        .filter(|i| pos + i < width)
        .fold(b, |f, i| f & !(1 << (pos + i)) | (a >> i & 1) << (pos + i))
}

#[test]
fn bit_fields() {
    let mut cases = Cases::new(33);
    for _ in 0..count(20_000) {
        let (a, b) = (cases.int(), cases.int());
        let (pos, len) = (cases.below(300) as u32 % 260, cases.below(300) as u32 % 90);
        let (a32, b32) = (a as u32, b as u32);
        let low = |a: u32| u64::from(a);
        assert_eq!(
            low(bits::bfe_u32(a32, pos, len)),
            extract(low(a32), 32, false, pos, len),
            "{pos} {len}"
        );
        assert_eq!(
            low(bits::bfe_s32(a32, pos, len)),
            extract(low(a32), 32, true, pos, len),
            "{a32:#x} {pos} {len}"
        );
        assert_eq!(
            bits::bfe_u64(a, pos, len),
            extract(a, 64, false, pos, len),
            "{pos} {len}"
        );
        assert_eq!(
            bits::bfe_s64(a, pos, len),
            extract(a, 64, true, pos, len),
            "{pos} {len}"
        );
        assert_eq!(
            low(bits::bfi_b32(a32, b32, pos, len)),
            insert(low(a32), low(b32), 32, pos, len),
            "{pos} {len}"
        );
        assert_eq!(bits::bfi_b64(a, b, pos, len), insert(a, b, 64, pos, len), "{pos} {len}");
    }
}

#[test]
fn searches() {
    assert_eq!(
        (bits::bfind_32(0, false), bits::bfind_32(0, true)),
        (u32::MAX, u32::MAX)
    );
    assert_eq!((bits::bfind_32(6, false), bits::bfind_32(6, true)), (2, 29));
    assert_eq!(bits::bfind_32(bits::unsign_32((-2i32).cast_unsigned()), false), 0);
    assert_eq!(bits::bfind_64(bits::unsign_64(u64::MAX), false), u32::MAX);
    assert_eq!(bits::bfind_64(1 << 40, true), 23);
    let mask = 0b1011_0000;
    assert_eq!(bits::fns(mask, 4, 0), 4);
    assert_eq!(bits::fns(mask, 6, 0), u32::MAX);
    assert_eq!(bits::fns(mask, 0, 2), 5);
    assert_eq!(bits::fns(mask, 31, -3), 4);
    assert_eq!(bits::fns(mask, 3, -1), u32::MAX);
    assert_eq!(bits::fns(mask, 0, i32::MIN), u32::MAX);
}

#[test]
fn masks_and_extensions() {
    assert_eq!(bits::bmsk(4, 8, false), 0xff0);
    assert_eq!(bits::bmsk(28, 8, false), 0xf000_0000);
    assert_eq!(bits::bmsk(0, 32, false), u32::MAX);
    assert_eq!(bits::bmsk(32, 8, false), 0);
    assert_eq!(bits::bmsk(33, 33, true), 2);
    assert_eq!(bits::bmsk(5, 0, false), 0);
    assert_eq!(bits::szext(0x1ff, 8, true, false), u32::MAX);
    assert_eq!(bits::szext(0x1ff, 8, false, false), 0xff);
    assert_eq!(bits::szext(0x1ff, 32, true, false), 0x1ff);
    assert_eq!(bits::szext(0x1ff, 33, true, true), u32::MAX);
    assert_eq!(bits::szext(0x1ff, 0, true, true), 0);
}

#[test]
fn funnel_shifts() {
    let (a, b) = (0x1234_5678, 0x9abc_def0);
    assert_eq!(bits::shf_l(a, b, 8, false), 0xbcde_f012);
    assert_eq!(bits::shf_r(a, b, 8, false), 0xf012_3456);
    assert_eq!((bits::shf_l(a, b, 40, false), bits::shf_r(a, b, 40, false)), (a, b));
    assert_eq!(
        (bits::shf_l(a, b, 40, true), bits::shf_r(a, b, 40, true)),
        (0xbcde_f012, 0xf012_3456)
    );
    assert_eq!((bits::shf_l(a, b, 0, false), bits::shf_r(a, b, 0, false)), (b, a));
}

#[test]
fn permutations() {
    use bits::Permute;
    let (a, b) = (0x3322_1180, 0x7766_5544);
    assert_eq!(bits::prmt(a, b, 0x7610, Permute::Index), 0x7766_1180);
    assert_eq!(bits::prmt(a, b, 0x9808, Permute::Index), 0x00ff_80ff);
    assert_eq!(bits::prmt(a, b, 1, Permute::F4e), 0x4433_2211);
    assert_eq!(bits::prmt(a, b, 0, Permute::B4e), 0x5566_7780);
    assert_eq!(bits::prmt(a, b, 2, Permute::Rc8), 0x2222_2222);
    assert_eq!(bits::prmt(a, b, 1, Permute::Ecl), 0x3322_1111);
    assert_eq!(bits::prmt(a, b, 2, Permute::Ecr), 0x2222_1180);
    assert_eq!(bits::prmt(a, b, 3, Permute::Rc16), 0x3322_3322);
}

#[test]
fn three_input_logic() {
    let (a, b, c) = (0xf0f0_1234, 0xcccc_5678, 0xaaaa_9abc);
    for (table, expected) in [
        (0x80, a & b & c),
        (0xfe, a | b | c),
        (0x96, a ^ b ^ c),
        (0x1a, ((a & b) | c) ^ a),
        (0xca, (a & b) | (!a & c)),
    ] {
        assert_eq!(bits::lop3(a, b, c, table), expected, "{table:#x}");
    }
}

#[test]
fn parts_of_a_register() {
    assert_eq!(
        int::pair([0x0001_ffff, 0x0001_0001], |[a, b]| a.wrapping_add(b)),
        0x0002_0000
    );
    assert_eq!(
        int::quad([0x01ff_8000, 0x0101_8005], |[a, b]| a.wrapping_add(b)),
        0x0200_0005
    );
}
