//! BAR003: a barrier with a divergent guard.

use super::wording::{at_barrier, barrier_name, findings, law, who};
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::explain::guard_name;
use crate::ptx::lint::parting::{Parting, Shape};
use crate::ptx::lint::rule::Rule;

/// A barrier with a divergent guard.
pub const RULE: Rule = Rule {
    code: Code::new("BAR003", "barrier-with-divergent-guard"),
    level: Level::Error,
    summary: "A barrier guarded by a predicate that differs between threads.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds barriers (and calls of functions that hold one) with a guard that is not the same in all threads of the CTA.

Only threads whose predicate holds execute the barrier. An aligned barrier must be executed by all threads of a warp, and one
without a count waits for all threads of the CTA. A predicate that follows from parameters or `%ctaid` is uniform and not reported.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 5;
    @%p1 bar.sync 0;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 5;
    @%p1 bar.sync 0;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Take the guard away, or make it uniform.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, |shape| shape == Shape::Guard, say)
}

fn say(context: &Context, unit: &Unit, parting: &Parting) -> Diag {
    let guard = guard_name(unit, parting.at).unwrap_or_default();
    let message = format!(
        "{} is guarded by {guard}, which differs between {}",
        barrier_name(unit, &parting.sites[0]),
        who(parting.extent)
    );
    at_barrier(context, unit, parting, RULE.code, message)
        .note(law(parting))
        .help("let all threads execute the barrier, and guard what stands around it")
}
