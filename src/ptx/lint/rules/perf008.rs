//! PERF008: a kernel that does not say how it is launched.

use super::kernels::kernels;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A kernel that does not say how it is launched.
pub const RULE: Rule = Rule {
    code: Code::new("PERF008", "no-launch-bounds"),
    level: Level::Info,
    summary: "A kernel that does not say how it is launched.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels without `.reqntid`, `.maxntid` and `.maxnreg`.

`ptxas` then has to take CTAs of up to 1024 threads for possible, and keeps to 64 registers a thread; and checks that need the size of the
CTA, bounds of shared arrays among them, can only say for which sizes they hold.

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
    st.global.f32 [%rd1], %f1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.maxntid 256, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    st.global.f32 [%rd1], %f1;
    ret;
}
```
State `.reqntid` where there is one size, else `.maxntid`; `.minnctapersm` as well where occupancy matters. In CUDA C++: `__launch_bounds__`.
";

fn check(context: &Context) -> Vec<Diag> {
    let bounds = ["reqntid", "maxntid", "maxnreg"];
    let unbounded = kernels(context).filter(|code| bounds.iter().all(|name| code.function().attr(name).is_none()));
    unbounded
        .map(|code| {
            let message = format!("`{}` states no size of its CTAs", code.name());
            Diag::info(RULE.code, context.name_span(code.id), message).help("add `.reqntid` or `.maxntid`")
        })
        .collect()
}
