//! `mov` in all its shapes.

use super::super::lanes::{Slot, lanes};
use super::decoder::{Decoder, Refused, pred};
use super::{Ins, Op};
use crate::ptx::ir::{Component, Inst, Operand, Special};
use crate::ptx::types::Type;

impl Decoder<'_> {
    /// `mov`.
    pub(super) fn mov(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (to, from) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        if inst.op.lanes > 1 {
            return self.mov_vector(to, from, usize::from(inst.op.lanes), ty);
        }
        // A vector register as a whole stands for its components.
        let (to, from) = (&self.spelled_out(to), &self.spelled_out(from));
        match (to, from) {
            (Operand::Vector(parts), from) => self.unpack(parts, from, ty),
            (to, Operand::Vector(parts)) => self.pack(to, parts, ty),
            (to, from) => {
                let (d, a) = (self.target(to, ty)?, self.source(from, ty)?);
                self.copy(d, a)
            }
        }
    }

    /// A vector register as a brace vector.
    pub(super) fn spelled_out(&self, operand: &Operand) -> Operand {
        let lanes = match operand {
            Operand::Reg(reg) => self.body.regs.get(reg.index()).map_or(1, |decl| decl.lanes),
            _ => 1,
        };
        let parts = [Component::X, Component::Y, Component::Z, Component::W];
        match operand {
            Operand::Reg(reg) if lanes > 1 => {
                let parts = parts
                    .into_iter()
                    .take(lanes.into())
                    .map(|part| Operand::Part(*reg, part));
                Operand::Vector(parts.collect())
            }
            operand => operand.clone(),
        }
    }

    /// One register to another.
    pub(super) fn copy(&mut self, d: Slot, a: Slot) -> Result<(), Refused> {
        match (d, a) {
            (Slot::Word(d), Slot::Word(a)) => self.on_rows(Op::Mov32, d, &[a]),
            (Slot::Long(d), Slot::Long(a)) => self.on_rows(Op::Mov64, d, &[a]),
            (Slot::Quad(d), Slot::Quad(a)) => {
                self.on_rows(Op::Mov64, d, &[a]);
                self.on_rows(Op::Mov64, d + 1, &[a + 1]);
            }
            (Slot::Pred(d, _), Slot::Pred(a, flip)) => {
                let op = if flip { Op::Not1 } else { Op::Mov1 };
                self.push(Ins { d, a, ..Ins::plain(op) });
            }
            (Slot::Word(_) | Slot::Long(_), Slot::Word(_) | Slot::Long(_)) => self.lanewise1(d, a, |a| a),
            _ => return Err("registers of different classes".into()),
        }
        Ok(())
    }

    fn mov_vector(&mut self, to: &Operand, from: &Operand, count: usize, ty: Type) -> Result<(), Refused> {
        let to = self.parts(to, count, ty, true)?;
        let from = match from {
            Operand::Special(special) => self.special_parts(*special, count)?,
            from => self.parts(from, count, ty, false)?,
        };
        // All sources are read before anything is written.
        let mut held = Vec::new();
        for (d, a) in to.into_iter().zip(from) {
            if let (Some(d), Some(a)) = (d, a) {
                let between = self.like(a);
                self.copy(between, a)?;
                held.push((d, between));
            }
        }
        held.into_iter().try_for_each(|(d, between)| self.copy(d, between))
    }

    /// A new row of the same bank.
    fn like(&mut self, slot: Slot) -> Slot {
        match slot {
            Slot::Word(_) => Slot::Word(self.new_word(0)),
            Slot::Long(_) => Slot::Long(self.new_long(0)),
            Slot::Quad(_) => {
                let low = self.new_long(0);
                self.new_long(0);
                Slot::Quad(low)
            }
            Slot::Pred(..) => Slot::Pred(self.new_pred(), false),
        }
    }

    fn special_parts(&mut self, special: Special, count: usize) -> Result<Vec<Option<Slot>>, Refused> {
        let part = |letter: &str| Special::from_name(&format!("{}.{letter}", special.name()));
        let specials: Option<Vec<_>> = ["x", "y", "z", "w"].into_iter().take(count).map(part).collect();
        let specials = specials.ok_or_else(|| format!("`{}` as a vector", special.name()))?;
        specials
            .into_iter()
            .map(|special| self.special(special, 0).map(Some))
            .collect()
    }

    /// A brace vector into one register.
    fn pack(&mut self, to: &Operand, parts: &[Operand], ty: Type) -> Result<(), Refused> {
        let d = self.target(to, ty)?;
        let bits = part_bits(ty, parts.len())?;
        let part_ty = bits_type(bits);
        let slots = parts
            .iter()
            .map(|part| self.source(part, part_ty))
            .collect::<Result<Vec<_>, _>>()?;
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let value = slots.iter().rev().fold(0u128, |value, slot| {
                    value << bits | (file.read_wide(*slot, lane) & ((1 << bits) - 1))
                });
                file.write_wide(d, lane, value);
            }
        }));
        Ok(())
    }

    /// One register into a brace vector.
    fn unpack(&mut self, parts: &[Operand], from: &Operand, ty: Type) -> Result<(), Refused> {
        let a = self.source(from, ty)?;
        let bits = part_bits(ty, parts.len())?;
        let part_ty = bits_type(bits);
        let mut slots = Vec::new();
        for part in parts {
            slots.push(match part {
                Operand::Sink => None,
                part => Some(self.target(part, part_ty)?),
            });
        }
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let value = file.read_wide(a, lane);
                for (at, slot) in slots.iter().enumerate() {
                    if let Some(slot) = slot {
                        let part = (value >> (at as u32 * bits)) as u64;
                        let part = if bits < 64 { part & ((1 << bits) - 1) } else { part };
                        file.write(*slot, lane, part);
                    }
                }
            }
        }));
        Ok(())
    }

    /// The number of a predicate register.
    pub(super) fn pred_target(&mut self, operand: &Operand) -> Result<Slot, Refused> {
        let slot = self.target(operand, Type::Pred)?;
        pred(slot)?;
        Ok(slot)
    }
}

fn part_bits(ty: Type, parts: usize) -> Result<u32, Refused> {
    match ty.bits().checked_div(parts as u32) {
        Some(bits) if bits > 0 && bits <= 64 && bits * parts as u32 == ty.bits() => Ok(bits),
        _ => Err("parts that do not fill the register".into()),
    }
}

fn bits_type(bits: u32) -> Type {
    match bits {
        8 => Type::B8,
        16 => Type::B16,
        64 => Type::B64,
        _ => Type::B32,
    }
}
