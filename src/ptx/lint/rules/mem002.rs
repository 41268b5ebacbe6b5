//! MEM002: an access at an offset that depends on the thread reaches outside of its variable.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// An access at an offset that depends on the thread reaches outside of its variable.
pub const RULE: Rule = Rule {
    code: Code::new("MEM002", "thread-out-of-bounds"),
    level: Level::Error,
    summary: "An access at an offset that depends on the thread reaches outside of its variable.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses whose offset follows from the thread's index, where some thread of the CTA goes before the start or past the end of the
variable. The shape of the CTA is the one the text or the options give; else only what holds for every usual shape is reported,
and not even that where a small CTA, of 16 threads say, fits all arrays: the kernel is made for such.
Guards that rest on parameters are trusted.

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
    st.shared.u32 [%r4+4], %r1;
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
    setp.eq.u32 %p1, %r1, 63;
    @%p1 bra SKIP;
    st.shared.u32 [%r4+4], %r1;
SKIP:
    ret;
}
```
Make the variable as large as the CTA needs, or keep the threads out that have no place in it.
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem002(context, RULE.code)
}
