//! ASYNC022: a tensor map is used after it was changed, with no tensor-map fence in between.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A tensor map is used after it was changed, with no tensor-map fence in between.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC022", "missing-tensormap-fence"),
    level: Level::Warning,
    summary: "A tensor map is used after it was changed, with no tensor-map fence in between.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds tensor copies that can follow a `tensormap.replace` with no `fence.proxy.tensormap` or `tensormap.cp_fenceproxy` in between.

Tensor maps are read through a proxy of their own. A change becomes visible there only through a fence that names it.

Fails:
```ptx
.version 8.3
.target sm_90a
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
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd3;
    mov.u32 %r7, 0;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r7}], [mb];
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
.version 8.3
.target sm_90a
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
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd3;
    fence.proxy.tensormap::generic.release.gpu;
    fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
    mov.u32 %r7, 0;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r7}], [mb];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r6, [%r4];
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Release the map with `fence.proxy.tensormap::generic.release` and acquire it where it is used.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let rows = || (0..).map(InstId).zip(&unit.body.insts);
        let named = |row: &Inst, name: &str| row.op.row.is_some_and(|row| row.name == name);
        let mut bits = Bits::new();
        let mut first = None;
        for (inst, row) in rows() {
            if named(row, "tensormap.replace") {
                bits.start(inst, 1);
                first = first.or(Some(inst));
            } else if row.op.effect == Effect::Call || row.op.text.contains("tensormap::generic") {
                bits.end(inst, 1);
            }
        }
        let Some(first) = first else { continue };
        let holding = bits.follow(&unit.cfg);
        let uses = |row: &Inst| named(row, "cp.async.bulk.tensor") || named(row, "cp.reduce.async.bulk.tensor");
        if let Some((inst, _)) = rows().find(|(inst, row)| uses(row) && holding.before(*inst) != 0) {
            let message = "a tensor map was changed, and no tensor-map fence precedes its use";
            let diag = Diag::warning(RULE.code, context.span(unit.id, inst), message)
                .related(context.span(unit.id, first), "it is changed here")
                .help("add `fence.proxy.tensormap::generic.release` behind the change and `.acquire` before the use");
            found.push(diag);
        }
    }
    found
}
