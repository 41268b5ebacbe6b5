//! What float instructions would give if nothing were rounded to f32: for runs that carry an f64 beside every f32.

use super::super::lanes::Slot;
use super::Program;
use super::decoder::Decoder;
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::num::convert::Convert;
use crate::ptx::types::Type;
use smallvec::SmallVec;

/// An instruction in f64.
#[derive(Clone, Debug)]
pub struct Exact {
    /// What it does.
    pub what: What,
    /// Where the result goes.
    pub d: Slot,
    /// Its type.
    pub ty: Type,
    /// The operands with their types.
    pub args: SmallVec<[(Slot, Type); 3]>,
}

/// A function of up to three operands.
pub type Function = fn([f64; 3]) -> f64;

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// Moves the first operand; with a predicate in the third place, the first or the second.
    Move,
    /// Rounds the first operand to a narrower type, as was asked for.
    Round,
    /// Computes, and keeps the result between 0 and 1 if so.
    Compute(Function, bool),
}

/// The function of an opcode, and how many operands it has.
fn function(base: &str) -> Option<(Function, usize)> {
    Some(match base {
        "add" => (|[a, b, _]| a + b, 2),
        "sub" => (|[a, b, _]| a - b, 2),
        "mul" => (|[a, b, _]| a * b, 2),
        "div" => (|[a, b, _]| a / b, 2),
        "fma" | "mad" => (|[a, b, c]| a.mul_add(b, c), 3),
        "min" => (|[a, b, _]| a.min(b), 2),
        "max" => (|[a, b, _]| a.max(b), 2),
        "neg" => (|[a, ..]| -a, 1),
        "abs" => (|[a, ..]| a.abs(), 1),
        "rcp" => (|[a, ..]| a.recip(), 1),
        "sqrt" => (|[a, ..]| a.sqrt(), 1),
        "rsqrt" => (|[a, ..]| a.sqrt().recip(), 1),
        "sin" => (|[a, ..]| a.sin(), 1),
        "cos" => (|[a, ..]| a.cos(), 1),
        "lg2" => (|[a, ..]| a.log2(), 1),
        "ex2" => (|[a, ..]| a.exp2(), 1),
        "tanh" => (|[a, ..]| a.tanh(), 1),
        _ => return None,
    })
}

/// Bits of up to 32 as a value.
pub fn value_of(bits: u32, ty: Type) -> f64 {
    match ty {
        Type::F16 | Type::Bf16 => {
            let wide = Convert::new(Type::F64, ty).apply(u64::from(bits)).unwrap_or(0);
            f64::from_bits(wide)
        }
        _ => f64::from(f32::from_bits(bits)),
    }
}

impl Program {
    /// What the instruction at a place does with floats, if that is known.
    pub fn exact_at(&self, pc: u32) -> Option<&Exact> {
        let at = self.exact.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
        self.exact.get(at).map(|(_, exact)| exact)
    }
}

impl Decoder<'_> {
    /// Notes what the instruction just decoded does with floats, if that is known.
    pub(super) fn note_exact(&mut self, inst: &Inst) {
        let last = self.out.code.len().checked_sub(1);
        if let (Some(pc), Some(exact)) = (last, self.exact(inst)) {
            self.out.exact.push((pc as u32, exact));
        }
    }

    fn exact(&mut self, inst: &Inst) -> Option<Exact> {
        let (base, types) = (inst.op.base(), &inst.op.types);
        let ty = *types.first()?;
        let is_float = |ty: &Type| matches!(ty, Type::F16 | Type::Bf16 | Type::F32);
        let (what, count) = match base {
            "mov" if ty.bits() == 32 => (What::Move, 1),
            "selp" if ty.bits() == 32 => (What::Move, 3),
            "cvt" if types.len() == 2 && types.iter().all(is_float) => (What::Round, 1),
            _ if types.iter().all(|ty| *ty == Type::F32) => {
                let (f, count) = function(base)?;
                (What::Compute(f, inst.op.has("sat")), count)
            }
            _ => return None,
        };
        // To whole numbers, with the sign of a product, clamped: that is asked for, and no error.
        let other = ["rni", "rzi", "rmi", "rpi", "xorsign", "relu"];
        let plain = inst.op.lanes <= 1 && !other.iter().any(|name| inst.op.has(name));
        let to_register = matches!(inst.operands.first(), Some(Operand::Reg(_)));
        if !plain || !to_register || inst.operands.len() != count + 1 {
            return None;
        }
        let d = self.dest(inst, ty).ok()?;
        let mut args = SmallVec::new();
        for at in 1..=count {
            let of = match (base, at) {
                ("selp", 3) => Type::Pred,
                ("cvt", _) => *types.last()?,
                _ => ty,
            };
            args.push((self.arg(inst, at, of).ok()?, of));
        }
        Some(Exact { what, d, ty, args })
    }
}
