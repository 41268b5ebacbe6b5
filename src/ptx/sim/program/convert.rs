//! `cvt`.

use super::super::lanes::{Slot, lanes};
use super::decoder::{Decoder, Refused};
use super::{Ins, Op};
use crate::ptx::ir::Inst;
use crate::ptx::num::convert::Convert;
use crate::ptx::num::{Round, packed};
use crate::ptx::types::{Kind, Type};

/// The element type of a packed pair.
fn element(ty: Type) -> Option<Type> {
    Some(match ty {
        Type::F16x2 => Type::F16,
        Type::Bf16x2 => Type::Bf16,
        Type::E4m3x2 => Type::E4m3,
        Type::E5m2x2 => Type::E5m2,
        Type::E3m2x2 => Type::E3m2,
        Type::E2m3x2 => Type::E2m3,
        Type::E2m1x2 => Type::E2m1,
        Type::Ue8m0x2 => Type::Ue8m0,
        _ => return None,
    })
}

impl Decoder<'_> {
    /// `cvt`.
    pub(super) fn cvt(&mut self, inst: &Inst) -> Result<(), Refused> {
        let &[to, from] = inst.op.types.as_slice() else {
            return Err("its types".into());
        };
        if inst.op.has("rs") {
            return self.cvt_stochastic(inst, to);
        }
        let odd = ["scaled::n2::ue8m0", "s2f6x2"];
        if odd.iter().any(|name| inst.op.has(name)) {
            return Err("a conversion of this kind".into());
        }
        let integral = inst.op.mods().any(|name| matches!(name, "rni" | "rzi" | "rmi" | "rpi"));
        let convert = Convert {
            to,
            from,
            round: inst.op.mods().find_map(Round::from_name).unwrap_or(Round::Rn),
            integral,
            ftz: inst.op.has("ftz"),
            sat: inst.op.has("sat"),
            relu: inst.op.has("relu"),
            finite: inst.op.has("satfinite"),
        };
        if element(to).is_some() || element(from).is_some() {
            return self.cvt_packed(inst, convert);
        }
        convert.apply(0).ok_or("a conversion of this kind")?;
        let (d, a) = (self.dest(inst, to)?, self.arg(inst, 1, from)?);
        if self.cvt_fast(convert, d, a) {
            return Ok(());
        }
        let fill = filler(to, d);
        self.lanewise1(d, a, move |a| fill(convert.apply(a).unwrap_or(0)));
        Ok(())
    }

    /// The conversions of which most code consists.
    fn cvt_fast(&mut self, convert: Convert, d: Slot, a: Slot) -> bool {
        let plain = convert == Convert::new(convert.to, convert.from);
        let (to, from) = (convert.to, convert.from);
        let op = match (d, a) {
            _ if !plain => return false,
            (Slot::Long(_), Slot::Word(_)) if from == Type::S32 && to.bits() == 64 && to.is_integral() => Op::WidenS,
            (Slot::Long(_), Slot::Word(_)) if from == Type::U32 && to.bits() == 64 && to.is_integral() => Op::Widen,
            (Slot::Word(_), Slot::Long(_))
                if from.is_integral() && from.bits() == 64 && to.is_integral() && to.bits() == 32 =>
            {
                Op::Narrow
            }
            (Slot::Word(_), Slot::Word(_)) => match (to, from) {
                (Type::F32, Type::S32) => Op::FloatS32,
                (Type::F32, Type::U32) => Op::FloatU32,
                (Type::F32, Type::F16) => Op::FromHalf,
                (Type::F32, Type::Bf16) => Op::FromBrain,
                _ => return false,
            },
            _ => return false,
        };
        let row = |slot| match slot {
            Slot::Word(at) | Slot::Long(at) => at,
            _ => 0,
        };
        self.push(Ins {
            d: row(d),
            a: row(a),
            ..Ins::plain(op)
        });
        true
    }

    /// To and from packed values: the first of several sources goes to the top.
    fn cvt_packed(&mut self, inst: &Inst, convert: Convert) -> Result<(), Refused> {
        let (to, from) = (convert.to, convert.from);
        let one = Convert {
            to: element(to).ok_or("a conversion of this kind")?,
            from: element(from).unwrap_or(from),
            ..convert
        };
        let (d, a) = (self.dest(inst, to)?, self.arg(inst, 1, from)?);
        if element(from).is_some() {
            packed::repack(&one, 0, 2).ok_or("a conversion of this kind")?;
            self.lanewise1(d, a, move |a| packed::repack(&one, a, 2).unwrap_or(0));
        } else {
            packed::pack(&one, &[0, 0]).ok_or("a conversion of this kind")?;
            let b = self.arg(inst, 2, from)?;
            self.lanewise2(d, a, b, move |a, b| packed::pack(&one, &[a, b]).unwrap_or(0));
        }
        Ok(())
    }

    /// `cvt.rs` to pairs of half words. How the random bits are dealt out to narrower formats the ISA shows in a figure only.
    fn cvt_stochastic(&mut self, inst: &Inst, to: Type) -> Result<(), Refused> {
        if !matches!(to, Type::F16x2 | Type::Bf16x2) {
            return Err("a conversion of this kind".into());
        }
        let element = element(to).ok_or("a conversion of this kind")?;
        let (d, a) = (self.dest(inst, to)?, self.arg(inst, 1, Type::F32)?);
        let (b, random) = (self.arg(inst, 2, Type::F32)?, self.arg(inst, 3, Type::B32)?);
        let (relu, finite) = (inst.op.has("relu"), inst.op.has("satfinite"));
        self.lanewise3(d, [a, b, random], move |a, b, random| {
            let pair = packed::stochastic_pair(element, a as u32, b as u32, random as u32, relu, finite);
            u64::from(pair.unwrap_or(0))
        });
        Ok(())
    }

    /// `cvt.pack`.
    pub(super) fn cvt_pack(&mut self, inst: &Inst) -> Result<(), Refused> {
        let name = inst.op.mods().nth(2).unwrap_or_default();
        let signed = name.starts_with('s');
        let bits: u32 = name.get(1..).and_then(|digits| digits.parse().ok()).ok_or("its type")?;
        let d = self.dest(inst, Type::U32)?;
        let (a, b) = (self.arg(inst, 1, Type::S32)?, self.arg(inst, 2, Type::S32)?);
        let c = match inst.operands.len() {
            4 => Some(self.arg(inst, 3, Type::B32)?),
            _ => None,
        };
        let pack = packed::Pack { width: bits, signed };
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let word = |slot| file.read(slot, lane) as u32;
                let value = pack.apply(word(a), word(b), c.map_or(0, word));
                file.write(d, lane, u64::from(value));
            }
        }));
        Ok(())
    }
}

/// Extends a value of that type to the width of a register.
pub fn filler(ty: Type, d: Slot) -> impl Fn(u64) -> u64 + Send + Sync + Copy + 'static {
    let shift = 64 - ty.bits().min(64);
    let signed = ty.kind() == Kind::Signed;
    let narrow = matches!(d, Slot::Word(_));
    move |bits| {
        let value = if signed {
            ((bits << shift) as i64 >> shift) as u64
        } else {
            bits
        };
        if narrow { value & u64::from(u32::MAX) } else { value }
    }
}
