//! MEM005: shared memory is addressed by a number instead of a variable.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// Shared memory is addressed by a number instead of a variable.
pub const RULE: Rule = Rule {
    code: Code::new("MEM005", "raw-shared-address"),
    level: Level::Warning,
    summary: "Shared memory is addressed by a number instead of a variable.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses to shared memory whose address no variable went into. Where variables lie is the assembler's choice: two things placed
by hand can overlap, dynamic shared memory comes after the static, and from sm_90 on the first 1024 bytes of the window are reserved.

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
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    st.shared.u32 [%r2], %r1;
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
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    ret;
}
```
Add the address of the shared variable (`mov.u32 %r, s;`).
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem005(context, RULE.code)
}
