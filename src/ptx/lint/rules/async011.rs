//! ASYNC011: a bulk store is not waited for before its source is reused or the kernel ends.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{FunctionKind, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::bulk::{Bulk, Bulks, Way, Write};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A bulk store is not waited for before its source is reused or the kernel ends.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC011", "bulk-store-not-awaited"),
    level: Level::Error,
    summary: "A bulk store is not waited for before its source is reused or the kernel ends.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds bulk stores from shared memory (`bulk_group`) after which nothing commits or nothing waits, and ordinary stores over the source of
one that was not waited for.

The copy reads shared memory after the instruction has returned. The thread that started it must commit the group and wait for it
(`cp.async.bulk.wait_group.read`) before the memory is written again or the CTA ends.

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
    .shared .align 128 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.ne.u32 %p1, %r1, 0;
    st.shared.u32 [%r4], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
    cp.async.bulk.commit_group;
DONE:
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
    .shared .align 128 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.ne.u32 %p1, %r1, 0;
    st.shared.u32 [%r4], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
DONE:
    ret;
}
```
Commit the group and wait for it with `cp.async.bulk.wait_group.read 0`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for bulks in context.bulks() {
        let Some(unit) = context.analysis.unit(bulks.function) else {
            continue;
        };
        // What is called may wait.
        if unit.function().kind == FunctionKind::Entry
            && !unit.body.insts.iter().any(|row| row.op.effect == Effect::Call)
        {
            found.extend(judge(context, unit, bulks));
        }
    }
    found
}

fn judge(context: &Context, unit: &Unit, bulks: &Bulks) -> Vec<Diag> {
    let stores: Vec<&Bulk> = bulks
        .copies
        .iter()
        .filter(|copy| copy.way == Way::Store)
        .take(63)
        .collect();
    if stores.is_empty() {
        return Vec::new();
    }
    let named = |name: &'static str| {
        let rows = (0..).map(InstId).zip(&unit.body.insts);
        rows.filter(move |(_, row)| row.op.text.starts_with(name))
            .map(|(inst, _)| inst)
            .collect::<Vec<InstId>>()
    };
    let (commits, waits) = (named("cp.async.bulk.commit_group"), named("cp.async.bulk.wait_group"));
    let mut found: Vec<Diag> = Vec::new();
    for store in &stores {
        let what = if !follows(unit, store.inst, &waits) {
            "nothing waits for this bulk store before the kernel ends"
        } else if !follows(unit, store.inst, &commits) {
            "this bulk store is never committed to a group: no wait covers it"
        } else {
            continue;
        };
        found.push(
            Diag::error(RULE.code, context.span(unit.id, store.inst), what)
                .note("the copy reads shared memory after the instruction has returned")
                .help("add `cp.async.bulk.commit_group` and `cp.async.bulk.wait_group.read 0` in the same thread"),
        );
        break;
    }
    found.extend(reused(context, unit, bulks, &stores, &waits));
    found
}

/// Whether one of the instructions can be executed after another.
fn follows(unit: &Unit, inst: InstId, others: &[InstId]) -> bool {
    let block = unit.cfg.block_of(inst);
    let after = unit.cfg.succs().reachable(unit.cfg.succs().next(block).iter().copied());
    others.iter().any(|other| {
        let at = unit.cfg.block_of(*other);
        after[at as usize] || at == block && *other > inst
    })
}

/// An ordinary store over the source of a copy that may be under way.
fn reused(context: &Context, unit: &Unit, bulks: &Bulks, stores: &[&Bulk], waits: &[InstId]) -> Option<Diag> {
    let mut bits = Bits::new();
    let lanes = context.lanes(unit);
    for (store, at) in stores.iter().zip(0u32..) {
        bits.start(store.inst, 1 << at);
        bits.about(unit, &lanes, store.inst, 1 << at);
    }
    waits.iter().for_each(|wait| bits.end(*wait, u64::MAX));
    let holding = bits.follow(&unit.cfg);
    bulks.writes.iter().find_map(|write| {
        let state = holding.before(write.inst);
        let mut open = stores.iter().zip(0u32..).filter(|(_, at)| state >> at & 1 == 1).map(|(store, _)| store);
        let store = open.find(|store| overlaps(store, write))?;
        let message = "this overwrites shared memory that a bulk store may still read";
        Some(
            Diag::error(RULE.code, context.span(unit.id, write.inst), message)
                .related(context.span(unit.id, store.inst), "the bulk store")
                .help("wait with `cp.async.bulk.wait_group.read 0` in the thread that stores, then let all meet at a barrier"),
        )
    })
}

fn overlaps(store: &Bulk, write: &Write) -> bool {
    let Some(place) = store.place.as_ref().filter(|place| place.symbol == write.place.symbol) else {
        return false;
    };
    let (Some(from), Some(company)) = (place.constant(), &write.company) else {
        return false;
    };
    let inside = |at: i64| at < from + store.size.unwrap_or(16) && from < at + write.size;
    company
        .threads
        .iter()
        .any(|thread| write.place.at(thread).is_some_and(inside))
}
