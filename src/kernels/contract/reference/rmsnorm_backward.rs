//! The gradients of RMSNorm.

use super::rmsnorm::{EPS, rms};
use super::{Kind, Named, Problem, Reference, Samples, named, operand};

pub const REFERENCE: Reference = Reference {
    name: "rmsnorm-backward",
    formula: "dx = rstd * (gamma * dy - x * rstd^2 * mean(x * dy * gamma)), dgamma = sum over rows of dy * x * rstd; \
              saved is rms, or rstd with saved: rstd",
    dims: &["rows", "hidden"],
    settings: &["eps", "saved"],
    inputs: &[
        operand("x", &["rows", "hidden"], Kind::Data),
        operand("gamma", &["hidden"], Kind::Weight),
        operand("saved", &["rows"], Kind::Derived),
        operand("dy", &["rows", "hidden"], Kind::Data),
    ],
    outputs: &[
        operand("dx", &["rows", "hidden"], Kind::Data),
        operand("dgamma", &["hidden"], Kind::Data),
    ],
    compute,
    derive: Some(derive),
    differences: Some(differences),
};

/// Evaluations of the forward pass, times elements of a row, that finite differences may take.
const WORK: usize = 1 << 24;

/// What the forward pass saves.
fn derive(problem: &Problem<'_>, _: &str) -> Vec<f64> {
    let (hidden, eps) = (problem.dim("hidden"), problem.number("eps", EPS));
    let rows = problem.input("x").chunks_exact(hidden).map(|row| rms(row, eps));
    match problem.word("saved") {
        "rstd" => rows.map(f64::recip).collect(),
        _ => rows.collect(),
    }
}

fn compute(problem: &Problem<'_>) -> Named {
    let (hidden, eps) = (problem.dim("hidden"), problem.number("eps", EPS));
    let gamma = problem.input_or("gamma", 1.0, hidden);
    let (x, dy) = (problem.input("x"), problem.input("dy"));
    let (mut dx, mut dgamma) = (Vec::new(), vec![0.0; hidden]);
    for (x, dy) in x.chunks_exact(hidden).zip(dy.chunks_exact(hidden)) {
        let rstd = 1.0 / rms(x, eps);
        let products: f64 = (0..hidden).map(|at| x[at] * dy[at] * gamma[at]).sum();
        let squares: f64 = x.iter().map(|x| x * x).sum();
        for (at, sum) in dgamma.iter_mut().enumerate() {
            // With rms^2 = squares / hidden + eps, what the element itself adds to both sums cancels: it is left out
            // before it costs digits. Of a row of one element, only eps is left.
            let (own, slope) = (x[at], gamma[at] * dy[at]);
            let others = slope * (squares - own * own) - own * (products - own * slope);
            dx.push(rstd.powi(3) * (slope * eps + others / hidden as f64));
            *sum += dy[at] * own * rstd;
        }
    }
    named([("dx", dx), ("dgamma", dgamma)])
}

/// The sum of dy * y, whose gradients are wanted.
fn loss(x: &[f64], gamma: &[f64], dy: &[f64], eps: f64) -> f64 {
    let rms = rms(x, eps);
    let terms = x.iter().zip(gamma).zip(dy).map(|((x, gamma), dy)| x / rms * gamma * dy);
    terms.sum()
}

/// dx from the forward pass alone: (loss(x + h) - loss(x - h)) / 2h. Of long rows, every so many elements; and without
/// those whose difference is lost in the rounding of f64, as it is where a row's only element is large.
fn differences(problem: &Problem<'_>, output: &str) -> Samples {
    let (hidden, eps) = (problem.dim("hidden"), problem.number("eps", EPS));
    let gamma = problem.input_or("gamma", 1.0, hidden);
    let (x, dy) = (problem.input("x"), problem.input("dy"));
    if output != "dx" {
        return Samples::new();
    }
    let step = (x.len().saturating_mul(hidden) / WORK).next_power_of_two().max(1);
    let sample = |at: usize| {
        let row = at / hidden * hidden;
        let dy = &dy[row..row + hidden];
        let mut moved = x[row..row + hidden].to_vec();
        let h = 1e-4 * rms(&moved, eps);
        let (middle, column) = (moved[at - row], at - row);
        moved[column] = middle + h;
        let above = (loss(&moved, &gamma, dy, eps), moved[column]);
        moved[column] = middle - h;
        let below = (loss(&moved, &gamma, dy, eps), moved[column]);
        let noise = 1e-15 * above.0.abs() / h;
        (at, (above.0 - below.0) / (above.1 - below.1), noise)
    };
    let samples: Vec<_> = (0..x.len()).step_by(step).map(sample).collect();
    let most = samples.iter().fold(0.0f64, |most, sample| most.max(sample.1.abs()));
    let clear = samples.into_iter().filter(|sample| sample.2 <= 1e-6 * most);
    clear.map(|(at, difference, _)| (at, difference)).collect()
}
