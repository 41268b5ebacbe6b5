//! ASYNC009: an mbarrier that is not aligned to eight bytes, or used after its invalidation.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::dataflow::{Direction, Problem, solve};
use crate::ptx::ir::{Linkage, SymbolId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::mbarriers::{Act, Use, Uses};
use crate::ptx::lint::rule::Rule;
use rustc_hash::{FxHashMap, FxHashSet};

/// An mbarrier that is not aligned to eight bytes, or used after its invalidation.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC009", "mbarrier-object"),
    level: Level::Error,
    summary: "An mbarrier that is not aligned to eight bytes, or used after its invalidation.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds mbarrier objects at addresses that are no multiple of eight, and uses of an object after `mbarrier.inval` with no new `mbarrier.init`.

An mbarrier is a 64-bit object in shared memory and must be aligned as one.

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
    .shared .align 8 .b8 mb[16];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [mb+4], 64;
READY:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %rd4, [mb+4];
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p2, [mb+4], %rd4;
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
    .shared .align 8 .b8 mb[16];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [mb+8], 64;
READY:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %rd4, [mb+8];
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p2, [mb+8], %rd4;
    @!%p2 bra WAIT;
    st.global.u32 [%rd3], %r1;
    ret;
}
```
Declare it as `.shared .align 8 .b64`, and initialise it anew after `mbarrier.inval`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for uses in context.mbarriers() {
        let Some(unit) = context.analysis.unit(uses.function) else {
            continue;
        };
        let mut said = FxHashSet::default();
        for one in &uses.uses {
            if let Some((symbol, diag)) = misaligned(context, unit, one)
                && said.insert(symbol)
            {
                found.push(diag);
            }
        }
        found.extend(stale(context, unit, uses));
    }
    found
}

fn misaligned(context: &Context, unit: &Unit, one: &Use) -> Option<(SymbolId, Diag)> {
    let place = one.place.as_ref()?;
    let variable = unit.module.variable(place.symbol)?;
    let company = one.company.as_ref()?;
    let bad = company
        .threads
        .iter()
        .find_map(|thread| place.at(thread).filter(|at| at % 8 != 0).map(|at| (thread, at)));
    let name = unit.module.name(place.symbol);
    let span = context.span(unit.id, one.inst);
    let diag = match bad {
        Some((thread, at)) if variable.alignment() >= 8 => {
            let message = format!("the mbarrier lies {at} bytes into `{name}`, which is no multiple of eight");
            Diag::error(RULE.code, span, message).label(format!("in thread {thread}"))
        }
        None if variable.alignment() < 8 && place.offset.is_some() && variable.linkage != Linkage::Extern => {
            let message = format!(
                "the mbarrier lies in `{name}`, which is aligned to {} bytes only",
                variable.alignment()
            );
            Diag::warning(RULE.code, span, message)
        }
        _ => return None,
    };
    Some((place.symbol, diag.help("align the object to eight bytes")))
}

/// Which objects may be valid and which invalid, a bit each.
struct Life {
    events: FxHashMap<u32, (u64, bool)>,
}

impl Problem for Life {
    type State = (u64, u64);

    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> (u64, u64) {
        (0, 0)
    }

    fn boundary(&self) -> (u64, u64) {
        (u64::MAX, 0)
    }

    fn join(&self, into: &mut (u64, u64), from: &(u64, u64)) -> bool {
        let sum = (into.0 | from.0, into.1 | from.1);
        sum != std::mem::replace(into, sum)
    }

    fn inst(&self, state: &mut (u64, u64), inst: u32) {
        match self.events.get(&inst) {
            Some((bit, true)) => *state = (state.0 | bit, state.1 & !bit),
            Some((bit, false)) => *state = (state.0 & !bit, state.1 | bit),
            None => {}
        }
    }
}

/// Uses of objects that are invalid on every path.
fn stale(context: &Context, unit: &Unit, uses: &Uses) -> Vec<Diag> {
    if !uses.uses.iter().any(|one| one.act == Act::Inval) {
        return Vec::new();
    }
    let objects = uses.objects();
    let bit = |one: &Use| {
        let at = objects
            .iter()
            .position(|object| Some(*object) == one.object())
            .filter(|at| *at < 64)?;
        Some(1u64 << at)
    };
    let event = |one: &Use| match one.act {
        Act::Init(_) => Some((one.inst.0, (bit(one)?, true))),
        Act::Inval => Some((one.inst.0, (bit(one)?, false))),
        _ => None,
    };
    let problem = Life {
        events: uses.uses.iter().filter_map(event).collect(),
    };
    let solution = solve(&problem, &unit.cfg);
    let mut found = Vec::new();
    for one in uses.uses.iter().filter(|one| !matches!(one.act, Act::Init(_))) {
        let Some(bit) = bit(one) else { continue };
        let (valid, invalid) = solution.before(&problem, &unit.cfg, one.inst.0);
        if valid & bit == 0 && invalid & bit != 0 {
            let message = "the mbarrier is used after its invalidation";
            found.push(
                Diag::error(RULE.code, context.span(unit.id, one.inst), message).help("initialise it again first"),
            );
            break;
        }
    }
    found
}
