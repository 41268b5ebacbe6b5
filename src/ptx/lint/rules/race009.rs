//! RACE009: volatile accesses of different warps are taken to wait for each other.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, findings};
use crate::ptx::lint::rule::Rule;

/// Volatile accesses of different warps are taken to wait for each other.
pub const RULE: Rule = Rule {
    code: Code::new("RACE009", "volatile-is-no-barrier"),
    level: Level::Warning,
    summary: "Volatile accesses of different warps are taken to wait for each other.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds exchanges between warps through volatile accesses with no barrier between. `.volatile` keeps the compiler from caching the value
in a register; it makes no thread wait for another.

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
    st.volatile.shared.u32 [%r4], %r1;
    sub.u32 %r5, %r3, %r2;
    ld.volatile.shared.u32 %r6, [%r5+252];
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
    st.volatile.shared.u32 [%r4], %r1;
    bar.sync 0;
    sub.u32 %r5, %r3, %r2;
    ld.volatile.shared.u32 %r6, [%r5+252];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put a barrier between the store and the load.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, RULE.code, Kind::Volatile, |_, _, _| {
        "volatile accesses of different threads meet at one address, and no barrier lies between".to_owned()
    })
}
