//! What kernels are compared with: the same in f64, as plainly as it can be written.
//!
//! A reference knows its operands by name and shape. It is handed the inputs as the kernel reads them, after they
//! were rounded to the types of their buffers.

mod elementwise;
mod fused_rmsnorm_nf4_gemv;
mod gemm;
mod layernorm;
mod nf4_gemv;
mod rmsnorm;
mod rmsnorm_backward;
mod softmax;

use super::expr::Expr;
use crate::kernels::Value;
use std::collections::BTreeMap;

/// The numbers and words that a case is for: `rows`, `eps`, `nibble_order`.
pub type Shape = BTreeMap<String, Value>;

/// Values of operands by name.
pub type Named = BTreeMap<String, Vec<f64>>;

/// Which elements of an output are known, with their values.
pub type Samples = Vec<(usize, f64)>;

/// Something that a kernel may compute.
#[derive(Debug)]
pub struct Reference {
    /// Its name in contracts.
    pub name: &'static str,
    /// What it computes.
    pub formula: &'static str,
    /// Lengths that every case must give.
    pub dims: &'static [&'static str],
    /// Further numbers and words, which have defaults.
    pub settings: &'static [&'static str],
    /// What goes in.
    pub inputs: &'static [Operand],
    /// What comes out.
    pub outputs: &'static [Operand],
    /// Computes the outputs.
    pub compute: fn(&Problem<'_>) -> Named,
    /// Inputs that follow from others.
    pub derive: Option<fn(&Problem<'_>, &str) -> Vec<f64>>,
    /// An output by central finite differences.
    pub differences: Option<fn(&Problem<'_>, &str) -> Samples>,
}

/// An operand of a reference.
#[derive(Debug)]
pub struct Operand {
    /// Its name.
    pub name: &'static str,
    /// Its lengths, outermost first, as expressions.
    pub shape: &'static [&'static str],
    /// What its values are like.
    pub kind: Kind,
}

/// What the values of an operand are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of any sign and size.
    Data,
    /// Factors near 1.
    Weight,
    /// Positive factors.
    Scale,
    /// Any bytes.
    Codes,
    /// They follow from other inputs.
    Derived,
}

const fn operand(name: &'static str, shape: &'static [&'static str], kind: Kind) -> Operand {
    Operand { name, shape, kind }
}

/// One problem: its shape and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'p> {
    /// Numbers and words.
    pub shape: &'p Shape,
    /// The inputs.
    pub inputs: &'p Named,
    /// What an elementwise kernel computes.
    pub expression: Option<&'p Expr>,
}

/// All references.
pub const REFERENCES: &[Reference] = &[
    rmsnorm::REFERENCE,
    rmsnorm_backward::REFERENCE,
    nf4_gemv::REFERENCE,
    fused_rmsnorm_nf4_gemv::REFERENCE,
    softmax::REFERENCE,
    layernorm::REFERENCE,
    gemm::REFERENCE,
    elementwise::REFERENCE,
];

/// The reference that is given as an expression.
pub const ELEMENTWISE: &str = elementwise::REFERENCE.name;

impl Reference {
    /// The reference of that name.
    pub fn find(name: &str) -> Option<&'static Reference> {
        REFERENCES.iter().find(|reference| reference.name == name)
    }
}

/// The number of that name.
pub fn number(shape: &Shape, name: &str) -> Option<f64> {
    match shape.get(name)? {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Word(_) => None,
    }
}

impl Problem<'_> {
    fn number(&self, name: &str, default: f64) -> f64 {
        number(self.shape, name).unwrap_or(default)
    }

    /// A length; at least 1, so that chunks can be taken of it.
    fn dim(&self, name: &str) -> usize {
        (self.number(name, 1.0) as usize).max(1)
    }

    fn word(&self, name: &str) -> &str {
        match self.shape.get(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    fn input(&self, name: &str) -> &[f64] {
        self.inputs.get(name).map_or(&[], Vec::as_slice)
    }

    /// An input that may be left out.
    fn input_or(&self, name: &str, default: f64, len: usize) -> Vec<f64> {
        match self.inputs.get(name) {
            Some(values) => values.clone(),
            None => vec![default; len],
        }
    }
}

fn named<const N: usize>(outputs: [(&str, Vec<f64>); N]) -> Named {
    outputs
        .into_iter()
        .map(|(name, values)| (name.to_owned(), values))
        .collect()
}

#[cfg(test)]
mod tests;
