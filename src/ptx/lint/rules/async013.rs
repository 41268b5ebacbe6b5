//! ASYNC013: the order of `wgmma.fence`, `mma_async`, `commit_group` and `wait_group` is broken.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{FunctionKind, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::copies::{Late, Touch, matrix};
use crate::ptx::lint::rule::Rule;

/// The order of `wgmma.fence`, `mma_async`, `commit_group` and `wait_group` is broken.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC013", "wgmma-order"),
    level: Level::Error,
    summary: "The order of `wgmma.fence`, `mma_async`, `commit_group` and `wait_group` is broken.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accumulators of `wgmma.mma_async` that are read before a `wgmma.wait_group` covers them, `mma_async` that no `wgmma.fence` precedes
on some path, and groups that are never committed or waited for.

The instruction returns at once and writes its accumulators later. `wgmma.fence` orders earlier accesses to the registers before it,
`commit_group` closes the group, `wait_group N` waits until at most N newer groups are under way.

Fails:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, 4611686293305294848;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 1;
    add.f32 %f5, %f1, %f2;
    st.global.f32 [%rd3], %f5;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, 4611686293305294848;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.f32 %f5, %f1, %f2;
    st.global.f32 [%rd3], %f5;
    ret;
}
```
Fence, multiply, commit, wait, and only then touch the accumulators.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let named = |name: &'static str| {
            let rows = (0..).map(InstId).zip(&unit.body.insts);
            rows.filter(move |(_, row)| row.op.text.starts_with(name))
                .map(|(inst, _)| inst)
                .collect::<Vec<InstId>>()
        };
        let work = named("wgmma.mma_async");
        if work.is_empty() {
            continue;
        }
        let late = matrix(unit).into_iter().find(|late| late.touch == Touch::Read);
        match late {
            Some(late) => found.push(read(context, unit, &late)),
            None => found.extend(unfinished(context, unit, &work, &named)),
        }
        found.extend(unfenced(context, unit, &work, &named("wgmma.fence")));
    }
    found
}

fn read(context: &Context, unit: &Unit, late: &Late) -> Diag {
    let name = unit.body.regs.get(late.reg.index()).map_or("", |reg| reg.name.as_str());
    let message = format!("`{name}` is read while `wgmma` may not have written it yet");
    Diag::error(RULE.code, context.span(unit.id, late.user), message)
        .related(context.span(unit.id, late.work), "the asynchronous multiplication")
        .help("commit the group and wait for it with `wgmma.wait_group.sync.aligned 0` first")
}

/// Whether the function is a kernel that calls nothing: what is missing in it is missing.
fn is_alone(unit: &Unit) -> bool {
    unit.function().kind == FunctionKind::Entry && !unit.body.insts.iter().any(|row| row.op.effect == Effect::Call)
}

fn unfinished(
    context: &Context,
    unit: &Unit,
    work: &[InstId],
    named: &impl Fn(&'static str) -> Vec<InstId>,
) -> Option<Diag> {
    let what = if named("wgmma.wait_group").is_empty() {
        "nothing waits for this multiplication"
    } else if named("wgmma.commit_group").is_empty() {
        "this multiplication is never committed to a group: no wait covers it"
    } else {
        return None;
    };
    let first = *work.first().filter(|_| is_alone(unit))?;
    Some(
        Diag::error(RULE.code, context.span(unit.id, first), what)
            .help("add `wgmma.commit_group` and `wgmma.wait_group`"),
    )
}

/// A multiplication that the entry reaches without a fence.
fn unfenced(context: &Context, unit: &Unit, work: &[InstId], fences: &[InstId]) -> Option<Diag> {
    let mut bits = Bits::new();
    bits.enter(1);
    fences.iter().for_each(|fence| bits.end(*fence, 1));
    let holding = bits.follow(&unit.cfg);
    let first = work.iter().find(|inst| is_alone(unit) && holding.before(**inst) != 0)?;
    let message =
        "no `wgmma.fence` precedes this multiplication on some path: earlier writes to its registers may come too late";
    Some(
        Diag::error(RULE.code, context.span(unit.id, *first), message)
            .help("add `wgmma.fence.sync.aligned` before the first multiplication"),
    )
}
