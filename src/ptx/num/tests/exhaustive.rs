//! The narrow formats: every code, and for two operands every code against a spread of others.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::super::format::{BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, Format};
use super::super::{Mode, Round, half};
use super::cases::{Cases, count};
use super::random::reference;

#[test]
fn half_to_single_is_exact() {
    for a in 0..=u16::MAX {
        let value = f64::from(f32::from_bits(half::f16_to_single(a)));
        let expected = F16.decode(u64::from(a));
        assert!(
            value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
            "{a:#x}"
        );
        if !value.is_nan() {
            assert_eq!(half::from_single(F16, half::f16_to_single(a), Round::Rn), a);
        }
    }
}

/// Every code decodes as the reference says, and encodes back.
fn codes<F: FloatConvert<Double>>(format: Format) {
    for bits in 0..1u64 << format.bits() {
        let expected = F::from_bits(bits.into()).convert(&mut false).value;
        let got = format.decode(bits);
        if expected.is_nan() {
            assert!(got.is_nan() && format.is_nan(bits), "{bits:#x}");
        } else {
            assert_eq!(got.to_bits(), expected.to_bits() as u64, "{bits:#x}");
            for round in Round::ALL {
                assert_eq!(format.encode(got, round, false), bits, "{bits:#x} {round:?}");
            }
        }
    }
}

#[test]
fn every_code_of_every_format() {
    codes::<Half>(F16);
    codes::<BFloat>(BF16);
    codes::<Float8E5M2>(E5M2);
    codes::<Float8E4M3FN>(E4M3);
}

