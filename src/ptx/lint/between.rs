//! Races between CTAs: two of them are run, and what they do to global memory is compared.

use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, GlobalUse, Outcome, Programs, Setup, Site};
use crate::ptx::ir::{Body, FuncId};
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
    /// The other CTA; the first is the one at the origin.
    pub(super) cta: [u32; 3],
}

/// Compares the first CTA with its neighbours; only where the launch is known and nothing orders CTAs.
pub(super) fn find(
    programs: &mut Programs,
    id: FuncId,
    body: &Body,
    shape: Shape,
    grid: Option<[u32; 3]>,
    fuel: u32,
) -> Option<Between> {
    let (Shape::Exact(block), Some(grid)) = (shape, grid) else {
        return None;
    };
    if orders_ctas(body) {
        return None;
    }
    let others = (0..3).filter(|dim| grid[*dim] > 1).map(|dim| {
        let mut cta = [0; 3];
        cta[dim] = 1;
        cta
    });
    for cta in others {
        let mut seen: Option<Between> = None;
        let mut sure = true;
        for sample in 0..2 {
            let mut run = |cta| {
                let setup = Setup {
                    block,
                    grid: Some(grid),
                    cta: Some(cta),
                    sample,
                    explore: false,
                    shade: false,
                };
                trial::run(programs, id, &setup, fuel, &mut FxHashSet::default())
            };
            let (first, second) = (run([0; 3])?, run(cta)?);
            match common(&first, &second, cta) {
                Some(found) => seen = seen.or(Some(found)),
                None => sure = false,
            }
        }
        if sure && seen.is_some() {
            return seen;
        }
    }
    None
}

/// Whether the kernel has what CTAs can be ordered by: fences and atomics on global memory, cooperative launches.
fn orders_ctas(body: &Body) -> bool {
    body.insts.iter().any(|inst| match inst.op.effect {
        Effect::Fence => !inst.op.has("cta"),
        Effect::Atomic => inst.op.space != Space::Shared,
        _ => false,
    })
}

fn common(first: &Outcome, second: &Outcome, cta: [u32; 3]) -> Option<Between> {
    let meet = |a: &FxHashMap<u64, GlobalUse>, b: &FxHashMap<u64, GlobalUse>| {
        let mut words: Vec<u64> = a
            .iter()
            .filter(|(word, used)| used.writes && b.contains_key(word))
            .map(|(word, _)| *word)
            .collect();
        words.sort_unstable();
        words.into_iter().find_map(|word| {
            let (a, b) = (a.get(&word)?, b.get(&word)?);
            let same = b.writes && a.value.is_some() && a.value == b.value;
            (!same).then_some(Between {
                store: a.site,
                other: b.site,
                both: b.writes,
                cta,
            })
        })
    };
    meet(&first.global, &second.global).or_else(|| meet(&second.global, &first.global))
}
