//! Arithmetic on `.f32` and `.f64`.

use super::super::lanes::{Slot, lanes};
use super::Op;
use super::compare::half_format;
use super::decoder::{Decoder, Refused};
use crate::ptx::ir::Inst;
use crate::ptx::num::single::Extreme;
use crate::ptx::num::{Mode, Round, double, half, single};
use crate::ptx::types::Type;

/// The modifiers of a floating-point instruction.
pub fn mode(inst: &Inst) -> Mode {
    Mode {
        round: inst.op.mods().find_map(Round::from_name).unwrap_or(Round::Rn),
        ftz: inst.op.has("ftz"),
        sat: inst.op.has("sat"),
    }
}

/// Which of the operations with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
}

impl Binary {
    fn single(self, a: u32, b: u32, mode: Mode) -> u32 {
        match self {
            Binary::Add => single::add_with(a, b, mode),
            Binary::Sub => single::sub_with(a, b, mode),
            Binary::Mul => single::mul_with(a, b, mode),
        }
    }

    fn double(self, a: u64, b: u64, round: Round) -> u64 {
        match self {
            Binary::Add => double::add_with(a, b, round),
            Binary::Sub => double::sub_with(a, b, round),
            Binary::Mul => double::mul_with(a, b, round),
        }
    }
}

