//! Matching operands to a form's operand list by number and shape; types are the legality checks' business.

use super::Operand;
use crate::ptx::isa::{OperandKind, OperandSpec};

/// Whether the operands fit the form's list by number and shape.
pub fn fits(specs: &[OperandSpec], operands: &[Operand]) -> bool {
    let required = specs.iter().filter(|spec| !spec.optional).count();
    (required..=specs.len()).contains(&operands.len())
        && pair_up(specs, operands).all(|(spec, operand)| spec.is_some_and(|spec| fits_one(spec, operand)))
}

/// Pairs each operand with its place in the form. Optional places are filled from the left, as far as there are operands for them;
/// operands for which the form has no place get none.
pub fn pair_up<'a>(
    specs: &'a [OperandSpec],
    operands: &'a [Operand],
) -> impl Iterator<Item = (Option<&'a OperandSpec>, &'a Operand)> {
    let required = specs.iter().filter(|spec| !spec.optional).count();
    let mut spare = operands.len().saturating_sub(required);
    let mut specs = specs.iter();
    operands.iter().map(move |operand| {
        let spec = specs.by_ref().find(|spec| {
            let take = !spec.optional || (spare > 0 && fits_one(spec, operand));
            spare -= usize::from(take && spec.optional);
            take
        });
        (spec, operand)
    })
}

/// Whether one operand has a shape that its place takes.
pub fn fits_one(spec: &OperandSpec, operand: &Operand) -> bool {
    match operand {
        Operand::Pair(_) => spec.pair.is_some(),
        Operand::Not(_) => spec.negatable,
        Operand::Neg(..) => spec.minus,
        _ if spec.pair.as_ref().is_some_and(|(_, absent)| !absent) => false,
        _ => match spec.kind {
            OperandKind::Value => is_scalar(operand),
            OperandKind::Reg => {
                matches!(operand, Operand::Reg(_) | Operand::Part(..) | Operand::Sink)
            }
            OperandKind::Imm => match operand {
                Operand::Special(special) => special.name() == "WARP_SZ",
                _ => matches!(operand, Operand::Imm(_)),
            },
            OperandKind::Address => match operand {
                Operand::Address(_) => spec.parts.iter().filter(|part| !part.optional).count() <= 1,
                Operand::Bracket(parts) => fits_bracket(&spec.parts, parts),
                _ => false,
            },
            OperandKind::Vec | OperandKind::Pack => is_scalar(operand) || matches!(operand, Operand::Vector(_)),
            OperandKind::Frag => matches!(operand, Operand::Vector(_) | Operand::Reg(_)),
            OperandKind::Tuple => match operand {
                Operand::Vector(parts) => fits(&spec.parts, parts),
                _ => false,
            },
            OperandKind::Label => matches!(operand, Operand::Label(_)),
            OperandKind::Func => matches!(operand, Operand::Symbol(..) | Operand::Reg(_)),
            OperandKind::Symbol => matches!(operand, Operand::Symbol(..)),
            OperandKind::List => matches!(operand, Operand::List(_)),
        },
    }
}

/// Whether the parts of a bracket fit: what stands alone in one is an address to the parser, and a value to some forms.
fn fits_bracket(specs: &[OperandSpec], parts: &[Operand]) -> bool {
    let fits_part = |spec: &OperandSpec, part: &Operand| match (spec.kind, part) {
        (OperandKind::Value | OperandKind::Frag, Operand::Address(_)) => true,
        _ => fits_one(spec, part),
    };
    specs.len() == parts.len() && specs.iter().zip(parts).all(|(spec, part)| fits_part(spec, part))
}

fn is_scalar(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::Reg(_)
            | Operand::Part(..)
            | Operand::Sum(..)
            | Operand::Element(..)
            | Operand::Special(_)
            | Operand::Imm(_)
            | Operand::Symbol(..)
            | Operand::Sink
    )
}
