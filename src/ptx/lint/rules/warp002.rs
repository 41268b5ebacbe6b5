//! WARP002: a lane executes an instruction whose mask does not name it.

use super::masks::{Fault, report};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A lane executes an instruction whose mask does not name it.
pub const RULE: Rule = Rule {
    code: Code::new("WARP002", "mask-excludes-self"),
    level: Level::Error,
    summary: "A lane executes an instruction whose mask does not name it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `shfl.sync` and `bar.warp.sync` that lanes execute which are not in the mask.

A lane must name itself; otherwise the result is undefined. A mask of `0xf` in code that all 32 lanes run is of this kind, and so is
the ballot of a predicate in code that lanes with the other vote run too.

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
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xf;
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
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Name every lane that executes the instruction, or branch around it in the others.
";

fn check(context: &Context) -> Vec<Diag> {
    let wanted = |fault: &Fault| matches!(fault, Fault::Unnamed(_) | Fault::VotedNo(_));
    report(context, RULE.code, false, wanted)
}
