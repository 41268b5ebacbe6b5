//! BAR004: a barrier in a loop that threads leave in different rounds.

use super::wording::{at_barrier, barrier_name, findings, law, who};
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::InstId;
use crate::ptx::lint::bounds::Certainty;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::parting::{Parting, Shape};
use crate::ptx::lint::rule::Rule;

/// A barrier in a loop that threads leave in different rounds.
pub const RULE: Rule = Rule {
    code: Code::new("BAR004", "barrier-in-divergent-loop"),
    level: Level::Error,
    summary: "A barrier in a loop whose trip count differs between threads.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds barriers in loops that threads leave in different rounds: the trip count depends on the thread, or some threads break out.

Threads that have left wait at no further round's barrier. `for (i = tid; i < n; i += ntid)` is of this kind unless `n` is a
multiple of `ntid`; where the CTA's shape and `n` are constants the rounds are counted and equal trips are not reported. Where `n` is not known
the finding is a warning, and information if the loop checks the same counter against another bound inside.

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
    mov.u32 %r2, 0;
LOOP:
    bar.sync 0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
LOOP:
    bar.sync 0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Let all threads run the same number of rounds and guard the work, not the barrier.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, |shape| matches!(shape, Shape::Rounds(_)), say)
}

fn say(context: &Context, unit: &Unit, parting: &Parting) -> Diag {
    let message = format!(
        "{} is in a loop that {} leave in different rounds",
        barrier_name(unit, &parting.sites[0]),
        who(parting.extent)
    );
    let mut diag = at_barrier(context, unit, parting, RULE.code, message).note(law(parting));
    if let Shape::Rounds(id) = parting.shape
        && let Some(first) = unit.cfg.insts(unit.loops.get(id).header).next()
    {
        diag = diag.related(context.span(unit.id, InstId(first)), "the loop starts here");
    }
    if parting.certainty != Certainty::Sure {
        diag = diag.note("right only if the bound makes the trip counts equal: a multiple of the stride, say");
    }
    if parting.certainty == Certainty::Rounded {
        diag =
            diag.note("the loop checks its counter against another bound inside, so this one seems to be rounded up");
    }
    diag.help("let all threads run the same number of rounds, and guard the work instead of leaving the loop")
}
