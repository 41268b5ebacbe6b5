//! `atom`, `red`.

use super::super::lanes::Slot;
use super::alu::{Bits, by_int};
use super::compare::half_format;
use super::decoder::{Decoder, Refused};
use super::{Atomic, Rare, Update};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::num::{Mode, double, half, single};
use crate::ptx::types::Type;
use smallvec::SmallVec;

impl Decoder<'_> {
    /// `atom`, `red`.
    pub(super) fn atomic(&mut self, inst: &Inst) -> Result<(), Refused> {
        let returns = inst.op.base() == "atom";
        let at = usize::from(returns);
        let to = if returns {
            self.operand(inst, 0)?
        } else {
            &Operand::Sink
        };
        let to = match (to, inst.op.lanes) {
            (Operand::Sink, lanes) if lanes > 1 => &Operand::Vector(vec![Operand::Sink; lanes.into()].into()),
            (to, _) => to,
        };
        let mut access = self.access(inst, at, to, true)?;
        access.order.strong = true;
        let ty = access.ty;
        let operand = self.operand(inst, at + 1)?;
        let operands = self.parts(operand, access.regs.len(), ty, false)?;
        let operands: Option<SmallVec<[Slot; 4]>> = operands.into_iter().collect();
        let operands = operands.ok_or("`_` as an operand")?;
        let second = match inst.op.has("cas") {
            true => Some(self.arg(inst, at + 2, ty)?),
            false => None,
        };
        let update = update(inst, ty)?;
        self.rare(Rare::Atomic(Box::new(Atomic {
            access,
            update,
            operands,
            second,
        })));
        Ok(())
    }
}

/// What the instruction makes of an old value and its operands.
pub(super) fn update(inst: &Inst, ty: Type) -> Result<Update, Refused> {
    let named = |name| inst.op.has(name);
    Ok(match () {
        () if named("exch") => Box::new(|_, new, _| new),
        () if named("cas") => Box::new(|old, expected, new| if old == expected { new } else { old }),
        () if named("and") => Box::new(|old, x, _| old & x),
        () if named("or") => Box::new(|old, x, _| old | x),
        () if named("xor") => Box::new(|old, x, _| old ^ x),
        () if named("inc") => Box::new(|old, most, _| if old >= most { 0 } else { old + 1 }),
        () if named("dec") => Box::new(|old, most, _| if old == 0 || old > most { most } else { old - 1 }),
        () if named("add") => add(ty)?,
        () if named("min") => pick(ty, false)?,
        () if named("max") => pick(ty, true)?,
        () => return Err("its operation".into()),
    })
}

fn add(ty: Type) -> Result<Update, Refused> {
    if let Some(format) = half_format(ty) {
        return Ok(halves(ty, move |a, b| half::add(format, a, b, Mode::RN)));
    }
    Ok(match ty {
        Type::F32 => Box::new(|a, b, _| u128::from(single::add(a as u32, b as u32))),
        Type::F64 => Box::new(|a, b, _| u128::from(double::add(a as u64, b as u64))),
        _ => by_int!(ty, T => Box::new(|a, b, _| u128::from(T::of((a as u64).wrapping_add(b as u64)).bits()))),
    })
}

fn pick(ty: Type, most: bool) -> Result<Update, Refused> {
    if let Some(format) = half_format(ty) {
        let pick = if most { half::max } else { half::min };
        return Ok(halves(ty, move |a, b| pick(format, a, b, single::Extreme::default())));
    }
    Ok(by_int!(ty, T => Box::new(move |a, b, _| {
        let (a, b) = (T::of(a as u64), T::of(b as u64));
        u128::from(if most { a.max(b) } else { a.min(b) }.bits())
    })))
}

fn halves(ty: Type, f: impl Fn(u16, u16) -> u16 + Send + Sync + 'static) -> Update {
    match ty.bits() {
        32 => Box::new(move |a, b, _| u128::from(half::pair([a as u32, b as u32], |[a, b]| f(a, b)))),
        _ => Box::new(move |a, b, _| u128::from(f(a as u16, b as u16))),
    }
}
