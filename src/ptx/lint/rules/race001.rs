//! RACE001: a thread reads what another thread writes, and no barrier lies between.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, findings, opcode};
use crate::ptx::lint::rule::Rule;

/// A thread reads what another thread writes, and no barrier lies between.
pub const RULE: Rule = Rule {
    code: Code::new("RACE001", "read-without-barrier"),
    level: Level::Error,
    summary: "A thread reads what another thread writes, and no barrier lies between.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loads of shared or global memory that can come before the store of another thread whose value they are meant to see.

Threads of a CTA run in no order: only a barrier that all of them pass (`bar.sync`) makes one thread's store visible to another.
`bar.warp.sync` orders the lanes of one warp, and `membar` lets nobody wait. The kernel is run with the CTA's threads, or with
several usual shapes where the text and the options do not give one; a finding names two threads and the address they share.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    sub.u32 %r5, %r3, %r2;
    ld.shared.u32 %r6, [%r5+252];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    sub.u32 %r5, %r3, %r2;
    ld.shared.u32 %r6, [%r5+252];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put a barrier between the store and the load, where all threads pass it.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, RULE.code, Kind::ReadAfterWrite, |context, _, race| {
        format!(
            "{} reads what another thread has written, and no barrier lies between",
            opcode(context, race.conflict.second)
        )
    })
}
