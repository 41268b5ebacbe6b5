//! Everything against independent references: rustc_apfloat for formats and arithmetic, 128-bit integers for the rest.

mod approx;
mod cases;
mod conversions;
mod descriptors;
mod exhaustive;
mod fragments;
mod integers;
mod packing;
mod random;
mod sparse;
mod video;

use super::round::{Mode, Round};
use super::*;

const ONE: u32 = 0x3f80_0000;

#[test]
fn single_directed_rounding_and_signs_of_zero() {
    let tiny = 1;
    assert_eq!(single::add(ONE, tiny), ONE);
    assert_eq!(single::add_with(ONE, tiny, Mode::new(Round::Rp)), ONE + 1);
    assert_eq!(single::sub_with(ONE, tiny, Mode::new(Round::Rz)), ONE - 1);
    assert_eq!(single::sub_with(ONE, ONE, Mode::new(Round::Rm)), 0x8000_0000);
    assert_eq!(single::sub_with(ONE, ONE, Mode::RN), 0);
    assert_eq!(single::add(0x7f80_0000, 0xff80_0000), single::NAN);
    assert_eq!(single::add_with(tiny, tiny, Mode::RN.ftz(true)), 0);
}

#[test]
fn nothing_flushed_comes_in_or_out() {
    let mode = Mode::RN.ftz(true);
    let (subnormal, least) = (0x0040_0000, 0x0080_0000);
    assert_eq!(single::add_with(ONE, subnormal | 0x8000_0000, mode), ONE);
    assert_eq!(single::mul_with(least, 0x3f00_0000, mode), 0);
    assert_eq!(single::mul_with(least | 0x8000_0000, 0x3f00_0000, mode), 0x8000_0000);
    assert_eq!(single::div_with(ONE, subnormal, mode), 0x7f80_0000);
    assert_eq!(single::fma_with(ONE, subnormal, subnormal, mode), 0);
    assert_eq!(single::sqrt_with(subnormal, mode), 0);
    assert_eq!(single::neg(subnormal, true), 0x8000_0000);
    assert_eq!(single::abs(subnormal | 0x8000_0000, true), 0);
    assert!(compare::Compare::Eq.singles(subnormal, 0x8000_0001, true));
    assert!(!compare::Compare::Eq.singles(subnormal, 0x8000_0001, false));
}

#[test]
fn saturation() {
    let two = 0x4000_0000;
    assert_eq!(single::add_with(ONE, two, Mode::RN.sat(true)), ONE);
    assert_eq!(single::sub_with(ONE, two, Mode::RN.sat(true)), 0);
    assert_eq!(single::saturate(single::NAN), 0);
    assert_eq!(single::saturate(0x8000_0000), 0);
    assert_eq!(single::saturate(0x3f00_0000), 0x3f00_0000);
    assert_eq!(half::saturate(format::F16, 0x3c01), 0x3c00);
    assert_eq!(half::saturate(format::BF16, 0x7fff), 0);
}

#[test]
fn extremes() {
    let (plain, nan, xor) = (
        single::Extreme::default(),
        single::Extreme {
            nan: true,
            ..Default::default()
        },
        single::Extreme {
            xorsign_abs: true,
            ..Default::default()
        },
    );
    let (zero, minus) = (0, 0x8000_0000);
    assert_eq!(single::min(zero, minus, plain), minus);
    assert_eq!(single::max(minus, zero, plain), zero);
    assert_eq!(single::min(0xffc0_0001, ONE, plain), ONE);
    assert_eq!(single::min(0xffc0_0001, ONE, nan), single::NAN);
    assert_eq!(single::max(0x7f80_0001, 0xffff_ffff, plain), single::NAN);
    assert_eq!(single::max(ONE | minus, 0x4000_0000, xor), 0xc000_0000);
    assert_eq!(single::min(ONE | minus, 0xc000_0000, xor), ONE);
    assert_eq!(single::min3(0x4000_0000, 0xffc0_0000, ONE, plain, false), ONE);
    assert_eq!(single::max3(ONE, 0xc000_0000, minus, plain, true), 0x4000_0000);
    assert_eq!(single::max3(ONE, 0xffc0_0000, zero, nan, true), single::NAN);
    assert_eq!(half::max(format::F16, 0xbc00, 0x7e00, plain), 0xbc00);
    assert_eq!(half::min(format::BF16, 0xbf80, 0x7fc0, nan), 0x7fff);
    assert_eq!(double::min(0x7ff0_0000_0000_0001, 1,), 1);
}

#[test]
fn comparisons_know_nan() {
    use compare::Compare::*;
    for (op, ordered, unordered) in [
        (Eq, false, false),
        (Ne, true, false),
        (Lt, true, false),
        (Le, true, false),
        (Gt, false, false),
        (Ge, false, false),
        (Equ, false, true),
        (Neu, true, true),
        (Ltu, true, true),
        (Leu, true, true),
        (Gtu, false, true),
        (Geu, false, true),
        (Num, true, false),
        (Nan, false, true),
    ] {
        assert_eq!(op.floats(1.0, 2.0), ordered, "{op:?}");
        assert_eq!(op.floats(f64::NAN, 2.0), unordered, "{op:?}");
        assert_eq!(op.floats(1f32, f32::NAN), unordered, "{op:?}");
        assert_eq!(op.ints(1, 2), ordered, "{op:?}");
    }
    assert!(Ge.floats(0.0, -0.0) && Equ.floats(0.0, -0.0) && !Ne.floats(0.0, -0.0));
}

#[test]
fn kinds_of_numbers() {
    use compare::Test;
    let answers = |a: u64| {
        [
            Test::Finite,
            Test::Infinite,
            Test::Number,
            Test::NotANumber,
            Test::Normal,
            Test::Subnormal,
        ]
        .map(|test| u8::from(test.apply(format::F32, a)))
    };
    assert_eq!(answers(u64::from(ONE)), [1, 0, 1, 0, 1, 0]);
    assert_eq!(
        answers(0x8000_0000),
        [1, 0, 1, 0, 1, 0],
        "the ISA counts zero as normal"
    );
    assert_eq!(answers(0x8000_0001), [1, 0, 1, 0, 0, 1]);
    assert_eq!(answers(0xff80_0000), [0, 1, 1, 0, 0, 0]);
    assert_eq!(answers(0xff80_0001), [0, 0, 0, 1, 0, 0]);
}
