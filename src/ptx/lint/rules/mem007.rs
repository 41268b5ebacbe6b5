//! MEM007: an address in one space is used as if it were in another.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// An address in one space is used as if it were in another.
pub const RULE: Rule = Rule {
    code: Code::new("MEM007", "address-of-another-space"),
    level: Level::Error,
    summary: "An address in one space is used as if it were in another.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds generic accesses to the plain address of a shared or local variable, accesses in the shared or local space to a generic
address, and accesses in the global space to the generic address of such a variable. The two count from different places: `cvta.shared` makes an address generic, `cvta.to.shared` makes it a shared one again.

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
    mov.u32 %r1, %tid.x;
    mov.u64 %rd1, s;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.u32 [%rd3], %r1;
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
    mov.u64 %rd1, s;
    cvta.shared.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.u32 [%rd3], %r1;
    ret;
}
```
Convert the address with `cvta`, or name the space in the access.
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem007(context, RULE.code)
}
