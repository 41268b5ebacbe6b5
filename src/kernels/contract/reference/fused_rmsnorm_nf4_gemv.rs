//! RMSNorm of a vector, then its product with an NF4 matrix.

use super::nf4_gemv::product;
use super::rmsnorm::rms;
use super::{Kind, Named, Problem, Reference, named, operand};

pub const REFERENCE: Reference = Reference {
    name: "fused-rmsnorm-nf4-gemv",
    formula: "y = W (x / rms * gamma), W as in nf4-gemv, rms as in rmsnorm; eps is 1e-5 where nothing is said",
    dims: &["k", "n"],
    settings: &["eps", "nibble_order"],
    inputs: &[
        operand("scales", &["n", "k / 64"], Kind::Scale),
        operand("data", &["n", "k / 2"], Kind::Codes),
        operand("x", &["k"], Kind::Data),
        operand("gamma", &["k"], Kind::Weight),
    ],
    outputs: &[operand("y", &["n"], Kind::Data)],
    compute,
    derive: None,
    differences: None,
};

fn compute(problem: &Problem<'_>) -> Named {
    let x = problem.input("x");
    let gamma = problem.input_or("gamma", 1.0, x.len());
    let rms = rms(x, problem.number("eps", 1e-5));
    let normal: Vec<f64> = x.iter().zip(&gamma).map(|(x, gamma)| x / rms * gamma).collect();
    named([("y", product(problem, &normal))])
}
