//! Packed conversions.

use super::super::Round;
use super::super::convert::{Convert, format};
use super::super::format::{BF16, F16};
use super::super::packed::{self, Pack, pack, repack, scale_from_single, scale_to_brain, stochastic, stochastic_pair};
use super::cases::Cases;
use crate::ptx::types::Type;

fn single(x: f32) -> u64 {
    x.to_bits().into()
}

#[test]
fn the_first_operand_is_uppermost() {
    let finite = |to| Convert {
        finite: true,
        ..Convert::new(to, Type::F32)
    };
    let f32 = |values: &[f32]| values.iter().map(|x| single(*x)).collect::<Vec<_>>();
    assert_eq!(
        pack(&Convert::new(Type::F16, Type::F32), &f32(&[1.0, 2.0])),
        Some(0x3c00_4000)
    );
    assert_eq!(
        pack(&Convert::new(Type::Bf16, Type::F32), &f32(&[1.0, -2.0])),
        Some(0x3f80_c000)
    );
    assert_eq!(pack(&finite(Type::E4m3), &f32(&[1.0, 1000.0])), Some(0x387e));
    assert_eq!(pack(&finite(Type::E5m2), &f32(&[-1.0, f32::NAN])), Some(0xbc7f));
    assert_eq!(pack(&finite(Type::E2m3), &f32(&[7.5, -0.125])), Some(0x1f21));
    assert_eq!(pack(&finite(Type::E3m2), &f32(&[28.0, f32::NAN])), Some(0x1f1f));
    assert_eq!(pack(&finite(Type::E2m1), &f32(&[6.0, -0.5])), Some(0x79));
    let relu = Convert {
        relu: true,
        ..finite(Type::E4m3)
    };
    assert_eq!(pack(&relu, &f32(&[-3.0, 2.0])), Some(0x0040));
}

#[test]
fn packed_sources() {
    assert_eq!(
        repack(&Convert::new(Type::F16, Type::E4m3), 0x387e, 2),
        Some(0x3c00_5f00)
    );
    assert_eq!(
        repack(&Convert::new(Type::F16, Type::E5m2), 0xbc7f, 2),
        Some(0xbc00_7fff)
    );
    assert_eq!(repack(&Convert::new(Type::F16, Type::E2m1), 0x79, 2), Some(0x4600_b800));
    let narrow = Convert {
        finite: true,
        ..Convert::new(Type::E4m3, Type::F16)
    };
    assert_eq!(repack(&narrow, 0x3c00_7bff, 2), Some(0x387e));
    let narrow = Convert {
        finite: true,
        ..Convert::new(Type::E2m1, Type::Bf16)
    };
    assert_eq!(repack(&narrow, 0x40c0_bf00, 2), Some(0x79));
    assert_eq!(
        repack(&Convert::new(Type::Bf16, Type::Ue8m0), 0x7f80, 2),
        Some(0x3f80_4000)
    );
    assert_eq!(repack(&Convert::new(Type::Bf16, Type::Ue8m0), 0x7f80_7f80, 9), None);
}

#[test]
fn powers_of_two() {
    let scale = |x: f32, round| scale_from_single(x.to_bits(), round, false);
    for (x, down, up) in [
        (1.0, 127, 127),
        (1.5, 127, 128),
        (-1.5, 127, 128),
        (0.0, 0, 0),
        (f32::MIN_POSITIVE, 1, 1),
        (f32::MIN_POSITIVE * 0.5, 0, 0),
        (f32::MIN_POSITIVE * 0.75, 0, 1),
        (f32::MAX, 254, 255),
        (f32::NAN, 255, 255),
    ] {
        assert_eq!((scale(x, Round::Rz), scale(x, Round::Rp)), (down, up), "{x}");
    }
    assert_eq!(scale_from_single(f32::MAX.to_bits(), Round::Rp, true), 254);
    assert_eq!(scale_from_single(f32::INFINITY.to_bits(), Round::Rz, true), 254);
    for code in 0..255 {
        let value = f32::from_bits(u32::from(scale_to_brain(code)) << 16);
        assert_eq!(f64::from(value), 2f64.powi(i32::from(code) - 127));
    }
    assert_eq!(scale_to_brain(255), 0x7fff);
}

/// For a normal result the addition of random bits can be done on the `.f32` itself.
#[test]
fn random_bits_carry() {
    let mut cases = Cases::new(61);
    for _ in 0..20_000 {
        let (a, random) = (cases.float(8, 23) as u32, cases.next() as u32);
        if (a >> 23 & 255) == 255 {
            continue;
        }
        let expected = (((a & 0x7fff_ffff) + (random & 0xffff)) >> 16 | a >> 16 & 0x8000) as u16;
        assert_eq!(stochastic(BF16, a, random, false), expected, "{a:#x} {random:#x}");
        let value = f32::from_bits(a);
        if value.abs() >= 2f32.powi(-14) && value.abs() < 65504.0 {
            let sum = f32::from_bits((a + (random & 0x1fff)) & !0x1fff);
            let expected = F16.encode(f64::from(sum), Round::Rz, false) as u16;
            assert_eq!(
                stochastic(F16, a, random, false),
                if sum.abs() < 65536.0 { expected } else { expected + 1 }
            );
        }
    }
    assert_eq!(stochastic(F16, 65519f32.to_bits(), 0x1fff, false), 0x7c00);
    assert_eq!(stochastic(F16, 65519f32.to_bits(), 0x1fff, true), 0x7bff);
    assert_eq!(stochastic(F16, 1e-9f32.to_bits(), 0, false), 0);
    assert_eq!(stochastic(F16, 2f32.powi(-25).to_bits(), 0x1000, false), 1);
    let (a, b) = (0x3f80_1fff, 0xbf80_0000);
    assert_eq!(
        stochastic_pair(Type::F16, a, b, 0x0001_1fff, true, false),
        Some(0x3c01_0000)
    );
}

