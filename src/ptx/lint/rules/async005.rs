//! ASYNC005: an mbarrier is used before its initialisation is visible.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::dataflow::{Direction, Problem, solve};
use crate::ptx::ir::{BarrierOp, FunctionKind, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::mbarriers::{Act, Use, Uses};
use crate::ptx::lint::rule::Rule;
use rustc_hash::FxHashMap;

/// An mbarrier is used before its initialisation is visible.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC005", "mbarrier-before-init"),
    level: Level::Error,
    summary: "An mbarrier is used before its initialisation is visible.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds mbarriers that one thread initialises and others use with no barrier in between, and mbarriers that nothing initialises.

`mbarrier.init` is an ordinary write to shared memory. Threads that did not execute it must meet the one that did before they touch the object.

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
Put a barrier between the initialisation and the first use.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for uses in context.mbarriers() {
        let Some(unit) = context.analysis.unit(uses.function) else {
            continue;
        };
        found.extend(unseen(context, unit, uses));
        found.extend(never(context, unit, uses));
        found.extend(unfenced(context, unit, uses));
    }
    found
}

/// An mbarrier on which a bulk copy completes, with no fence that takes its initialisation to the asynchronous proxy.
fn unfenced(context: &Context, unit: &Unit, uses: &Uses) -> Option<Diag> {
    let mut bits = Bits::new();
    for one in uses.uses.iter().filter(|one| matches!(one.act, Act::Init(_))) {
        bits.start(one.inst, 1);
    }
    let fences = (0..).map(InstId).zip(&unit.body.insts).filter(|(_, row)| {
        let text: &str = &row.op.text;
        row.op.effect == Effect::Call
            || text.starts_with("fence.mbarrier_init")
            || text.starts_with("fence.proxy.async")
            || text.contains("cluster.arrive")
    });
    fences.for_each(|(inst, _)| bits.end(inst, 1));
    let holding = bits.follow(&unit.cfg);
    let copy = uses
        .uses
        .iter()
        .find(|one| matches!(one.act, Act::Bytes(_)) && holding.before(one.inst) != 0)?;
    let message = "a copy completes on this mbarrier, and no fence takes its initialisation to the asynchronous proxy";
    Some(
        Diag::info(RULE.code, context.span(unit.id, copy.inst), message)
            .note("works where a barrier of the CTA lies in between; the ISA asks for a fence")
            .help("execute `fence.mbarrier_init.release.cluster` behind the initialisation"),
    )
}

/// Which initialisations others may not have seen; a bit each.
struct Unseen<'u> {
    unit: &'u Unit<'u>,
    inits: FxHashMap<u32, u64>,
}

impl Problem for Unseen<'_> {
    type State = u64;

    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> u64 {
        0
    }

    fn boundary(&self) -> u64 {
        0
    }

    fn join(&self, into: &mut u64, from: &u64) -> bool {
        let sum = *into | from;
        sum != std::mem::replace(into, sum)
    }

    fn inst(&self, state: &mut u64, inst: u32) {
        let row = &self.unit.body.insts[inst as usize];
        let meets = match row.op.effect {
            Effect::Barrier => row.as_barrier().is_some_and(|view| view.op != BarrierOp::Arrive),
            Effect::Warp => self.unit.shape.is_one_warp() && row.op.has("sync"),
            Effect::Call => true,
            _ => false,
        };
        if meets {
            *state = 0;
        }
        *state |= self.inits.get(&inst).copied().unwrap_or(0);
    }
}

fn unseen(context: &Context, unit: &Unit, uses: &Uses) -> Vec<Diag> {
    let inits: Vec<&Use> = uses
        .uses
        .iter()
        .filter(|one| matches!(one.act, Act::Init(_)))
        .take(64)
        .collect();
    let bits = inits.iter().zip(0..).map(|(init, at)| (init.inst.0, 1 << at)).collect();
    let problem = Unseen { unit, inits: bits };
    let solution = solve(&problem, &unit.cfg);
    let mut found = Vec::new();
    let mut said = 0u64;
    for one in uses
        .uses
        .iter()
        .filter(|one| !matches!(one.act, Act::Init(_) | Act::Inval))
    {
        let state = solution.before(&problem, &unit.cfg, one.inst.0) & !said;
        let pending = inits.iter().enumerate().filter(|(at, _)| state >> at & 1 == 1);
        let Some((at, init)) = pending
            .into_iter()
            .find(|(_, init)| init.object().is_some() && init.object() == one.object())
        else {
            continue;
        };
        let Some(thread) = stranger(init, one) else { continue };
        said |= 1 << at;
        let message = "the mbarrier is used here by threads that cannot know of its initialisation";
        let diag = Diag::error(RULE.code, context.span(unit.id, one.inst), message)
            .label(format!("thread {thread} may come here first"))
            .related(context.span(unit.id, init.inst), "it is initialised here")
            .help("let the threads meet at a barrier in between");
        found.push(diag);
    }
    found
}

/// A thread that uses the object and has not initialised it.
fn stranger(init: &Use, one: &Use) -> Option<usize> {
    let (by, who) = (init.company.as_ref()?, one.company.as_ref()?);
    if !who.sure {
        return None;
    }
    let unknown = by.apart.iter().any(|apart| !apart.known && !who.apart.contains(apart)) || by.guarded;
    if unknown {
        return (who.threads.len() > 1).then(|| who.threads.iter().nth(1)).flatten();
    }
    who.threads.without(by.threads).iter().next()
}

/// Objects of a kernel that nothing initialises.
fn never(context: &Context, unit: &Unit, uses: &Uses) -> Vec<Diag> {
    let mut found = Vec::new();
    if unit.function().kind != FunctionKind::Entry {
        return found;
    }
    for object in uses.objects() {
        let Some(own) = uses.of(object) else { continue };
        if own.iter().any(|one| matches!(one.act, Act::Init(_))) {
            continue;
        }
        let Some(first) = own.first() else { continue };
        let message = "the mbarrier is used and never initialised";
        found.push(
            Diag::error(RULE.code, context.span(unit.id, first.inst), message)
                .help("initialise it with `mbarrier.init` in one thread, then let all meet at a barrier"),
        );
    }
    found
}
