//! MEM006: two regions of shared memory, laid out by hand, overlap.

use crate::ptx::analysis::trial::Site;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::opcode;
use crate::ptx::lint::rule::Rule;

/// Two regions of shared memory, laid out by hand, overlap.
pub const RULE: Rule = Rule {
    code: Code::new("MEM006", "overlapping-regions"),
    level: Level::Warning,
    summary: "Two regions of shared memory, laid out by hand, overlap.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds slots of shared memory, written by one thread and read by all, that lie on an array whose elements are still to be read: two regions
of one variable whose hand-computed places overlap.

The element under the slot is lost: who reads it later reads what was broadcast. That there is a barrier between the two does not help.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 s[264];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    st.shared.u32 [%r4], %r6;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READ;
    add.u32 %r6, %r6, 1;
    st.shared.u32 [s], %r6;
READ:
    bar.sync 0;
    ld.shared.u32 %r5, [s];
    ld.shared.u32 %r6, [%r4];
    add.u32 %r7, %r5, %r6;
    st.global.u32 [%rd3], %r7;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 s[264];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    st.shared.u32 [%r4], %r6;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READ;
    add.u32 %r6, %r6, 1;
    st.shared.u32 [s+256], %r6;
READ:
    bar.sync 0;
    ld.shared.u32 %r5, [s+256];
    ld.shared.u32 %r6, [%r4];
    add.u32 %r7, %r5, %r6;
    st.global.u32 [%rd3], %r7;
    ret;
}
```
Give each region bytes of its own: put the slot behind the array, or declare two variables.
";

fn check(context: &Context) -> Vec<Diag> {
    let clobbers = context.tried().iter().flat_map(|tried| &tried.clobbers);
    clobbers
        .map(|clobber| {
            let span = |site: Site| context.span(site.function, site.inst);
            let message = format!(
                "{} puts what all threads read over an element of an array that is still to be read",
                opcode(context, clobber.slot)
            );
            Diag::warning(RULE.code, span(clobber.slot), message)
                .related(span(clobber.array), "the array is stored here")
                .related(
                    span(clobber.load),
                    "it is read here: one of its elements is lost by then",
                )
                .help("give the broadcast a slot behind the array")
        })
        .collect()
}
