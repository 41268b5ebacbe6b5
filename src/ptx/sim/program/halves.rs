//! Arithmetic on `.f16` and `.bf16`, scalar and packed.

use super::super::lanes::{Slot, lanes};
use super::alu::halves;
use super::compare::half_format;
use super::decoder::{Decoder, Refused};
use super::floats::Binary;
use crate::ptx::ir::Inst;
use crate::ptx::num::{Mode, half};
use crate::ptx::types::Type;

impl Decoder<'_> {
    /// `add`, `sub`, `mul`.
    pub(super) fn half2(&mut self, inst: &Inst, ty: Type, what: Binary, mode: Mode) -> Result<(), Refused> {
        let format = half_format(ty).ok_or("its type")?;
        let (d, a, b) = self.three(inst, ty)?;
        let f = match what {
            Binary::Add => half::add,
            Binary::Sub => half::sub,
            Binary::Mul => half::mul,
        };
        self.half_map2(ty, d, [a, b], move |a, b| f(format, a, b, mode));
        Ok(())
    }

    /// `fma`.
    pub(super) fn half_fma(&mut self, inst: &Inst, ty: Type, mode: Mode) -> Result<(), Refused> {
        let format = half_format(ty).ok_or("its type")?;
        if inst.op.has("oob") {
            return Err("`.oob`".into());
        }
        let (d, a, b) = self.three(inst, ty)?;
        let c = self.arg(inst, 3, ty)?;
        let relu = inst.op.has("relu");
        let one = move |a, b, c| {
            let value = half::fma(format, a, b, c, mode);
            if relu { half::relu(format, value) } else { value }
        };
        let packed = ty.bits() == 32;
        self.lanewise3(d, [a, b, c], move |a, b, c| match packed {
            true => halves([a, b, c], |[a, b, c]| one(a, b, c)),
            false => u64::from(one(a as u16, b as u16, c as u16)),
        });
        Ok(())
    }

    /// A function of two half words, on one or both halves.
    pub(super) fn half_map2(
        &mut self,
        ty: Type,
        d: Slot,
        s: [Slot; 2],
        f: impl Fn(u16, u16) -> u16 + Send + Sync + 'static,
    ) {
        let packed = ty.bits() == 32;
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let (a, b) = (file.read(s[0], lane), file.read(s[1], lane));
                let value = match packed {
                    true => halves([a, b], |[a, b]| f(a, b)),
                    false => u64::from(f(a as u16, b as u16)),
                };
                file.write(d, lane, value);
            }
        }));
    }
}
