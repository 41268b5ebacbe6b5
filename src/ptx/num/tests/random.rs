//! `.f32` and `.f64` arithmetic in every rounding mode against rustc_apfloat.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round as Reference};

use super::super::{Mode, Round, double, single};
use super::cases::{Cases, count};

pub(super) fn reference(round: Round) -> Reference {
    match round {
        Round::Rn => Reference::NearestTiesToEven,
        Round::Rz => Reference::TowardZero,
        Round::Rm => Reference::TowardNegative,
        Round::Rp => Reference::TowardPositive,
        Round::Rna => Reference::NearestTiesToAway,
    }
}

const MODES: [Round; 4] = [Round::Rn, Round::Rz, Round::Rm, Round::Rp];

fn same<F: Float>(expected: F, got: u64, nan: impl Fn(u64) -> bool, what: &dyn Fn() -> String) {
    if expected.is_nan() {
        assert!(nan(got), "{}: {got:#x}, not NaN", what());
    } else {
        assert_eq!(expected.to_bits() as u64, got, "{}: {got:#x}", what());
    }
}

#[test]
fn single_arithmetic() {
    let mut cases = Cases::new(1);
    for i in 0..count(60_000) {
        let a = cases.float(8, 23) as u32;
        let b = cases.near(u64::from(a), 8, 23) as u32;
        let round = MODES[i as usize % 4];
        let (mode, by) = (Mode::new(round), reference(round));
        let (x, y) = (Single::from_bits(a.into()), Single::from_bits(b.into()));
        let check = |name: &str, expected: Single, got: u32| {
            same(expected, got.into(), |bits| bits == u64::from(single::NAN), &|| {
                format!("{name} {a:#x} {b:#x} {round:?}")
            });
        };
        check("add", x.add_r(y, by).value, single::add_with(a, b, mode));
        check("sub", x.sub_r(y, by).value, single::sub_with(a, b, mode));
        check("mul", x.mul_r(y, by).value, single::mul_with(a, b, mode));
        check("div", x.div_r(y, by).value, single::div_with(a, b, mode));
    }
}

#[test]
fn single_fused() {
    let mut cases = Cases::new(2);
    for i in 0..count(200_000) {
        let (a, b) = (cases.float(8, 23) as u32, cases.float(8, 23) as u32);
        // The addend is near the product, so that most of it cancels.
        let c = cases.near(u64::from(single::mul(a, b)), 8, 23) as u32;
        let round = MODES[i as usize % 4];
        let [x, y, z] = [a, b, c].map(|bits| Single::from_bits(bits.into()));
        let expected = x.mul_add_r(y, z, reference(round)).value;
        let got = single::fma_with(a, b, c, Mode::new(round));
        let what = || format!("fma {a:#x} {b:#x} {c:#x} {round:?}");
        same(expected, got.into(), |bits| bits == u64::from(single::NAN), &what);
        if round == Round::Rn {
            assert_eq!(got, single::fma_native(a, b, c), "{}", what());
        }
    }
}

#[test]
fn double_arithmetic() {
    let mut cases = Cases::new(3);
    for i in 0..count(60_000) {
        let a = cases.float(11, 52);
        let b = cases.near(a, 11, 52);
        let round = MODES[i as usize % 4];
        let by = reference(round);
        let (x, y) = (Double::from_bits(a.into()), Double::from_bits(b.into()));
        let check = |name: &str, expected: Double, got: u64| {
            same(expected, got, double::is_nan, &|| {
                format!("{name} {a:#x} {b:#x} {round:?}")
            });
        };
        check("add", x.add_r(y, by).value, double::add_with(a, b, round));
        check("sub", x.sub_r(y, by).value, double::sub_with(a, b, round));
        check("mul", x.mul_r(y, by).value, double::mul_with(a, b, round));
        check("div", x.div_r(y, by).value, double::div_with(a, b, round));
    }
}

#[test]
fn double_fused() {
    let mut cases = Cases::new(4);
    for i in 0..count(100_000) {
        let (a, b) = (cases.float(11, 52), cases.float(11, 52));
        let c = cases.near(double::mul(a, b), 11, 52);
        let round = MODES[i as usize % 4];
        let [x, y, z] = [a, b, c].map(|bits| Double::from_bits(bits.into()));
        let expected = x.mul_add_r(y, z, reference(round)).value;
        let got = double::fma_with(a, b, c, round);
        same(expected, got, double::is_nan, &|| {
            format!("fma {a:#x} {b:#x} {c:#x} {round:?}")
        });
    }
}

/// The reference has no square root: squares of the result and its neighbours enclose the operand, exactly in 128 bits.
#[test]
fn roots_enclose_the_operand() {
    let mut cases = Cases::new(5);
    for i in 0..count(200_000) {
        let a = cases.float(11, 52) & !(1 << 63);
        let value = f64::from_bits(a);
        if !value.is_finite() || value == 0.0 {
            continue;
        }
        let round = MODES[i as usize % 4];
        let root = f64::from_bits(double::sqrt_with(a, round));
        let order = |r: f64| square_against(r, value);
        match round {
            Round::Rz | Round::Rm => assert!(order(root).is_le() && order(root.next_up()).is_gt(), "{a:#x}"),
            Round::Rp => assert!(order(root).is_ge() && order(root.next_down()).is_lt(), "{a:#x}"),
            _ => assert!(
                order(root.next_up()).is_gt() && order(root.next_down()).is_lt(),
                "{a:#x}"
            ),
        }
        let small = value as f32;
        if small.is_finite() && small > 0.0 && round != Round::Rn {
            let root = f32::from_bits(single::sqrt_with(small.to_bits(), Mode::new(round)));
            let order = |r: f32| square_against(f64::from(r), f64::from(small));
            match round {
                Round::Rp => assert!(order(root).is_ge() && order(root.next_down()).is_lt(), "{small:e}"),
                _ => assert!(order(root).is_le() && order(root.next_up()).is_gt(), "{small:e}"),
            }
        }
    }
    assert_eq!(double::sqrt_with(1 << 63, Round::Rz), 1 << 63);
    assert!(double::is_nan(double::sqrt_with((-1f64).to_bits(), Round::Rz)));
}

/// How `r * r` compares with `x`, exactly; both positive and normal or not.
fn square_against(r: f64, x: f64) -> std::cmp::Ordering {
    let parts = |v: f64| {
        let (bits, field) = (v.to_bits(), (v.to_bits() >> 52) as i32);
        let hidden = u64::from(field != 0) << 52;
        (u128::from(bits & ((1 << 52) - 1) | hidden), field.max(1) - 1075)
    };
    let ((r, re), (x, xe)) = (parts(r), parts(x));
    let (square, exponent) = (r * r, 2 * re);
    let shift = exponent - xe;
    // The square has up to 106 bits: move whichever has room, and where neither has, the order is plain.
    if shift >= 0 {
        if square.leading_zeros() >= shift as u32 {
            (square << shift).cmp(&x)
        } else {
            std::cmp::Ordering::Greater
        }
    } else if x.leading_zeros() >= shift.unsigned_abs() {
        square.cmp(&(x << -shift))
    } else {
        std::cmp::Ordering::Less
    }
}
