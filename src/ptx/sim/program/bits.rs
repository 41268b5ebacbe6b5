//! Logic, shifts and bit fields.

use super::super::lanes::Slot;
use super::alu::{Bits, by_int};
use super::decoder::{Decoder, Refused, pred};
use super::{Ins, Op};
use crate::ptx::ir::Inst;
use crate::ptx::num::Int;
use crate::ptx::num::bits::{self, Permute};
use crate::ptx::types::{Kind, Type};

impl Decoder<'_> {
    /// `and`, `or`, `xor`.
    pub(super) fn logic(&mut self, inst: &Inst, ops: [Op; 3], f: fn(u64, u64) -> u64) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a, b) = self.three(inst, ty)?;
        match ty.bits() {
            1 => {
                let (d, _) = pred(d)?;
                let (a, b) = (self.upright(a)?, self.upright(b)?);
                self.on_rows(ops[2], d, &[a, b]);
                Ok(())
            }
            64 => self.on_longs(ops[1], d, &[a, b]),
            32 => self.on_words(ops[0], d, &[a, b]),
            _ => {
                self.lanewise2(d, a, b, f);
                Ok(())
            }
        }
    }

    /// A predicate that is not read inverted.
    fn upright(&mut self, slot: Slot) -> Result<u32, Refused> {
        let (a, flip) = pred(slot)?;
        if !flip {
            return Ok(a);
        }
        let d = self.new_pred();
        self.push(Ins {
            d,
            a,
            ..Ins::plain(Op::Not1)
        });
        Ok(d)
    }

    /// `not`, `cnot`.
    pub(super) fn not(&mut self, inst: &Inst, count: bool) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        if ty == Type::Pred {
            let ((d, _), a) = (pred(d)?, self.upright(a)?);
            self.on_rows(Op::Not1, d, &[a]);
            return Ok(());
        }
        by_int!(ty, T => match count {
            true => self.lanewise1(d, a, |a| bits::cnot(T::of(a).bits())),
            false => self.lanewise1(d, a, |a| T::of(!a).bits()),
        });
        Ok(())
    }

    /// `shl`, `shr`.
    pub(super) fn shift(&mut self, inst: &Inst, left: bool) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        let b = self.arg(inst, 2, Type::U32)?;
        let signed = ty.kind() == Kind::Signed;
        match (d, a, b, ty.bits()) {
            (Slot::Word(d), Slot::Word(a), Slot::Word(b), 32) => {
                let op = match (left, signed) {
                    (true, _) => Op::Shl32,
                    (false, false) => Op::ShrU32,
                    (false, true) => Op::ShrS32,
                };
                self.on_rows(op, d, &[a, b]);
            }
            (Slot::Long(d), Slot::Long(a), Slot::Word(b), 64) => {
                let op = match (left, signed) {
                    (true, _) => Op::Shl64,
                    (false, false) => Op::ShrU64,
                    (false, true) => Op::ShrS64,
                };
                self.on_rows(op, d, &[a, b]);
            }
            _ => by_int!(ty, T => match left {
                true => self.lanewise2(d, a, b, |a, b| T::of(a).shift_left(b as u32).bits()),
                false => self.lanewise2(d, a, b, |a, b| T::of(a).shift_right(b as u32).bits()),
            }),
        }
        Ok(())
    }

    /// `shf`.
    pub(super) fn funnel(&mut self, inst: &Inst) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, Type::B32)?;
        let c = self.arg(inst, 3, Type::U32)?;
        let (left, wrap) = (inst.op.has("l"), inst.op.has("wrap"));
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            let shift = if left { bits::shf_l } else { bits::shf_r };
            u64::from(shift(a as u32, b as u32, c as u32, wrap))
        });
        Ok(())
    }

    /// `lop3`.
    pub(super) fn lop3(&mut self, inst: &Inst) -> Result<(), Refused> {
        let operand = self.operand(inst, 0)?;
        let (d, p) = self.pair(operand, Type::B32, Type::Pred)?;
        let (a, b) = (self.arg(inst, 1, Type::B32)?, self.arg(inst, 2, Type::B32)?);
        let c = self.arg(inst, 3, Type::B32)?;
        let table = self.operand(inst, 4)?.as_int().ok_or("a table that is no constant")? as u8;
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            u64::from(bits::lop3(a as u32, b as u32, c as u32, table))
        });
        if let Some(p) = p {
            let q = self.arg(inst, 5, Type::Pred)?;
            let or = inst.op.has("or");
            self.lanewise2(p, d, q, move |d, q| {
                let found = u64::from(d != 0);
                if or { found | q } else { found & q }
            });
        }
        Ok(())
    }

    /// `prmt`.
    pub(super) fn permute(&mut self, inst: &Inst) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, Type::B32)?;
        let c = self.arg(inst, 3, Type::B32)?;
        let mode = inst.op.mods().find_map(Permute::from_name).unwrap_or(Permute::Index);
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            u64::from(bits::prmt(a as u32, b as u32, c as u32, mode))
        });
        Ok(())
    }

    /// `popc`, `clz`, `brev`, `bfind`.
    pub(super) fn count(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let wide = ty.bits() == 64;
        let a = self.arg(inst, 1, ty)?;
        if inst.op.base() == "brev" {
            let d = self.dest(inst, ty)?;
            self.lanewise1(d, a, move |a| {
                if wide {
                    a.reverse_bits()
                } else {
                    u64::from((a as u32).reverse_bits())
                }
            });
            return Ok(());
        }
        let d = self.dest(inst, Type::U32)?;
        let (signed, amount) = (ty.kind() == Kind::Signed, inst.op.has("shiftamt"));
        match inst.op.base() {
            "popc" => self.lanewise1(d, a, |a| u64::from(a.count_ones())),
            "clz" => self.lanewise1(d, a, move |a| match wide {
                true => u64::from(a.leading_zeros()),
                false => u64::from((a as u32).leading_zeros()),
            }),
            _ => self.lanewise1(d, a, move |a| {
                u64::from(match (wide, signed) {
                    (true, true) => bits::bfind_64(bits::unsign_64(a), amount),
                    (true, false) => bits::bfind_64(a, amount),
                    (false, true) => bits::bfind_32(bits::unsign_32(a as u32), amount),
                    (false, false) => bits::bfind_32(a as u32, amount),
                })
            }),
        }
        Ok(())
    }

    /// `bfe`, `bfi`.
    pub(super) fn field(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        let wide = ty.bits() == 64;
        if inst.op.base() == "bfe" {
            let (b, c) = (self.arg(inst, 2, Type::U32)?, self.arg(inst, 3, Type::U32)?);
            let signed = ty.kind() == Kind::Signed;
            self.lanewise3(d, [a, b, c], move |a, b, c| {
                let (b, c) = (b as u32, c as u32);
                match (wide, signed) {
                    (true, true) => bits::bfe_s64(a, b, c),
                    (true, false) => bits::bfe_u64(a, b, c),
                    (false, true) => u64::from(bits::bfe_s32(a as u32, b, c)),
                    (false, false) => u64::from(bits::bfe_u32(a as u32, b, c)),
                }
            });
            return Ok(());
        }
        let b = self.arg(inst, 2, ty)?;
        let (pos, len) = (self.arg(inst, 3, Type::U32)?, self.arg(inst, 4, Type::U32)?);
        self.step(Box::new(move |file, mask| {
            for lane in super::super::lanes::lanes(mask) {
                let (a, b) = (file.read(a, lane), file.read(b, lane));
                let (pos, len) = (file.read(pos, lane) as u32, file.read(len, lane) as u32);
                let value = match wide {
                    true => bits::bfi_b64(a, b, pos, len),
                    false => u64::from(bits::bfi_b32(a as u32, b as u32, pos, len)),
                };
                file.write(d, lane, value);
            }
        }));
        Ok(())
    }

    /// `fns`, `bmsk`, `szext`.
    pub(super) fn mask(&mut self, inst: &Inst) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, Type::B32)?;
        let wrap = inst.op.has("wrap");
        let signed = inst.op.ty() == Some(Type::S32);
        match inst.op.base() {
            "fns" => {
                let c = self.arg(inst, 3, Type::B32)?;
                self.lanewise3(d, [a, b, c], |a, b, c| {
                    u64::from(bits::fns(a as u32, b as u32, c as i32))
                });
            }
            "bmsk" => self.lanewise2(d, a, b, move |a, b| u64::from(bits::bmsk(a as u32, b as u32, wrap))),
            _ => self.lanewise2(d, a, b, move |a, b| {
                u64::from(bits::szext(a as u32, b as u32, signed, wrap))
            }),
        }
        Ok(())
    }

    /// `selp`, `slct`.
    pub(super) fn select(&mut self, inst: &Inst) -> Result<(), Refused> {
        use crate::ptx::num::compare::{select_by_int, select_by_single};
        if inst.op.base() == "slct" {
            let (Some(ty), Some(by)) = (inst.op.types.first().copied(), inst.op.ty()) else {
                return Err("its types".into());
            };
            let (d, a, b) = self.three(inst, ty)?;
            let c = self.arg(inst, 3, by)?;
            let ftz = inst.op.has("ftz");
            self.lanewise3(d, [a, b, c], move |a, b, c| match by {
                Type::F32 => select_by_single(a, b, c as u32, ftz),
                _ => select_by_int(a, b, c as i32),
            });
            return Ok(());
        }
        let ty = self.ty(inst)?;
        let (d, a, b) = self.three(inst, ty)?;
        let p = self.arg(inst, 3, Type::Pred)?;
        let p = self.upright(p)?;
        match (d, a, b) {
            (Slot::Word(d), Slot::Word(a), Slot::Word(b)) => self.on_rows(Op::Sel32, d, &[a, b, p]),
            (Slot::Long(d), Slot::Long(a), Slot::Long(b)) => self.on_rows(Op::Sel64, d, &[a, b, p]),
            _ => return Err("registers of different widths".into()),
        }
        Ok(())
    }
}
