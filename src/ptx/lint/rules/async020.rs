//! ASYNC020: an mbarrier that nobody waits for, or a wait whose outcome nobody looks at.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{InstId, SymbolId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::mbarriers::{Act, Uses};
use crate::ptx::lint::rule::Rule;
use rustc_hash::FxHashSet;

/// An mbarrier that nobody waits for, or a wait whose outcome nobody looks at.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC020", "mbarrier-not-awaited"),
    level: Level::Warning,
    summary: "An mbarrier that nobody waits for, or a wait whose outcome nobody looks at.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds mbarriers at which threads arrive and for which nothing waits, and `try_wait` or `test_wait` whose result is not used.

An arrival orders nothing for the thread that makes it: only a successful wait does. `mbarrier.try_wait` may give up after a time limit of
the system's, and answers whether the phase is complete: it must be repeated until it is.

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
    .shared .align 8 .b64 mb;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [mb], 64;
READY:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %rd4, [mb];
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
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 8 .b64 mb;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [mb], 64;
READY:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %rd4, [mb];
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p2, [mb], %rd4;
    @!%p2 bra WAIT;
    st.global.u32 [%rd3], %r1;
    ret;
}
```
Loop on `mbarrier.try_wait` until it succeeds.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for uses in context.mbarriers() {
        let Some(unit) = context.analysis.unit(uses.function) else {
            continue;
        };
        let used: FxHashSet<ValueId> = (0..unit.body.insts.len() as u32)
            .flat_map(|inst| unit.ssa.uses(InstId(inst)).to_vec())
            .collect();
        let phis = unit
            .cfg
            .rpo()
            .iter()
            .flat_map(|block| unit.ssa.phis(*block))
            .flat_map(|phi| unit.ssa.phi_inputs(*phi));
        let merged: FxHashSet<ValueId> = phis.copied().collect();
        for one in uses.uses.iter().filter(|one| one.waits()) {
            let ignored = unit
                .ssa
                .defs(one.inst)
                .iter()
                .all(|def| !used.contains(def) && !merged.contains(def));
            if ignored {
                let message = "nobody looks at whether this wait succeeded: it may return before the phase is complete";
                found.push(
                    Diag::warning(RULE.code, context.span(unit.id, one.inst), message)
                        .help("repeat it until its predicate holds"),
                );
            }
        }
        found.extend(
            uses.objects()
                .into_iter()
                .filter_map(|object| unawaited(context, unit, uses, object)),
        );
    }
    found
}

fn unawaited(context: &Context, unit: &Unit, uses: &Uses, object: (SymbolId, i64)) -> Option<Diag> {
    let own = uses.of(object)?;
    let arrival = own.iter().find(|one| one.arrives() && !one.remote)?;
    let shared = own.iter().any(|one| one.remote && one.arrives());
    let initialised = own.iter().any(|one| matches!(one.act, Act::Init(_)));
    (!shared && initialised && own.iter().all(|one| !one.waits())).then(|| {
        let message = "threads arrive at this mbarrier, and nothing waits for it: the arrival orders nothing for them";
        Diag::warning(RULE.code, context.span(unit.id, arrival.inst), message)
            .help("wait for the phase with `mbarrier.try_wait` before relying on what others wrote")
    })
}
