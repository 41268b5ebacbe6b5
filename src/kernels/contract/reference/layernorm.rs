//! LayerNorm of rows.

use super::{Kind, Named, Problem, Reference, named, operand};

pub const REFERENCE: Reference = Reference {
    name: "layernorm",
    formula: "y = (x - mean) * rstd * gamma + beta, rstd = 1 / sqrt(mean((x - mean)^2) + eps), row by row; eps is 1e-5 \
              where nothing is said",
    dims: &["rows", "hidden"],
    settings: &["eps"],
    inputs: &[
        operand("x", &["rows", "hidden"], Kind::Data),
        operand("gamma", &["hidden"], Kind::Weight),
        operand("beta", &["hidden"], Kind::Weight),
    ],
    outputs: &[
        operand("y", &["rows", "hidden"], Kind::Data),
        operand("mean", &["rows"], Kind::Data),
        operand("rstd", &["rows"], Kind::Data),
    ],
    compute,
    derive: None,
    differences: None,
};

fn compute(problem: &Problem<'_>) -> Named {
    let (hidden, eps) = (problem.dim("hidden"), problem.number("eps", 1e-5));
    let gamma = problem.input_or("gamma", 1.0, hidden);
    let beta = problem.input_or("beta", 0.0, hidden);
    let (mut y, mut means, mut rstds) = (Vec::new(), Vec::new(), Vec::new());
    for row in problem.input("x").chunks_exact(hidden) {
        let mean = row.iter().sum::<f64>() / hidden as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / hidden as f64;
        let rstd = 1.0 / (variance + eps).sqrt();
        let terms = row.iter().zip(&gamma).zip(&beta);
        y.extend(terms.map(|((x, gamma), beta)| (x - mean) * rstd * gamma + beta));
        means.push(mean);
        rstds.push(rstd);
    }
    named([("y", y), ("mean", means), ("rstd", rstds)])
}
