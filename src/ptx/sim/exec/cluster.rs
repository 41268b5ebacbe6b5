//! Clusters: barriers over several CTAs, and addresses in another CTA's shared memory.

use super::super::fault::codes;
use super::clock::Known;
use super::grid::Cta;
use super::state::{Ctx, Split, Wait};

/// Where in an address of shared memory the rank of the CTA stands, plus one; zero is the CTA itself.
pub const RANK_AT: u32 = 27;

/// Lets go whoever waits at a cluster barrier that is full. Whether there was one.
pub fn settle(group: &mut [Cta]) -> bool {
    let warps = || group.iter().flat_map(|cta| &cta.warps);
    let full = warps().all(|warp| warp.cluster_arrived & warp.live == warp.live);
    let any = warps().any(|warp| warp.cluster_arrived & warp.live != 0);
    if !full || !any {
        return false;
    }
    let mut known = Known::default();
    for cta in group.iter_mut() {
        known.join(&std::mem::take(&mut cta.hall.cluster_known));
    }
    for cta in group.iter_mut() {
        cta.hall.cluster_over.join(&known);
        for warp in &mut cta.warps {
            warp.cluster_done |= std::mem::take(&mut warp.cluster_arrived);
            for split in &mut warp.splits {
                if split.wait == Wait::Cluster {
                    split.wait = Wait::Ready;
                }
            }
        }
    }
    true
}

impl Ctx<'_> {
    /// `barrier.cluster.arrive`.
    pub fn cluster_arrive(&mut self, split: Split) {
        let twice = split.mask & (self.warp.cluster_arrived | self.warp.cluster_done);
        if twice != 0 {
            let lane = twice.trailing_zeros() as usize & 31;
            let message = "arrives at the cluster barrier again without having waited".to_owned();
            self.complain(codes::BAR013, split.pc, lane, message);
        }
        self.warp.cluster_arrived |= split.mask;
        let released = self.released();
        self.hall.cluster_known.join(&released);
    }

    /// `barrier.cluster.wait`.
    pub fn cluster_wait(&mut self, split: Split) {
        let done = split.mask & self.warp.cluster_done;
        let waiting = split.mask & !done & self.warp.cluster_arrived;
        let stray = split.mask & !done & !waiting;
        if stray != 0 {
            let lane = stray.trailing_zeros() as usize & 31;
            let message = "waits at the cluster barrier without having arrived".to_owned();
            self.complain(codes::BAR013, split.pc, lane, message);
        }
        self.warp.cluster_done &= !done;
        let over = self.hall.cluster_over.clone();
        self.warp.known.join(&over);
        self.go_on(split, done | stray);
        if waiting != 0 {
            self.warp.splits.push(Split {
                mask: waiting,
                wait: Wait::Cluster,
                ..split
            });
        }
    }

    /// The address of the same variable in the CTA of that rank.
    pub fn map_to(&self, address: u64, rank: u64, generic: bool) -> u64 {
        let start = if generic { self.program.layout.windows.shared } else { 0 };
        let within = address.wrapping_sub(start) & ((1 << RANK_AT) - 1);
        start + within + ((rank + 1) << RANK_AT)
    }

    /// The rank of the CTA in whose shared memory an address lies.
    pub fn rank_of(&self, address: u64, generic: bool) -> u64 {
        let start = if generic { self.program.layout.windows.shared } else { 0 };
        match address.wrapping_sub(start) >> RANK_AT {
            0 => u64::from(self.hall.rank),
            rank => rank - 1,
        }
    }
}
