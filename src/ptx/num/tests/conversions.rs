//! `cvt` between all pairs of scalar types against rustc_apfloat and 128-bit integers.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::super::convert::Convert;
use super::super::{Int, Round};
use super::cases::{Cases, count};
use super::random::reference;
use crate::ptx::types::Type;

const INTS: [Type; 8] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
];
const FLOATS: [Type; 4] = [Type::F16, Type::Bf16, Type::F32, Type::F64];

fn cvt(to: Type, from: Type, round: Round, bits: u64) -> u64 {
    Convert {
        round,
        ..Convert::new(to, from)
    }
    .apply(bits)
    .unwrap()
}

fn value(ty: Type, bits: u64) -> i128 {
    match ty {
        Type::U8 => (bits as u8).widen(),
        Type::S8 => (bits as i8).widen(),
        Type::U16 => (bits as u16).widen(),
        Type::S16 => (bits as i16).widen(),
        Type::U32 => (bits as u32).widen(),
        Type::S32 => (bits as i32).widen(),
        Type::U64 => bits.widen(),
        _ => (bits as i64).widen(),
    }
}

fn range(ty: Type) -> (i128, i128) {
    let half = 1i128 << (ty.bits() - 1);
    if ty.name().starts_with('s') {
        (-half, half - 1)
    } else {
        (0, 2 * half - 1)
    }
}

fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.bits())
}

#[test]
fn between_integers() {
    let mut cases = Cases::new(41);
    for _ in 0..count(1000) {
        let bits = cases.int();
        for from in INTS {
            for to in INTS {
                let x = value(from, bits);
                assert_eq!(cvt(to, from, Round::Rn, bits), x as u64 & mask(to));
                let clamped = Convert {
                    sat: true,
                    ..Convert::new(to, from)
                }
                .apply(bits)
                .unwrap();
                let (least, most) = range(to);
                assert_eq!(clamped, x.clamp(least, most) as u64 & mask(to), "{to:?} {from:?} {x}");
            }
        }
    }
}

/// The reference's conversion from a float of any type to a double, which is exact.
fn exact(ty: Type, bits: u64) -> f64 {
    let bits = u128::from(bits & mask(ty));
    let double: Double = match ty {
        Type::F16 => Half::from_bits(bits).convert(&mut false).value,
        Type::Bf16 => BFloat::from_bits(bits).convert(&mut false).value,
        Type::F32 => Single::from_bits(bits).convert(&mut false).value,
        _ => Double::from_bits(bits),
    };
    f64::from_bits(double.to_bits() as u64)
}

fn float_case(cases: &mut Cases, ty: Type) -> u64 {
    let format = super::super::convert::format(ty).unwrap();
    cases.float(format.exponent, format.fraction)
}

#[test]
fn from_floats_to_integers() {
    let mut cases = Cases::new(42);
    for _ in 0..count(1500) {
        for from in FLOATS {
            let bits = float_case(&mut cases, from);
            let x = exact(from, bits);
            for to in INTS {
                for round in [Round::Rn, Round::Rz, Round::Rm, Round::Rp] {
                    let expected = if x.is_nan() {
                        let open = from == Type::F64 || to.bits() == 64;
                        u64::from(open) << (to.bits() - 1)
                    } else {
                        let (least, most) = range(to);
                        let whole = Double::from_bits(x.to_bits().into())
                            .round_to_integral(reference(round))
                            .value;
                        (f64::from_bits(whole.to_bits() as u64) as i128).clamp(least, most) as u64 & mask(to)
                    };
                    assert_eq!(cvt(to, from, round, bits), expected, "{to:?} {from:?} {round:?} {x:e}");
                }
            }
        }
    }
}

fn from_int<F: Float>(x: i128, round: Round) -> u64 {
    F::from_i128_r(x, reference(round)).value.to_bits() as u64
}

