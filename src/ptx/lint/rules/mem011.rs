//! MEM011: memory is loaded through the read-only path, and the kernel writes it.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// Memory is loaded through the read-only path, and the kernel writes it.
pub const RULE: Rule = Rule {
    code: Code::new("MEM011", "read-only-load-of-written-data"),
    level: Level::Warning,
    summary: "Memory is loaded through the read-only path, and the kernel writes it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `ld.global.nc` of addresses that the kernel stores to as well. The read-only path is not kept in step with stores: the load may
bring what was there before, also behind a barrier.

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
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ld.global.nc.u32 %r2, [%rd3];
    st.global.u32 [%rd3], %r2;
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
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ld.global.u32 %r2, [%rd3];
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Load without `.nc`, or write elsewhere.
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem011(context, RULE.code)
}
