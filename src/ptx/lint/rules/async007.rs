//! ASYNC007: the bytes an mbarrier expects are not those that copies complete on it.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::SymbolId;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::mbarriers::{Act, Use, Uses};
use crate::ptx::lint::rule::Rule;

/// The bytes an mbarrier expects are not those that copies complete on it.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC007", "mbarrier-bytes"),
    level: Level::Error,
    summary: "The bytes an mbarrier expects are not those that copies complete on it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `expect_tx` whose bytes differ from the sizes of the bulk copies beside it that complete on the same mbarrier.

With fewer bytes copied than expected the phase never completes; with more, it completes too early or not at all.
Compared where all numbers are constant and the copies stand with the `expect_tx` in one block.

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
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [mb];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r6, [%r4];
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
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [mb];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r6, [%r4];
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Expect exactly the bytes of all copies of the phase.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for uses in context.mbarriers() {
        let Some(unit) = context.analysis.unit(uses.function) else {
            continue;
        };
        for object in uses.objects() {
            found.extend(judge(context, unit, uses, object));
        }
    }
    found
}

fn judge(context: &Context, unit: &Unit, uses: &Uses, object: (SymbolId, i64)) -> Option<Diag> {
    let own = uses.of(object)?;
    let expects: Vec<(&Use, u64)> = own
        .iter()
        .filter_map(|one| expected(one).map(|bytes| Some((*one, bytes?))))
        .collect::<Option<_>>()?;
    let copies: Vec<(&Use, u64)> = own
        .iter()
        .filter_map(|one| copied(one).map(|bytes| Some((*one, bytes?))))
        .collect::<Option<_>>()?;
    let (first, _) = expects.first()?;
    let block = unit.cfg.block_of(first.inst);
    let all = || expects.iter().chain(&copies);
    let guarded = |one: &Use| unit.body.insts[one.inst.index()].guard != unit.body.insts[first.inst.index()].guard;
    let multicast = |one: &Use| unit.body.insts[one.inst.index()].op.has("multicast::cluster");
    if copies.is_empty() || all().any(|(one, _)| unit.cfg.block_of(one.inst) != block || guarded(one) || multicast(one))
    {
        return None;
    }
    let (expected, copied): (u64, u64) = (
        expects.iter().map(|one| one.1).sum(),
        copies.iter().map(|one| one.1).sum(),
    );
    if expected == copied {
        return None;
    }
    let message =
        format!("{expected} bytes are expected, but the copies that complete on this mbarrier bring {copied}");
    let mut diag = Diag::error(RULE.code, context.span(unit.id, first.inst), message);
    for (one, bytes) in copies.iter().take(6) {
        diag = diag.related(context.span(unit.id, one.inst), format!("{bytes} bytes"));
    }
    let what = if copied < expected {
        "the phase never completes"
    } else {
        "the surplus is taken off a later phase"
    };
    Some(diag.note(what).help(format!("expect {copied} bytes")))
}

/// The bytes that a use expects, if it does.
fn expected(one: &Use) -> Option<Option<u64>> {
    match one.act {
        Act::Arrive { expects, .. } => expects,
        Act::Expect(bytes) => Some(bytes),
        _ => None,
    }
}

/// The bytes that a use completes, if it does.
fn copied(one: &Use) -> Option<Option<u64>> {
    match one.act {
        Act::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}
