//! Races between CTAs: two of them are run, and what they do to global memory is compared.

use super::plan::{Plan, unusual, usual};
use crate::ptx::analysis::Shape;
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
    /// Whether it shows whatever was assumed.
    pub(super) sure: bool,
}

/// Numbers for which a race must show, lest it rest on them.
const NUMBERS: [Sample; 5] = [
    Sample::Huge,
    Sample::Block,
    Sample::One,
    Sample::Rising,
    Sample::Falling,
];

/// Those that tell strides from bounds.
pub(super) const APART: [Sample; 2] = [Sample::Rising, Sample::Falling];

/// Holds the first CTA against its neighbours; only where nothing orders CTAs.
///
/// Where the grid is not known, CTAs are taken to differ in the dimensions that the kernel asks for. `blocks` are the shapes
/// that the kernel may have: all must show it.
pub(super) fn find(
    programs: &mut Programs,
    plan: &Plan,
    body: &Body,
    shape: Shape,
    blocks: &[[u32; 3]],
    guess: bool,
) -> Option<Between> {
    let reads = |dim: usize| {
        let name = ["%ctaid.x", "%ctaid.y", "%ctaid.z"][dim];
        let mut operands = body.insts.iter().flat_map(|inst| &inst.operands);
        operands.any(|operand| matches!(operand, Operand::Special(special) if special.name() == name))
    };
    let ordered = orders_ctas(body);
    let narrow = has_narrow(body);
    if ordered && !narrow || !stores(body) {
        return None;
    }
    // Atomics that reach within the CTA tell of others, even if the kernel does not ask which CTA it is.
    let alone = !(0..3).any(reads);
    for dim in 0..3 {
        let several = match plan.grid {
            Some(grid) => grid[dim] > 1,
            None => reads(dim) || dim == 0 && alone && narrow,
        };
        if !several {
            continue;
        }
        let mut cta = [0; 3];
        cta[dim] = 1;
        let mut pairs = Pairs { programs, plan, cta };
        let large = pairs.show(blocks, Sample::Large);
        let found = match large {
            Some(_) => pairs.show(blocks, Sample::Larger),
            None if guess => pairs
                .show(blocks, Sample::Grid)
                .map(|found| Between { some: true, ..found }),
            None => None,
        };
        let Some(mut found) = found.filter(|found| found.narrow || !ordered) else {
            continue;
        };
        found.assumed = plan.grid.is_none() || plan.assumed;
        found.sure = !found.some && (!found.assumed || !alone) && pairs.confirm(shape, blocks, &found);
        return Some(found);
    }
    None
}

/// Runs of two CTAs.
struct Pairs<'r, 'p, 'm> {
    programs: &'r mut Programs<'m>,
    plan: &'p Plan,
    /// The other CTA; the first is the one at the origin.
    cta: [u32; 3],
}

impl Pairs<'_, '_, '_> {
    /// Runs the first CTA and the other.
    fn run(&mut self, block: [u32; 3], sample: Sample) -> Option<(Outcome, Outcome)> {
        let grid = (sample == Sample::Grid).then(|| self.cta.map(|at| at + 1));
        let mut run = |cta| {
            let setup = Setup {
                block,
                cta: Some(cta),
                grid,
                sample,
                ..Setup::default()
            };
            self.plan.play(self.programs, setup, &mut FxHashSet::default())
        };
        Some((run([0; 3])?, run(self.cta)?))
    }

    /// What they do to one place, if they do so in all of these shapes.
    fn show(&mut self, blocks: &[[u32; 3]], sample: Sample) -> Option<Between> {
        let mut found = None;
        for block in blocks {
            let (first, second) = self.run(*block, sample)?;
            // Where it is nothing to a kernel how far up or deep a CTA lies, the grid is a line.
            if self.cta[0] == 0 && self.plan.grid.is_none() && does_the_same(&first, &second) {
                return None;
            }
            found = Some(common(&first, &second, self.cta)?);
        }
        found
    }

    /// Whether it shows in further shapes, small ones among them, and whatever parameters hold.
    fn confirm(&mut self, shape: Shape, blocks: &[[u32; 3]], known: &Between) -> bool {
        let largest = blocks.last().copied().unwrap_or([256, 1, 1]);
        let numbers = if known.assumed { &NUMBERS[..] } else { &APART };
        let mut tries: Vec<([u32; 3], Sample)> = numbers.iter().map(|sample| (largest, *sample)).collect();
        if self.plan.assumed {
            let all = usual(shape).iter().chain(unusual(shape));
            tries.extend(all.map(|block| (*block, Sample::Large)));
        }
        let most = shape.most_threads();
        tries.retain(|(block, _)| block.iter().product::<u32>() <= most);
        tries.into_iter().all(|(block, sample)| {
            let Some((first, second)) = self.run(block, sample) else {
                return false;
            };
            let has = |run: &Outcome, site: Site| run.sites.contains(&site);
            let sites = (known.store, known.other);
            let both = has(&first, sites.0) && has(&second, sites.1) || has(&first, sites.1) && has(&second, sites.0);
            !both || first.strays() || common(&first, &second, self.cta).is_some()
        })
    }
}

/// Whether the kernel has what CTAs can be ordered by: atomics whose result is looked at, and loads that wait for what another CTA stores.
pub(super) fn orders_ctas(body: &Body) -> bool {
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

/// Whether it has atomics on global memory that are ordered within the CTA only.
fn has_narrow(body: &Body) -> bool {
    let mut atomics = body.insts.iter().filter(|inst| inst.op.effect == Effect::Atomic);
    atomics.any(|inst| inst.op.space != Space::Shared && inst.op.has("cta"))
}

/// Whether it writes to memory that other CTAs have, too.
fn stores(body: &Body) -> bool {
    let shared = |space| matches!(space, Space::Global | Space::Generic);
    body.insts
        .iter()
        .any(|inst| matches!(inst.op.effect, Effect::Store | Effect::Atomic) && shared(inst.op.space))
}

/// Whether two CTAs do just the same to global memory.
fn does_the_same(first: &Outcome, second: &Outcome) -> bool {
    first.global.len() == second.global.len()
        && first
            .global
            .iter()
            .all(|(word, used)| second.global.get(word) == Some(used))
}

fn common(first: &Outcome, second: &Outcome, cta: [u32; 3]) -> Option<Between> {
    type Used = FxHashMap<(u64, bool), GlobalUse>;
    let meet = |a: &Used, b: &Used| {
        let writes = a.iter().filter(|(_, used)| used.written != 0).map(|(key, _)| *key);
        let mut words: Vec<(u64, bool)> = writes.collect();
        words.sort_unstable();
        words.into_iter().find_map(|(word, atomic)| {
            let a = a.get(&(word, atomic))?;
            let found = |other: bool| {
                let b = b.get(&(word, other))?;
                if a.written & b.bytes == 0 {
                    return None;
                }
                let narrow = a.narrow && b.narrow;
                let both = a.written & b.written != 0;
                let same = both && a.value.is_some() && a.value == b.value && !atomic && !other;
                // Atomics exclude each other, whichever CTA they are of.
                let apart = if atomic && other { narrow } else { !same };
                apart.then_some(Between {
                    store: a.site,
                    other: b.site,
                    both,
                    narrow,
                    cta,
                    some: false,
                    assumed: false,
                    sure: false,
                })
            };
            found(false).or_else(|| found(true))
        })
    };
    meet(&first.global, &second.global).or_else(|| meet(&second.global, &first.global))
}
