//! Tests of the f64 references and of what may be asked for. Texts are tested from outside, in `tests/kernels.rs`.

use super::fused_rmsnorm_nf4_gemv::FusedRmsNormNf4Gemv;
use super::nf4::{NibbleOrder, quantize};
use super::nf4_gemv::Nf4Gemv;
use super::params::{Field, Range};
use super::rmsnorm::{RmsNorm, Saved};
use super::rmsnorm_backward::RmsNormBackward;
use super::sweep::Sweep;
use super::*;

/// Numbers between -1 and 1 that look random and are the same in every run.
fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// The forward pass in f64, for finite differences: sum(y * dy) of one row.
fn loss(x: &[f64], gamma: &[f64], dy: &[f32], eps: f64) -> f64 {
    let squares: f64 = x.iter().map(|x| x * x).sum();
    let rms = (squares / x.len() as f64 + eps).sqrt();
    let terms = x.iter().zip(gamma).zip(dy);
    terms.map(|((x, gamma), dy)| x / rms * gamma * f64::from(*dy)).sum()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

/// Central difference of `f` in each of the variables.
fn differences(at: &[f64], scale: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-4 * scale;
    let moved = |index: usize, by: f64| {
        let mut at = at.to_vec();
        at[index] += by;
        f(&at)
    };
    (0..at.len())
        .map(|index| (moved(index, step) - moved(index, -step)) / (2.0 * step))
        .collect()
}

/// Greatest difference, relative to the greatest value.
fn error(got: &[f64], want: &[f64]) -> f64 {
    let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |most: f64, value| most.max(value.abs()));
    let difference = greatest(&mut got.iter().zip(want).map(|(got, want)| got - want));
    difference / greatest(&mut want.iter().copied())
}

#[test]
fn the_backward_reference_equals_finite_differences() {
    for (hidden, scale) in [(1, 1.0), (2, 1.0), (7, 1.0), (32, 1e-3), (32, 30.0), (100, 1.0)] {
        let spec = RmsNormBackward {
            hidden,
            ..RmsNormBackward::default()
        };
        let len = hidden as usize;
        let x: Vec<f32> = noise(len, 1).iter().map(|x| x * scale).collect();
        let (dy, gamma) = (noise(len, 2), noise(len, 3));
        let (dx, dgamma) = spec.reference(&x, &gamma, &dy);
        let (wide_x, wide_gamma) = (wide(&x), wide(&gamma));
        let by_x = differences(&wide_x, f64::from(scale), |x| loss(x, &wide_gamma, &dy, spec.eps));
        let by_gamma = differences(&wide_gamma, 1.0, |gamma| loss(&wide_x, gamma, &dy, spec.eps));
        // A row of one element has a gradient of nothing but eps: there the differences err most.
        let bar = if hidden == 1 { 1e-3 } else { 1e-6 };
        assert!(
            error(&dx, &by_x) < bar,
            "dx, hidden {hidden}, scale {scale}: {}",
            error(&dx, &by_x)
        );
        assert!(
            error(&dgamma, &by_gamma) < 1e-6,
            "dgamma, hidden {hidden}, scale {scale}"
        );
    }
}

#[test]
fn dgamma_sums_over_rows_and_dx_does_not() {
    let spec = RmsNormBackward {
        hidden: 5,
        ..RmsNormBackward::default()
    };
    let (x, gamma, dy) = (noise(15, 1), noise(5, 2), noise(15, 3));
    let (dx, dgamma) = spec.reference(&x, &gamma, &dy);
    let rows: Vec<_> = (0..3)
        .map(|row| spec.reference(&x[row * 5..][..5], &gamma, &dy[row * 5..][..5]))
        .collect();
    assert_eq!(dx, rows.iter().flat_map(|(dx, _)| dx.clone()).collect::<Vec<_>>());
    let sum: Vec<f64> = (0..5)
        .map(|at| rows.iter().map(|(_, dgamma)| dgamma[at]).sum())
        .collect();
    assert!(error(&dgamma, &sum) < 1e-15);
}

