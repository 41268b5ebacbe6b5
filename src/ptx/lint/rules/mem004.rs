//! MEM004: the alignment of an access does not follow from its variable and stride.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// The alignment of an access does not follow from its variable and stride.
pub const RULE: Rule = Rule {
    code: Code::new("MEM004", "alignment-not-guaranteed"),
    level: Level::Error,
    summary: "The alignment of an access does not follow from its variable and stride.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses whose address is no multiple of their size for some thread, because the stride between threads is smaller than the
access, and vector accesses to variables that are declared with less alignment than the vector needs (a warning: the variable
may happen to lie well).

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
    .shared .align 16 .b8 s[512];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    ld.shared.v2.u32 {%r5, %r6}, [%r4];
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
    .shared .align 16 .b8 s[512];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    add.u32 %r4, %r4, %r2;
    ld.shared.v2.u32 {%r5, %r6}, [%r4];
    ret;
}
```
Let the stride be a multiple of the vector, and declare the variable with the vector's alignment.
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem004(context, RULE.code)
}
