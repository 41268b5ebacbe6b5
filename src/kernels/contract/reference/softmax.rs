//! Softmax of rows.

use super::{Kind, Named, Problem, Reference, named, operand};

pub const REFERENCE: Reference = Reference {
    name: "softmax",
    formula: "y = exp(scale * (x - max)) / sum of the same, row by row; scale is 1 where nothing is said",
    dims: &["rows", "columns"],
    settings: &["scale"],
    inputs: &[operand("x", &["rows", "columns"], Kind::Data)],
    outputs: &[operand("y", &["rows", "columns"], Kind::Data)],
    compute,
    derive: None,
    differences: None,
};

fn compute(problem: &Problem<'_>) -> Named {
    let scale = problem.number("scale", 1.0);
    let mut y = Vec::new();
    for row in problem.input("x").chunks_exact(problem.dim("columns")) {
        let most = row.iter().map(|x| scale * x).fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = row.iter().map(|x| (scale * x - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        y.extend(powers.iter().map(|power| power / sum));
    }
    named([("y", y)])
}