#[test]
fn clamped_integers_in_one_register() {
    let pack = |width, signed| Pack { width, signed };
    assert_eq!(
        pack(16, true).apply(100_000, (-100_000i32).cast_unsigned(), 0),
        0x7fff_8000
    );
    assert_eq!(
        pack(8, false).apply(300, (-5i32).cast_unsigned(), 0x1234_5678),
        0x5678_ff00
    );
    assert_eq!(pack(4, true).apply(3, (-100i32).cast_unsigned(), 0xab), 0xab38);
    assert_eq!(pack(2, false).apply(1, 9, 0x3), 0x37);
}

/// A narrow result lies below the magnitude or one place above it, as the random bits say how much must be missing at least.
#[test]
fn random_bits_for_four() {
    let mut cases = Cases::new(62);
    let types = [Type::E4m3, Type::E5m2, Type::E3m2, Type::E2m3, Type::E2m1];
    for ty in types {
        let narrow = format(ty).unwrap();
        // Every positive number of the format.
        let values: Vec<f64> = (0..=narrow.max()).map(|code| narrow.decode(code)).collect();
        let (least, most) = (values[1], *values.last().unwrap());
        for _ in 0..3000 {
            let random = cases.next() as u32;
            let inputs: [u32; 4] = std::array::from_fn(|_| {
                let share = f64::from(cases.next() as u32) / f64::from(u32::MAX);
                let sign = if cases.next() & 1 == 1 { -1.0 } else { 1.0 };
                ((share * share * most * 1.2 + least * share) * sign) as f32
            })
            .map(f32::to_bits);
            let bits = match ty {
                Type::E2m1 => {
                    let bytes = random.to_be_bytes().map(u32::from);
                    let [first, last] = [bytes[0] << 8 | bytes[2], bytes[1] << 8 | bytes[3]];
                    [first, first, last, last]
                }
                _ => [random >> 16, random >> 16, random & 0xffff, random & 0xffff],
            };
            let expected = inputs.iter().zip(bits).fold(0u32, |packed, (input, random)| {
                let value = f64::from(f32::from_bits(*input));
                let below = values.partition_point(|x| *x <= value.abs()).saturating_sub(1);
                let code = match values.get(below + 1) {
                    None => below,
                    Some(above) => {
                        let missing = (value.abs() - values[below]) / (above - values[below]);
                        let carry = (missing * 65536.0).floor() + f64::from(random) >= 65536.0;
                        below + usize::from(carry)
                    }
                };
                let sign = if value < 0.0 { narrow.sign() as u32 } else { 0 };
                packed << packed::container(ty) | code as u32 | sign
            });
            let got = packed::stochastic_quad(ty, inputs, random, false);
            assert_eq!(got, Some(expected), "{ty:?} {inputs:x?} {random:#x}");
        }
    }
    let odd = [f32::NAN, f32::INFINITY, -1.0, f32::NEG_INFINITY].map(f32::to_bits);
    assert_eq!(packed::stochastic_quad(Type::E4m3, odd, 0, false), Some(0x7f7e_b8fe));
    assert_eq!(packed::stochastic_quad(Type::E4m3, odd, 0, true), Some(0x7f7e_0000));
    assert_eq!(packed::stochastic_quad(Type::E2m1, odd, 0, true), Some(0x7700));
}

#[test]
fn fixed_point() {
    for code in 0..=255u8 {
        let value = packed::from_fixed(code);
        assert_eq!(value, f64::from(code as i8) * 0.015625);
        assert_eq!(packed::fixed(value, false), code);
        assert_eq!(packed::fixed(value, true), if value < 0.0 { 0 } else { code });
    }
    let cases = [
        (0.0078125, 0),
        (0.0234375, 2),
        (-0.0078126, 0xff),
        (7.0, 0x7f),
        (-7.0, 0x80),
        (f64::NAN, 0x7f),
    ];
    for (value, code) in cases {
        assert_eq!(packed::fixed(value, false), code, "{value}");
    }
    assert_eq!(packed::scale_value(0), 2f64.powi(-127));
    assert_eq!(packed::scale_value(254), 2f64.powi(127));
    assert!(packed::scale_value(255).is_nan());
    assert_eq!(packed::to_brain(-1.0, true, false), 0);
    assert_eq!(packed::to_brain(2f64.powi(-133), false, false), 1);
    assert_eq!(packed::to_brain(f64::MAX, false, true), 0x7f7f);
}
