//! RACE002: a thread overwrites what another thread may still have to read.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, findings, opcode};
use crate::ptx::lint::rule::Rule;

/// A thread overwrites what another thread may still have to read.
pub const RULE: Rule = Rule {
    code: Code::new("RACE002", "overwritten-before-read"),
    level: Level::Error,
    summary: "A thread overwrites what another thread may still have to read.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds stores to shared or global memory that can come before another thread's load of the value that was there. Most lie in loops:
each round writes a tile, waits, and reads it, and the next round writes the next tile while slower threads still read the last one.

One barrier a round is enough only where two buffers take turns.

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
    mov.u32 %r7, 0;
    mov.u32 %r6, 0;
    sub.u32 %r5, %r3, %r2;
LOOP:
    st.shared.u32 [%r4], %r7;
    bar.sync 0;
    ld.shared.u32 %r8, [%r5+252];
    add.u32 %r6, %r6, %r8;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 4;
    @%p1 bra LOOP;
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
    mov.u32 %r7, 0;
    mov.u32 %r6, 0;
    sub.u32 %r5, %r3, %r2;
LOOP:
    st.shared.u32 [%r4], %r7;
    bar.sync 0;
    ld.shared.u32 %r8, [%r5+252];
    add.u32 %r6, %r6, %r8;
    bar.sync 0;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 4;
    @%p1 bra LOOP;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put a second barrier behind the last load of the round, or let two buffers take turns.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, RULE.code, Kind::WriteAfterRead, |context, _, race| {
        format!(
            "{} overwrites what another thread may still have to read",
            opcode(context, race.conflict.second)
        )
    })
}
