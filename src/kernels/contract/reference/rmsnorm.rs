//! RMSNorm of rows.

use super::{Kind, Named, Problem, Reference, named, operand};

/// What an eps is where a case does not say.
pub const EPS: f64 = 1e-6;

pub const REFERENCE: Reference = Reference {
    name: "rmsnorm",
    formula: "y = x / rms * gamma, rms = sqrt(mean(x^2) + eps), row by row; saved is rms, or 1 / rms with save: rstd",
    dims: &["rows", "hidden"],
    settings: &["eps", "save"],
    inputs: &[
        operand("x", &["rows", "hidden"], Kind::Data),
        operand("gamma", &["hidden"], Kind::Weight),
    ],
    outputs: &[
        operand("y", &["rows", "hidden"], Kind::Data),
        operand("saved", &["rows"], Kind::Data),
    ],
    compute,
    derive: None,
    differences: None,
};

/// sqrt(mean(x^2) + eps).
pub fn rms(row: &[f64], eps: f64) -> f64 {
    let squares: f64 = row.iter().map(|x| x * x).sum();
    (squares / row.len() as f64 + eps).sqrt()
}

fn compute(problem: &Problem<'_>) -> Named {
    let (hidden, eps) = (problem.dim("hidden"), problem.number("eps", EPS));
    let gamma = problem.input_or("gamma", 1.0, hidden);
    let (mut y, mut saved) = (Vec::new(), Vec::new());
    for row in problem.input("x").chunks_exact(hidden) {
        let rms = rms(row, eps);
        y.extend(row.iter().zip(&gamma).map(|(x, gamma)| x / rms * gamma));
        saved.push(if problem.word("save") == "rstd" { 1.0 / rms } else { rms });
    }
    named([("y", y), ("saved", saved)])
}
