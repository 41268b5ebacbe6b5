//! WARP011: the mask of a vote, match, reduction or election does not fit the lanes that come.

use super::masks::{Fault, report};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// The mask of a vote, match, reduction or election does not fit the lanes that come.
pub const RULE: Rule = Rule {
    code: Code::new("WARP011", "vote-mask"),
    level: Level::Error,
    summary: "The mask of a vote, match, reduction or election does not fit the lanes that come.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `vote.sync`, `match.sync`, `redux.sync` and `elect.sync` whose mask names lanes that do not come, or leaves out lanes that do.

The rules are those of WARP001 and WARP002: a lane must name itself, and a lane that is named must come unless it has exited.

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
    redux.sync.add.u32 %r2, %r1, 0xffffffff;
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
    redux.sync.add.u32 %r2, %r1, 0xffff;
SKIP:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Name exactly the lanes that come.
";

fn check(context: &Context) -> Vec<Diag> {
    let elsewhere = |fault: &Fault| matches!(fault, Fault::Empty | Fault::Elsewhere(..) | Fault::Disagree(..));
    report(context, RULE.code, true, |fault| !elsewhere(fault))
}
