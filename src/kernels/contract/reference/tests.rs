//! References on values that can be worked out by hand, and against themselves.

use super::*;
use crate::kernels::contract::family::{Family, Random};

fn shape(numbers: &[(&str, f64)], words: &[(&str, &str)]) -> Shape {
    let numbers = numbers.iter().map(|(name, value)| match value.fract() == 0.0 {
        true => (*name, Value::Int(*value as u64)),
        false => (*name, Value::Float(*value)),
    });
    let words = words
        .iter()
        .map(|(name, word)| (*name, Value::Word((*word).to_owned())));
    numbers
        .chain(words)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn compute(name: &str, shape: &Shape, inputs: &[(&str, &[f64])]) -> Named {
    let inputs = inputs
        .iter()
        .map(|(name, values)| ((*name).to_owned(), values.to_vec()))
        .collect();
    let problem = Problem {
        shape,
        inputs: &inputs,
        expression: None,
    };
    (Reference::find(name).unwrap().compute)(&problem)
}

fn near(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    let close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-12 * want.abs().max(1.0);
    assert!(got.iter().zip(want).all(close), "{got:?}, not {want:?}");
}

#[test]
fn softmax_by_hand() {
    let outputs = compute(
        "softmax",
        &shape(&[("rows", 2.0), ("columns", 2.0)], &[]),
        &[("x", &[5.0, 5.0, 0.0, 3f64.ln()])],
    );
    near(&outputs["y"], &[0.5, 0.5, 0.25, 0.75]);
}

#[test]
fn layernorm_by_hand() {
    // mean 3, variance 16, and eps 9: rstd is 1 / 5.
    let shape = shape(&[("rows", 1.0), ("hidden", 2.0), ("eps", 9.0)], &[]);
    let outputs = compute(
        "layernorm",
        &shape,
        &[("x", &[-1.0, 7.0]), ("gamma", &[1.0, 2.0]), ("beta", &[0.0, 1.0])],
    );
    near(&outputs["y"], &[-0.8, 2.6]);
    near(&outputs["mean"], &[3.0]);
    near(&outputs["rstd"], &[0.2]);
}

#[test]
fn gemm_by_hand_in_both_layouts() {
    let (a, b): (&[f64], &[f64]) = (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]);
    let sizes = [("m", 2.0), ("n", 1.0), ("k", 3.0)];
    near(
        &compute("gemm", &shape(&sizes, &[]), &[("a", a), ("b", b)])["c"],
        &[14.0, 32.0],
    );
    let sizes = [("m", 1.0), ("n", 2.0), ("k", 2.0)];
    let b: &[f64] = &[1.0, 2.0, 3.0, 4.0];
    let c =
        |words: &[(&str, &str)]| compute("gemm", &shape(&sizes, words), &[("a", &[1.0, 10.0]), ("b", b)])["c"].clone();
    near(&c(&[]), &[31.0, 42.0]);
    near(&c(&[("b_layout", "columns")]), &[21.0, 43.0]);
}

#[test]
fn nf4_takes_either_half_first() {
    // Code 15 is 1, code 7 is 0: only the first weight counts, or only the second.
    let (mut data, mut x) = (vec![f64::from(0x77); 32], vec![0.0; 64]);
    data[0] = f64::from(0xF7);
    (x[0], x[1]) = (2.0, 3.0);
    let y = |order| {
        let shape = shape(&[("k", 64.0), ("n", 1.0)], &[("nibble_order", order)]);
        compute("nf4-gemv", &shape, &[("data", &data), ("scales", &[0.5]), ("x", &x)])["y"].clone()
    };
    near(&y("high"), &[1.0]);
    near(&y("low"), &[1.5]);
}

#[test]
fn rmsnorm_by_hand() {
    // mean of squares 25 / 2, eps 3.5: rms is 4.
    let shape = shape(&[("rows", 1.0), ("hidden", 2.0), ("eps", 3.5)], &[("save", "rstd")]);
    let outputs = compute("rmsnorm", &shape, &[("x", &[3.0, 4.0]), ("gamma", &[2.0, -1.0])]);
    near(&outputs["y"], &[1.5, -1.0]);
    near(&outputs["saved"], &[0.25]);
}

#[test]
fn gradients_are_the_differences_of_the_forward_pass() {
    let shape = shape(&[("rows", 3.0), ("hidden", 17.0)], &[]);
    let mut random = Random::new(3);
    let mut values = |kind, len| Family::Normal.values(kind, true, len, 17, &mut random);
    let inputs: Named = [
        ("x", Kind::Data, 51),
        ("gamma", Kind::Weight, 17),
        ("dy", Kind::Data, 51),
    ]
    .into_iter()
    .map(|(name, kind, len)| (name.to_owned(), values(kind, len)))
    .collect();
    let problem = Problem {
        shape: &shape,
        inputs: &inputs,
        expression: None,
    };
    let reference = Reference::find("rmsnorm-backward").unwrap();
    let exact = (reference.compute)(&problem);
    let most = exact["dx"].iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let differences = reference.differences.unwrap()(&problem, "dx");
    assert_eq!(differences.len(), 51);
    for (at, value) in differences {
        assert!((value - exact["dx"][at]).abs() < 1e-7 * most, "{at}");
    }
}

#[test]
fn every_operand_has_a_readable_shape() {
    for reference in REFERENCES {
        for operand in reference.inputs.iter().chain(reference.outputs) {
            for len in operand.shape {
                let names = Expr::read(len).unwrap();
                assert!(
                    names.names().iter().all(|name| reference.dims.contains(name)),
                    "{}",
                    operand.name
                );
            }
        }
    }
}
