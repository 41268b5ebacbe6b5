//! WARP001: a mask names lanes that do not come.

use super::masks::{Fault, report};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A mask names lanes that do not come.
pub const RULE: Rule = Rule {
    code: Code::new("WARP001", "mask-names-absent-lanes"),
    level: Level::Error,
    summary: "A mask names lanes that do not come.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `shfl.sync` and `bar.warp.sync` whose mask names lanes that are elsewhere: the usual full mask inside `if (lane < 16)`.

The instruction waits for every lane of its mask that has not exited. A lane on the other side of a branch does not come, or comes to
another instruction: the result is undefined, and the warp may hang. Together that have exited may be named, and so may lanes that the CTA
does not have. Where it is not known which lanes come, a full mask under a branch that parts lanes is a warning;
a mask that is the ballot of the very predicate of the branch is right and not reported, and one from before a further branch is a warning.

A call is looked at like the instruction itself where the function executes it on its only way from the entry, be the mask its own or a
parameter: debug builds make calls of `__shfl_sync` and its kin.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    and.b32 %r3, %r1, 31;
    setp.ge.u32 %p1, %r3, 16;
    @%p1 bra SKIP;
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;
SKIP:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    and.b32 %r3, %r1, 31;
    setp.ge.u32 %p1, %r3, 16;
    @%p1 bra SKIP;
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffff;
SKIP:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Name the lanes that come, or let all lanes of the warp execute the instruction and use its result in some.
";

fn check(context: &Context) -> Vec<Diag> {
    let wanted = |fault: &Fault| matches!(fault, Fault::Missing(..) | Fault::Doubtful(_) | Fault::Stale(..));
    report(context, RULE.code, false, wanted)
}
