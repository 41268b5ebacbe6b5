//! Approximations: deterministic, within the bounds of the ISA.

use super::compare::half_format;
use super::decoder::{Decoder, Refused};
use crate::ptx::ir::Inst;
use crate::ptx::num::approx;
use crate::ptx::types::Type;

impl Decoder<'_> {
    /// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`, and the approximate forms of `rcp`, `sqrt`.
    pub(super) fn approximate(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        let ftz = inst.op.has("ftz");
        if let Some(format) = half_format(ty) {
            let f: fn(_, u16, bool) -> u16 = match inst.op.base() {
                "ex2" => approx::ex2_half,
                "tanh" => |format, a, _| approx::tanh_half(format, a),
                _ => return Err("its type".into()),
            };
            self.half_map1(ty, d, a, move |a| f(format, a, ftz));
            return Ok(());
        }
        if ty == Type::F64 {
            let f = match (inst.op.base(), ftz) {
                ("rsqrt", false) => approx::rsqrt_double,
                ("rsqrt", true) => approx::rsqrt_gross,
                ("rcp", true) => approx::rcp_gross,
                _ => return Err("its type".into()),
            };
            self.lanewise1(d, a, f);
            return Ok(());
        }
        let f: fn(u32, bool) -> u32 = match inst.op.base() {
            "rcp" => approx::rcp,
            "sqrt" => approx::sqrt,
            "rsqrt" => approx::rsqrt,
            "sin" => approx::sin,
            "cos" => approx::cos,
            "lg2" => approx::lg2,
            "ex2" => approx::ex2,
            "tanh" => |a, _| approx::tanh(a),
            _ => return Err("its type".into()),
        };
        self.lanewise1(d, a, move |a| u64::from(f(a as u32, ftz)));
        Ok(())
    }

    /// `div.approx`, `div.full`.
    pub(super) fn approximate_div(&mut self, inst: &Inst) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, Type::F32)?;
        let ftz = inst.op.has("ftz");
        let f = if inst.op.has("full") {
            approx::div_full
        } else {
            approx::div
        };
        self.lanewise2(d, a, b, move |a, b| u64::from(f(a as u32, b as u32, ftz)));
        Ok(())
    }
}
