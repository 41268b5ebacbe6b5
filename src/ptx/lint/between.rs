//! Races between CTAs: two of them are run, and what they do to global memory is compared.

use super::plan::Plan;
use crate::ptx::analysis::trial::{GlobalUse, Outcome, Programs, Sample, Setup, Site};
use crate::ptx::ir::{Body, Inst, Operand, RegId};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::{FxHashMap, FxHashSet};

/// Two accesses of different CTAs to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Between {
    /// A store.
    pub(super) store: Site,
    /// A store or load of another CTA.
    pub(super) other: Site,
    /// Whether both write.
    pub(super) both: bool,
    /// Whether one is an atomic that is ordered within its CTA only.
    pub(super) narrow: bool,
    /// The other CTA; the first is the one at the origin.
    pub(super) cta: [u32; 3],
    /// Whether it shows for certain numbers in the parameters only.
    pub(super) some: bool,
    /// Whether launch sizes were assumed.
    pub(super) assumed: bool,
}

/// Holds the first CTA against its neighbours; only where nothing orders CTAs.
///
/// Where the grid is not known, CTAs are taken to differ in the dimensions that the kernel asks for. `blocks` are the shapes
/// that the kernel may have: all must show it.
pub(super) fn find(
    programs: &mut Programs,
    plan: &Plan,
    body: &Body,
    blocks: &[[u32; 3]],
    guess: bool,
) -> Option<Between> {
    let assumed = plan.grid.is_none() || plan.assumed;
    let reads = |dim: usize| {
        let name = ["%ctaid.x", "%ctaid.y", "%ctaid.z"][dim];
        let mut operands = body.insts.iter().flat_map(|inst| &inst.operands);
        operands.any(|operand| matches!(operand, Operand::Special(special) if special.name() == name))
    };
    if orders_ctas(body) || !stores(body) {
        return None;
    }
    for dim in 0..3 {
        let several = plan.grid.map_or_else(|| reads(dim), |grid| grid[dim] > 1);
        if !several {
            continue;
        }
        let mut cta = [0; 3];
        cta[dim] = 1;
        let show = |programs: &mut Programs, sample: Sample| {
            let mut found = None;
            for block in blocks {
                found = Some(pair(programs, plan, *block, cta, sample)?);
            }
            found
        };
        let large = show(programs, Sample::Large);
        let found = match large {
            Some(_) => show(programs, Sample::Larger),
            None if guess => show(programs, Sample::Grid).map(|found| Between { some: true, ..found }),
            None => None,
        };
        if let Some(found) = found {
            return Some(Between { assumed, ..found });
        }
    }
    None
}

/// Runs the first CTA and another.
fn pair(programs: &mut Programs, plan: &Plan, block: [u32; 3], cta: [u32; 3], sample: Sample) -> Option<Between> {
    let mut run = |cta| {
        let setup = Setup {
            block,
            cta: Some(cta),
            sample,
            ..Setup::default()
        };
        plan.play(programs, setup, &mut FxHashSet::default())
    };
    let (first, second) = (run([0; 3])?, run(cta)?);
    common(&first, &second, cta)
}

/// Whether the kernel has what CTAs can be ordered by: atomics whose result is looked at, and loads that wait for what another CTA stores.
fn orders_ctas(body: &Body) -> bool {
    let waits = ["volatile", "acquire", "relaxed"];
    let mut read: FxHashSet<RegId> = FxHashSet::default();
    body.insts.iter().for_each(|inst| {
        inst.uses(&mut |reg| {
            read.insert(reg);
        });
    });
    let is_used = |inst: &Inst| {
        let mut used = false;
        inst.defs(&mut |reg| used |= read.contains(&reg));
        used
    };
    body.insts.iter().any(|inst| match inst.op.effect {
        Effect::Atomic => inst.op.space != Space::Shared && !inst.op.has("cta") && is_used(inst),
        Effect::Load => inst.op.space != Space::Shared && inst.op.mods().any(|name| waits.contains(&name)),
        _ => false,
    })
}

/// Whether it writes to memory that other CTAs have, too.
fn stores(body: &Body) -> bool {
    let shared = |space| matches!(space, Space::Global | Space::Generic);
    body.insts
        .iter()
        .any(|inst| matches!(inst.op.effect, Effect::Store | Effect::Atomic) && shared(inst.op.space))
}

fn common(first: &Outcome, second: &Outcome, cta: [u32; 3]) -> Option<Between> {
    type Used = FxHashMap<(u64, bool), GlobalUse>;
    let meet = |a: &Used, b: &Used| {
        let writes = a.iter().filter(|(_, used)| used.writes).map(|(key, _)| *key);
        let mut words: Vec<(u64, bool)> = writes.collect();
        words.sort_unstable();
        words.into_iter().find_map(|(word, atomic)| {
            let a = a.get(&(word, atomic))?;
            let found = |other: bool| {
                let b = b.get(&(word, other))?;
                let narrow = a.narrow && b.narrow;
                let same = b.writes && a.value.is_some() && a.value == b.value && !atomic && !other;
                // Atomics exclude each other, whichever CTA they are of.
                let apart = if atomic && other { narrow } else { !same };
                apart.then_some(Between {
                    store: a.site,
                    other: b.site,
                    both: b.writes,
                    narrow,
                    cta,
                    some: false,
                    assumed: false,
                })
            };
            found(false).or_else(|| found(true))
        })
    };
    meet(&first.global, &second.global).or_else(|| meet(&second.global, &first.global))
}