#[test]
fn from_integers_to_floats() {
    let mut cases = Cases::new(43);
    for _ in 0..count(1500) {
        let bits = cases.int();
        for from in INTS {
            let x = value(from, bits);
            for round in [Round::Rn, Round::Rz, Round::Rm, Round::Rp] {
                let expected = [
                    from_int::<Half>(x, round),
                    from_int::<BFloat>(x, round),
                    from_int::<Single>(x, round),
                    from_int::<Double>(x, round),
                ];
                for (to, expected) in FLOATS.into_iter().zip(expected) {
                    assert_eq!(cvt(to, from, round, bits), expected, "{to:?} {from:?} {round:?} {x}");
                }
            }
        }
    }
}

fn narrowed<F: Float>(x: f64, round: Round) -> Option<u64>
where
    Double: FloatConvert<F>,
{
    let result: F = Double::from_bits(x.to_bits().into())
        .convert_r(reference(round), &mut false)
        .value;
    (!result.is_nan()).then_some(result.to_bits() as u64)
}

#[test]
fn between_floats() {
    let mut cases = Cases::new(44);
    for _ in 0..count(3000) {
        for from in FLOATS {
            let bits = float_case(&mut cases, from);
            let x = exact(from, bits);
            for round in Round::ALL {
                let expected = [
                    narrowed::<Half>(x, round).unwrap_or(0x7fff),
                    narrowed::<BFloat>(x, round).unwrap_or(0x7fff),
                    narrowed::<Single>(x, round).unwrap_or(0x7fff_ffff),
                ];
                for (to, expected) in FLOATS.into_iter().zip(expected) {
                    assert_eq!(cvt(to, from, round, bits), expected, "{to:?} {from:?} {round:?} {x:e}");
                }
                let double = f64::from_bits(cvt(Type::F64, from, round, bits));
                assert!(double.to_bits() == x.to_bits() || double.is_nan() && x.is_nan());
            }
        }
    }
}

#[test]
fn modifiers() {
    let f32 = |x: f32| u64::from(x.to_bits());
    let plain = Convert::new(Type::F32, Type::F32);
    let rni = Convert {
        integral: true,
        ..plain
    };
    for (x, y) in [(2.5, 2.0), (3.5, 4.0), (-0.25, -0.0), (1e30, 1e30)] {
        assert_eq!(rni.apply(f32(x)), Some(f32(y)));
    }
    let sat = Convert { sat: true, ..plain };
    for (x, y) in [(2.5, 1.0), (-1.0, 0.0), (0.5, 0.5), (f32::NAN, 0.0), (-0.0, 0.0)] {
        assert_eq!(sat.apply(f32(x)), Some(f32(y)));
    }
    let ftz = Convert { ftz: true, ..plain };
    assert_eq!(ftz.apply(0x8000_0123), Some(0x8000_0000));
    let narrow = Convert {
        ftz: true,
        ..Convert::new(Type::F32, Type::F64)
    };
    assert_eq!(narrow.apply((-1e-40f64).to_bits()), Some(0x8000_0000));
    let widen = Convert {
        ftz: true,
        ..Convert::new(Type::F32, Type::F16)
    };
    assert_eq!(
        widen.apply(1),
        Some(f32(2f32.powi(-24))),
        "a subnormal f16 is a normal f32"
    );
    let finite = Convert {
        finite: true,
        relu: true,
        ..Convert::new(Type::F16, Type::F32)
    };
    assert_eq!(finite.apply(f32(1e9)), Some(0x7bff));
    assert_eq!(finite.apply(f32(-1e9)), Some(0));
    assert_eq!(finite.apply(f32(f32::NAN)), Some(0x7fff));
    let tf32 = Convert {
        round: Round::Rna,
        ..Convert::new(Type::Tf32, Type::F32)
    };
    assert_eq!(tf32.apply(0x3f80_1000), Some(0x3f80_2000));
    assert_eq!(tf32.apply(0x3f80_0fff), Some(0x3f80_0000));
    assert_eq!(Convert::new(Type::F32, Type::Texref).apply(0), None);
}
