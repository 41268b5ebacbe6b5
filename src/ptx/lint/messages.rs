//! What is wrong where CTAs pass data to each other through memory: a flag, a lock or a counter tells that it is there.

use super::bits::{Bits, Holding};
use super::context::Context;
use super::rules::race008::RULE;
use super::trials::Tried;
use crate::ptx::analysis::{Code, Whence};
use crate::ptx::diag::Diag;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Body, Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;

/// The wait is over, and nothing has ordered what follows.
const WAITED: u64 = 1;
/// Data has been stored, and nothing has ordered it before what follows.
const STORED: u64 = 2;

const LATE: &str = "put `membar.gl;` or `fence.acq_rel.gpu;` between them, or store the flag with `st.release.gpu`";
const NARROW: &str = "leave out `.cta`, or use the scope `.gpu`";

/// What is wrong with messages between CTAs in a kernel.
pub(super) fn messages(context: &Context, tried: &Tried) -> Vec<Diag> {
    let module = &context.parsed.module;
    let Some(body) = &module.function(tried.function).body else {
        return Vec::new();
    };
    if tried.flag.is_none() && !may_tell(body) {
        return Vec::new();
    }
    let Some(code) = context.code(tried.function) else {
        return Vec::new();
    };
    let talk = Talk {
        context,
        code,
        uses: uses(&code),
        dims: dims(body),
    };
    match tried.flag {
        Some(flag) => talk.awaited(flag),
        None => talk.counted().into_iter().collect(),
    }
}

/// An atomic of scope `.cta` at a place that loaded data names, in a kernel that asks which CTA it is.
pub(super) fn scattered(context: &Context, tried: &Tried) -> Option<InstId> {
    let body = context.parsed.module.function(tried.function).body.as_ref()?;
    let is_narrow = |row: &Inst| row.op.effect == Effect::Atomic && is_global(row) && row.op.has("cta");
    if !body.insts.iter().any(is_narrow) || !reads_cta(body) {
        return None;
    }
    let code = context.code(tried.function)?;
    let mut atomics = (0..).map(InstId).zip(&body.insts).filter(|(_, row)| is_narrow(row));
    let found = atomics.find(|(inst, row)| {
        let whence = Whence::of(&code, *inst, row);
        whence.is_some_and(|whence| whence.data && whence.cta == [false; 3]) && !is_of_one_cta(&code, *inst)
    });
    found.map(|(inst, _)| inst)
}

/// Whether only one CTA comes here, by a test of its number for equality.
fn is_of_one_cta(code: &Code, inst: InstId) -> bool {
    let mut block = code.cfg.block_of(inst);
    while let Some(above) = code.cfg.dom().idom(block) {
        let last = code.cfg.last(above).filter(|last| {
            let row = code.body.insts.get(last.index());
            row.is_some_and(|row| row.op.effect == Effect::Branch && row.guard.is_some())
        });
        if last.is_some_and(|last| tests_cta(code, last)) {
            return true;
        }
        block = above;
    }
    false
}

/// Whether the guard of an instruction compares the CTA's number for equality.
fn tests_cta(code: &Code, inst: InstId) -> bool {
    let guard = code.ssa.uses(inst).first().copied();
    let definition = guard
        .and_then(|guard| code.ssa.value(guard))
        .map(|value| value.definition);
    let Some(crate::ptx::flow::Definition::Inst(compare)) = definition else {
        return false;
    };
    let row = code.body.insts.get(compare.index());
    let equal = row.is_some_and(|row| row.op.base() == "setp" && (row.op.has("eq") || row.op.has("ne")));
    let mut uses = code.ssa.uses(compare).iter();
    equal && uses.any(|used| Whence::of_value(code, *used).cta != [false; 3])
}

/// An access to global memory, and where it goes.
struct Use<'m> {
    inst: InstId,
    row: &'m Inst,
    whence: Whence,
}

impl Use<'_> {
    fn is(&self, effect: Effect) -> bool {
        self.row.op.effect == effect
    }

    /// Whether a store of one CTA and this load of another may meet: not where each stays at places of its own.
    fn may_see(&self, store: &Use, dims: [bool; 3]) -> bool {
        let same = self.whence.place.map(|place| place.0) == store.whence.place.map(|place| place.0);
        self.whence.meets(&store.whence) && (!same || self.whence.is_common(dims))
    }
}