/// Between each two neighbours: just above the lower, the middle, just below the upper.
fn between<F: Float>(format: Format)
where
    Double: FloatConvert<F>,
{
    let middle = |a: f64, b: f64| a / 2.0 + b / 2.0;
    for bits in 0..format.max() {
        let (low, high) = (format.decode(bits), format.decode(bits + 1));
        let center = middle(low, high);
        for value in [
            low.next_up(),
            center.next_down(),
            center,
            center.next_up(),
            high.next_down(),
        ] {
            for value in [value, -value] {
                for round in Round::ALL {
                    let expected: F = Double::from_bits(value.to_bits().into())
                        .convert_r(reference(round), &mut false)
                        .value;
                    assert_eq!(
                        format.encode(value, round, false),
                        expected.to_bits() as u64,
                        "{value:e} {round:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_gap_of_every_format() {
    between::<Half>(F16);
    between::<BFloat>(BF16);
    between::<Float8E5M2>(E5M2);
    between::<Float8E4M3FN>(E4M3);
}

/// fp6 and fp4 are small enough for a table: the nearest of all codes, ties to the even one, and the largest beyond.
#[test]
fn formats_without_infinity_against_their_tables() {
    for (format, max) in [(E3M2, 28.0), (E2M3, 7.5), (E2M1, 6.0)] {
        assert_eq!(format.decode(format.max()), max);
        let step = format.decode(1) / 8.0;
        for i in 0..=(2.0 * max / step) as u32 {
            let value = f64::from(i) * step;
            let nearest = (0..=format.max())
                .min_by(|a, b| {
                    let distance = |bits: u64| (format.decode(bits) - value).abs();
                    distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1)))
                })
                .unwrap();
            assert_eq!(format.encode(value, Round::Rn, true), nearest, "{value}");
            assert_eq!(
                format.encode(-value, Round::Rn, true),
                nearest | format.sign(),
                "{value}"
            );
        }
        assert_eq!(format.encode(f64::NAN, Round::Rn, true), format.max());
        assert_eq!(
            format.encode(f64::NEG_INFINITY, Round::Rn, true),
            format.max() | format.sign()
        );
    }
}

#[test]
fn the_edges_of_fp8() {
    assert_eq!(E4M3.encode(448.0, Round::Rn, false), 0x7e);
    assert_eq!(E4M3.encode(464.0, Round::Rn, false), 0x7e);
    assert_eq!(E4M3.encode(465.0, Round::Rn, false), 0x7f);
    assert_eq!(E4M3.encode(-1e9, Round::Rn, true), 0xfe);
    assert_eq!(E4M3.encode(f64::INFINITY, Round::Rn, true), 0x7e);
    assert_eq!(E5M2.encode(1e9, Round::Rn, false), 0x7c);
    assert_eq!(E5M2.encode(1e9, Round::Rn, true), 0x7b);
    assert_eq!(E5M2.encode(f64::NAN, Round::Rn, true), 0x7f);
}

fn halves<F: Float>(format: Format, seed: u64) {
    let mut cases = Cases::new(seed);
    let step = if count(0) > 0 { 1 } else { 7 };
    for a in (0..=u16::MAX).step_by(step) {
        let b = cases.near(a.into(), format.exponent, format.fraction) as u16;
        let c = cases.float(format.exponent, format.fraction) as u16;
        let [x, y, z] = [a, b, c].map(|bits| F::from_bits(bits.into()));
        for round in [Round::Rn, Round::Rz, Round::Rm, Round::Rp] {
            let (mode, by) = (Mode::new(round), reference(round));
            let check = |name: &str, expected: F, got: u16| {
                let expected = if expected.is_nan() {
                    0x7fff
                } else {
                    expected.to_bits() as u16
                };
                assert_eq!(got, expected, "{name} {a:#x} {b:#x} {c:#x} {round:?}");
            };
            check("add", x.add_r(y, by).value, half::add(format, a, b, mode));
            check("sub", x.sub_r(y, by).value, half::sub(format, a, b, mode));
            check("fma", x.mul_add_r(y, z, by).value, half::fma(format, a, b, c, mode));
            check("mul", x.mul_r(z, by).value, half::mul(format, a, c, mode));
        }
    }
}

#[test]
fn half_arithmetic() {
    halves::<Half>(F16, 11);
    halves::<BFloat>(BF16, 12);
}

#[test]
fn quick_conversions_agree_with_the_general_ones() {
    use super::super::convert::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
    let mut cases = Cases::new(13);
    for _ in 0..count(100_000) {
        let a = cases.float(8, 23) as u32;
        let single = Single::from_bits(a.into());
        let half: Half = single.convert(&mut false).value;
        let brain: BFloat = single.convert(&mut false).value;
        let bits = |nan: bool, bits: u128| if nan { 0x7fff } else { bits as u16 };
        assert_eq!(f16_from_f32(a), bits(half.is_nan(), half.to_bits()), "{a:#x}");
        assert_eq!(bf16_from_f32(a), bits(brain.is_nan(), brain.to_bits()), "{a:#x}");
    }
    assert_eq!(f32_from_f16(0xfc01), 0x7fff_ffff);
    assert_eq!(f32_from_bf16(0xff81), 0x7fff_ffff);
    assert_eq!(f32_from_bf16(0xbf80), 0xbf80_0000);
}

/// The quick way to the nearest half word gives what the exact one does, in and beside the middle of every gap.
#[test]
fn quick_rounding_in_every_gap() {
    for format in [F16, BF16] {
        let beyond = 2.0 * format.decode(format.max());
        for bits in 0..=format.max() {
            let low = format.decode(bits);
            let high = if bits == format.max() {
                beyond
            } else {
                format.decode(bits + 1)
            };
            let center = low / 2.0 + high / 2.0;
            for value in [
                low,
                low.next_up(),
                center.next_down(),
                center,
                center.next_up(),
                high.next_down(),
                high,
            ] {
                for value in [value, -value] {
                    let exact = format.encode(value, Round::Rn, false);
                    assert_eq!(u64::from(half::narrow(format, value, Round::Rn)), exact, "{value:e}");
                }
            }
        }
        for value in [
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e300,
            -1e300,
            5e-324,
            -5e-324,
            65519.99,
            65520.0,
        ] {
            let exact = format.encode(value, Round::Rn, false);
            assert_eq!(u64::from(half::narrow(format, value, Round::Rn)), exact, "{value:e}");
        }
    }
}
