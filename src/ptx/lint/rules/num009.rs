//! NUM009: floating-point sums in an order that changes from run to run.

use super::kernels::{at_first, insts_where};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Kind;

/// Floating-point sums in an order that changes from run to run.
pub const RULE: Rule = Rule {
    code: Code::new("NUM009", "nondeterministic-sum"),
    level: Level::Info,
    summary: "Floating-point sums in an order that changes from run to run.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds floating-point additions by atomics and reductions. One finding for a function.

The order in which threads come to it is not fixed, and floating-point addition is not associative: the last bits differ between runs of
one program on one device.

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
    red.global.add.f32 [%rd1], %f1;
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
    st.global.f32 [%rd1], %f1;
    ret;
}
```
Where runs must agree, write partial sums to memory and add them in a fixed order, or sum integers.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let places = insts_where(code, |_, row| {
            row.op.effect == Effect::Atomic
                && row.op.has("add")
                && row.op.ty().is_some_and(|ty| ty.kind() == Kind::Float)
        });
        found.extend(at_first(context, code, RULE.code, &places, |row| {
            format!(
                "`{}`: threads come here in an order that changes from run to run, and so does the sum",
                row.op.text
            )
        }));
    }
    found
}
