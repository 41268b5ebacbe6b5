//! ASYNC019: one bulk copy is started by several threads.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::bulk::Bulk;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// One bulk copy is started by several threads.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC019", "bulk-copy-by-many"),
    level: Level::Warning,
    summary: "One bulk copy is started by several threads.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds bulk and tensor copies with one and the same shared address that more than one thread executes.

A bulk copy is started by one thread for all. Started by a whole warp, it runs 32 times: the mbarrier gets 32 times the bytes it expects, or
one place is written 32 times.

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
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
WAIT:
    bar.sync 0;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [mb];
SPIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra SPIN;
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
WAIT:
    bar.sync 0;
    @%p1 bra SPIN;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [mb];
SPIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra SPIN;
    ld.shared.u32 %r6, [%r4];
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Let one thread start it: `elect.sync`, or `tid == 0`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for bulks in context.bulks() {
        let Some(unit) = context.analysis.unit(bulks.function) else {
            continue;
        };
        let several = |copy: &&Bulk| {
            let company = copy
                .company
                .as_ref()
                .filter(|company| company.sure && company.threads.len() > 1);
            company.is_some() && copy.place.as_ref().is_some_and(|place| place.constant().is_some())
        };
        let mut copies = bulks.copies.iter().filter(several);
        let Some(first) = copies.next() else { continue };
        let threads = first.company.as_ref().map_or(0, |company| company.threads.len());
        let message = format!("{threads} threads start this bulk copy: one should");
        let mut diag = Diag::warning(RULE.code, context.span(unit.id, first.inst), message);
        for copy in copies.take(4) {
            diag = diag.related(context.span(unit.id, copy.inst), "the same here");
        }
        found.push(diag.help("elect one thread, with `elect.sync` or `%tid`"));
    }
    found
}