impl Decoder<'_> {
    /// `add`, `sub`, `mul` of floats.
    pub(super) fn float2(&mut self, inst: &Inst, ty: Type, what: Binary) -> Result<(), Refused> {
        let mode = mode(inst);
        if inst.op.types.first() == Some(&Type::F32) && half_format(ty).is_some() {
            return self.mixed2(inst, ty, what, mode);
        }
        if half_format(ty).is_some() {
            return self.half2(inst, ty, what, mode);
        }
        let (d, a, b) = self.three(inst, ty)?;
        match ty {
            Type::F32 if mode == Mode::RN => {
                let op = [Op::AddF32, Op::SubF32, Op::MulF32][what as usize];
                return self.on_words(op, d, &[a, b]);
            }
            Type::F64 if mode == Mode::RN => {
                let op = [Op::AddF64, Op::SubF64, Op::MulF64][what as usize];
                return self.on_longs(op, d, &[a, b]);
            }
            Type::F32 => self.lanewise2(d, a, b, move |a, b| u64::from(what.single(a as u32, b as u32, mode))),
            Type::F64 => self.lanewise2(d, a, b, move |a, b| what.double(a, b, mode.round)),
            Type::F32x2 => self.lanewise2(d, a, b, move |a, b| {
                let part = |shift: u32| u64::from(what.single((a >> shift) as u32, (b >> shift) as u32, mode));
                part(0) | part(32) << 32
            }),
            _ => return Err("its type".into()),
        }
        Ok(())
    }

    /// `add.f32.bf16` and the like: the narrow operand is widened, exactly.
    fn mixed2(&mut self, inst: &Inst, ty: Type, what: Binary, mode: Mode) -> Result<(), Refused> {
        let format = half_format(ty).ok_or("its type")?;
        let (d, a) = (self.dest(inst, Type::F32)?, self.arg(inst, 1, ty)?);
        let b = self.arg(inst, 2, Type::F32)?;
        self.lanewise2(d, a, b, move |a, b| {
            u64::from(what.single(half::to_single(format, a as u16), b as u32, mode))
        });
        Ok(())
    }

    /// `fma`, and `mad` of floats.
    pub(super) fn fma(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        let mode = mode(inst);
        if inst.op.types.first() == Some(&Type::F32) && half_format(ty).is_some() {
            return self.mixed_fma(inst, ty, mode);
        }
        if half_format(ty).is_some() {
            return self.half_fma(inst, ty, mode);
        }
        let (d, a, b) = self.three(inst, ty)?;
        let c = self.arg(inst, 3, ty)?;
        match ty {
            Type::F32 if mode == Mode::RN => return self.on_words(Op::FmaF32, d, &[a, b, c]),
            Type::F64 if mode == Mode::RN => return self.on_longs(Op::FmaF64, d, &[a, b, c]),
            Type::F32 => self.lanewise3(d, [a, b, c], move |a, b, c| {
                u64::from(single::fma_with(a as u32, b as u32, c as u32, mode))
            }),
            Type::F64 => self.lanewise3(d, [a, b, c], move |a, b, c| double::fma_with(a, b, c, mode.round)),
            Type::F32x2 => self.lanewise3(d, [a, b, c], move |a, b, c| {
                let part = |shift: u32| {
                    let of = |bits: u64| (bits >> shift) as u32;
                    u64::from(single::fma_with(of(a), of(b), of(c), mode))
                };
                part(0) | part(32) << 32
            }),
            _ => return Err("its type".into()),
        }
        Ok(())
    }

    fn mixed_fma(&mut self, inst: &Inst, ty: Type, mode: Mode) -> Result<(), Refused> {
        let format = half_format(ty).ok_or("its type")?;
        let d = self.dest(inst, Type::F32)?;
        let (a, b) = (self.arg(inst, 1, ty)?, self.arg(inst, 2, ty)?);
        let c = self.arg(inst, 3, Type::F32)?;
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            let wide = |bits: u64| half::to_single(format, bits as u16);
            u64::from(single::fma_with(wide(a), wide(b), c as u32, mode))
        });
        Ok(())
    }

    /// `div`, `rcp`, `sqrt` of floats, correctly rounded.
    pub(super) fn quotient_float(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        let mode = mode(inst);
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        match (inst.op.base(), ty) {
            ("div", Type::F32) => {
                let b = self.arg(inst, 2, ty)?;
                self.lanewise2(d, a, b, move |a, b| {
                    u64::from(single::div_with(a as u32, b as u32, mode))
                });
            }
            ("div", Type::F64) => {
                let b = self.arg(inst, 2, ty)?;
                self.lanewise2(d, a, b, move |a, b| double::div_with(a, b, mode.round));
            }
            ("rcp", Type::F32) => self.lanewise1(d, a, move |a| u64::from(single::rcp_with(a as u32, mode))),
            ("rcp", Type::F64) if !inst.op.has("approx") => {
                self.lanewise1(d, a, move |a| double::rcp_with(a, mode.round));
            }
            ("sqrt", Type::F32) => self.lanewise1(d, a, move |a| u64::from(single::sqrt_with(a as u32, mode))),
            ("sqrt", Type::F64) => self.lanewise1(d, a, move |a| double::sqrt_with(a, mode.round)),
            _ => return Err("its type".into()),
        }
        Ok(())
    }

    /// `abs`, `neg` of floats.
    pub(super) fn sign_float(&mut self, inst: &Inst, ty: Type, negate: bool) -> Result<(), Refused> {
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        let ftz = inst.op.has("ftz");
        if let Some(format) = half_format(ty) {
            let one = move |a| match negate {
                true => half::neg(format, a, ftz),
                false => half::abs(format, a, ftz),
            };
            self.half_map1(ty, d, a, one);
            return Ok(());
        }
        match ty {
            Type::F32 => self.lanewise1(d, a, move |a| {
                u64::from(match negate {
                    true => single::neg(a as u32, ftz),
                    false => single::abs(a as u32, ftz),
                })
            }),
            Type::F64 => self.lanewise1(d, a, move |a| if negate { double::neg(a) } else { double::abs(a) }),
            _ => return Err("its type".into()),
        }
        Ok(())
    }

    /// `min`, `max` of floats, of two or three operands.
    pub(super) fn min_max_float(&mut self, inst: &Inst, ty: Type, most: bool) -> Result<(), Refused> {
        let mode = Extreme {
            ftz: inst.op.has("ftz"),
            nan: inst.op.has("NaN"),
            xorsign_abs: inst.op.has("xorsign"),
        };
        if let Some(format) = half_format(ty) {
            let (d, a, b) = self.three(inst, ty)?;
            let pick = if most { half::max } else { half::min };
            self.half_map2(ty, d, [a, b], move |a, b| pick(format, a, b, mode));
            return Ok(());
        }
        let (d, a, b) = self.three(inst, ty)?;
        match ty {
            Type::F32 => {
                let c = match inst.operands.len() {
                    4 => Some(self.arg(inst, 3, ty)?),
                    _ => None,
                };
                if mode == Extreme::default() && c.is_none() {
                    return self.on_words(if most { Op::MaxF32 } else { Op::MinF32 }, d, &[a, b]);
                }
                let pick = if most { single::max } else { single::min };
                let pick3 = if most { single::max3 } else { single::min3 };
                let abs = inst.op.has("abs");
                match c {
                    Some(c) => self.lanewise3(d, [a, b, c], move |a, b, c| {
                        u64::from(pick3(a as u32, b as u32, c as u32, mode, abs))
                    }),
                    None => self.lanewise2(d, a, b, move |a, b| u64::from(pick(a as u32, b as u32, mode))),
                }
            }
            Type::F64 => self.lanewise2(d, a, b, if most { double::max } else { double::min }),
            _ => return Err("its type".into()),
        }
        Ok(())
    }

    /// `copysign`.
    pub(super) fn copysign(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, ty)?;
        match ty {
            Type::F32 => self.lanewise2(d, a, b, |a, b| u64::from(single::copysign(a as u32, b as u32))),
            _ => self.lanewise2(d, a, b, double::copysign),
        }
        Ok(())
    }

    /// A function of one half word, on one or both halves.
    pub(super) fn half_map1(&mut self, ty: Type, d: Slot, a: Slot, f: impl Fn(u16) -> u16 + Send + Sync + 'static) {
        let packed = ty.bits() == 32;
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let bits = file.read(a, lane);
                let value = match packed {
                    true => super::alu::halves([bits], |[a]| f(a)),
                    false => u64::from(f(bits as u16)),
                };
                file.write(d, lane, value);
            }
        }));
    }
}
