//! Product of two matrices.

use super::{Kind, Named, Problem, Reference, named, operand};

pub const REFERENCE: Reference = Reference {
    name: "gemm",
    formula: "c = a b, all row by row; with b_layout: columns, b is stored column by column",
    dims: &["m", "n", "k"],
    settings: &["b_layout"],
    inputs: &[
        operand("a", &["m", "k"], Kind::Data),
        operand("b", &["k", "n"], Kind::Data),
    ],
    outputs: &[operand("c", &["m", "n"], Kind::Data)],
    compute,
    derive: None,
    differences: None,
};

fn compute(problem: &Problem<'_>) -> Named {
    let [m, n, k] = ["m", "n", "k"].map(|name| problem.dim(name));
    let (a, b) = (problem.input("a"), problem.input("b"));
    let by_columns = problem.word("b_layout") == "columns";
    let element = |row: usize, column: usize| {
        let b = |at: usize| {
            if by_columns {
                b[column * k + at]
            } else {
                b[at * n + column]
            }
        };
        (0..k).map(|at| a[row * k + at] * b(at)).sum()
    };
    let c = (0..m * n).map(|at| element(at / n, at % n)).collect();
    named([("c", c)])
}
