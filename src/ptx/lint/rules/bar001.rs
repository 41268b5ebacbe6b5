//! BAR001: a barrier under a divergent branch.

use super::wording::{at_barrier, barrier_name, findings, law, meeting_line, who};
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::parting::{Parting, Shape};
use crate::ptx::lint::rule::Rule;

/// A barrier under a divergent branch.
pub const RULE: Rule = Rule {
    code: Code::new("BAR001", "barrier-under-divergent-branch"),
    level: Level::Error,
    summary: "A barrier that some threads branch around.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds barriers, and calls of functions that hold one, which lie on one side of a branch that threads of a CTA take differently.

`bar.sync` and the other aligned barriers must be executed by all threads of a warp together. If some lanes branch around one,
the kernel hangs, or lets threads through before the others have come, depending on how the branch is compiled.
If whole warps branch around a barrier without a count, it waits for threads that never come, unless they exit: that is a warning.

Branches on `%ctaid`, on kernel parameters and on one word that all threads read are uniform and not reported. Threads that exit
are another matter: see BAR005.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 15;
    @%p1 bra SKIP;
    bar.sync 0;
SKIP:
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 15;
    @%p1 bra SKIP;
    add.u32 %r1, %r1, 1;
SKIP:
    bar.sync 0;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Move the barrier behind the place where the threads meet again, or give it a count and let whole warps take part.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, |shape| shape == Shape::Branch, say)
}

fn say(context: &Context, unit: &Unit, parting: &Parting) -> Diag {
    let message = format!(
        "{} is under a branch that {} take differently",
        barrier_name(unit, &parting.sites[0]),
        who(parting.extent)
    );
    let diag = at_barrier(context, unit, parting, RULE.code, message).note(law(parting));
    match meeting_line(context, unit, parting.block) {
        Some(line) => diag.help(format!(
            "move the barrier to where all threads meet again, before line {line}'s instruction"
        )),
        None => diag.help("move the barrier in front of the branch, or let all threads take it"),
    }
}
