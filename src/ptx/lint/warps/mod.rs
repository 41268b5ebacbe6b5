//! Instructions that lanes of a warp execute together: who comes, whom the mask names, whose value is read.
//!
//! The common ground of the WARP rules and of BAR012.

mod ballot;
mod called;
mod mask;
mod poison;
mod rolled;
mod shuffle;

pub(super) use ballot::{Fault as BallotFault, judge as judge_ballot};
pub(super) use called::{Callees, reaching};
pub(super) use mask::Mask;
pub(super) use poison::{Cause, Leak, leaks};
pub(super) use shuffle::{Mode, Shuffle};

use crate::ptx::analysis::{Company, Shape, Threads, Together, Unit, WARP, is_joint};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{FuncId, InstId, Operand};
use crate::ptx::isa::Effect;
use std::rc::Rc;

/// What kind of instruction it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `shfl`.
    Shuffle,
    /// `bar.warp.sync`.
    Sync,
    /// `vote`, `match`, `redux`, `elect`.
    Vote,
    /// `activemask`.
    Active,
    /// Anything with `.aligned` that is no barrier.
    Aligned,
}

/// One such instruction.
pub(super) struct Site {
    /// Where.
    pub(super) inst: InstId,
    /// Its block.
    pub(super) block: u32,
    /// Its kind.
    pub(super) kind: Kind,
    /// The lanes that it names.
    pub(super) mask: Mask,
    /// Who executes it.
    pub(super) company: Company,
    /// The instruction itself, where this is a call of a function that executes it.
    pub(super) within: Option<(FuncId, InstId)>,
}

/// The sites of a function.
pub(super) struct Sites {
    /// The function.
    pub(super) function: FuncId,
    /// Its lanes.
    pub(super) lanes: Rc<Together>,
    /// The sites, in textual order.
    pub(super) sites: Vec<Site>,
    /// Calls of functions that execute such instructions, in textual order.
    pub(super) calls: Vec<Site>,
}

impl Sites {
    /// The sites and the calls.
    pub(super) fn all(&self) -> impl Iterator<Item = &Site> {
        self.sites.iter().chain(&self.calls)
    }
}

/// Whether the function has any.
pub(super) fn is_site(inst: &crate::ptx::ir::Inst) -> bool {
    inst.op.effect == Effect::Warp || (inst.op.effect != Effect::Barrier && is_joint(inst))
}

/// Finds the sites of a function. `calls` gives those that its calls are.
pub(super) fn find<'u, 'm: 'u>(
    unit: &'u Unit<'m>,
    lanes: impl Fn() -> Rc<Together>,
    calls: impl FnOnce(&Together) -> Vec<Site>,
    has_calls: bool,
) -> Option<Sites> {
    if !has_calls && !unit.body.insts.iter().any(is_site) {
        return None;
    }
    let lanes = lanes();
    let mut resolver = mask::Resolver::new(unit, &lanes);
    let mut sites = Vec::new();
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts).filter(|(_, row)| is_site(row)) {
        let Some(company) = lanes.company(unit, inst) else {
            continue;
        };
        let kind = kind_of(row);
        let mask = match (kind, mask_operand(row)) {
            (Kind::Shuffle | Kind::Sync | Kind::Vote, Some(operand)) => resolver.operand(inst, operand),
            _ => Mask::Absent,
        };
        sites.push(Site {
            inst,
            block: unit.cfg.block_of(inst),
            kind,
            mask,
            company,
            within: None,
        });
    }
    drop(resolver);
    let calls = if has_calls { calls(&lanes) } else { Vec::new() };
    Some(Sites {
        function: unit.id,
        lanes,
        sites,
        calls,
    })
}

fn kind_of(row: &crate::ptx::ir::Inst) -> Kind {
    match row.op.base() {
        _ if row.op.effect != Effect::Warp => Kind::Aligned,
        "shfl" => Kind::Shuffle,
        "bar" => Kind::Sync,
        "activemask" => Kind::Active,
        "vote" | "match" | "redux" | "elect" => Kind::Vote,
        _ => Kind::Aligned,
    }
}

/// The operand that names lanes: the last one of a `.sync` instruction.
pub(super) fn mask_operand(row: &crate::ptx::ir::Inst) -> Option<&Operand> {
    (row.op.has("sync") && row.op.effect == Effect::Warp)
        .then(|| row.operands.last())
        .flatten()
}

impl Site {
    /// Whether the code that finds fault is WARP011 and not WARP001, WARP002 or WARP005.
    pub(super) fn is_vote(&self) -> bool {
        self.kind == Kind::Vote
    }

    /// The threads that it names in the warp of one that executes it, as far as the CTA can have them.
    pub(super) fn named(&self, unit: &Unit, thread: usize) -> impl Iterator<Item = usize> {
        let mask = self.mask.of(thread).unwrap_or(0);
        let base = thread / WARP as usize * WARP as usize;
        let most = unit.shape.most_threads() as usize;
        (0..WARP as usize)
            .filter(move |lane| mask >> lane & 1 == 1)
            .map(move |lane| base + lane)
            .filter(move |thread| *thread < most)
    }

    /// Who executes it, where no condition around it is unknown lane by lane.
    pub(super) fn company_of_known(&self) -> Option<&Company> {
        let known = self.company.apart.iter().all(|apart| apart.known) && !self.company.guarded;
        known.then_some(&self.company)
    }

    /// A thread that it names and that can never come, beside one that does.
    pub(super) fn missing(&self, unit: &Unit) -> Option<(usize, usize)> {
        let come = self.company.threads.union(self.company.maybe_gone);
        let all = Threads::first(unit.shape.most_threads());
        let missing = |thread: usize| {
            let warp = thread / WARP as usize;
            let away = self.mask.of(thread)? & all.warp(warp) & !come.warp(warp);
            (away != 0).then(|| (thread, warp * WARP as usize + away.trailing_zeros() as usize))
        };
        self.company.threads.iter().find_map(missing)
    }

    /// A thread that executes it and is not named.
    pub(super) fn unnamed(&self) -> Option<usize> {
        let named = |thread: usize| self.mask.of(thread).is_none_or(|mask| mask >> (thread % 32) & 1 == 1);
        self.company.threads.iter().find(|thread| !named(*thread))
    }

    /// The branches of unknown outcome that part the lanes around it.
    pub(super) fn unknown_partings(&self) -> impl Iterator<Item = u32> {
        self.company
            .apart
            .iter()
            .filter(|apart| !apart.known)
            .map(|apart| apart.block)
    }
}

/// Follows copies and conversions back to the value behind them.
pub(super) fn origin(unit: &Unit, mut value: ValueId) -> ValueId {
    use crate::ptx::flow::Definition;
    for _ in 0..64 {
        let Some(Definition::Inst(inst)) = unit.ssa.value(value).map(|value| value.definition) else {
            break;
        };
        let row = &unit.body.insts[inst.index()];
        let copies = row.op.base() == "mov" && row.guard.is_none();
        let Some(Operand::Reg(reg)) = row.operands.get(1).filter(|_| copies) else {
            break;
        };
        let Some(from) = unit.ssa.use_of(inst, *reg) else { break };
        value = from;
    }
    value
}

/// What the shape of the CTA was taken for, as a note.
pub(super) fn shape_note(unit: &Unit, thread: usize) -> Option<String> {
    match unit.shape {
        Shape::Exact(_) => None,
        Shape::Line(_) => Some(format!(
            "holds for every one-dimensional CTA of more than {thread} threads"
        )),
        Shape::Unknown(_) => Some("the CTA's shape is not known: lanes are counted within the warp".to_owned()),
    }
}
