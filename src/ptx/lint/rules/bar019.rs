//! BAR019: `.uni` on what threads of a warp do differently.

use super::wording::assume;
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Edit, Level};
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::explain::{chain, guard_name};
use crate::ptx::lint::rule::Rule;
use crate::ptx::parse::pieces;
use crate::ptx::source::Span;

/// `.uni` on what threads of a warp do differently.
pub const RULE: Rule = Rule {
    code: Code::new("BAR019", "false-uni"),
    level: Level::Warning,
    summary: "`.uni` promised on a branch, call or return that lanes of a warp take differently.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds guarded branches, calls and returns marked `.uni` whose guard differs between the lanes of a warp.

`.uni` promises that all active threads of the warp go the same way; the compiler builds on it and may move barriers or
leave out the code that brings lanes together. Without a guard the promise always holds.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 5;
    @%p1 bra.uni DONE;
    st.global.u32 [%rd1], %r1;
DONE:
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 5;
    @%p1 bra DONE;
    st.global.u32 [%rd1], %r1;
DONE:
    ret;
}
```
Leave `.uni` out.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        for (at, inst) in (0..).map(InstId).zip(&unit.body.insts) {
            if is_promise(inst) && unit.cfg.is_reachable(unit.cfg.block_of(at)) {
                found.extend(judge(context, unit, at, inst));
            }
        }
    }
    found
}

fn is_promise(inst: &Inst) -> bool {
    inst.guard.is_some() && inst.op.has("uni") && matches!(inst.op.effect, Effect::Branch | Effect::Call | Effect::Exit)
}

fn judge(context: &Context, unit: &Unit, at: InstId, inst: &Inst) -> Option<Diag> {
    let block = unit.cfg.block_of(at);
    let value = unit.ssa.use_of(at, inst.guard?.reg)?;
    let seen = unit.uniformity.seen_from(&unit.loops, value, block).0;
    // Of a branch that ends its block, the analysis may know better than its predicate tells.
    let extent = if unit.cfg.last(block) == Some(at) {
        seen.min(unit.uniformity.branch(block))
    } else {
        seen
    };
    if extent < Extent::Thread {
        return None;
    }
    let message = format!(
        "`{}` promises that a warp goes one way, but {} differs between its lanes",
        inst.op.text,
        guard_name(unit, at)?
    );
    let mut diag = Diag::warning(RULE.code, context.span(unit.id, at), message);
    diag.related = chain(context, unit, value, block).links;
    let diag = assume(unit, extent, diag).help("leave `.uni` out");
    Some(match promise_span(context.text, diag.span) {
        Some(span) => diag.safe_fix(vec![Edit::remove(span)]),
        None => diag,
    })
}

/// Where `.uni` stands.
fn promise_span(text: &str, inst: Span) -> Option<Span> {
    pieces(text, inst).mods.into_iter().find(|span| span.of(text) == ".uni")
}
