//! What the mask rules find and say alike: WARP001, WARP002, WARP005, WARP008 and WARP011.

use crate::ptx::analysis::{Unit, Why, symbol_of};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{InstId, Operand};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::lint::bounds::{Certainty, certainty, rests_on_unknown};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::explain::chain;
use crate::ptx::lint::parting::condition;
use crate::ptx::lint::warps::{BallotFault, Kind, Mask, Site, Sites, judge_ballot, shape_note};
use crate::ptx::types::Space;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is wrong between a mask and the lanes that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The first thread executes it and names the second, which cannot come.
    Missing(usize, usize),
    /// Together part at the end of this block on what is not known, and the mask names them all.
    Doubtful(u32),
    /// The mask is a ballot, and lanes have parted further at the end of this block.
    Stale(InstId, u32),
    /// The thread executes it and is not named.
    Unnamed(usize),
    /// The mask is a ballot, and lanes that voted no execute it too.
    VotedNo(InstId),
    /// The two threads name each other and give different masks.
    Disagree(usize, usize),
    /// The mask is zero.
    Empty,
    /// The lanes that do not come execute this other instruction with the same mask.
    Elsewhere(InstId, u32),
}

/// A fault at a site.
pub(super) struct Found<'c> {
    /// The site.
    pub(super) site: &'c Site,
    /// What is wrong.
    pub(super) fault: Fault,
}

/// The faults of a function's masks, one for each cause: further sites with the same one are counted.
pub(super) fn faults<'c>(unit: &Unit, sites: &'c Sites) -> Vec<(Found<'c>, Vec<InstId>)> {
    let mut found: Vec<(Found, Vec<InstId>)> = Vec::new();
    let mut known: FxHashMap<(u32, u8, bool), usize> = FxHashMap::default();
    for site in sites.all() {
        let Some(fault) = fault(unit, sites, site) else {
            continue;
        };
        let key = match fault {
            Fault::Missing(..) => (place(unit, site), 0),
            Fault::Doubtful(block) | Fault::Stale(_, block) => (block, 1),
            Fault::Unnamed(_) => (place(unit, site), 2),
            Fault::VotedNo(vote) => (vote.0, 3),
            Fault::Empty => (site.inst.0, 4),
            Fault::Elsewhere(_, block) => (block, 5),
            Fault::Disagree(..) => (site.inst.0, 6),
        };
        match known.get(&(key.0, key.1, site.is_vote())) {
            Some(at) => found[*at].1.push(site.inst),
            None => {
                known.insert((key.0, key.1, site.is_vote()), found.len());
                found.push((Found { site, fault }, Vec::new()));
            }
        }
    }
    found
}

/// Where the lanes around a site part: what tells causes apart.
fn place(unit: &Unit, site: &Site) -> u32 {
    let innermost = site.company.apart.last().map(|apart| apart.block);
    innermost.unwrap_or_else(|| unit.cfg.block_of(site.inst))
}

fn fault(unit: &Unit, sites: &Sites, site: &Site) -> Option<Fault> {
    if !matches!(site.kind, Kind::Shuffle | Kind::Sync | Kind::Vote) || site.company.threads.is_empty() {
        return None;
    }
    match &site.mask {
        Mask::Same(0) => return Some(Fault::Empty),
        Mask::Ballot(vote) => {
            return judge_ballot(unit, sites, site, *vote).map(|fault| match fault {
                BallotFault::Stale(block) => Fault::Stale(*vote, block),
                BallotFault::Includes => Fault::VotedNo(*vote),
            });
        }
        _ => {}
    }
    if site.company.sure
        && let Some(thread) = site.unnamed()
    {
        return Some(match site.mask.of(thread) {
            Some(0) => Fault::Empty,
            _ => Fault::Unnamed(thread),
        });
    }
    if let Some((thread, missing)) = site.missing(unit).filter(|_| site.company.sure) {
        return match elsewhere(sites, site, Some(missing)) {
            Some((other, split)) => parted(site, other, split),
            None => Some(Fault::Missing(thread, missing)),
        };
    }
    if site.company.sure
        && let Some((one, other)) = disagreement(unit, site)
    {
        return Some(Fault::Disagree(one, other));
    }
    doubtful(unit, sites, site)
}

/// A thread and one that it names, which names another set of lanes.
fn disagreement(unit: &Unit, site: &Site) -> Option<(usize, usize)> {
    let Mask::Each(_) = site.mask else { return None };
    site.company.threads.iter().find_map(|thread| {
        let other =
            |other: &usize| site.mask.of(*other) != site.mask.of(thread) && site.company.threads.contains(*other);
        Some((thread, site.named(unit, thread).find(other)?))
    })
}

