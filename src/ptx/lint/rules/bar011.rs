//! BAR011: a barrier with no access to memory since the last one.

use super::wording::some_of;
use crate::ptx::analysis::{BarrierSite, Unit};
use crate::ptx::diag::{Code, Diag, Edit, Level};
use crate::ptx::ir::{BarrierKind, BarrierOp, Inst, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::source::Span;
use crate::ptx::types::Space;

/// A barrier with no access to memory since the last one.
pub const RULE: Rule = Rule {
    code: Code::new("BAR011", "redundant-barrier"),
    level: Level::Info,
    summary: "A barrier with no access to memory since the last one.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds barriers of the whole CTA that come, on every way, after another such barrier without an access to memory in between.

The first barrier has ordered all there is to order; the second costs the time of a barrier and does nothing. Compilers leave such pairs
behind where they inline a function that ends with a barrier in front of one that starts with one.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 s[1024];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r2, %r3, %r2;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    add.u32 %r1, %r1, 1;
    bar.sync 0;
    ld.shared.u32 %r4, [s];
    st.global.u32 [%rd1], %r4;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 s[1024];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r2, %r3, %r2;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    ld.shared.u32 %r4, [s];
    st.global.u32 [%rd1], %r4;
    ret;
}
```
Leave one of the two out.
";

/// Memory may have been accessed since the last barrier.
const ACCESSED: u64 = 1;

fn check(context: &Context) -> Vec<Diag> {
    context.units().filter_map(|unit| redundant(context, unit)).collect()
}

fn redundant(context: &Context, unit: &Unit) -> Option<Diag> {
    let whole = |site: &&BarrierSite| !site.counted && site.kind == BarrierKind::Cta && site.callee.is_none();
    let id = |site: &BarrierSite| unit.body.insts[site.inst.index()].as_barrier()?.id?.as_int();
    let first = unit
        .barriers
        .iter()
        .find(whole)
        .map(id)?
        .filter(|id| (0..16).contains(id))?;
    if unit.barriers.iter().filter(whole).count() < 2
        || unit.barriers.iter().filter(whole).any(|site| id(site) != Some(first))
    {
        return None;
    }
    // Barriers alone order nothing anywhere: such kernels show something else.
    if !unit.body.insts.iter().any(|row| row.op.space == Space::Shared) {
        return None;
    }
    let mut bits = Bits::new();
    bits.enter(ACCESSED);
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        if orders_something(row) {
            bits.start(inst, ACCESSED);
        }
    }
    for site in unit.barriers.iter().filter(whole) {
        bits.end(site.inst, ACCESSED);
    }
    let holding = bits.follow(&unit.cfg);
    let is_idle = |site: &&BarrierSite| {
        let row = &unit.body.insts[site.inst.index()];
        // One that combines predicates has a result.
        site.op == BarrierOp::Sync
            && row.guard.is_none()
            && unit.cfg.is_reachable(unit.cfg.block_of(site.inst))
            && holding.before(site.inst) & ACCESSED == 0
    };
    let idle: Vec<InstId> = unit
        .barriers
        .iter()
        .filter(whole)
        .filter(is_idle)
        .map(|site| site.inst)
        .collect();
    let first = idle.first()?;
    let message = "no memory is accessed between the last barrier and this one";
    let diag = Diag::info(RULE.code, context.span(unit.id, *first), message).help("leave it out");
    let diag = match statement_end(context.text, diag.span.end) {
        Some(end) => {
            let whole = Span::new(diag.span.start, end);
            diag.unsafe_fix(vec![Edit::remove(whole)])
        }
        None => diag,
    };
    Some(some_of(context, unit.id, &idle[1..], "nor before this one", diag))
}

/// Whether a barrier has anything to do with the instruction: it touches memory, or may.
fn orders_something(row: &Inst) -> bool {
    let private = matches!(row.op.space, Space::Param | Space::Local | Space::Const) && row.op.effect != Effect::Call;
    match row.op.effect {
        Effect::Pure | Effect::Branch | Effect::Exit | Effect::Warp => false,
        Effect::Barrier => row
            .as_barrier()
            .is_none_or(|view| view.kind == BarrierKind::Cluster || view.count.is_some()),
        _ => !private,
    }
}

/// Just past the semicolon that follows.
fn statement_end(text: &str, from: u32) -> Option<u32> {
    let rest = text.get(from as usize..)?;
    let blanks = rest.len() - rest.trim_start().len();
    rest.get(blanks..)?.starts_with(';').then_some(from + blanks as u32 + 1)
}
