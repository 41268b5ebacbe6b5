//! BAR014: a kernel uses the cluster and does not state one.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{FunctionKind, Inst, InstId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A kernel uses the cluster and does not state one.
pub const RULE: Rule = Rule {
    code: Code::new("BAR014", "cluster-not-stated"),
    level: Level::Info,
    summary: "A kernel uses the cluster and does not state one.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels that wait for their cluster, read its registers or address the shared memory of other CTAs, and say nothing about clusters.

Without a cluster in the launch each CTA is a cluster of its own. The launch may give one, so this is only worth knowing;
`.reqnctapercluster` or `.explicitcluster` makes it part of the kernel.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
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
    st.global.u32 [%rd3], %r1;
    ret;
}
```
State the cluster with `.reqnctapercluster`, `.maxclusterrank` or `.explicitcluster`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context
        .units()
        .filter(|unit| unit.function().kind == FunctionKind::Entry)
    {
        let stated = [
            "reqnctapercluster",
            "maxclusterrank",
            "explicitcluster",
            "blocksareclusters",
        ];
        if stated.iter().any(|name| unit.function().attr(name).is_some()) {
            continue;
        }
        let needs = |row: &Inst| {
            row.op.text.starts_with("barrier.cluster")
                || matches!(row.op.base(), "mapa" | "getctarank")
                || row.op.has("multicast::cluster")
        };
        if let Some(at) = unit.body.insts.iter().position(needs) {
            let op = &unit.body.insts[at].op.text;
            let message = format!("`{op}` works on the cluster, which only the launch can state here");
            found.push(
                Diag::info(RULE.code, context.span(unit.id, InstId(at as u32)), message)
                    .help("state the cluster with `.reqnctapercluster`"),
            );
        }
    }
    found
}