/// A full mask where it is not known which lanes come.
fn doubtful(unit: &Unit, sites: &Sites, site: &Site) -> Option<Fault> {
    if !matches!(site.mask, Mask::Same(u32::MAX)) || unit.shape.most_threads() < 2 {
        return None;
    }
    let parts = |block: &u32| {
        condition(unit, *block).is_some_and(|value| {
            let known = site.within.is_none() || !rests_on_call(unit, value);
            known && parts_warps(unit, value, *block) && !is_rounded(unit, site, value)
        })
    };
    if let Some(block) = site.unknown_partings().filter(parts).last() {
        return match elsewhere(sites, site, None) {
            Some((other, split)) => parted(site, other, split),
            None => Some(Fault::Doubtful(block)),
        };
    }
    let guard = unit.body.insts[site.inst.index()]
        .guard
        .filter(|_| site.company.guarded)?;
    let value = unit.ssa.use_of(site.inst, guard.reg)?;
    let block = unit.cfg.block_of(site.inst);
    parts_warps(unit, value, block).then_some(Fault::Doubtful(block))
}

/// Whether a condition is made of what calls return. Where warp instructions are calls, lanes may have agreed on it in one.
fn rests_on_call(unit: &Unit, condition: ValueId) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![condition];
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        match unit.ssa.value(value).map(|value| value.definition) {
            Some(Definition::Inst(inst)) => {
                let row = &unit.body.insts[inst.index()];
                let returned = row.op.effect == Effect::Call
                    || row.op.space == Space::Param
                        && symbol_of(row).is_some_and(|symbol| !unit.function().params.contains(&symbol));
                if returned || seen.len() > 64 {
                    return true;
                }
                stack.extend(unit.ssa.uses(inst));
            }
            Some(Definition::Phi(_)) => stack.extend(unit.ssa.phi_inputs(value)),
            _ => {}
        }
    }
    false
}

/// Whether a loop around the site seems to have its trip count rounded up to whole warps, and the condition asks for that bound.
fn is_rounded(unit: &Unit, site: &Site, value: ValueId) -> bool {
    let rounded = |id| {
        let (_, exit) = unit.uniformity.loop_exit(id);
        condition(unit, exit).is_some_and(|value| certainty(unit, id, value) == Certainty::Rounded)
    };
    rests_on_unknown(unit, value) && unit.loops.around(site.block).any(rounded)
}

/// What it is that lanes meet at different sites: nothing, where these are calls that execute the same instruction.
fn parted(site: &Site, other: &Site, split: u32) -> Option<Fault> {
    let one = site.within.is_some() && site.within == other.within;
    (!one).then_some(Fault::Elsewhere(other.inst, split))
}

/// Another site with the same mask that the lanes in the other arm of the nearest parting execute, and where they part.
fn elsewhere<'s>(sites: &'s Sites, site: &Site, missing: Option<usize>) -> Option<(&'s Site, u32)> {
    let Mask::Same(mask) = site.mask else { return None };
    let split = site.company.apart.last()?.block;
    let converge = sites.lanes.converge();
    let arms: Vec<FxHashSet<u32>> = converge
        .succs(split)
        .iter()
        .map(|arm| converge.arm(split, &[*arm]).into_iter().collect())
        .collect();
    let own = |other: &&Site| {
        let joint = matches!(other.kind, Kind::Shuffle | Kind::Sync | Kind::Vote);
        let same = matches!(other.mask, Mask::Same(own) if own == mask);
        let comes = missing.is_none_or(|thread| other.company.threads.contains(thread));
        joint
            && same
            && comes
            && other.inst != site.inst
            && other.company.apart.iter().any(|apart| apart.block == split)
    };
    let in_other_arm = |other: &&Site| {
        let arms_of = |site: &Site| arms.iter().map(|arm| arm.contains(&site.block)).collect::<Vec<bool>>();
        let (here, there) = (arms_of(site), arms_of(other));
        here.iter().zip(&there).all(|(here, there)| !(*here && *there))
    };
    let other = sites.all().filter(own).find(in_other_arm)?;
    Some((other, split))
}

