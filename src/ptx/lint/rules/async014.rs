//! ASYNC014: a register of a `wgmma` under way is written.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::copies::{Touch, matrix};
use crate::ptx::lint::rule::Rule;

/// A register of a `wgmma` under way is written.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC014", "wgmma-register-written"),
    level: Level::Warning,
    summary: "A register of a `wgmma` under way is written.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds writes to accumulators or register operands of a `wgmma.mma_async` before a `wgmma.wait_group` covers it.

Until then the registers belong to the multiplication; touching them is undefined, and makes the assembler serialise the pipeline where it
sees it.

Fails:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, 4611686293305294848;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    mov.f32 %f1, 0f3F800000;
    wgmma.wait_group.sync.aligned 0;
    add.f32 %f5, %f1, %f2;
    st.global.f32 [%rd3], %f5;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, 4611686293305294848;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mov.f32 %f1, 0f3F800000;
    add.f32 %f5, %f1, %f2;
    st.global.f32 [%rd3], %f5;
    ret;
}
```
Wait for the group first, or use another register.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let Some(late) = matrix(unit).into_iter().find(|late| late.touch == Touch::Write) else {
            continue;
        };
        let name = unit.body.regs.get(late.reg.index()).map_or("", |reg| reg.name.as_str());
        let message = format!("`{name}` is written while a `wgmma` that uses it is under way");
        let diag = Diag::warning(RULE.code, context.span(unit.id, late.user), message)
            .related(context.span(unit.id, late.work), "the asynchronous multiplication")
            .help("wait for its group with `wgmma.wait_group` first");
        found.push(diag);
    }
    found
}
