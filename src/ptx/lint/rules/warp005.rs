//! WARP005: a mask that names no lane.

use super::masks::{Fault, report};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A mask that names no lane.
pub const RULE: Rule = Rule {
    code: Code::new("WARP005", "empty-mask"),
    level: Level::Error,
    summary: "A mask that names no lane.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `.sync` instructions among lanes whose mask is zero.

Every lane that executes the instruction must be in its mask, so no lane may execute one with an empty mask.

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
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0;
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
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Name the lanes that execute the instruction.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = report(context, RULE.code, false, |fault| *fault == Fault::Empty);
    found.extend(report(context, RULE.code, true, |fault| *fault == Fault::Empty));
    found
}
