//! An expression, element by element.

use super::{Named, Problem, Reference, named, number};

pub const REFERENCE: Reference = Reference {
    name: "elementwise",
    formula: "the contract's expression, element by element: its names are input buffers and numbers of the shape",
    dims: &[],
    settings: &[],
    inputs: &[],
    outputs: &[],
    compute,
    derive: None,
    differences: None,
};

fn compute(problem: &Problem<'_>) -> Named {
    let len = problem.inputs.values().map(Vec::len).max().unwrap_or(0);
    let element = |at: usize| {
        let of = |name: &str| match problem.inputs.get(name) {
            // An input of one element goes with all of them.
            Some(values) => values.get(if values.len() == 1 { 0 } else { at }).copied(),
            None => number(problem.shape, name),
        };
        let value = problem.expression.and_then(|expression| expression.value(&of));
        value.unwrap_or(f64::NAN)
    };
    named([("out", (0..len).map(element).collect())])
}
