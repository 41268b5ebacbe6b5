//! Textures and surfaces: coordinates, offsets and derivatives follow from the geometry; the first thing in the bracket is a
//! reference or a 64-bit register.

use super::{Scope, classes};
use crate::ptx::diag::{Code, Diag, codes};
use crate::ptx::ir::{Address, Base, Imm, Inst, Operand, SymbolId};
use crate::ptx::source::Span;
use crate::ptx::types::{Space, Type};

/// What a geometry asks for.
struct Geometry {
    name: &'static str,
    /// Sizes that the vector of coordinates may have.
    coordinates: &'static [usize],
    /// Sizes that the vector of offsets may have; empty for none.
    offsets: &'static [usize],
    /// Sizes that the vectors of derivatives may have.
    derivatives: &'static [usize],
    /// Whether the first coordinate is an index: of a layer or of a sample.
    indexed: bool,
    /// The only type of coordinates there is, if there is but one.
    only: Option<Type>,
}

const fn geometry(
    name: &'static str,
    sizes: (&'static [usize], &'static [usize], &'static [usize]),
    indexed: bool,
    only: Option<Type>,
) -> Geometry {
    Geometry {
        name,
        coordinates: sizes.0,
        offsets: sizes.1,
        derivatives: sizes.2,
        indexed,
        only,
    }
}

/// As ptxas 13.5 has it: vectors may be longer than the manual says, with parts that nobody reads.
const GEOMETRIES: &[Geometry] = &[
    geometry("1d", (&[1, 2, 4], &[1, 2, 4], &[1]), false, None),
    geometry("2d", (&[2, 4], &[2, 4], &[2]), false, None),
    geometry("3d", (&[4], &[4], &[4]), false, None),
    geometry("a1d", (&[2, 4], &[1, 2, 4], &[1]), true, None),
    geometry("a2d", (&[4], &[2, 4], &[2]), true, None),
    geometry("cube", (&[4], &[], &[1, 2, 4]), false, Some(Type::F32)),
    geometry("acube", (&[4], &[], &[1, 2, 4]), true, Some(Type::F32)),
    geometry("2dms", (&[4], &[2, 4], &[]), true, Some(Type::S32)),
    geometry("a2dms", (&[4], &[2, 4], &[]), true, Some(Type::S32)),
];

type Finding = (Code, String);

/// Checks what the form cannot say.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    if !matches!(
        inst.op.base(),
        "tex" | "tld4" | "txq" | "suq" | "suld" | "sust" | "sured"
    ) {
        return;
    }
    for (at, operand) in inst.operands.iter().enumerate() {
        if let Some((code, message)) = finding(scope, inst, at, operand) {
            let place = scope.pieces(span).operands.get(at).copied().unwrap_or(span);
            out.push(Diag::error(code, place, message));
        }
    }
}

fn finding(scope: &Scope, inst: &Inst, at: usize, operand: &Operand) -> Option<Finding> {
    match operand {
        Operand::Address(_) => reference(scope, inst, operand),
        Operand::Bracket(parts) => {
            let wrong = reference(scope, inst, parts.first()?);
            // With a sampler in between, the default mode reads the bracket in another way.
            let plain = parts.len() == 2;
            wrong.or_else(|| coordinates(scope, inst, parts.last().filter(|_| plain)?))
        }
        Operand::Vector(parts) if at > 0 => later_vector(inst, at, parts.len()),
        Operand::Reg(_) | Operand::Imm(_) if is_depth(scope, inst, at, operand) => {
            let wrong = inst.op.ty() != Some(Type::F32);
            wrong.then(|| {
                let message = format!("`{}` compares no depth: its coordinates are integers", inst.op.text);
                (codes::ISA001, message)
            })
        }
        _ => None,
    }
}

/// The texture or surface itself.
fn reference(scope: &Scope, inst: &Inst, operand: &Operand) -> Option<Finding> {
    let surface = inst.op.base().starts_with("su");
    let wanted = if surface { "surfref" } else { "texref" };
    let fits = match operand {
        Operand::Address(Address { base, offset: 0 }) => match base {
            Base::Reg(reg) => scope
                .reg_type(*reg)
                .is_none_or(|ty| ty.is_integral() && ty.bits() == 64),
            Base::Symbol(symbol) => is_reference(scope, *symbol, surface),
            Base::Absolute => false,
        },
        _ => false,
    };
    (!fits).then(|| {
        let message = format!("`{}` takes a `.{wanted}` or a 64-bit register here", inst.op.text);
        (codes::ISA002, message)
    })
}

