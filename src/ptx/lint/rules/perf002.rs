//! PERF002: a kernel that cannot fill a multiprocessor.

use super::kernels::kernels;
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A kernel that cannot fill a multiprocessor.
pub const RULE: Rule = Rule {
    code: Code::new("PERF002", "occupancy"),
    level: Level::Info,
    summary: "A kernel that cannot fill a multiprocessor.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Predicts how many warps of a kernel a multiprocessor of the target holds, from the values that are live at once, the size of the CTA, and
static shared memory; and finds the kernels that do not fill it, with what limits them.

Registers are counted where most are live, not as declared: declared counts are several times too high. A kernel need not fill a
multiprocessor to be fast; what is told here is what the limit is.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
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
.reqntid 256, 1, 1
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
Larger CTAs, fewer values held over long stretches, or less shared memory, whichever the limit is; `.minnctapersm` tells `ptxas` what is wanted.
";

fn check(context: &Context) -> Vec<Diag> {
    kernels(context).filter_map(|code| say(context, code)).collect()
}

fn say(context: &Context, code: Function) -> Option<Diag> {
    let residency = context.residency(code)?;
    let found = residency.occupancy(residency.shared.bytes)?;
    if found.warps >= found.of_warps {
        return None;
    }
    let message = format!(
        "`{}`: predicted {} of {} warps on sm_{} ({} CTAs of {} threads), limited by {}",
        code.name(),
        found.warps,
        found.of_warps,
        residency.sm,
        found.ctas,
        residency.threads,
        found.limiter.name()
    );
    let mut diag = Diag::info(RULE.code, context.name_span(code.id), message);
    if let Some(at) = residency.pressure.at {
        let message = format!(
            "most is live here: {} registers, {} predicates",
            residency.pressure.words, residency.pressure.predicates
        );
        diag = diag.related(context.span(code.id, at), message);
    }
    if residency.shared.dynamic {
        diag = diag.note("shared memory whose size is given at launch is not counted");
    }
    Some(residency.assume(diag))
}
