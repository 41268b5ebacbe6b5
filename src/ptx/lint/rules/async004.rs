//! ASYNC004: a stage is refilled by a copy while other threads may still read it.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::InstId;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A stage is refilled by a copy while other threads may still read it.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC004", "copy-over-unread"),
    level: Level::Error,
    summary: "A stage is refilled by a copy while other threads may still read it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds asynchronous copies into shared memory that other threads read before, with no barrier between the read and the copy.

In a loop this is the missing barrier at the end of a tile: the fastest thread refills the stage while the slowest still reads it.
Reported where the bytes overlap for two named threads.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    xor.b32 %r5, %r3, 4;
    add.u32 %r5, %r2, %r5;
    mov.u32 %r7, 0;
LOOP:
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 8;
    @%p1 bra LOOP;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    xor.b32 %r5, %r3, 4;
    add.u32 %r5, %r2, %r5;
    mov.u32 %r7, 0;
LOOP:
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    bar.sync 0;
    st.global.u32 [%rd3], %r6;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 8;
    @%p1 bra LOOP;
    ret;
}
```
Let all threads meet between the last read of a stage and its refill.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for copies in context.copies() {
        let Some(unit) = context.analysis.unit(copies.function) else {
            continue;
        };
        let tried = context.tried().iter().find(|tried| tried.function == copies.function);
        let refuted = |copy: InstId| tried.is_some_and(|tried| tried.calm.contains(&copy));
        for refill in copies.refills.iter().filter(|refill| !refuted(refill.copy)) {
            let clash = refill.clash;
            let level = if unit.shape.threads().is_some() {
                Level::Error
            } else {
                Level::Warning
            };
            let message = "this copy overwrites what other threads may still read: no barrier since the read";
            let diag = Diag::new(RULE.code, level, context.span(unit.id, refill.copy), message)
                .label(format!(
                    "thread {} writes byte {} of the array",
                    clash.first, clash.byte
                ))
                .related(
                    context.span(unit.id, refill.read),
                    format!("thread {} reads it here", clash.second),
                )
                .help("add a barrier between the read and the copy");
            found.push(diag);
        }
    }
    found
}
