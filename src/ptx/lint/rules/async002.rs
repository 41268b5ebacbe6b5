//! ASYNC002: a thread reads what another one's asynchronous copy wrote, with no barrier after the wait.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::copies::Fault;
use crate::ptx::lint::rule::Rule;

/// A thread reads what another one's asynchronous copy wrote, with no barrier after the wait.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC002", "copy-not-shared"),
    level: Level::Error,
    summary: "A thread reads what another one's asynchronous copy wrote, with no barrier after the wait.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds reads of what other threads copied with `cp.async`, with a wait but no barrier between the wait and the read.

`cp.async.wait_group` waits for the executing thread's own copies only. A barrier in front of the wait does not help: it must follow it.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    xor.b32 %r5, %r3, 4;
    add.u32 %r5, %r2, %r5;
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.commit_group;
    bar.sync 0;
    cp.async.wait_group 0;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
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
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    xor.b32 %r5, %r3, 4;
    add.u32 %r5, %r2, %r5;
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.u32 %r6, [%r4];
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put the barrier behind the wait.
";

fn check(context: &Context) -> Vec<Diag> {
    super::early::report(context, RULE.code, |fault| matches!(fault, Fault::NotShared(_)))
}
