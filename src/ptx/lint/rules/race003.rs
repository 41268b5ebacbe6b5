//! RACE003: two threads write one address, and not the same value.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, findings, opcodes};
use crate::ptx::lint::rule::Rule;

/// Two threads write one address, and not the same value.
pub const RULE: Rule = Rule {
    code: Code::new("RACE003", "conflicting-stores"),
    level: Level::Error,
    summary: "Two threads write one address, and not the same value.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds stores of different values to one address by threads that nothing orders: which value stays is left to chance. That is often
an index that leaves out a dimension of the CTA, or vectors that overlap because the stride is smaller than they are.

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
    st.shared.u32 [s], %r1;
    bar.sync 0;
    ld.shared.u32 %r6, [s];
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
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra SKIP;
    st.shared.u32 [s], %r1;
SKIP:
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Let one thread write, give each thread an address of its own, or use an atomic.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, RULE.code, Kind::WriteWrite, |context, _, race| {
        format!(
            "two threads write different values to one address by {}",
            opcodes(context, &race.conflict)
        )
    })
}
