//! NUM001: approximations where a correctly rounded form exists.

use super::kernels::{at_first, insts_where};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Approximations where a correctly rounded form exists.
pub const RULE: Rule = Rule {
    code: Code::new("NUM001", "approximate-arithmetic"),
    level: Level::Info,
    summary: "Approximations where a correctly rounded form exists.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `div`, `rcp` and `sqrt` in their `.approx` and `.full` forms: `.rn` is one word away. One finding for a function. Functions that have no other
form (`ex2`, `lg2`, `sin`, `cos`, `tanh`, `rsqrt`) do not count.

`div.approx` and `rcp.approx` are off by up to one unit in the last place, `div.full` by two, `sqrt.approx` by a relative 2^-23; with
large divisors `div.approx` gives zero or NaN. Results differ from those of a CPU and between options of the compiler.

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
    div.approx.f32 %f2, 0f3F800000, %f1;
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
    .reg .f32 %f<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    div.rn.f32 %f2, 0f3F800000, %f1;
    st.global.f32 [%rd1], %f2;
    ret;
}
```
Write `.rn` where the last bit matters, or build without `-use_fast_math`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let places = insts_where(code, |_, row| {
            let approximate = row.op.mods().any(|name| matches!(name, "approx" | "full"));
            approximate && matches!(row.op.base(), "div" | "rcp" | "sqrt")
        });
        found.extend(at_first(context, code, RULE.code, &places, |row| {
            format!(
                "`{}` approximates; `{}.rn` is rounded correctly",
                row.op.text,
                row.op.base()
            )
        }));
    }
    found
}
