//! MEM001: an access at a constant offset reaches outside of its variable.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// An access at a constant offset reaches outside of its variable.
pub const RULE: Rule = Rule {
    code: Code::new("MEM001", "constant-out-of-bounds"),
    level: Level::Error,
    summary: "An access at a constant offset reaches outside of its variable.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses to variables in shared, local, constant and global memory, and to parameters, whose offset is a constant that lies
before the start or reaches past the end. What lies there belongs to another variable or to nobody.

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
    mov.u32 %r1, 7;
    st.shared.u32 [s+256], %r1;
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
    mov.u32 %r1, 7;
    st.shared.u32 [s+252], %r1;
    ret;
}
```
Make the variable larger or the offset smaller.
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem001(context, RULE.code)
}
