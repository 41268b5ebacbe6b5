//! Video instructions.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::num::compare::Compare;
use crate::ptx::num::video::{Op, Part, Second, Simd, Video, VideoMad};
use crate::ptx::types::{Kind, Type};

/// What an instruction computes first: its name without the `v` and the number of lanes.
fn op(name: &str, inst: &Inst) -> Option<Op> {
    let wrap = inst.op.has("wrap");
    Some(match name {
        "add" => Op::Add,
        "sub" => Op::Sub,
        "absdiff" => Op::AbsDiff,
        "min" => Op::Min,
        "max" => Op::Max,
        "avrg" => Op::Average,
        "shl" => Op::Shl { wrap },
        "shr" => Op::Shr { wrap },
        "set" => Op::Set(inst.op.mods().find_map(Compare::from_name)?),
        _ => return None,
    })
}

/// Which of destination and sources have a sign. A comparison has no type for its destination: it has none.
fn signs(inst: &Inst) -> Option<[bool; 3]> {
    let signed = |ty: Type| ty.kind() == Kind::Signed;
    match *inst.op.types.as_slice() {
        [d, a, b] => Some([d, a, b].map(signed)),
        [a, b] => Some([false, signed(a), signed(b)]),
        _ => None,
    }
}

impl Decoder<'_> {
    /// `vadd`, `vadd2` and the like.
    pub(super) fn video(&mut self, inst: &Inst) -> Result<(), Refused> {
        let name = inst.op.base().trim_start_matches('v');
        if name == "mad" {
            return self.video_mad(inst);
        }
        let width = match name.chars().next_back() {
            Some('2') => 16,
            Some('4') => 8,
            _ => return self.video_scalar(inst, name),
        };
        let op = op(name.trim_end_matches(['2', '4']), inst).ok_or("a video instruction of this kind")?;
        self.video_simd(inst, op, width)
    }

    /// A register and what of it the operand names.
    fn selected(&mut self, inst: &Inst, at: usize) -> Result<(Slot, Option<String>), Refused> {
        match self.operand(inst, at)? {
            Operand::Part(reg, component) => Ok((self.register(*reg, 0)?, Some(component.to_string()))),
            // Who takes negated operands asks for that by itself.
            Operand::Neg(reg, component) => Ok((self.register(*reg, 0)?, component.map(|part| part.to_string()))),
            _ if at == 0 => Ok((self.dest(inst, Type::U32)?, None)),
            _ => Ok((self.arg(inst, at, Type::U32)?, None)),
        }
    }

    fn part(&mut self, inst: &Inst, at: usize) -> Result<(Slot, Part), Refused> {
        let (slot, name) = self.selected(inst, at)?;
        let part = name.map_or(Some(Part::Word), |name| Part::from_name(&name));
        Ok((slot, part.ok_or("a part of this kind")?))
    }

    fn video_scalar(&mut self, inst: &Inst, name: &str) -> Result<(), Refused> {
        let op = op(name, inst).ok_or("a video instruction of this kind")?;
        let [d_signed, a_signed, b_signed] = signs(inst).ok_or("its types")?;
        let ((d, d_part), (a, a_part), (b, b_part)) = (self.part(inst, 0)?, self.part(inst, 1)?, self.part(inst, 2)?);
        let c = match inst.operands.len() {
            4 => self.arg(inst, 3, Type::U32)?,
            _ => a,
        };
        let video = Video {
            op,
            d_signed,
            a_signed,
            b_signed,
            sat: inst.op.has("sat"),
            d: d_part,
            a: a_part,
            b: b_part,
            second: inst.op.mods().find_map(Second::from_name),
        };
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            u64::from(video.apply(a as u32, b as u32, c as u32))
        });
        Ok(())
    }

    fn video_mad(&mut self, inst: &Inst) -> Result<(), Refused> {
        let [_, a_signed, b_signed] = signs(inst).ok_or("its types")?;
        let d = self.dest(inst, Type::U32)?;
        let ((a, a_part), (b, b_part)) = (self.part(inst, 1)?, self.part(inst, 2)?);
        let (c, _) = self.selected(inst, 3)?;
        let negated = |at: usize| matches!(inst.operands.get(at), Some(Operand::Neg(..)));
        let mad = VideoMad {
            a_signed,
            b_signed,
            a: a_part,
            b: b_part,
            negate_product: negated(1) != negated(2),
            negate_c: negated(3),
            plus_one: inst.op.has("po"),
            shift: match () {
                () if inst.op.has("shr7") => 7,
                () if inst.op.has("shr15") => 15,
                () => 0,
            },
            sat: inst.op.has("sat"),
        };
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            u64::from(mad.apply(a as u32, b as u32, c as u32))
        });
        Ok(())
    }

    fn video_simd(&mut self, inst: &Inst, op: Op, width: u32) -> Result<(), Refused> {
        let [d_signed, a_signed, b_signed] = signs(inst).ok_or("its types")?;
        let ((d, mask), (a, a_lanes), (b, b_lanes)) = (
            self.selected(inst, 0)?,
            self.selected(inst, 1)?,
            self.selected(inst, 2)?,
        );
        let c = self.arg(inst, 3, Type::U32)?;
        let (first, second) = if width == 16 {
            ("h10", "h32")
        } else {
            ("b3210", "b7654")
        };
        let lanes = |name: Option<String>, default| {
            Simd::lanes_from_name(name.as_deref().unwrap_or(default)).ok_or("a selector of this kind")
        };
        let simd = Simd {
            op,
            width,
            d_signed,
            a_signed,
            b_signed,
            sat: inst.op.has("sat"),
            add: inst.op.has("add"),
            mask: Simd::mask_from_name(mask.as_deref().unwrap_or(first)).ok_or("a mask of this kind")?,
            a: lanes(a_lanes, first)?,
            b: lanes(b_lanes, second)?,
        };
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            u64::from(simd.apply(a as u32, b as u32, c as u32))
        });
        Ok(())
    }
}