/// Whether a variable is a reference of that kind. Parameters may be, and what is not known may be too.
fn is_reference(scope: &Scope, symbol: SymbolId, surface: bool) -> bool {
    let Some(variable) = scope.module.variable(symbol) else {
        return true;
    };
    // Before PTX 1.5 a texture was an integer in a space of its own.
    let old = !surface && variable.space == Space::Tex;
    old || variable.ty == if surface { Type::Surfref } else { Type::Texref }
}

fn geometry_of(inst: &Inst) -> Option<&'static Geometry> {
    GEOMETRIES.iter().find(|geometry| inst.op.has(geometry.name))
}

fn coordinates(scope: &Scope, inst: &Inst, operand: &Operand) -> Option<Finding> {
    let geometry = geometry_of(inst)?;
    let Operand::Vector(parts) = operand else { return None };
    if !geometry.coordinates.contains(&parts.len()) {
        return Some(misfit("coordinates", geometry.coordinates, parts.len(), geometry));
    }
    let sampled = matches!(inst.op.base(), "tex" | "tld4");
    let ty = if sampled { inst.op.ty()? } else { Type::U32 };
    if let Some(only) = geometry.only.filter(|only| sampled && *only != ty) {
        let message = format!(
            "`.{}` takes coordinates of type `.{}`, not `.{}`",
            geometry.name,
            only.name(),
            ty.name()
        );
        return Some((codes::ISA003, message));
    }
    for (at, part) in parts.iter().enumerate() {
        let Operand::Reg(reg) = part else { continue };
        let Some(found) = scope.reg_type(*reg) else { continue };
        let want = if geometry.indexed && at == 0 { Type::U32 } else { ty };
        if !classes::takes_register(want, false, found) {
            let name = scope.reg_name(*reg);
            let message = format!("`{name}` is `.{}` where `.{}` is needed", found.name(), want.name());
            return Some((codes::ISA004, message));
        }
    }
    None
}

/// Offsets or derivatives behind the bracket.
fn later_vector(inst: &Inst, at: usize, count: usize) -> Option<Finding> {
    // Behind the bracket of a store to a surface stand its data.
    let geometry = geometry_of(inst).filter(|_| matches!(inst.op.base(), "tex" | "tld4"))?;
    let bracket = inst
        .operands
        .iter()
        .position(|operand| matches!(operand, Operand::Bracket(_)))?;
    if at < bracket {
        return None;
    }
    let derivative = inst.op.has("grad") && at <= bracket + 2;
    let (what, sizes) = match derivative {
        true => ("derivatives", geometry.derivatives),
        false => ("offsets", geometry.offsets),
    };
    (!sizes.contains(&count)).then(|| misfit(what, sizes, count, geometry))
}

fn misfit(what: &str, sizes: &[usize], count: usize, geometry: &Geometry) -> Finding {
    let sizes: Vec<_> = sizes.iter().map(usize::to_string).collect();
    let message = match sizes[..] {
        [] => format!("`.{}` takes no {what}", geometry.name),
        _ => format!(
            "`.{}` takes a vector of {} {what}, not {count}",
            geometry.name,
            sizes.join(" or ")
        ),
    };
    (codes::ISA013, message)
}

/// Whether the operand is the depth to compare with: a number behind everything else. An integer there is an offset.
fn is_depth(scope: &Scope, inst: &Inst, at: usize, operand: &Operand) -> bool {
    let number = match operand {
        Operand::Reg(reg) => scope.reg_type(*reg) == Some(Type::F32),
        Operand::Imm(Imm::F32(_) | Imm::F64(_)) => true,
        _ => false,
    };
    let bracket = inst
        .operands
        .iter()
        .position(|operand| matches!(operand, Operand::Bracket(_)));
    let behind = bracket.is_some_and(|bracket| at > bracket + usize::from(inst.op.has("level")));
    number && behind && matches!(inst.op.base(), "tex" | "tld4")
}
