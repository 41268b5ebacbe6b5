//! RACE007: one address is accessed by atomics and, in the same phase, by plain accesses.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, findings};
use crate::ptx::lint::rule::Rule;

/// One address is accessed by atomics and, in the same phase, by plain accesses.
pub const RULE: Rule = Rule {
    code: Code::new("RACE007", "atomic-and-plain"),
    level: Level::Warning,
    summary: "One address is accessed by atomics and, in the same phase, by plain accesses.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds plain loads or stores of an address that other threads update by atomics, with no barrier between. An atomic excludes other
atomics only: a plain load sees any of the values on the way, and a plain store may get lost or undo an update.

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
    red.shared.add.u32 [s], 1;
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
    red.shared.add.u32 [s], 1;
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put a barrier between the phases, or make the other access atomic.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, RULE.code, Kind::Atomic, |_, _, _| {
        "one address is accessed by atomics and by plain accesses, and no barrier lies between".to_owned()
    })
}