/// Whether a condition that is not known parts the lanes of a warp, as far as can be told: not where it counts warps,
/// and not where the CTA's shape would decide.
pub(super) fn parts_warps(unit: &Unit, condition: ValueId, block: u32) -> bool {
    let (extent, _) = unit.uniformity.seen_from(&unit.loops, condition, block);
    if extent != Extent::Thread {
        return false;
    }
    let open = matches!(unit.shape, crate::ptx::analysis::Shape::Unknown(_));
    let mut seen = FxHashSet::default();
    let mut stack = vec![condition];
    let (mut counts_warps, mut reads_tid) = (false, false);
    while let Some(value) = stack.pop() {
        if !seen.insert(value) || seen.len() > 64 || unit.uniformity.extent(value) < Extent::Thread {
            continue;
        }
        match unit.ssa.value(value).map(|value| value.definition) {
            Some(Definition::Inst(inst)) => {
                let row = &unit.body.insts[inst.index()];
                reads_tid |= row
                    .operands
                    .iter()
                    .any(|operand| matches!(operand, Operand::Special(special) if special.name().starts_with("%tid")));
                if is_warp_number(unit, inst) {
                    counts_warps = true;
                    continue;
                }
                if row.op.effect == Effect::Pure {
                    stack.extend(unit.ssa.uses(inst));
                } else {
                    // What is loaded differs by its address, what a shuffle gives by its lane: no warp number decides.
                    return !(open && matches!(unit.uniformity.why(value), Why::Operand(_)));
                }
            }
            Some(Definition::Phi(_)) => stack.extend(unit.ssa.phi_inputs(value)),
            _ => {}
        }
    }
    !(counts_warps || open && reads_tid)
}

/// Whether an instruction cuts off what counts lanes: a shift right by five or more, and the like.
fn is_warp_number(unit: &Unit, inst: InstId) -> bool {
    let row = &unit.body.insts[inst.index()];
    let by = row
        .operands
        .get(2)
        .and_then(|operand| unit.evaluator().operand(inst, operand));
    let Some(by) = by.and_then(|by| by.constant()) else {
        return false;
    };
    match row.op.base() {
        "shr" => by >= 5,
        "div" => by >= 32 && by % 32 == 0,
        "and" => by & 31 == 0,
        "bfe" => by >= 5,
        _ => false,
    }
}

/// Reports the faults that `wanted` picks.
pub(super) fn report(context: &Context, code: Code, votes: bool, wanted: impl Fn(&Fault) -> bool) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        for (one, more) in faults(unit, sites) {
            if one.site.is_vote() == votes && wanted(&one.fault) {
                found.push(say(context, unit, &one, &more, code));
            }
        }
    }
    found
}

fn say(context: &Context, unit: &Unit, found: &Found, more: &[InstId], code: Code) -> Diag {
    let site = found.site;
    let op = name(context, unit, site);
    let span = context.span(unit.id, site.inst);
    let mut diag = match found.fault {
        Fault::Missing(thread, missing) => {
            let message = format!(
                "`{op}` waits for lane {} of the warp, which the mask names and which does not come here",
                missing % 32
            );
            let diag = Diag::error(code, span, message)
                .label(format!("thread {thread} executes it, thread {missing} does not"))
                .help("name only the lanes that come, or move the instruction to where all lanes of the warp are");
            note_shape(unit, thread.max(missing), with_branch(context, unit, site, diag))
        }
        Fault::Doubtful(block) => {
            let message = format!("`{op}` names all lanes, but lanes of the warp may not come here");
            let diag = Diag::warning(code, span, message).help(
                "vote on the condition before the branch and use the ballot as the mask, or move the instruction out of the branch",
            );
            with_condition(context, unit, block, diag)
                .note("right only if the condition is the same in all lanes of each warp")
        }
        Fault::Stale(vote, block) => {
            let message = format!(
                "the mask of `{op}` is a ballot from before a further branch: lanes that it names may not come"
            );
            let diag = Diag::warning(code, span, message)
                .related(context.span(unit.id, vote), "the lanes voted here")
                .help("vote again where the lanes have parted");
            with_condition(context, unit, block, diag)
        }
        Fault::Unnamed(thread) => unnamed(context, unit, site, thread, code),
        Fault::VotedNo(vote) => {
            let message = format!("`{op}` is executed by lanes that its mask leaves out: those that voted no");
            Diag::warning(code, span, message)
                .related(context.span(unit.id, vote), "the mask is the ballot of this vote")
                .note("a lane must name itself")
                .help("execute it only where the predicate of the vote holds")
        }
        Fault::Disagree(one, other) => {
            let masks = [one, other].map(|thread| site.mask.of(thread).unwrap_or(0));
            let message = format!(
                "lanes of one warp give `{op}` different masks: {:#x} and {:#x}",
                masks[0], masks[1]
            );
            let diag = Diag::error(code, span, message)
                .label(format!("threads {one} and {other}"))
                .note("all lanes that a mask names must give the same mask")
                .help("give all lanes of a group the same mask");
            note_shape(unit, one.max(other), diag)
        }
        Fault::Empty => Diag::error(code, span, format!("the mask of `{op}` names no lane"))
            .note("a lane must name itself")
            .help("name the lanes that execute the instruction"),
        Fault::Elsewhere(other, block) => elsewhere_diag(context, unit, site, other, block, code),
    };
    if let Some((function, inst)) = site.within {
        diag = diag.related(context.span(function, inst), "the call executes this");
    }
    for inst in more.iter().take(4) {
        diag = diag.related(context.span(unit.id, *inst), "the same here");
    }
    if more.len() > 4 {
        diag = diag.note(format!(
            "{} more instructions suffer from the same cause",
            more.len() - 4
        ));
    }
    diag
}

