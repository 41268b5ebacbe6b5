//! RACE010: lanes of a warp exchange data through memory without waiting for each other.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, finding, kind, opcode, sm};
use crate::ptx::lint::rule::Rule;

/// Lanes of a warp exchange data through memory without waiting for each other.
pub const RULE: Rule = Rule {
    code: Code::new("RACE010", "lockstep-exchange"),
    level: Level::Error,
    summary: "Lanes of a warp exchange data through memory without waiting for each other.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds exchanges between lanes of one warp through memory with nothing in between that makes the lanes wait. Since sm_70 the lanes of a
warp need not run in step, so a load may come before the store of a neighbour. `.volatile` does not help.

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
    st.shared.u32 [%r4], %r1;
    xor.b32 %r7, %r1, 16;
    shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r3, %r7;
    ld.shared.u32 %r6, [%r7];
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
    st.shared.u32 [%r4], %r1;
    bar.warp.sync 0xffffffff;
    xor.b32 %r7, %r1, 16;
    shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r3, %r7;
    ld.shared.u32 %r6, [%r7];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Put `bar.warp.sync` with a mask of the lanes that take part between the accesses.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found: Vec<Diag> = Vec::new();
    for tried in context.tried() {
        let mut own = tried.races.iter().filter(|race| kind(&race.conflict) == Kind::InWarp);
        let Some(first) = own.next() else { continue };
        let message = format!(
            "{} and {} exchange data among lanes of a warp that do not wait for each other",
            opcode(context, first.conflict.first),
            opcode(context, first.conflict.second)
        );
        let mut diag = finding(context, tried, first, RULE.code, message);
        // One kernel, one habit.
        let more = own.count();
        if more > 0 {
            diag = diag.note(format!("{more} more such exchanges in this kernel"));
        }
        if sm(&context.parsed.module).is_some_and(|sm| sm < 70) {
            diag.level = Level::Info;
            diag = diag.note("before sm_70 the lanes of a warp run in step");
        }
        found.push(diag);
    }
    found
}
