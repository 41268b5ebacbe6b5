//! BAR013: `barrier.cluster.arrive` and `wait` do not come in pairs.

use crate::ptx::analysis::BarrierSite;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{BarrierKind, BarrierOp, FunctionKind};
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// `barrier.cluster.arrive` and `wait` do not come in pairs.
pub const RULE: Rule = Rule {
    code: Code::new("BAR013", "cluster-barrier-unpaired"),
    level: Level::Error,
    summary: "`barrier.cluster.arrive` and `wait` do not come in pairs.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `barrier.cluster.wait` before any arrival, and two arrivals with no wait in between, on every path.

Each thread must arrive once and then wait once in each phase of the cluster's barrier.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
.reqnctapercluster 2, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    barrier.cluster.arrive.aligned;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.global.u32 [%rd3], %r1;
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
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.global.u32 [%rd3], %r1;
    ret;
}
```
Arrive once, wait once.
";

/// The thread has arrived and not waited since.
const ARRIVED: u64 = 1;
/// The thread has not arrived since its last wait.
const FREE: u64 = 2;

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let cluster = |site: &&BarrierSite| site.kind == BarrierKind::Cluster;
        if !unit.barriers.iter().any(|site| cluster(&site)) || unit.function().kind != FunctionKind::Entry {
            continue;
        }
        let mut bits = Bits::new();
        bits.enter(FREE);
        for site in unit.barriers.iter().filter(cluster) {
            match (site.callee, site.op) {
                (Some(_), _) => bits.start(site.inst, ARRIVED | FREE),
                (None, BarrierOp::Arrive) => {
                    bits.end(site.inst, FREE);
                    bits.start(site.inst, ARRIVED);
                }
                _ => {
                    bits.end(site.inst, ARRIVED);
                    bits.start(site.inst, FREE);
                }
            }
        }
        let holding = bits.follow(&unit.cfg);
        let fault = unit.barriers.iter().filter(cluster).find_map(|site| {
            let before = holding.before(site.inst);
            let message = match (site.callee, site.op) {
                (None, BarrierOp::Arrive) if before == ARRIVED => {
                    "the thread arrives at the cluster's barrier again without having waited"
                }
                (None, BarrierOp::Sync) if before == FREE => {
                    "the thread waits at the cluster's barrier without having arrived"
                }
                _ => return None,
            };
            Some((site.inst, message))
        });
        // An arrival that nothing follows up lets the others on, but orders nothing for this thread.
        let alone = unit
            .barriers
            .iter()
            .filter(cluster)
            .all(|site| site.callee.is_none() && site.op == BarrierOp::Arrive);
        let first = unit.barriers.iter().find(cluster).filter(|_| alone && fault.is_none());
        if let Some(site) = first {
            let message = "the thread arrives at the cluster's barrier and never waits there";
            found.push(
                Diag::info(RULE.code, context.span(unit.id, site.inst), message).help("add `barrier.cluster.wait`"),
            );
        }
        if let Some((inst, message)) = fault {
            found.push(
                Diag::error(RULE.code, context.span(unit.id, inst), message)
                    .help("pair each `barrier.cluster.arrive` with one `barrier.cluster.wait`"),
            );
        }
    }
    found
}
