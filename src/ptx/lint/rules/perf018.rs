//! PERF018: shared memory that keeps CTAs from being resident.

use super::kernels::kernels;
use crate::ptx::analysis::{Code as Function, Limiter};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Shared memory that keeps CTAs from being resident.
pub const RULE: Rule = Rule {
    code: Code::new("PERF018", "shared-memory-limit"),
    level: Level::Info,
    summary: "Shared memory that keeps CTAs from being resident.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels whose static shared memory is what limits how many CTAs a multiprocessor of the target holds.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 tile[32768];
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    st.global.f32 [%rd1], %f1;
    st.shared.f32 [tile], %f1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    st.global.f32 [%rd1], %f1;
    st.shared.f32 [tile], %f1;
    ret;
}
```
Smaller tiles, narrower types, or one buffer for what is not needed at the same time.
";

fn check(context: &Context) -> Vec<Diag> {
    kernels(context).filter_map(|code| say(context, code)).collect()
}

fn say(context: &Context, code: Function) -> Option<Diag> {
    let residency = context.residency(code)?;
    let bytes = residency.shared.bytes;
    let (with, without) = (residency.occupancy(bytes)?, residency.occupancy(0)?);
    if with.limiter != Limiter::Shared || with.ctas >= without.ctas {
        return None;
    }
    let message = format!(
        "the {bytes} bytes of shared memory of `{}` let {} CTAs reside on a multiprocessor of sm_{}; without them it would hold {}",
        code.name(),
        with.ctas,
        residency.sm,
        without.ctas
    );
    let mut diag = Diag::info(RULE.code, context.name_span(code.id), message);
    if let Some(largest) = residency.shared.largest {
        let span = context
            .parsed
            .spans
            .symbols
            .get(largest.index())
            .copied()
            .unwrap_or_default();
        diag = diag.related(span, "the largest part");
    }
    Some(residency.assume(diag))
}