/// The instruction at a site, and the function that a call executes it in.
fn name(context: &Context, unit: &Unit, site: &Site) -> String {
    let (function, inst) = site.within.unwrap_or((unit.id, site.inst));
    let module = unit.module;
    let row = context
        .analysis
        .unit(function)
        .map(|unit| &unit.body.insts[inst.index()]);
    let op = row.map_or("", |row| &*row.op.text);
    match site.within {
        Some(_) => format!("{op}` in `{}", module.name(module.function(function).symbol)),
        None => op.to_owned(),
    }
}

fn unnamed(context: &Context, unit: &Unit, site: &Site, thread: usize, code: Code) -> Diag {
    let op = name(context, unit, site);
    let mask = site.mask.of(thread).unwrap_or(0);
    let message = format!("lane {} executes `{op}` and is not in its mask {mask:#x}", thread % 32);
    let sure = unit.shape.threads().is_some() || thread.is_multiple_of(32) || mask.count_ones() != mask.trailing_ones();
    // A mask of the first lanes is right where the CTA has no more than these.
    let level = if sure { Level::Error } else { Level::Warning };
    let diag = Diag::new(code, level, context.span(unit.id, site.inst), message)
        .label(format!("thread {thread} executes it too"))
        .note("a lane must name itself in the mask, else the result is undefined")
        .help("name all lanes that execute it, or let only the named lanes execute it");
    note_shape(unit, thread, diag)
}

fn elsewhere_diag(context: &Context, unit: &Unit, site: &Site, other: InstId, block: u32, code: Code) -> Diag {
    let (own, theirs) = (
        &unit.body.insts[site.inst.index()].op.text,
        &unit.body.insts[other.index()].op.text,
    );
    let span = context.span(unit.id, site.inst);
    let same = own == theirs && !is_old(unit);
    let diag = if same {
        let message = format!("lanes of one warp execute different copies of `{own}` with one mask");
        Diag::info(code, span, message)
            .note("legal since sm_70: lanes wait for those that execute the same kind with the same mask")
    } else {
        let message = format!("lanes of one warp meet at different instructions with one mask: `{own}` and `{theirs}`");
        Diag::error(code, span, message).note("all lanes that the mask names must execute the same instruction")
    };
    let diag = diag
        .related(context.span(unit.id, other), "the other lanes execute this")
        .help("execute one instruction where the arms meet");
    with_condition(context, unit, block, diag)
}

/// Whether the module's target is older than independent thread scheduling.
pub(super) fn is_old(unit: &Unit) -> bool {
    let number = |word: &str| {
        word.strip_prefix("sm_")
            .and_then(|sm| sm.trim_end_matches(char::is_alphabetic).parse::<u32>().ok())
    };
    unit.module
        .header
        .target
        .iter()
        .find_map(|word| number(word))
        .is_some_and(|sm| sm < 70)
}

fn note_shape(unit: &Unit, thread: usize, diag: Diag) -> Diag {
    match shape_note(unit, thread) {
        Some(note) => diag.note(note),
        None => diag,
    }
}

/// Adds the nearest branch that parts the lanes.
pub(super) fn with_branch(context: &Context, unit: &Unit, site: &Site, diag: Diag) -> Diag {
    match site.company.apart.last() {
        Some(apart) => with_condition(context, unit, apart.block, diag),
        None => diag,
    }
}

/// Adds where lanes part, and why.
pub(super) fn with_condition(context: &Context, unit: &Unit, block: u32, mut diag: Diag) -> Diag {
    let Some(last) = unit.cfg.last(block) else { return diag };
    let span = context.span(unit.id, last);
    if span != diag.span {
        diag = diag.related(span, "lanes part here");
    }
    if let Some(value) = condition(unit, block) {
        diag.related.extend(chain(context, unit, value, block).links);
    }
    diag
}
