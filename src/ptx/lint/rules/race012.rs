//! RACE012: shared memory of another CTA is accessed when that CTA may be gone, or not there yet.

use crate::ptx::analysis::BarrierSite;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{BarrierKind, BarrierOp, FunctionKind, Inst, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// Shared memory of another CTA is accessed when that CTA may be gone, or not there yet.
pub const RULE: Rule = Rule {
    code: Code::new("RACE012", "remote-shared-lifetime"),
    level: Level::Error,
    summary: "Shared memory of another CTA of the cluster is accessed when that CTA may be gone, or not there yet.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses to `.shared::cluster` memory in kernels that map an address to another CTA (`mapa`), with no `barrier.cluster` before
them or none between them and the kernel's end. The shared memory of a CTA exists from its start to its exit. Before the first access
all CTAs must have met, or the other one may not have started; after the last one they must meet again, or the other one may have left.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.explicitcluster
.reqnctapercluster 2, 1, 1
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 s[4];
    mov.u32 %r1, s;
    st.shared.u32 [%r1], 7;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r2, %r1, 1;
    ld.shared::cluster.u32 %r3, [%r2];
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r3;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.explicitcluster
.reqnctapercluster 2, 1, 1
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 s[4];
    mov.u32 %r1, s;
    st.shared.u32 [%r1], 7;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r2, %r1, 1;
    ld.shared::cluster.u32 %r3, [%r2];
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r3;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
```
Let the CTAs of the cluster meet before the first access and after the last.
";

/// The CTAs have not met yet.
const APART: u64 = 1 << 63;

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let maps = |row: &Inst| row.op.base() == "mapa";
        if unit.function().kind != FunctionKind::Entry || !unit.body.insts.iter().any(maps) {
            continue;
        }
        let insts = || (0..).map(InstId).zip(&unit.body.insts);
        let accesses: Vec<InstId> = insts()
            .filter(|(_, row)| is_remote(row))
            .map(|(inst, _)| inst)
            .take(60)
            .collect();
        let mut bits = Bits::new();
        bits.enter(APART);
        for (inst, at) in accesses.iter().zip(0u32..) {
            bits.start(*inst, 1 << at);
        }
        let meets = |site: &&BarrierSite| site.kind == BarrierKind::Cluster && site.op != BarrierOp::Arrive;
        for site in unit.barriers.iter().filter(meets) {
            bits.end(site.inst, u64::MAX);
        }
        // What a function does that is called is not followed.
        insts()
            .filter(|(_, row)| row.op.effect == Effect::Call)
            .for_each(|(inst, _)| bits.end(inst, u64::MAX));
        let holding = bits.follow(&unit.cfg);
        let span = |inst: InstId| context.span(unit.id, inst);
        let help = "let the CTAs meet: `barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;`";
        if let Some(inst) = accesses.iter().find(|inst| holding.before(**inst) & APART != 0) {
            let message = "another CTA's shared memory is accessed before that CTA is known to have started";
            found.push(Diag::error(RULE.code, span(*inst), message).help(help));
        }
        let ends = insts().filter(|(_, row)| row.op.effect == Effect::Exit);
        let open = ends.fold(0, |open, (inst, _)| open | holding.before(inst)) & !APART;
        if let Some((inst, _)) = accesses.iter().zip(0u32..).find(|(_, at)| open >> at & 1 == 1) {
            let message = "another CTA's shared memory is accessed, and that CTA may have exited: none waits for the others at the end";
            found.push(Diag::error(RULE.code, span(*inst), message).help(help));
        }
    }
    found
}

/// Whether it accesses shared memory of the cluster at once: asynchronous stores are waited for by the other side.
fn is_remote(row: &Inst) -> bool {
    let at_once = matches!(row.op.base(), "ld" | "st" | "atom" | "red") && !row.op.has("async");
    at_once && row.op.space == Space::SharedCluster
}
