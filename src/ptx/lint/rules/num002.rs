//! NUM002: flushing to zero in one part of a computation only.

use super::kernels::{at_first, insts_where};
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::Definition;
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Type;

/// Flushing to zero in one part of a computation only.
pub const RULE: Rule = Rule {
    code: Code::new("NUM002", "mixed-flush-to-zero"),
    level: Level::Info,
    summary: "Flushing to zero in one part of a computation only.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds single-precision instructions with `.ftz` that compute with the result of one without, or the other way round. One finding for a function.

Where denormal numbers are flushed depends then on which instruction meets them first: moving code about changes results.

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
    add.ftz.f32 %f3, %f2, %f1;
    st.global.f32 [%rd1], %f3;
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
    add.f32 %f3, %f2, %f1;
    st.global.f32 [%rd1], %f3;
    ret;
}
```
Compile all of it with one setting of `-ftz`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        // Most functions do it one way throughout.
        let flushes = code.body.insts.iter().filter_map(flushes);
        let (on, off) = flushes.fold((false, false), |(on, off), flushes| (on || flushes, off || !flushes));
        if !(on && off) {
            continue;
        }
        let places = insts_where(code, |inst, row| differs(code, inst, row));
        found.extend(at_first(context, code, RULE.code, &places, |row| {
            let (own, other) = if row.op.has("ftz") {
                ("flushes", "does not")
            } else {
                ("does not flush", "does")
            };
            format!(
                "`{}` {own} denormal numbers to zero, and what it computes with comes from an instruction that {other}",
                row.op.text
            )
        }));
    }
    found
}

/// Whether an instruction that could flush does so.
fn flushes(row: &Inst) -> Option<bool> {
    let could = matches!(
        row.op.base(),
        "add" | "sub" | "mul" | "fma" | "div" | "sqrt" | "rcp" | "min" | "max"
    );
    (could && row.op.types.as_slice() == [Type::F32]).then(|| row.op.has("ftz"))
}

fn differs(code: Function, inst: InstId, row: &Inst) -> bool {
    let Some(own) = flushes(row) else { return false };
    code.ssa
        .uses(inst)
        .iter()
        .any(|value| match code.ssa.value(*value).map(|value| value.definition) {
            Some(Definition::Inst(maker)) => flushes(&code.body.insts[maker.index()]).is_some_and(|other| other != own),
            _ => false,
        })
}
