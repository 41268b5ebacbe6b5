//! ASYNC006: the arrivals at an mbarrier do not match the count it was initialised with.

use crate::ptx::analysis::{Reach, Unit};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{InstId, SymbolId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::mbarriers::{Act, Use, Uses};
use crate::ptx::lint::rule::Rule;

/// The arrivals at an mbarrier do not match the count it was initialised with.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC006", "mbarrier-arrivals"),
    level: Level::Error,
    summary: "The arrivals at an mbarrier do not match the count it was initialised with.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds mbarriers for which too few threads arrive, so that a phase never completes and those that wait hang, and mbarriers at which more
arrive than a phase takes, so that it completes before all have come.

Counted where the count is constant, every use of the object is known, and it is known which threads arrive.

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
    mbarrier.init.shared::cta.b64 [mb], 65;
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
Initialise the mbarrier with the number of threads that arrive in a phase.
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

/// The one count of an object's initialisations.
fn count(own: &[&Use]) -> Option<(u64, InstId)> {
    let mut inits = own.iter().filter_map(|one| match one.act {
        Act::Init(count) => Some((count, one.inst)),
        _ => None,
    });
    let (count, first) = inits.next()?;
    let count = count?;
    inits.all(|(other, _)| other == Some(count)).then_some((count, first))
}

/// How many arrivals one execution makes at most.
fn arrivals(one: &Use) -> Option<u64> {
    let threads = u64::from(one.company.as_ref()?.threads.len());
    match one.act {
        Act::Arrive {
            count, drops: false, ..
        } => Some(count? * threads),
        Act::Deferred => Some(threads),
        Act::Raised => Some(0),
        _ => None,
    }
}

fn judge(context: &Context, unit: &Unit, uses: &Uses, object: (SymbolId, i64)) -> Option<Diag> {
    let own = uses.of(object)?;
    let (count, init) = count(&own)?;
    let arriving: Vec<&Use> = own.iter().copied().filter(|one| one.arrives()).collect();
    let first = *arriving.first()?;
    let waits: Vec<&&Use> = own.iter().filter(|one| one.waits()).collect();
    if arriving.iter().any(|one| one.remote) || waits.is_empty() || own.iter().any(|one| one.act == Act::Inval) {
        return None;
    }
    let total: u64 = arriving.iter().map(|one| arrivals(one)).sum::<Option<u64>>()?;
    if arriving.iter().all(|one| one.in_loop.is_none()) {
        if total < count {
            let what = format!("at most {total} of the {count} arrivals of a phase can come: it never completes");
            return Some(say(context, unit, init, &arriving, what));
        }
        let reach = Reach::new(unit);
        let settled = |one: &&Use| {
            one.company.as_ref().is_some_and(|company| company.sure) && reach.is_sure(unit.cfg.block_of(one.inst))
        };
        let exact = unit.shape.threads().is_some() && arriving.iter().all(settled);
        if exact && (!total.is_multiple_of(count) || (arriving.len() == 1 && total > count)) {
            let what = format!(
                "{total} arrivals come to an mbarrier whose phase takes {count}: it completes before all have arrived"
            );
            return Some(say(context, unit, init, &arriving, what));
        }
        return None;
    }
    // In a loop: what comes in one round, where every round makes all arrivals and waits for them.
    let id = first.in_loop?;
    let every_round = |one: &&Use| {
        let dominates = |latch: &u32| unit.cfg.dom().dominates(unit.cfg.block_of(one.inst), *latch);
        one.in_loop == Some(id) && unit.loops.get(id).latches.iter().all(dominates)
    };
    let sure = |one: &&Use| one.company.as_ref().is_some_and(|company| company.sure);
    let waited = waits
        .iter()
        .all(|wait| unit.loops.contains(id, unit.cfg.block_of(wait.inst)));
    let known = unit.shape.threads().is_some() && arriving.iter().all(|one| every_round(one) && sure(one)) && waited;
    (known && total != count && !total.is_multiple_of(count)).then(|| {
        let what = format!("{total} arrivals come in each round to an mbarrier whose phase takes {count}");
        say(context, unit, init, &arriving, what)
    })
}

fn say(context: &Context, unit: &Unit, init: InstId, arriving: &[&Use], message: String) -> Diag {
    let mut diag = Diag::error(RULE.code, context.span(unit.id, init), message);
    for one in arriving.iter().take(6) {
        let threads = one.company.as_ref().map_or(0, |company| company.threads.len());
        diag = diag.related(
            context.span(unit.id, one.inst),
            format!("{threads} threads arrive here"),
        );
    }
    diag.help("initialise it with the number of arrivals of one phase")
}