#[test]
fn the_fused_reference_equals_norm_then_product() {
    let (k, n) = (128, 3);
    for order in [NibbleOrder::High, NibbleOrder::Low] {
        let (x, gamma) = (noise(k, 1), noise(k, 2));
        let (data, scales) = quantize(&noise(k * n, 3), order);
        let fused = FusedRmsNormNf4Gemv {
            k: k as u32,
            n: n as u32,
            eps: 1e-5,
            nibble_order: order,
        };
        let norm = RmsNorm {
            hidden: k as u32,
            eps: 1e-5,
            ..RmsNorm::default()
        };
        let product = Nf4Gemv {
            k: k as u32,
            n: n as u32,
            nibble_order: order,
        };
        let normal: Vec<f32> = norm.reference(&x, &gamma).0.iter().map(|y| *y as f32).collect();
        let separate = product.reference(&scales, &data, &normal);
        assert!(error(&fused.reference(&scales, &data, &x, &gamma), &separate) < 1e-6);
    }
}

#[test]
fn structs_are_checked_when_they_are_emitted() {
    let emit = |spec: &RmsNorm| emit(spec, DEFAULT_TARGET, None).map(|_| ());
    assert!(
        emit(&RmsNorm {
            hidden: 1,
            rows: 0,
            ..RmsNorm::default()
        })
        .is_ok()
    );
    let error = emit(&RmsNorm {
        hidden: 65537,
        ..RmsNorm::default()
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`hidden` is 65537; allowed: whole numbers from 1 to 65536"
    );
    assert!(
        emit(&RmsNorm {
            eps: f64::NAN,
            ..RmsNorm::default()
        })
        .is_err()
    );
    assert!(
        emit(&RmsNorm {
            eps: 0.0,
            ..RmsNorm::default()
        })
        .is_err()
    );
}

#[test]
fn parameters_survive_as_values_and_defaults_are_in_range() {
    let spec = RmsNormBackward {
        hidden: 7,
        rows: 3,
        eps: 1e-3,
        saved: Saved::None,
    };
    assert_eq!(RmsNormBackward::from_values(&spec.values().unwrap()), spec);
    assert_eq!(Saved::read(&Saved::Rstd.write()), Some(Saved::Rstd));
    for kernel in KERNELS {
        for param in kernel.params {
            assert!(
                param.check(&(param.default)()).is_ok(),
                "{} {}",
                kernel.name,
                param.name
            );
            assert!(param.help.ends_with('.'), "{} {}", kernel.name, param.name);
        }
    }
}

#[test]
fn ranges_take_their_ends_and_nothing_of_another_type() {
    let range = Range::multiples(64, 64, 256);
    for (value, inside) in [(0, false), (64, true), (100, false), (256, true), (320, false)] {
        assert_eq!(range.contains(&Value::Int(value)), inside, "{value}");
    }
    assert!(!range.contains(&Value::Float(64.0)));
    let range = Range::Float { min: 0.5, max: 2.0 };
    assert!(range.contains(&Value::Int(1)) && range.contains(&Value::Float(0.5)));
    assert!(!range.contains(&Value::Float(f64::NAN)) && !range.contains(&Value::Word("1".to_owned())));
}

#[test]
fn sweeps_cover_rows_of_any_length_with_legal_blocks() {
    for len in (1..=2048).chain([4095, 4096, 16384, 65534, 65535, 65536]) {
        let Sweep { threads, lanes, .. } = Sweep::new(len);
        assert!(
            (32..=1024).contains(&threads) && threads.is_power_of_two(),
            "{len}: {threads} threads"
        );
        assert!(len.is_multiple_of(lanes), "{len}: {lanes} lanes");
        // No more than half of the block idles, one warp apart.
        assert!(
            threads == 32 || threads * lanes * 4 < 2 * (len + 4 * lanes),
            "{len}: {threads} threads"
        );
    }
}
