//! NUM005: conversions to integers that may not fit.

use super::kernels::{at_first, insts_where};
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Kind;

/// Conversions to integers that may not fit.
pub const RULE: Rule = Rule {
    code: Code::new("NUM005", "unbounded-conversion"),
    level: Level::Info,
    summary: "Conversions to integers that may not fit.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds conversions from floating point to integers whose source nothing bounds: no `min` and `max` before them, and not itself made from an integer. One
finding for a function.

A number that does not fit becomes the nearest integer that does, and NaN becomes zero; as an index that is a wrong element, without any error.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    cvt.rzi.s32.f32 %r1, %f1;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    max.f32 %f2, %f1, 0f00000000;
    min.f32 %f3, %f2, 0f437F0000;
    cvt.rzi.s32.f32 %r1, %f3;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clamp the number first, where its range is not known.
";

/// Chains of instructions longer than this are taken to bound nothing.
const DEEPEST: usize = 6;

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let places = insts_where(code, |inst, row| {
            let [to, from] = row.op.types.as_slice() else {
                return false;
            };
            let narrows = row.op.base() == "cvt" && to.is_integral() && from.kind() == Kind::Float && to.bits() <= 32;
            narrows
                && code
                    .ssa
                    .uses(inst)
                    .last()
                    .is_some_and(|value| !is_bounded(code, *value))
        });
        found.extend(at_first(context, code, RULE.code, &places, |row| {
            format!("nothing bounds what `{}` converts", row.op.text)
        }));
    }
    found
}

/// Whether the value is kept within limits, or comes from an integer.
fn is_bounded(code: Function, value: ValueId) -> bool {
    let mut at = value;
    for _ in 0..DEEPEST {
        let Some(Definition::Inst(inst)) = code.ssa.value(at).map(|value| value.definition) else {
            return false;
        };
        let row = &code.body.insts[inst.index()];
        let from_integer = row.op.types.last().is_some_and(|ty| ty.is_integral());
        match row.op.base() {
            "min" | "max" | "sin" | "cos" | "tanh" => return true,
            "cvt" if from_integer || row.op.has("sat") => return true,
            _ if row.op.has("sat") => return true,
            // Scaling, rounding and the like keep within limits what is.
            "cvt" | "mul" | "add" | "fma" | "mov" | "neg" | "abs" => {}
            _ => return false,
        }
        let Some(next) = code.ssa.uses(inst).first() else {
            return false;
        };
        at = *next;
    }
    false
}
