//! What threads know to have happened before: for synchronisation other than whole-CTA barriers.
//!
//! A barrier of the whole CTA starts a new interval, and tags carry that. Named barriers, mbarriers, atomics and fences order
//! less; what they order is kept here per warp: of which warps up to which tick, and of which CTAs up to which interval.

use super::super::memory::Tag;
use rustc_hash::FxHashMap;

/// Of whom everything up to when is known to be over.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Per warp (CTA, warp): interval and tick; accesses up to it.
    warps: FxHashMap<(u64, u32), (u32, u32)>,
    /// Per CTA: accesses of all intervals before this one.
    ctas: FxHashMap<u64, u32>,
}

impl Known {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.warps.is_empty() && self.ctas.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            *self = Known::default();
        }
    }

    /// Learns what another one knows.
    pub fn join(&mut self, other: &Known) {
        for (warp, when) in &other.warps {
            let mine = self.warps.entry(*warp).or_default();
            *mine = (*mine).max(*when);
        }
        for (cta, when) in &other.ctas {
            let mine = self.ctas.entry(*cta).or_default();
            *mine = (*mine).max(*when);
        }
    }

    /// Learns that a warp has come so far.
    pub fn reach(&mut self, cta: u64, warp: u32, epoch: u32, clock: u32) {
        let mine = self.warps.entry((cta, warp)).or_default();
        *mine = (*mine).max((epoch, clock));
        let cta = self.ctas.entry(cta).or_default();
        *cta = (*cta).max(epoch);
    }

    /// Up to when the warps of a CTA are known to have come.
    pub fn warps_of(&self, cta: u64) -> impl Iterator<Item = (u32, (u32, u32))> + '_ {
        let mine = self.warps.iter().filter(move |((of, _), _)| *of == cta);
        mine.map(|((_, warp), when)| (*warp, *when))
    }

    /// Whether a visit is known to be over.
    pub fn covers(&self, visit: Tag) -> bool {
        let (cta, warp) = (visit.cta(), visit.warp());
        let whole = self.ctas.get(&cta).is_some_and(|epoch| visit.epoch() < *epoch);
        let warp = self.warps.get(&(cta, warp));
        whole || warp.is_some_and(|when| (visit.epoch(), visit.clock()) <= *when)
    }
}

/// A place through which threads synchronise.
#[derive(Clone, Debug, Default)]
pub struct SyncVar {
    /// What those who released through it knew.
    pub known: Known,
    /// The same for releases that reach only the CTA of that number.
    pub narrow: Option<(u64, Known)>,
}