fn uses<'m>(code: &Code<'m>) -> Vec<Use<'m>> {
    let all = (0..).map(InstId).zip(&code.body.insts);
    all.filter(|(_, row)| matches!(row.op.effect, Effect::Load | Effect::Store | Effect::Atomic) && is_global(row))
        .filter_map(|(inst, row)| {
            let whence = Whence::of(code, inst, row)?;
            Some(Use { inst, row, whence })
        })
        .collect()
}

/// A kernel whose CTAs talk.
struct Talk<'c> {
    context: &'c Context<'c>,
    code: Code<'c>,
    uses: Vec<Use<'c>>,
    /// The dimensions in which the kernel asks which CTA it is.
    dims: [bool; 3],
}

impl Talk<'_> {
    fn warning(&self, inst: InstId, message: String, help: &str) -> Diag {
        Diag::warning(RULE.code, self.context.span(self.code.id, inst), message).help(help)
    }

    fn seen_too_early(&self, tell: &Use) -> Diag {
        let message = format!(
            "`{}` may be seen before the data that was stored in front of it",
            tell.row.op.text
        );
        self.warning(tell.inst, message, LATE)
    }

    /// What is wrong about the data behind a flag that a loop waits for.
    fn awaited(&self, flag: InstId) -> Vec<Diag> {
        let Some(wait) = self.uses.iter().find(|used| used.inst == flag) else {
            return Vec::new();
        };
        if wait.row.op.has("cta") {
            // A flag of the CTA's own is none of others'.
            let message = format!("`{}` waits for threads of its own CTA only", wait.row.op.text);
            let found = self.warning(flag, message, NARROW);
            return Vec::from_iter(wait.whence.is_common(self.dims).then_some(found));
        }
        let of_flag = |used: &Use| used.whence.meets(&wait.whence);
        let data: Vec<&Use> = self
            .uses
            .iter()
            .filter(|used| is_plain(used.row) && used.whence.place != wait.whence.place)
            .collect();
        let all = |effect: Effect| data.iter().copied().filter(move |used| used.is(effect));
        let stored: FxHashSet<InstId> = all(Effect::Store)
            .filter(|store| all(Effect::Load).any(|load| load.may_see(store, self.dims)))
            .map(|store| store.inst)
            .collect();
        let passed: FxHashSet<InstId> = all(Effect::Load)
            .filter(|load| all(Effect::Store).any(|store| load.may_see(store, self.dims)))
            .map(|load| load.inst)
            .chain(stored.iter().copied())
            .collect();
        let acquires = has(wait.row, &["acquire", "acq_rel"]);
        let holding = self.follow(&stored, (!acquires).then_some(flag));
        let mut found = Vec::new();
        let early = data
            .iter()
            .find(|used| passed.contains(&used.inst) && holding.before(used.inst) & WAITED != 0);
        if let Some(early) = early {
            let message = format!(
                "`{}` is not ordered behind the wait for another thread's store",
                early.row.op.text
            );
            let help = "put `membar.gl;` or `fence.acq_rel.gpu;` between them, or load the flag with `ld.acquire.gpu`";
            found.push(
                self.warning(early.inst, message, help)
                    .related(self.context.span(self.code.id, flag), "the flag is waited for here"),
            );
        }
        let mut tells = self.uses.iter().filter(|used| of_flag(used) && is_tell(used.row));
        let late = tells
            .clone()
            .find(|tell| !has(tell.row, &["release", "acq_rel"]) && holding.before(tell.inst) & STORED != 0);
        found.extend(late.map(|late| self.seen_too_early(late)));
        if let Some(narrow) = tells.find(|tell| tell.row.op.has("cta") && tell.whence.is_common(self.dims)) {
            let message = format!("`{}` tells threads of its own CTA only", narrow.row.op.text);
            found.push(self.warning(narrow.inst, message, NARROW));
        }
        found.extend(self.plain_release(wait));
        if found.is_empty() {
            found.extend(self.after_telling(wait, &passed));
            found.extend(self.several_locks(wait));
        }
        found
    }

    /// Data that is stored when the flag has been set, and never told of.
    fn after_telling(&self, wait: &Use, passed: &FxHashSet<InstId>) -> Option<Diag> {
        let waited = self.behind(wait.inst);
        let tells: Vec<&Use> = self
            .uses
            .iter()
            .filter(|used| used.whence.meets(&wait.whence) && is_tell(used.row) && !waited(used.inst))
            .collect();
        let tell = tells.first().filter(|_| wait.is(Effect::Load))?;
        let told = self.behind(tell.inst);
        let late = self.uses.iter().find(|used| {
            let stored = used.is(Effect::Store) && passed.contains(&used.inst) && is_plain(used.row);
            let behind = || self.behind(used.inst);
            stored && told(used.inst) && !waited(used.inst) && !tells.iter().any(|tell| behind()(tell.inst))
        })?;
        let message = format!(
            "`{}` stores data when the flag that stands for it has been set",
            late.row.op.text
        );
        let help = "set the flag behind it, with a fence in between";
        Some(
            self.warning(late.inst, message, help)
                .related(self.context.span(self.code.id, tell.inst), "the flag is set here"),
        )
    }

    /// A lock of which there are several, chosen by the CTA, around data of which there is one.
    fn several_locks(&self, wait: &Use) -> Option<Diag> {
        let of_some = wait.is(Effect::Atomic) && wait.whence.cta != [false; 3] && !wait.whence.data;
        let held = self.behind(wait.inst);
        let common = |used: &&Use| {
            let nowhere = !used.whence.data && !used.whence.thread && used.whence.cta == [false; 3];
            nowhere && held(used.inst) && !used.whence.meets(&wait.whence) && !used.whence.pointers.is_empty()
        };
        let store = self
            .uses
            .iter()
            .find(|used| of_some && used.is(Effect::Store) && common(used))?;
        let mut loads = self.uses.iter().filter(|used| used.is(Effect::Load));
        loads.find(|load| common(load) && load.whence.meets(&store.whence))?;
        let message = format!(
            "`{}` changes what all CTAs have, under a lock that CTAs choose by their number",
            store.row.op.text
        );
        let help = "take one lock for one place in memory";
        Some(
            self.warning(store.inst, message, help)
                .related(self.context.span(self.code.id, wait.inst), "the lock is taken here"),
        )
    }

    /// A lock that is given back by a plain store.
    fn plain_release(&self, wait: &Use) -> Option<Diag> {
        let lock = wait.whence.place.filter(|_| wait.is(Effect::Atomic))?;
        let mut plain = self
            .uses
            .iter()
            .filter(|used| used.is(Effect::Store) && is_plain(used.row));
        let back = plain.find(|used| used.whence.place == Some(lock))?;
        let message = format!(
            "`{}` gives back what an atomic has taken, and may do so too early",
            back.row.op.text
        );
        let help = "use `atom.exch` or `st.release.gpu`, with a fence in front of it";
        Some(
            self.warning(back.inst, message, help)
                .related(self.context.span(self.code.id, wait.inst), "the lock is taken here"),
        )
    }

    /// A counter or flag that is tested once, and that may be seen before the data which it stands for.
    fn counted(&self) -> Option<Diag> {
        let hears = self.uses.iter().filter(|used| is_hear(used.row));
        for hear in hears {
            let tells = |used: &&Use| {
                let atomic = is_tell(used.row) && !has(used.row, &["release", "acq_rel"]);
                atomic && used.whence.is_common(self.dims) && used.whence.meets(&hear.whence)
            };
            if !self.uses.iter().any(|used| tells(&used)) || !self.is_tested(hear) {
                continue;
            }
            let behind = self.behind(hear.inst);
            let loads = || {
                let loads = self
                    .uses
                    .iter()
                    .filter(|used| used.is(Effect::Load) && behind(used.inst));
                loads.filter(|load| load.whence.cta == [false; 3] && !load.whence.meets(&hear.whence))
            };
            let stores = self.uses.iter().filter(|used| used.is(Effect::Store));
            let stored: FxHashSet<InstId> = stores
                .filter(|store| !has(store.row, &["release"]) && loads().any(|load| load.may_see(store, self.dims)))
                .map(|store| store.inst)
                .collect();
            if stored.is_empty() {
                continue;
            }
            let holding = self.follow(&stored, None);
            let mut tells = self.uses.iter().filter(tells);
            if let Some(late) = tells.find(|tell| holding.before(tell.inst) & STORED != 0) {
                return Some(self.seen_too_early(late));
            }
        }
        None
    }

    /// Where data has been stored and the wait is over with no fence since.
    fn follow(&self, stored: &FxHashSet<InstId>, flag: Option<InstId>) -> Holding<'_> {
        let mut bits = Bits::new();
        if let Some(flag) = flag {
            bits.start(flag, WAITED);
        }
        for (inst, row) in (0..).map(InstId).zip(&self.code.body.insts) {
            match row.op.effect {
                Effect::Fence if !row.op.has("cta") => bits.end(inst, WAITED | STORED),
                Effect::Barrier => bits.end(inst, WAITED),
                Effect::Call => bits.end(inst, WAITED | STORED),
                Effect::Store if stored.contains(&inst) => bits.start(inst, STORED),
                _ => {}
            }
        }
        bits.follow(self.code.cfg)
    }

    /// Tells which instructions can be executed after this one.
    fn behind(&self, inst: InstId) -> impl Fn(InstId) -> bool {
        let cfg = self.code.cfg;
        let home = cfg.block_of(inst);
        let reached = cfg.succs().reachable(cfg.succs().next(home).iter().copied());
        move |other: InstId| {
            let block = cfg.block_of(other);
            reached.get(block as usize).copied().unwrap_or(false) || block == home && other > inst
        }
    }

    /// Whether what an access has read is compared with something, or handed to the other threads of the CTA.
    fn is_tested(&self, hear: &Use) -> bool {
        let ssa = self.code.ssa;
        let mut held: FxHashSet<ValueId> = ssa.defs(hear.inst).iter().copied().collect();
        loop {
            let before = held.len();
            for (inst, row) in (0..).map(InstId).zip(&self.code.body.insts) {
                if !ssa.uses(inst).iter().any(|used| held.contains(used)) {
                    continue;
                }
                let shares = row.op.effect == Effect::Store && row.op.space == Space::Shared;
                if row.op.base() == "setp" || shares {
                    return true;
                }
                if matches!(row.op.effect, Effect::Pure | Effect::Warp) {
                    held.extend(ssa.defs(inst).iter().copied());
                }
            }
            if held.len() == before {
                return false;
            }
        }
    }
}

