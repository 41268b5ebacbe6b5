//! Operands: registers, constants and addresses become slots.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused};
use super::layout::immediate;
use super::{Ins, Op, Rare};
use crate::ptx::ir::{Address, Base, Component, Operand, RegId, Special, SymbolId};
use crate::ptx::isa::Extent;
use crate::ptx::types::{Kind, Type};

/// The predicate that always holds.
pub const ALWAYS: u32 = 0;

impl Decoder<'_> {
    /// The slot of a register, or of one component of a vector register.
    pub(super) fn register(&mut self, reg: RegId, component: u32) -> Result<Slot, Refused> {
        if let Some(slot) = self.registers.get(&(reg, component)) {
            return Ok(*slot);
        }
        let decl = self
            .body
            .regs
            .get(reg.index())
            .ok_or_else(|| "an unknown register".to_owned())?;
        let (ty, lanes) = (decl.ty, u32::from(decl.lanes.max(1)));
        for at in 0..lanes {
            let slot = match (ty.kind(), ty.bits()) {
                (Kind::Pred, _) => Slot::Pred(self.new_pred(), false),
                (_, 0..=32) => Slot::Word(self.new_word(0)),
                (_, 33..=64) => Slot::Long(self.new_long(0)),
                _ => {
                    let low = self.new_long(0);
                    self.new_long(0);
                    Slot::Quad(low)
                }
            };
            self.registers.insert((reg, at), slot);
        }
        let slot = self.registers.get(&(reg, component)).copied();
        slot.ok_or_else(|| format!("`{}` has no such component", decl.name))
    }

    /// The declared type of a register.
    pub(super) fn declared(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Reg(reg) | Operand::Not(reg) | Operand::Part(reg, _) | Operand::Neg(reg, _) => {
                self.body.regs.get(reg.index()).map(|decl| decl.ty)
            }
            _ => None,
        }
    }

    /// A new row of up to 32 bits.
    pub(super) fn new_word(&mut self, value: u32) -> u32 {
        self.out.file.words.push([value; 32]);
        self.out.file.words.len() as u32 - 1
    }

    /// A new row of 64 bits.
    pub(super) fn new_long(&mut self, value: u64) -> u32 {
        self.out.file.longs.push([value; 32]);
        self.out.file.longs.len() as u32 - 1
    }

    /// A new predicate.
    pub(super) fn new_pred(&mut self) -> u32 {
        self.out.file.preds.push(0);
        self.out.file.preds.len() as u32 - 1
    }

    /// A constant of that width.
    pub(super) fn constant(&mut self, value: u64, bits: u32) -> Slot {
        if bits == 1 {
            return Slot::Pred(ALWAYS, value & 1 == 0);
        }
        if bits > 64 {
            let low = self.new_long(value);
            self.new_long(if (value as i64) < 0 { u64::MAX } else { 0 });
            return Slot::Quad(low);
        }
        let value = if bits < 64 { value & ((1 << bits) - 1) } else { value };
        if let Some(slot) = self.constants.get(&(value, bits > 32)) {
            return *slot;
        }
        let slot = match bits > 32 {
            true => Slot::Long(self.new_long(value)),
            false => Slot::Word(self.new_word(value as u32)),
        };
        self.constants.insert((value, bits > 32), slot);
        slot
    }

    /// The slot that holds a source operand of that type. Registers keep the width they are declared with.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Refused> {
        match operand {
            Operand::Reg(reg) => self.register(*reg, 0),
            Operand::Not(reg) => match self.register(*reg, 0)? {
                Slot::Pred(at, flip) => Ok(Slot::Pred(at, !flip)),
                _ => Err("`!` in front of something that is no predicate".into()),
            },
            Operand::Part(reg, component) => {
                let component = part(*component).ok_or("a part of a register")?;
                self.register(*reg, component)
            }
            Operand::Imm(imm) => Ok(self.constant(immediate(*imm, ty), ty.bits())),
            Operand::Special(special) => self.special(*special, 0),
            Operand::Symbol(symbol, offset) => self.symbol(*symbol, *offset, ty),
            Operand::Sum(reg, offset) => {
                let base = self.register(*reg, 0)?;
                self.sum(base, *offset)
            }
            Operand::Element(symbol, reg) => {
                let base = self.symbol(*symbol, 0, ty)?;
                let index = self.register(*reg, 0)?;
                self.element(*symbol, base, index)
            }
            _ => Err("an operand of this kind".into()),
        }
    }

    /// The address of a symbol as a value of that type.
    fn symbol(&mut self, symbol: SymbolId, offset: i64, ty: Type) -> Result<Slot, Refused> {
        if let Some(framed) = self.framed.get(&symbol).copied() {
            return match offset {
                0 => Ok(framed.slot(ty.bits())),
                _ => self.sum(framed.slot(ty.bits()), offset),
            };
        }
        let address = self
            .out
            .layout
            .address(self.module, symbol)?
            .wrapping_add(offset as u64);
        let bits = if ty.bits() > 32 { 64 } else { 32 };
        Ok(self.constant(address, bits))
    }

    /// A slot that holds `base + offset`, computed by an instruction in front.
    fn sum(&mut self, base: Slot, offset: i64) -> Result<Slot, Refused> {
        match base {
            Slot::Word(a) => {
                let Slot::Word(b) = self.constant(offset as u64, 32) else {
                    return Err("a sum".into());
                };
                let d = self.new_word(0);
                self.push(Ins {
                    a,
                    b,
                    d,
                    ..Ins::plain(Op::Add32)
                });
                Ok(Slot::Word(d))
            }
            Slot::Long(a) => {
                let Slot::Long(b) = self.constant(offset as u64, 64) else {
                    return Err("a sum".into());
                };
                let d = self.new_long(0);
                self.push(Ins {
                    a,
                    b,
                    d,
                    ..Ins::plain(Op::Add64)
                });
                Ok(Slot::Long(d))
            }
            _ => Err("a sum of this type".into()),
        }
    }

    /// A slot that holds the address of an array's element.
    fn element(&mut self, symbol: SymbolId, base: Slot, index: Slot) -> Result<Slot, Refused> {
        let size = self
            .module
            .variable(symbol)
            .map_or(1, |variable| u64::from(variable.element_size()));
        let d = match base {
            Slot::Long(_) => Slot::Long(self.new_long(0)),
            _ => Slot::Word(self.new_word(0)),
        };
        self.lanewise2(d, base, index, move |base, index| {
            base.wrapping_add(index.wrapping_mul(size))
        });
        Ok(d)
    }

    /// The slot of a special register; one that changes is read by an instruction in front.
    pub(super) fn special(&mut self, special: Special, _component: u32) -> Result<Slot, Refused> {
        let name = special.name();
        let changes = name.starts_with("%clock") || name.starts_with("%globaltimer") || name.starts_with("%pm");
        if let (Some(slot), false) = (self.specials.get(&special), changes) {
            return Ok(*slot);
        }
        if special.is_vector() {
            return Err(format!("`{name}` as a whole"));
        }
        let slot = match special.info().ty {
            Type::Pred => Slot::Pred(self.new_pred(), false),
            ty if ty.bits() > 32 => Slot::Long(self.new_long(0)),
            _ => Slot::Word(self.new_word(0)),
        };
        if changes {
            self.rare(Rare::Special(special, slot));
        } else {
            self.specials.insert(special, slot);
            let all = match special.info().extent {
                Extent::Cta => &mut self.out.cta_specials,
                _ => &mut self.out.specials,
            };
            all.push((special, slot));
        }
        Ok(slot)
    }

    /// The destination slot of an operand; `_` is a row nobody reads.
    pub(super) fn target(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Refused> {
        match operand {
            Operand::Sink => Ok(match ty {
                Type::Pred => Slot::Pred(self.new_pred(), false),
                ty if ty.bits() > 64 => {
                    let low = self.new_long(0);
                    self.new_long(0);
                    Slot::Quad(low)
                }
                ty if ty.bits() > 32 => Slot::Long(self.new_long(0)),
                _ => Slot::Word(self.new_word(0)),
            }),
            Operand::Reg(reg) => self.register(*reg, 0),
            Operand::Part(reg, component) => {
                let component = part(*component).ok_or("a part of a register")?;
                self.register(*reg, component)
            }
            _ => Err("a destination of this kind".into()),
        }
    }

    /// The registers of a vector operand, or the one of a scalar; vector registers give their components.
    pub(super) fn parts(
        &mut self,
        operand: &Operand,
        count: usize,
        ty: Type,
        written: bool,
    ) -> Result<Vec<Option<Slot>>, Refused> {
        let one = |decoder: &mut Self, part: &Operand| match part {
            Operand::Sink => Ok(None),
            part if written => decoder.target(part, ty).map(Some),
            part => decoder.source(part, ty).map(Some),
        };
        let parts: Vec<_> = match operand {
            Operand::Vector(parts) => parts.iter().map(|part| one(self, part)).collect::<Result<_, _>>()?,
            Operand::Reg(reg) if count > 1 => (0..count as u32)
                .map(|at| self.register(*reg, at).map(Some))
                .collect::<Result<_, _>>()?,
            operand => vec![one(self, operand)?],
        };
        if parts.len() != count {
            return Err(format!("{} registers where {count} are needed", parts.len()));
        }
        Ok(parts)
    }

    /// The base and the offset of an address; of a symbol the base is a constant, in the symbol's own space.
    pub(super) fn address(&mut self, address: &Address) -> Result<(Slot, u64), Refused> {
        let wide = self.module.header.address_size != Some(32);
        let bits = if wide { 64 } else { 32 };
        Ok(match address.base {
            Base::Reg(reg) => (self.register(reg, 0)?, address.offset as u64),
            Base::Symbol(symbol) => {
                if let Some(framed) = self.framed.get(&symbol) {
                    return Ok((framed.slot(bits), address.offset as u64));
                }
                let base = self.out.layout.address(self.module, symbol)?;
                (self.constant(base, bits), address.offset as u64)
            }
            Base::Absolute => (self.constant(address.offset as u64, bits), 0),
        })
    }
}

/// The number of a vector's component.
fn part(component: Component) -> Option<u32> {
    Some(match component {
        Component::X | Component::R => 0,
        Component::Y | Component::G => 1,
        Component::Z | Component::B => 2,
        Component::W | Component::A => 3,
        _ => return None,
    })
}
