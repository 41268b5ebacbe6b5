//! What the barrier rules say alike.

use crate::ptx::analysis::{BarrierSite, Shape as CtaShape, Unit};
use crate::ptx::diag::{Code, Diag};
use crate::ptx::ir::{FuncId, InstId};
use crate::ptx::isa::Extent;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::explain::chain;
use crate::ptx::lint::parting::{Parting, Shape, condition};

/// The findings for one shape of parting.
pub(super) fn findings(
    context: &Context,
    wanted: impl Fn(Shape) -> bool,
    say: impl Fn(&Context, &Unit, &Parting) -> Diag,
) -> Vec<Diag> {
    let mut found = Vec::new();
    for parting in context.partings().iter().filter(|parting| wanted(parting.shape)) {
        if let Some(unit) = context.analysis.unit(parting.function) {
            found.push(say(context, unit, parting));
        }
    }
    found
}

/// A finding at the first barrier, with the further ones and the chain of causes.
pub(super) fn at_barrier(context: &Context, unit: &Unit, parting: &Parting, code: Code, message: String) -> Diag {
    let first = &parting.sites[0];
    let mut diag = Diag::new(code, parting.level(), context.span(unit.id, first.inst), message);
    diag.label = match parting.extent {
        Extent::Thread => "not reached by all lanes of a warp together".to_owned(),
        _ => "not reached by all warps of the CTA".to_owned(),
    };
    for site in parting.sites.iter().skip(1).take(4) {
        diag = diag.related(
            context.span(unit.id, site.inst),
            format!("{} suffers too", barrier_name(unit, site)),
        );
    }
    if parting.sites.len() > 5 {
        diag = diag.note(format!(
            "{} more barriers suffer from the same branch",
            parting.sites.len() - 5
        ));
    }
    with_causes(context, unit, parting, diag)
}

/// Adds the branch, the chain behind its condition, and assumptions.
pub(super) fn with_causes(context: &Context, unit: &Unit, parting: &Parting, mut diag: Diag) -> Diag {
    if parting.at != parting.sites[0].inst {
        diag = diag.related(context.span(unit.id, parting.at), "threads part here");
    }
    if let Some(value) = parting.condition {
        diag.related.extend(chain(context, unit, value, parting.block).links);
    }
    assume(unit, parting.extent, diag)
}

/// Adds the chain behind the condition at the end of a block.
pub(super) fn with_links(context: &Context, unit: &Unit, block: u32, mut diag: Diag) -> Diag {
    if let Some(value) = condition(unit, block) {
        diag.related.extend(chain(context, unit, value, block).links);
    }
    assume(unit, unit.uniformity.branch(block), diag)
}

/// Says what was taken for granted of the CTA's shape.
pub(super) fn assume(unit: &Unit, extent: Extent, diag: Diag) -> Diag {
    match (unit.shape, extent) {
        (CtaShape::Line(_), Extent::Warp) => {
            diag.note("assumes a one-dimensional CTA: the kernel reads neither `%tid.y` nor `%tid.z`")
        }
        (CtaShape::Unknown(_), Extent::Warp) => {
            diag.note("assumes that the rows of the CTA are whole warps: its shape is not known")
        }
        _ => diag,
    }
}

/// The barrier as written, or the call that leads to it, in backquotes.
pub(super) fn barrier_name(unit: &Unit, site: &BarrierSite) -> String {
    match site.callee {
        Some(callee) => {
            let name = unit.module.name(unit.module.function(callee).symbol);
            format!("the call of `{name}`, which holds a barrier,")
        }
        None => format!("`{}`", unit.body.insts[site.inst.index()].op.text),
    }
}

/// The line at which threads that part at the end of a block meet again, if they do.
pub(super) fn meeting_line(context: &Context, unit: &Unit, block: u32) -> Option<usize> {
    let meeting = unit.converge.meeting(block)?;
    let first = unit.cfg.insts(meeting).next()?;
    Some(context.line(unit.id, InstId(first)))
}

/// Threads of a warp or warps of a CTA: who parts.
pub(super) fn who(extent: Extent) -> &'static str {
    if extent == Extent::Thread {
        "lanes of one warp"
    } else {
        "warps of the CTA"
    }
}

/// What the ISA says of barriers that are not met by all.
pub(super) fn law(parting: &Parting) -> &'static str {
    match (parting.sites.iter().any(|site| site.aligned), parting.extent) {
        (true, Extent::Thread) => {
            "an aligned barrier must be executed by all threads of a warp together: else it hangs or lets threads through too early"
        }
        (true, _) => {
            "`bar.sync` without a count waits for all threads of the CTA; in the text of the ISA all must execute the same instruction"
        }
        (false, _) => "a barrier without a count waits for all threads of the CTA that have not exited",
    }
}

/// Names a few more places of the same kind, and counts the rest.
pub(super) fn some_of(context: &Context, function: FuncId, places: &[InstId], what: &str, mut diag: Diag) -> Diag {
    const TOLD: usize = 3;
    for place in places.iter().take(TOLD) {
        diag = diag.related(context.span(function, *place), what);
    }
    match places.len().saturating_sub(TOLD) {
        0 => diag,
        1 => diag.note("one more in this function"),
        more => diag.note(format!("{more} more in this function")),
    }
}