/// Whether the kernel has what tells other CTAs something, and what may be told of.
fn may_tell(body: &Body) -> bool {
    let any = |holds: &dyn Fn(&Inst) -> bool| body.insts.iter().any(holds);
    reads_cta(body) && any(&is_hear) && any(&is_tell) && any(&|row| row.op.effect == Effect::Store && is_global(row))
}

fn reads_cta(body: &Body) -> bool {
    dims(body) != [false; 3]
}

/// The dimensions in which a kernel asks which CTA it is.
fn dims(body: &Body) -> [bool; 3] {
    let specials = || {
        let operands = body.insts.iter().flat_map(|inst| &inst.operands);
        operands.filter_map(|operand| match operand {
            Operand::Special(special) => Some(special.name()),
            _ => None,
        })
    };
    ["%ctaid.x", "%ctaid.y", "%ctaid.z"].map(|dim| specials().any(|name| name == dim))
}

fn has(row: &Inst, names: &[&str]) -> bool {
    row.op.mods().any(|name| names.contains(&name))
}

fn is_global(row: &Inst) -> bool {
    matches!(row.op.space, Space::Global | Space::Generic)
}

/// An access to global memory that others do not wait for.
pub(super) fn is_plain(row: &Inst) -> bool {
    let weak = !has(row, &["volatile", "relaxed", "acquire", "release", "mmio"]);
    matches!(row.op.effect, Effect::Load | Effect::Store) && is_global(row) && weak
}

/// A store or atomic that others may wait for.
fn is_tell(row: &Inst) -> bool {
    match row.op.effect {
        Effect::Store => is_global(row) && !is_plain(row),
        Effect::Atomic => is_global(row) && !row.op.has("cas"),
        _ => false,
    }
}

/// A load or atomic by which a thread may learn what others have done.
fn is_hear(row: &Inst) -> bool {
    let strong = match row.op.effect {
        Effect::Load => !is_plain(row),
        Effect::Atomic => row.op.base() == "atom",
        _ => false,
    };
    strong && is_global(row) && !row.op.has("cta")
}
