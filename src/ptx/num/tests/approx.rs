//! `.approx` against the host's functions: within one unit in the last place everywhere.

use super::super::approx;
use super::super::format::{BF16, F16};
use super::super::{half, single};
use super::cases::{Cases, count};

/// Units in the last place between a result and the true value, as far as a double knows it.
fn distance(got: u32, exact: f64) -> f64 {
    let expected = (exact as f32).to_bits();
    if single::is_nan(expected) || single::is_nan(got) {
        return if single::is_nan(expected) && got == single::NAN {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if got == expected {
        return 0.0;
    }
    let value = f64::from(f32::from_bits(got));
    let unit = f64::from(f32::from_bits(expected & 0x7fff_ffff).next_up()) - exact.abs();
    (value - exact).abs() / unit.abs().max(f64::from(f32::from_bits(1)))
}

type Case = (&'static str, fn(u32, bool) -> u32, fn(f64) -> f64);

#[test]
fn within_one_unit_of_the_host() {
    let table: [Case; 8] = [
        ("rcp", approx::rcp, |x| 1.0 / x),
        ("sqrt", approx::sqrt, f64::sqrt),
        ("rsqrt", approx::rsqrt, |x| 1.0 / x.sqrt()),
        ("lg2", approx::lg2, f64::log2),
        ("ex2", approx::ex2, f64::exp2),
        ("sin", approx::sin, f64::sin),
        ("cos", approx::cos, f64::cos),
        ("tanh", |a, _| approx::tanh(a), f64::tanh),
    ];
    let mut cases = Cases::new(21);
    for _ in 0..count(20_000) {
        let a = cases.float(8, 23) as u32;
        let x = f64::from(f32::from_bits(a));
        for (name, op, exact) in table {
            let far = distance(op(a, false), exact(x));
            assert!(far <= 1.0, "{name} {a:#x} {x:e}: {far} units");
        }
    }
}

#[test]
fn special_values() {
    let (zero, minus, inf, one) = (0, 0x8000_0000u32, 0x7f80_0000u32, 0x3f80_0000u32);
    let nan = single::NAN;
    for (op, results) in [
        (approx::rcp as fn(u32, bool) -> u32, [inf, inf | minus, zero, minus]),
        (approx::sqrt, [zero, minus, inf, nan]),
        (approx::rsqrt, [inf, inf | minus, zero, nan]),
        (approx::lg2, [inf | minus, inf | minus, inf, nan]),
        (approx::ex2, [one, one, inf, zero]),
        (approx::sin, [zero, minus, nan, nan]),
        (approx::cos, [one, one, nan, nan]),
    ] {
        assert_eq!([zero, minus, inf, inf | minus].map(|a| op(a, false)), results);
        assert_eq!(
            [1, minus | 1].map(|a| op(a, true)),
            [results[0], results[1]],
            "subnormals are zero with ftz"
        );
        assert_eq!(op(0xffc0_0123, false), nan);
    }
    assert_eq!(
        [zero, minus, inf, inf | minus].map(approx::tanh),
        [zero, minus, one, one | minus]
    );
}

#[test]
fn division_by_huge_numbers() {
    let (huge, inf, one) = (0x7e80_0001, 0x7f80_0000u32, 0x3f80_0000u32);
    assert_eq!(approx::div(one, huge, false), 0);
    assert_eq!(approx::div(one | 0x8000_0000, huge, false), 0x8000_0000);
    assert_eq!(approx::div(inf, huge, false), single::NAN);
    assert_eq!(approx::div(one, inf, false), 0);
    assert_eq!(approx::div(inf, one, false), inf);
    assert_eq!(approx::div(one, 0x4040_0000, false), (1f32 / 3.0).to_bits());
    assert_eq!(approx::div_full(huge, huge, false), one);
}

#[test]
fn halves_are_rounded_once() {
    for a in 0..=u16::MAX {
        for format in [F16, BF16] {
            let x = format.decode(a.into());
            if x.is_nan() {
                assert_eq!(
                    (approx::ex2_half(format, a, false), approx::tanh_half(format, a)),
                    (0x7fff, 0x7fff)
                );
                continue;
            }
            let close = |got: u16, exact: f64| {
                let got = format.decode(got.into());
                let reference = format.decode(format.encode(exact, super::super::Round::Rn, false));
                got == reference || (got - exact).abs() <= exact.abs() * 0.501 * 2f64.powi(-(format.fraction as i32))
            };
            assert!(close(approx::ex2_half(format, a, false), x.exp2()), "{a:#x}");
            assert!(close(approx::tanh_half(format, a), x.tanh()), "{a:#x}");
        }
    }
    assert_eq!(approx::ex2_half(BF16, 0x8001, true), 0x3f80);
    assert_eq!(half::relu(F16, 0x8000), 0);
}

#[test]
fn gross_reciprocals_have_twenty_bits() {
    let mut cases = Cases::new(22);
    for _ in 0..10_000 {
        let a = cases.float(11, 52);
        let x = f64::from_bits(a & 0xffff_ffff_0000_0000);
        if !x.is_normal() || x.abs() > 1e300 {
            continue;
        }
        for (got, exact) in [
            (approx::rcp_gross(a), 1.0 / x),
            (approx::rsqrt_gross(a), 1.0 / x.sqrt()),
        ] {
            assert_eq!(got as u32, 0);
            let value = f64::from_bits(got);
            assert!(
                (value - exact).abs() <= exact.abs() * 2f64.powi(-20) || exact.is_nan() && value.is_nan(),
                "{a:#x}"
            );
        }
    }
    assert_eq!(approx::rcp_gross(1), f64::INFINITY.to_bits());
}
