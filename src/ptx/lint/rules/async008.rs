//! ASYNC008: the parity that an mbarrier is waited for does not follow its phases.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level, Related};
use crate::ptx::flow::LoopId;
use crate::ptx::ir::{InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::mbarriers::{Act, Use};
use crate::ptx::lint::rule::Rule;

/// The parity that an mbarrier is waited for does not follow its phases.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC008", "mbarrier-parity"),
    level: Level::Error,
    summary: "The parity that an mbarrier is waited for does not follow its phases.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds waits for one and the same parity in every round of a loop in which the mbarrier completes a phase, and a wait for parity 1 of an
mbarrier of which no phase has completed.

`mbarrier.try_wait.parity` succeeds when the phase of that parity is complete. With a parity that never flips, every second round goes
through at once, on data of the round before. The phase before the first counts as complete with parity 1.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 mb;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [mb], 1;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    mov.u32 %r7, 0;
    mov.u32 %r5, 0;
LOOP:
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [mb];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r6, [%r4];
    bar.sync 0;
    st.global.u32 [%rd3], %r6;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p3, %r7, 8;
    @%p3 bra LOOP;
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
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 mb;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [mb], 1;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    mov.u32 %r7, 0;
    mov.u32 %r5, 0;
LOOP:
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [mb];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], %r5;
    @!%p2 bra WAIT;
    ld.shared.u32 %r6, [%r4];
    bar.sync 0;
    st.global.u32 [%rd3], %r6;
    xor.b32 %r5, %r5, 1;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p3, %r7, 8;
    @%p3 bra LOOP;
    ret;
}
```
Flip the parity in each round in which a phase completes, and start with 0.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for uses in context.mbarriers() {
        let Some(unit) = context.analysis.unit(uses.function) else {
            continue;
        };
        let mut own = uses.objects().into_iter().filter_map(|object| uses.of(object));
        let mut diags: Vec<Diag> = own
            .by_ref()
            .filter_map(|own| frozen(context, unit, &own).or_else(|| wrong_start(context, unit, &own)))
            .collect();
        // Several mbarriers with one mistake are one finding.
        for other in diags.drain(1.min(diags.len())..).collect::<Vec<_>>() {
            if let Some(first) = diags.first_mut() {
                first.related.push(Related {
                    span: other.span,
                    message: "the same here, for another mbarrier".to_owned(),
                });
            }
        }
        found.extend(diags);
    }
    found
}

/// A wait for the same parity in each round of a loop that completes a phase.
fn frozen(context: &Context, unit: &Unit, own: &[&Use]) -> Option<Diag> {
    for wait in own.iter().filter(|one| matches!(one.act, Act::Parity(_))) {
        let Some(id) = unit
            .loops
            .around(unit.cfg.block_of(wait.inst))
            .find(|id| !is_spin(unit, *id))
        else {
            continue;
        };
        let inside = |one: &&&Use| unit.loops.contains(id, unit.cfg.block_of(one.inst));
        let mut within = own.iter().filter(inside);
        let arrives = own
            .iter()
            .any(|one| one.arrives() && one.in_loop.is_some() && !one.remote);
        let passed = unit
            .loops
            .get(id)
            .latches
            .iter()
            .all(|latch| unit.cfg.dom().dominates(unit.cfg.block_of(wait.inst), *latch));
        if !arrives || !passed || !is_fixed(unit, wait, id) {
            continue;
        }
        let settled = within.all(|one| match one.act {
            Act::Init(_) | Act::Inval | Act::Token => false,
            Act::Parity(parity) => one.inst == wait.inst || parity.is_some() && parity == parity_of(wait),
            _ => true,
        });
        if !settled {
            continue;
        }
        let first = unit.cfg.insts(unit.loops.get(id).header).next()?;
        let message = "the parity is the same in every round: each second wait goes through at once, on old data";
        // Where a round waits twice, no phase may have completed in between.
        let twice = own.iter().filter(inside).filter(|one| one.waits()).count() > 1;
        let level = if twice { Level::Warning } else { Level::Error };
        let mut diag = Diag::new(RULE.code, level, context.span(unit.id, wait.inst), message)
            .related(context.span(unit.id, InstId(first)), "the loop starts here");
        if let Some(arrival) = own.iter().find(|one| one.arrives()) {
            diag = diag.related(
                context.span(unit.id, arrival.inst),
                "a phase completes with this arrival",
            );
        }
        return Some(diag.help("keep the parity in a register and flip it once a phase"));
    }
    None
}

fn parity_of(one: &Use) -> Option<u64> {
    match one.act {
        Act::Parity(parity) => parity,
        _ => None,
    }
}

/// Whether the parity that is waited for cannot change in a loop.
fn is_fixed(unit: &Unit, wait: &Use, id: LoopId) -> bool {
    if parity_of(wait).is_some() {
        return true;
    }
    let row = &unit.body.insts[wait.inst.index()];
    let value = row
        .operands
        .get(2)
        .and_then(Operand::as_reg)
        .and_then(|reg| unit.ssa.use_of(wait.inst, reg));
    let made = value.and_then(|value| unit.ssa.value(value)).map(|value| value.block);
    made.is_some_and(|block| !unit.loops.contains(id, block))
}

/// Whether a loop does nothing but wait.
fn is_spin(unit: &Unit, id: LoopId) -> bool {
    let blocks = unit.cfg.rpo().iter().filter(|block| unit.loops.contains(id, **block));
    blocks.flat_map(|block| unit.cfg.insts(*block)).all(|inst| {
        let row = &unit.body.insts[inst as usize];
        let waits = row.op.has("try_wait") || row.op.has("test_wait");
        waits || matches!(row.op.effect, Effect::Pure | Effect::Branch) || row.op.base() == "nanosleep"
    })
}

/// A single wait, for parity 1, of an mbarrier that has completed no phase.
fn wrong_start(context: &Context, unit: &Unit, own: &[&Use]) -> Option<Diag> {
    let mut waits = own.iter().filter(|one| one.waits());
    let wait = waits.next().filter(|one| one.act == Act::Parity(Some(1)))?;
    let alone = waits.next().is_none();
    let single = own.iter().all(|one| one.in_loop.is_none_or(|id| is_spin(unit, id)));
    let arrival = own.iter().filter(|one| one.arrives()).collect::<Vec<_>>();
    let [arrival] = arrival[..] else { return None };
    // A role that waits for a stage to be free starts with parity 1, and rightly so: the arrival is another role's.
    let (from, to) = (unit.cfg.block_of(arrival.inst), unit.cfg.block_of(wait.inst));
    let after = unit.cfg.succs().reachable([from])[to as usize] && !unit.cfg.succs().reachable([to])[from as usize];
    (alone && single && after && !arrival.remote).then(|| {
        let message = "a wait for parity 1 goes through at once: no phase of this mbarrier has completed, and the one before the first counts as such";
        Diag::error(RULE.code, context.span(unit.id, wait.inst), message)
            .related(context.span(unit.id, arrival.inst), "the first phase completes with this arrival")
            .help("wait for parity 0 first")
    })
}
