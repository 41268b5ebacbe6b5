//! ASYNC010: shared memory is written by ordinary stores and read by the asynchronous proxy with no proxy fence in between.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::bulk::{Bulk, Bulks, Way, Write};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use rustc_hash::FxHashSet;

/// Shared memory is written by ordinary stores and read by the asynchronous proxy with no proxy fence in between.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC010", "missing-proxy-fence"),
    level: Level::Error,
    summary: "Shared memory is written by ordinary stores and read by the asynchronous proxy with no proxy fence in between.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `st.shared` and the like whose bytes a bulk or tensor copy reads, or a `wgmma` or `tcgen05` instruction through a descriptor, with
no `fence.proxy.async` in between.

Bulk copies and matrix instructions access shared memory through another proxy. A barrier does not bridge the two: the threads that wrote
must execute `fence.proxy.async` before the barrier. Reported where the bytes overlap; where only the array is known, as a warning, and only
if the function has no such fence at all.

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
    bar.sync 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
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
Execute `fence.proxy.async.shared::cta` behind the stores and before the barrier.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for bulks in context.bulks().iter().filter(|bulks| !bulks.writes.is_empty()) {
        let Some(unit) = context.analysis.unit(bulks.function) else {
            continue;
        };
        found.extend(judge(context, unit, bulks));
    }
    found
}

fn is_fence(row: &Inst) -> bool {
    row.op.effect == Effect::Call
        || !row.op.is_known()
        || row.op.text.starts_with("fence.proxy.async")
        || row.op.text.starts_with("membar.proxy.async")
}

fn judge(context: &Context, unit: &Unit, bulks: &Bulks) -> Vec<Diag> {
    let mut bits = Bits::new();
    for (write, at) in bulks.writes.iter().zip(0u32..) {
        bits.start(write.inst, 1 << at.min(63));
    }
    let mut fenced = false;
    for (inst, _) in (0..).map(InstId).zip(&unit.body.insts).filter(|(_, row)| is_fence(row)) {
        bits.end(inst, u64::MAX);
        fenced = true;
    }
    let holding = bits.follow(&unit.cfg);
    let mut found: Vec<Diag> = Vec::new();
    let mut said = FxHashSet::default();
    for copy in bulks.copies.iter().filter(|copy| copy.way == Way::Store) {
        let state = holding.before(copy.inst);
        let unfenced = bulks
            .writes
            .iter()
            .zip(0u32..)
            .filter(|(_, at)| state >> at.min(&63) & 1 == 1);
        let hit = unfenced
            .map(|(write, _)| write)
            .find_map(|write| Some((write, touches(bulks, copy, write, fenced)?)));
        if let Some((write, level)) = hit
            && said.insert(write.inst)
        {
            found.push(say(context, unit, copy.inst, write, level));
        }
    }
    for one in bulks.described.iter().filter(|_| !fenced) {
        let state = holding.before(one.inst);
        let filled = |write: &&Write| {
            one.places
                .iter()
                .any(|place| place.symbol == write.place.symbol && only_stores_fill(bulks, place.symbol))
        };
        let mut unfenced = bulks
            .writes
            .iter()
            .zip(0u32..)
            .filter(|(_, at)| state >> at.min(&63) & 1 == 1)
            .map(|(write, _)| write);
        if let Some(write) = unfenced.find(filled)
            && said.insert(write.inst)
        {
            found.push(say(context, unit, one.inst, write, Level::Warning));
            break;
        }
    }
    found
}

/// Whether a copy reads what a store writes, and how sure that is.
fn touches(bulks: &Bulks, copy: &Bulk, write: &Write, fenced: bool) -> Option<Level> {
    let place = copy.place.as_ref().filter(|place| place.symbol == write.place.symbol)?;
    let (Some(from), Some(company)) = (place.constant(), &write.company) else {
        return (!fenced && only_stores_fill(bulks, place.symbol)).then_some(Level::Warning);
    };
    if write.place.offset.is_none() {
        return (!fenced && only_stores_fill(bulks, place.symbol)).then_some(Level::Warning);
    }
    // How much a tensor copy reads is not known here: at least its first row.
    let size = copy.size.unwrap_or(16);
    let inside = |at: i64| at < from + size && from < at + write.size;
    company
        .threads
        .iter()
        .any(|thread| write.place.at(thread).is_some_and(inside))
        .then_some(Level::Error)
}

/// Whether nothing but ordinary stores puts data into an array.
fn only_stores_fill(bulks: &Bulks, symbol: SymbolId) -> bool {
    !bulks
        .copies
        .iter()
        .any(|copy| copy.way == Way::Load && copy.place.as_ref().is_none_or(|place| place.symbol == symbol))
}

fn say(context: &Context, unit: &Unit, reader: InstId, write: &Write, level: Level) -> Diag {
    let op = &unit.body.insts[reader.index()].op.text;
    let op = op.split('.').take(3).collect::<Vec<_>>().join(".");
    let message = format!(
        "`{op}` reads shared memory through the asynchronous proxy, and no proxy fence makes the stores to it visible there"
    );
    Diag::new(RULE.code, level, context.span(unit.id, reader), message)
        .related(context.span(unit.id, write.inst), "an ordinary store writes it here")
        .note("a barrier does not bridge the generic and the asynchronous proxy")
        .help("execute `fence.proxy.async.shared::cta` after the stores, in the threads that store, and before the barrier")
}
