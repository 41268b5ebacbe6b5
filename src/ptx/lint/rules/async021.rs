//! ASYNC021: a multicast mask names a CTA that the cluster does not have, or none.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A multicast mask names a CTA that the cluster does not have, or none.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC021", "multicast-mask"),
    level: Level::Error,
    summary: "A multicast mask names a CTA that the cluster does not have, or none.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds multicast copies and commits whose mask names CTAs beyond the cluster's size, which `.reqnctapercluster` states, and empty masks.

Bit n of the mask stands for the CTA of rank n in the cluster. A copy to a CTA that is not there is undefined.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
.reqnctapercluster 2, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b16 %rs<2>;
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
    mov.u16 %rs1, 8;
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 256, [mb], %rs1;
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
.reqnctapercluster 2, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b16 %rs<2>;
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
    mov.u16 %rs1, 3;
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 256, [mb], %rs1;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [mb], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r6, [%r4];
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Name the ranks that the cluster has.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let mut evaluator = unit.evaluator();
        for (inst, row) in (0..)
            .map(InstId)
            .zip(&unit.body.insts)
            .filter(|(_, row)| row.op.has("multicast::cluster"))
        {
            let mask = mask(row).and_then(|operand| evaluator.operand(inst, operand)?.constant());
            let Some(mask) = mask.map(|mask| mask & 0xffff) else {
                continue;
            };
            let message = match ranks(unit) {
                _ if mask == 0 => "the multicast mask names no CTA".to_owned(),
                Some(ranks) if ranks < 16 && mask >> ranks != 0 => {
                    format!("the multicast mask {mask:#x} names a CTA that a cluster of {ranks} does not have")
                }
                _ => continue,
            };
            found.push(
                Diag::error(RULE.code, context.span(unit.id, inst), message)
                    .help("name the ranks that the cluster has"),
            );
        }
    }
    found
}

/// The size of the function's clusters, where it is stated.
fn ranks(unit: &Unit) -> Option<u64> {
    unit.function()
        .attr("reqnctapercluster")
        .map(|dims| dims.iter().product())
}

/// The operand that names CTAs: the first plain one behind the mbarrier.
fn mask(row: &Inst) -> Option<&Operand> {
    let is_bracket = |operand: &Operand| matches!(operand, Operand::Address(_) | Operand::Bracket(_));
    let last = row.operands.iter().rposition(is_bracket)?;
    row.operands[last + 1..]
        .iter()
        .find(|operand| matches!(operand, Operand::Reg(_) | Operand::Imm(_)))
}
