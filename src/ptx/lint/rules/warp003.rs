//! WARP003: a shuffle reads a lane that has exited, does not exist or is not named, and the value is stored.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::warps::{Cause, Leak, leaks};

/// A shuffle reads a lane that has exited, does not exist or is not named, and the value is stored.
pub const RULE: Rule = Rule {
    code: Code::new("WARP003", "shuffle-from-absent-lane"),
    level: Level::Error,
    summary: "A shuffle reads a lane that has exited, does not exist or is not named, and the value is stored.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds shuffles that read a lane which is not there: one that has exited, one that the CTA's last warp does not have (a block of 48
threads), or one outside the mask. The value read is undefined.

The upper lanes of a tree reduction read such lanes as a matter of course, and nobody looks at what they get. So the undefined value is
followed thread by thread, through further shuffles, and reported only where a thread stores what came of it.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 48, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
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
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Round the CTA up to whole warps, let lanes without work stay, and give them the neutral element.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let mut leaks = leaks(unit, sites).into_iter();
        let Some(first) = leaks.next() else { continue };
        let more: Vec<Leak> = leaks.collect();
        found.push(say(context, unit, &first, &more));
    }
    found
}

fn say(context: &Context, unit: &Unit, leak: &Leak, more: &[Leak]) -> Diag {
    let lane = leak.source % 32;
    let why = match leak.cause {
        Cause::Absent => "which the CTA's last warp does not have",
        Cause::Left => "which has exited",
        Cause::Unnamed => "which its mask does not name",
    };
    let op = &unit.body.insts[leak.shuffle.index()].op.text;
    let message = format!("`{op}` reads lane {lane}, {why}: what is stored is undefined");
    let mut diag = Diag::error(RULE.code, context.span(unit.id, leak.shuffle), message)
        .label(format!("thread {} reads thread {}", leak.reader, leak.source))
        .related(
            context.span(unit.id, leak.sink),
            format!("thread {} stores what came of it here", leak.victim),
        );
    for other in more.iter().take(4) {
        diag = diag.related(context.span(unit.id, other.shuffle), "the same here");
    }
    if let Some(threads) = unit.shape.threads() {
        diag = diag.note(format!("for a CTA of {threads} threads"));
    }
    diag.help("let all lanes of the warp take part with a neutral value, or narrow the segment to the lanes there are")
}
