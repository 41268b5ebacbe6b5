//! PERF007: double precision that is slow on the target or that nobody asked for.

use super::kernels::{at_first, insts_where, target};
use crate::ptx::analysis::{Code as Function, Device};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::Definition;
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Type;

/// Double precision that is slow on the target or that nobody asked for.
pub const RULE: Rule = Rule {
    code: Code::new("PERF007", "double-precision"),
    level: Level::Info,
    summary: "Double precision that is slow on the target or that nobody asked for.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels that compute in double precision on targets where that runs at a small fraction of the rate of single precision, and on any target
chains that widen a single-precision number, compute, and narrow the result again. One finding for a function.

Such a chain comes from a constant without the suffix `f` in the source, or from a function like `pow` where `powf` was meant.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    cvt.f64.f32 %fd1, %f1;
    mul.f64 %fd2, %fd1, 0d3FB999999999999A;
    cvt.rn.f32.f64 %f2, %fd2;
    st.global.f32 [%rd1], %f2;
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
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mul.f32 %f2, %f1, 0f3DCCCCCD;
    st.global.f32 [%rd1], %f2;
    ret;
}
```
Write constants as single-precision ones (`0.1f`), and call the single-precision functions.
";

fn check(context: &Context) -> Vec<Diag> {
    let slow = target(context).and_then(|sm| Some((sm, Device::of(sm).filter(|device| !device.fast_doubles)?)));
    let mut found = Vec::new();
    for code in context.codes() {
        let narrowed = insts_where(code, |inst, row| is_narrowed(code, inst, row));
        let implicit = at_first(context, code, RULE.code, &narrowed, |_| {
            "a single-precision number is widened, computed with in double precision, and narrowed here".to_owned()
        });
        let computed = insts_where(code, |_, row| {
            row.op.effect == Effect::Pure && row.op.ty() == Some(Type::F64) && !is_copy(row)
        });
        let explicit = slow.and_then(|(sm, _)| {
            at_first(context, code, RULE.code, &computed, |row| {
                format!(
                    "`{}`: double precision runs at a small fraction of the rate of single precision on sm_{sm}",
                    row.op.text
                )
            })
        });
        found.extend(implicit.or(explicit));
    }
    found
}

fn is_copy(row: &Inst) -> bool {
    matches!(row.op.base(), "mov" | "cvt" | "selp" | "setp")
}

/// Whether the instruction narrows the result of arithmetic on a number that was widened, or on such a number and a constant.
fn is_narrowed(code: Function, inst: InstId, row: &Inst) -> bool {
    let [to, from] = row.op.types.as_slice() else {
        return false;
    };
    if row.op.base() != "cvt" || *to != Type::F32 || *from != Type::F64 {
        return false;
    }
    let source = code.ssa.uses(inst).first().and_then(|value| maker(code, *value));
    let Some(source) = source else { return false };
    let arithmetic = &code.body.insts[source.index()];
    arithmetic.op.ty() == Some(Type::F64)
        && matches!(
            arithmetic.op.base(),
            "add" | "sub" | "mul" | "div" | "fma" | "mad" | "min" | "max"
        )
        && arithmetic.operands.iter().skip(1).all(|operand| match operand {
            Operand::Imm(_) => true,
            Operand::Reg(reg) => code
                .ssa
                .use_of(source, *reg)
                .and_then(|value| maker(code, value))
                .is_some_and(|from| {
                    let row = &code.body.insts[from.index()];
                    let widened = row.op.base() == "cvt" && row.op.types.as_slice() == [Type::F64, Type::F32];
                    widened || row.op.base() == "mov" && matches!(row.operands.get(1), Some(Operand::Imm(_)))
                }),
            _ => false,
        })
}

fn maker(code: Function, value: crate::ptx::flow::ValueId) -> Option<InstId> {
    match code.ssa.value(value)?.definition {
        Definition::Inst(inst) => Some(inst),
        _ => None,
    }
}
