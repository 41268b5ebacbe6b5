//! RACE005: a slot that all threads read is overwritten before all have read it.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, findings, opcode};
use crate::ptx::lint::rule::Rule;

/// A slot that all threads read is overwritten before all have read it.
pub const RULE: Rule = Rule {
    code: Code::new("RACE005", "broadcast-slot-reused"),
    level: Level::Error,
    summary: "A slot that all threads read is overwritten before all have read it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds stores to an address that all threads read, where nothing makes the writer wait for the readers: a broadcast slot that is used
again, for the next broadcast or as an element of an array. The fast threads go on and overwrite it; the slow ones read the new value.

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
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    add.u32 %r7, %r6, %r1;
    st.shared.u32 [%r4], %r7;
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
    ld.shared.u32 %r6, [s];
    bar.sync 0;
    add.u32 %r7, %r6, %r1;
    st.shared.u32 [%r4], %r7;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put a barrier between the loads of the slot and the next store to it, or give the broadcast a slot of its own.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, RULE.code, Kind::Broadcast, |context, _, race| {
        format!(
            "{} overwrites a slot that all threads read, before all have read it",
            opcode(context, race.conflict.second)
        )
    })
}
