//! `cvt`.

use super::super::lanes::{Slot, lanes};
use super::decoder::{Decoder, Refused};
use super::{Ins, Op};
use crate::ptx::ir::Inst;
use crate::ptx::num::convert::{Convert, format};
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

/// The element type of four packed values.
fn quarter(ty: Type) -> Option<Type> {
    Some(match ty {
        Type::E4m3x4 => Type::E4m3,
        Type::E5m2x4 => Type::E5m2,
        Type::E3m2x4 => Type::E3m2,
        Type::E2m3x4 => Type::E2m3,
        Type::E2m1x4 => Type::E2m1,
        _ => return None,
    })
}

impl Decoder<'_> {
    /// `cvt`.
    pub(super) fn cvt(&mut self, inst: &Inst) -> Result<(), Refused> {
        if inst.op.has("s2f6x2") || inst.op.has("scaled::n2::ue8m0") {
            return self.cvt_scaled(inst);
        }
        let &[to, from] = inst.op.types.as_slice() else {
            return Err("its types".into());
        };
        if inst.op.has("rs") {
            return self.cvt_stochastic(inst, to);
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

    /// `cvt.rs` to pairs of half words, or to four narrower values.
    fn cvt_stochastic(&mut self, inst: &Inst, to: Type) -> Result<(), Refused> {
        if let Some(element) = quarter(to) {
            return self.cvt_stochastic_quad(inst, to, element);
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

    fn cvt_stochastic_quad(&mut self, inst: &Inst, to: Type, element: Type) -> Result<(), Refused> {
        let d = self.dest(inst, to)?;
        let operand = self.operand(inst, 1)?;
        let inputs: Option<Vec<Slot>> = self.parts(operand, 4, Type::F32, false)?.into_iter().collect();
        let inputs = <[Slot; 4]>::try_from(inputs.ok_or("`_` as a source")?).map_err(|_| "its sources")?;
        let random = self.arg(inst, 2, Type::B32)?;
        let relu = inst.op.has("relu");
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let values = inputs.map(|slot| file.read(slot, lane) as u32);
                let quad = packed::stochastic_quad(element, values, file.read(random, lane) as u32, relu);
                file.write(d, lane, u64::from(quad.unwrap_or(0)));
            }
        }));
        Ok(())
    }

    /// Conversions of fixed-point numbers, and those to `.bf16x2` with a scale for each element.
    fn cvt_scaled(&mut self, inst: &Inst) -> Result<(), Refused> {
        let has = |name| inst.op.has(name);
        let (relu, finite, scaled) = (has("relu"), has("satfinite"), has("scaled::n2::ue8m0"));
        let last = inst.op.mods().last();
        if last != Some("s2f6x2") && has("s2f6x2") {
            if scaled {
                // Whether the number is multiplied or divided is not said in words.
                return Err("a scale for numbers that become narrower".into());
            }
            return self.cvt_to_fixed(inst, relu);
        }
        let narrow = match last {
            Some("s2f6x2") => None,
            _ => Some(inst.op.types.last().and_then(|ty| element(*ty)).ok_or("its types")?),
        };
        let read = move |code: u64| match narrow {
            None => packed::from_fixed(code as u8),
            Some(ty) => format(ty).map_or(0.0, |format| format.decode(code)),
        };
        let bits = narrow.map_or(8, packed::container);
        let (d, a) = (self.dest(inst, Type::Bf16x2)?, self.arg(inst, 1, Type::B16)?);
        let scale = match scaled {
            true => Some(self.arg(inst, 2, Type::B16)?),
            false => None,
        };
        let one = move |a: u64, scale: u64, at: u32| {
            let code = a >> (bits * at) & ((1 << bits) - 1);
            let scale = packed::scale_value((scale >> (8 * at)) as u8);
            u64::from(packed::to_brain(read(code) * scale, relu, finite)) << (16 * at)
        };
        match scale {
            Some(scale) => self.lanewise2(d, a, scale, move |a, scale| one(a, scale, 0) | one(a, scale, 1)),
            // 127 stands for one.
            None => self.lanewise1(d, a, move |a| one(a, 0x7f7f, 0) | one(a, 0x7f7f, 1)),
        }
        Ok(())
    }

    fn cvt_to_fixed(&mut self, inst: &Inst, relu: bool) -> Result<(), Refused> {
        let d = self.dest(inst, Type::B16)?;
        let single = |bits: u64| f64::from(f32::from_bits(bits as u32));
        if inst.op.types.last() == Some(&Type::F32) {
            let (a, b) = (self.arg(inst, 1, Type::F32)?, self.arg(inst, 2, Type::F32)?);
            self.lanewise2(d, a, b, move |a, b| {
                let [high, low] = [a, b].map(|bits| u64::from(packed::fixed(single(bits), relu)));
                high << 8 | low
            });
            return Ok(());
        }
        let a = self.arg(inst, 1, Type::Bf16x2)?;
        self.lanewise1(d, a, move |a| {
            let [high, low] = [a >> 16 << 16, a << 16].map(|bits| u64::from(packed::fixed(single(bits), relu)));
            high << 8 | low
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
