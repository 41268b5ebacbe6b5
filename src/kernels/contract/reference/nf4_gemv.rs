//! Product of an NF4 matrix and a vector.

use super::{Kind, Named, Problem, Reference, named, operand};
use crate::kernels::nf4::{BLOCK, NibbleOrder, codebook};

pub const REFERENCE: Reference = Reference {
    name: "nf4-gemv",
    formula: "y = W x, W = codebook[nibble] * scale of its block of 64; nibble_order: high or low",
    dims: &["k", "n"],
    settings: &["nibble_order"],
    inputs: &[
        operand("scales", &["n", "k / 64"], Kind::Scale),
        operand("data", &["n", "k / 2"], Kind::Codes),
        operand("x", &["k"], Kind::Data),
    ],
    outputs: &[operand("y", &["n"], Kind::Data)],
    compute,
    derive: None,
    differences: None,
};

fn compute(problem: &Problem<'_>) -> Named {
    named([("y", product(problem, problem.input("x")))])
}

/// W x.
pub fn product(problem: &Problem<'_>, x: &[f64]) -> Vec<f64> {
    let (data, scales, codebook) = (problem.input("data"), problem.input("scales"), codebook());
    let order = match problem.word("nibble_order") {
        "low" => NibbleOrder::Low,
        _ => NibbleOrder::High,
    };
    let k = problem.dim("k");
    let weight = |at: usize| {
        let nibble = data[at / 2] as u8 >> order.shift(at as u32 % 2) & 15;
        codebook[usize::from(nibble)] * scales[at / BLOCK as usize]
    };
    let row = |row: usize| x.iter().enumerate().map(|(at, x)| weight(row * k + at) * x).sum();
    (0..data.len() * 2 / k).map(row).collect()
}
