//! ASYNC003: a wait for asynchronous copies does not cover the copy that is read.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::copies::{Early, Fault};
use crate::ptx::lint::rule::Rule;

/// A wait for asynchronous copies does not cover the copy that is read.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC003", "wait-covers-nothing"),
    level: Level::Error,
    summary: "A wait for asynchronous copies does not cover the copy that is read.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `cp.async.wait_group N` that leaves the wanted group in flight: `N` is as large as the number of groups committed since, or the copy
was not committed before the wait. A wait that covers no copy at all, on any path, is a warning.

`wait_group N` waits until at most the `N` newest groups are in flight; copies that are not committed belong to no group yet.

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
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
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
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Commit before you wait, and let `N` be the number of newer groups that may stay in flight.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = super::early::report(context, RULE.code, |fault| matches!(fault, Fault::NotCovered(_)));
    for copies in context.copies() {
        for wait in &copies.idle {
            let covers = |early: &Early| matches!(early.fault, Fault::NotCovered(known) if known == *wait);
            if copies.early.iter().any(covers) {
                continue;
            }
            let message = "this wait waits for nothing: no copy in flight is in a group that it covers";
            let diag = Diag::warning(RULE.code, context.span(copies.function, *wait), message)
                .note("copies that are not committed belong to no group, and `wait_group N` leaves the N newest groups in flight");
            found.push(
                diag.help("commit the copies first, and lower N to the number of newer groups that may stay in flight"),
            );
        }
    }
    found
}
