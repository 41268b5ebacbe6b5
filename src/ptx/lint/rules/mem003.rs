//! MEM003: an access at a constant offset is not a multiple of its size.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::memory;
use crate::ptx::lint::rule::Rule;

/// An access at a constant offset is not a multiple of its size.
pub const RULE: Rule = Rule {
    code: Code::new("MEM003", "misaligned-access"),
    level: Level::Error,
    summary: "An access at a constant offset is not a multiple of its size.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses at constant offsets that are no multiple of the number of bytes accessed. Hardware stops the kernel with a misaligned
address; vectors must lie at a multiple of the whole vector's size.

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
    .shared .align 16 .b8 s[256];
    ld.shared.v2.u32 {%r1, %r2}, [s+4];
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
    .shared .align 16 .b8 s[256];
    ld.shared.v2.u32 {%r1, %r2}, [s+8];
    ret;
}
```
Access the elements one by one, or move what is accessed to a multiple of its size.
";

fn check(context: &Context) -> Vec<Diag> {
    memory::mem003(context, RULE.code)
}
