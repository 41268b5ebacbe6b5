//! `setp`, `set`, `testp`.

use super::super::lanes::{Slot, lanes};
use super::Op;
use super::alu::{Bits, by_int};
use super::decoder::{Decoder, Refused, long, pred, word};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::num::Format;
use crate::ptx::num::compare::{Compare, Join, Test};
use crate::ptx::num::format::{BF16, F16, F32, F64};
use crate::ptx::types::{Kind, Type};

/// A comparison of two values by their bits.
type Holds = Box<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// The format of a half-precision type.
pub fn half_format(ty: Type) -> Option<Format> {
    match ty {
        Type::F16 | Type::F16x2 => Some(F16),
        Type::Bf16 | Type::Bf16x2 => Some(BF16),
        _ => None,
    }
}

impl Decoder<'_> {
    fn comparison(&self, compare: Compare, ty: Type, ftz: bool) -> Result<Holds, Refused> {
        if let Some(format) = half_format(ty) {
            return Ok(Box::new(move |a, b| compare.halves(format, a as u16, b as u16, ftz)));
        }
        Ok(match ty {
            Type::F32 => Box::new(move |a, b| compare.singles(a as u32, b as u32, ftz)),
            Type::F64 => Box::new(move |a, b| compare.doubles(a, b)),
            _ => by_int!(ty, T => Box::new(move |a, b| compare.ints(T::of(a), T::of(b)))),
        })
    }

    fn parts_of(&self, inst: &Inst) -> Result<(Compare, Option<Join>), Refused> {
        let compare = inst
            .op
            .mods()
            .find_map(Compare::from_name)
            .ok_or("a comparison without operator")?;
        Ok((compare, inst.op.mods().find_map(Join::from_name)))
    }

    /// `setp`.
    pub(super) fn setp(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (compare, join) = self.parts_of(inst)?;
        let ftz = inst.op.has("ftz");
        let operand = self.operand(inst, 0)?;
        let (p, q) = self.pair(operand, Type::Pred, Type::Pred)?;
        let (a, b) = (self.arg(inst, 1, ty)?, self.arg(inst, 2, ty)?);
        if join.is_none() && q.is_none() && !ftz && self.fast_test(ty, compare, p, a, b)? {
            return Ok(());
        }
        let c = match join {
            Some(_) => self.arg(inst, 3, Type::Pred)?,
            None => Slot::Pred(super::operand::ALWAYS, false),
        };
        let holds = self.comparison(compare, ty, ftz)?;
        let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let (a, b) = (file.read(a, lane), file.read(b, lane));
                let c = file.read(c, lane) == 1;
                let first = holds(a, b);
                let second = if packed { holds(a >> 16, b >> 16) } else { !first };
                let joined = |found| join.map_or(found, |join| join.apply(found, c));
                file.write(p, lane, u64::from(joined(first)));
                if let Some(q) = q {
                    file.write(q, lane, u64::from(joined(second)));
                }
            }
        }));
        Ok(())
    }

    /// The comparisons of which most code consists.
    fn fast_test(&mut self, ty: Type, compare: Compare, p: Slot, a: Slot, b: Slot) -> Result<bool, Refused> {
        let (p, _) = pred(p)?;
        let op = match ty {
            Type::U32 | Type::B32 => Op::TestU32(compare),
            Type::S32 => Op::TestS32(compare),
            Type::F32 => Op::TestF32(compare),
            Type::U64 | Type::B64 => Op::TestU64(compare),
            Type::S64 => Op::TestS64(compare),
            _ => return Ok(false),
        };
        let (a, b) = match ty.bits() {
            32 => (word(a)?, word(b)?),
            _ => (long(a)?, long(b)?),
        };
        self.on_rows(op, p, &[a, b]);
        Ok(true)
    }

    /// `set`: the result is all ones, or 1.0 of a float type.
    pub(super) fn set(&mut self, inst: &Inst) -> Result<(), Refused> {
        let (Some(to), Some(ty)) = (inst.op.types.first().copied(), inst.op.ty()) else {
            return Err("its types".into());
        };
        let (compare, join) = self.parts_of(inst)?;
        let d = self.dest(inst, to)?;
        let (a, b) = (self.arg(inst, 1, ty)?, self.arg(inst, 2, ty)?);
        let c = match join {
            Some(_) => self.arg(inst, 3, Type::Pred)?,
            None => Slot::Pred(super::operand::ALWAYS, false),
        };
        let holds = self.comparison(compare, ty, inst.op.has("ftz"))?;
        let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
        let one = match to {
            Type::F32 => u64::from(1f32.to_bits()),
            Type::F16 | Type::F16x2 => 0x3C00,
            Type::Bf16 | Type::Bf16x2 => 0x3F80,
            ty if packed => u64::from(u16::MAX) & ones(ty),
            ty => ones(ty),
        };
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let (a, b) = (file.read(a, lane), file.read(b, lane));
                let c = file.read(c, lane) == 1;
                let part = |found| match join.map_or(found, |join| join.apply(found, c)) {
                    true => one,
                    false => 0,
                };
                let mut value = part(holds(a, b));
                if packed {
                    value |= part(holds(a >> 16, b >> 16)) << 16;
                }
                file.write(d, lane, value);
            }
        }));
        Ok(())
    }

    /// `testp`.
    pub(super) fn testp(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let test = inst
            .op
            .mods()
            .find_map(Test::from_name)
            .ok_or("a test without a question")?;
        let (p, a) = (self.dest(inst, Type::Pred)?, self.arg(inst, 1, ty)?);
        let format = if ty == Type::F64 { F64 } else { F32 };
        self.lanewise1(p, a, move |a| u64::from(test.apply(format, a)));
        Ok(())
    }

    /// Whether an operand is the sink.
    pub(super) fn is_sink(operand: &Operand) -> bool {
        matches!(operand, Operand::Sink)
    }
}

fn ones(ty: Type) -> u64 {
    match ty.kind() {
        Kind::Pred => 1,
        _ if ty.bits() >= 64 => u64::MAX,
        _ => (1 << ty.bits()) - 1,
    }
}
