//! Loads and stores, and the conversions of addresses.

use super::super::lanes::Slot;
use super::super::memory::Home;
use super::decoder::{Decoder, Refused};
use super::{Access, Extend, Given, Op, Order, Rare};
use crate::ptx::ir::{Base, Inst, Operand};
use crate::ptx::types::{Kind, Space, Type};
use smallvec::SmallVec;

/// What an address instruction asks.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum SpaceOp {
    /// Whether a generic address is of a space.
    Is { d: Slot, a: Slot, space: Space },
    /// From a space to generic addresses.
    ToGeneric { d: Slot, a: Slot, space: Space },
    /// The other way.
    ToSpace { d: Slot, a: Slot, space: Space },
    /// The address of the same variable in another CTA of the cluster; generic or not.
    Map { d: Slot, a: Slot, b: Slot, generic: bool },
    /// Which CTA of the cluster an address is of.
    Rank { d: Slot, a: Slot, generic: bool },
}

/// What the modifiers of a memory instruction say of ordering.
pub fn order(inst: &Inst) -> Order {
    let has = |name| inst.op.has(name);
    let wide = !has("cta");
    Order {
        strong: has("volatile") || has("relaxed") || has("acquire") || has("release") || has("acq_rel") || has("mmio"),
        acquire: has("acquire") || has("acq_rel"),
        release: has("release") || has("acq_rel"),
        wide,
    }
}

impl Decoder<'_> {
    /// `ld`, `ldu`.
    pub(super) fn load(&mut self, inst: &Inst) -> Result<(), Refused> {
        let to = self.operand(inst, 0)?;
        let access = self.access(inst, 1, to, true)?;
        if let Some(row) = self.given(inst, &access) {
            let d = access.regs.first().copied().flatten().ok_or("a load to nowhere")?;
            return self.copy(d, row);
        }
        let is_fixed =
            matches!(inst.operands.get(1), Some(Operand::Address(address)) if !matches!(address.base, Base::Reg(_)));
        self.out.accesses.push(access);
        let at = self.out.accesses.len() as u32 - 1;
        self.on_rows(if is_fixed { Op::LoadFixed(at) } else { Op::Load(at) }, 0, &[]);
        Ok(())
    }

    /// The row that holds what is loaded, where that is one of the kernel's parameters, and nothing can be wrong with it.
    fn given(&mut self, inst: &Inst, access: &Access) -> Option<Slot> {
        let Some(Operand::Address(address)) = inst.operands.get(1) else {
            return None;
        };
        let (Space::Param, Base::Symbol(_), [Some(d)]) = (access.space, address.base, access.regs.as_slice()) else {
            return None;
        };
        let from = self.out.file.read(access.address, 0).wrapping_add(access.offset);
        let size = u64::from(access.bytes);
        let region = self.out.layout.param.find(from)?;
        let offset = from.wrapping_sub(region.base);
        let is_inside = offset <= region.size.checked_sub(size)? && from.is_multiple_of(size);
        if region.home != Home::Params || !is_inside || access.order.strong {
            return None;
        }
        let at = (region.at + offset) as usize;
        let is_wide = matches!(d, Slot::Long(_));
        let fits = |known: &&Given| {
            let (mine, theirs) = (access, &known.access);
            (known.at, theirs.bytes, theirs.extend) == (at, mine.bytes, mine.extend)
                && matches!(known.slot, Slot::Long(_)) == is_wide
        };
        if let Some(known) = self.out.given.iter().find(fits) {
            return Some(known.slot);
        }
        let slot = match d {
            Slot::Word(_) => Slot::Word(self.new_word(0)),
            Slot::Long(_) => Slot::Long(self.new_long(0)),
            _ => return None,
        };
        let access = access.clone();
        self.out.given.push(Given { access, at, slot });
        Some(slot)
    }

    /// `st`.
    pub(super) fn store(&mut self, inst: &Inst) -> Result<(), Refused> {
        let from = self.operand(inst, 1)?;
        let access = self.access(inst, 0, from, false)?;
        self.out.accesses.push(access);
        self.on_rows(Op::Store(self.out.accesses.len() as u32 - 1), 0, &[]);
        Ok(())
    }

    /// An access: where, and from or to which registers.
    pub(super) fn access(&mut self, inst: &Inst, at: usize, regs: &Operand, load: bool) -> Result<Access, Refused> {
        let ty = self.ty(inst)?;
        let Operand::Address(address) = self.operand(inst, at)? else {
            return Err("an address of this kind".into());
        };
        let count = usize::from(inst.op.lanes);
        let regs: SmallVec<_> = self.parts(regs, count, ty, load)?.into();
        // A variable's name says where it is, where the instruction does not.
        let space = match (address.base, inst.op.space) {
            (Base::Symbol(symbol), Space::Generic) => self
                .module
                .variable(symbol)
                .map_or(Space::Generic, |variable| variable.space),
            (_, space) => space,
        };
        let (address, offset) = self.address(address)?;
        Ok(Access {
            space,
            ty,
            bytes: ty.bytes(),
            address,
            offset,
            regs,
            extend: match ty.kind() {
                Kind::Signed => Extend::Sign,
                _ => Extend::Zero,
            },
            order: order(inst),
            read_only: inst.op.has("nc"),
        })
    }

    /// `cvta`, `cvta.to`.
    pub(super) fn cvta(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        let space = inst.op.space;
        if matches!(space, Space::Global) {
            return self.copy(d, a);
        }
        self.rare(Rare::Space(match inst.op.has("to") {
            true => SpaceOp::ToSpace { d, a, space },
            false => SpaceOp::ToGeneric { d, a, space },
        }));
        Ok(())
    }

    /// `isspacep`.
    pub(super) fn isspacep(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = if self.module.header.address_size == Some(32) {
            Type::U32
        } else {
            Type::U64
        };
        let (d, a) = (self.dest(inst, Type::Pred)?, self.arg(inst, 1, ty)?);
        let space = inst.op.space;
        self.rare(Rare::Space(SpaceOp::Is { d, a, space }));
        Ok(())
    }

    /// `mapa`, `getctarank`.
    pub(super) fn cluster_address(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let generic = inst.op.space == Space::Generic;
        let op = match inst.op.base() {
            "mapa" => SpaceOp::Map {
                d: self.dest(inst, ty)?,
                a: self.arg(inst, 1, ty)?,
                b: self.arg(inst, 2, Type::U32)?,
                generic,
            },
            _ => SpaceOp::Rank {
                d: self.dest(inst, Type::U32)?,
                a: self.arg(inst, 1, ty)?,
                generic,
            },
        };
        self.rare(Rare::Space(op));
        Ok(())
    }
}
