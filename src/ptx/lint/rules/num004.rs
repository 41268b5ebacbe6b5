//! NUM004: roots and reciprocals of what may be zero or negative.

use super::kernels::{at_first, insts_where};
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::Definition;
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Roots and reciprocals of what may be zero or negative.
pub const RULE: Rule = Rule {
    code: Code::new("NUM004", "unguarded-root"),
    level: Level::Info,
    summary: "Roots and reciprocals of what may be zero or negative.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `sqrt` of a difference, which rounding may make negative (a variance computed as E[x^2] - E[x]^2 is the classic), and `rsqrt` and `rcp` of
sums, squares and differences that nothing keeps away from zero. One finding for a function.

The results are NaN and infinity, and spread from there.

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
    mul.f32 %f2, %f1, %f1;
    sub.f32 %f3, %f2, %f1;
    sqrt.rn.f32 %f4, %f3;
    st.global.f32 [%rd1], %f4;
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
    mul.f32 %f2, %f1, %f1;
    sub.f32 %f3, %f2, %f1;
    max.f32 %f3, %f3, 0f00000000;
    sqrt.rn.f32 %f4, %f3;
    st.global.f32 [%rd1], %f4;
    ret;
}
```
Add a small constant, or take the maximum with one, before the root.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let places = insts_where(code, |inst, row| is_unguarded(code, inst, row));
        found.extend(at_first(context, code, RULE.code, &places, |row| match row.op.base() {
            "sqrt" => format!("`{}` of a difference: rounding may make it negative", row.op.text),
            _ => format!("`{}` of something that nothing keeps from being zero", row.op.text),
        }));
    }
    found
}

fn is_unguarded(code: Function, inst: InstId, row: &Inst) -> bool {
    let Some(maker) = maker(code, inst, row.operands.get(1)) else {
        return false;
    };
    let arithmetic = &code.body.insts[maker.index()];
    let is_square = || arithmetic.op.base() == "mul" && arithmetic.operands.get(1) == arithmetic.operands.get(2);
    match row.op.base() {
        "sqrt" => arithmetic.op.base() == "sub",
        "rsqrt" | "rcp" => match arithmetic.op.base() {
            "sub" => true,
            // A constant, or a parameter, that is added keeps the sum away from zero.
            "add" => !arithmetic
                .operands
                .iter()
                .skip(1)
                .any(|operand| is_given(code, maker, operand)),
            "fma" | "mad" => {
                !arithmetic
                    .operands
                    .get(3)
                    .is_some_and(|operand| is_given(code, maker, operand))
                    && arithmetic.operands.get(1) == arithmetic.operands.get(2)
            }
            _ => is_square(),
        },
        _ => false,
    }
}

/// The instruction behind an operand.
fn maker(code: Function, inst: InstId, operand: Option<&Operand>) -> Option<InstId> {
    let value = code.ssa.use_of(inst, operand?.as_reg()?)?;
    match code.ssa.value(value)?.definition {
        Definition::Inst(inst) => Some(inst),
        _ => None,
    }
}

/// Whether an operand is a constant, or is loaded from somewhere: an epsilon.
fn is_given(code: Function, inst: InstId, operand: &Operand) -> bool {
    match operand {
        Operand::Imm(_) => true,
        _ => maker(code, inst, Some(operand)).is_some_and(|maker| {
            let row = &code.body.insts[maker.index()];
            matches!(row.op.base(), "ld" | "ex2")
                || row.op.base() == "mov" && matches!(row.operands.get(1), Some(Operand::Imm(_)))
        }),
    }
}
