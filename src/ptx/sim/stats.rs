//! Counts of a run.

use super::fault::Site;

/// One step of a warp, as a trace shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instruction.
    pub site: Site,
    /// The CTA.
    pub cta: [u32; 3],
    /// The warp's number in it.
    pub warp: u32,
    /// Its active lanes.
    pub mask: u32,
}

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instructions, counted once for each thread that is there.
    pub thread_instructions: u64,
    /// Instructions, counted once for each warp.
    pub warp_instructions: u64,
    /// Faults beyond those kept.
    pub untold: u64,
    /// The steps, if they were asked for.
    pub trace: Vec<Step>,
    /// Per instruction of the code: how often warps and threads executed it; empty unless asked for.
    counts: Vec<(u64, u64)>,
}

impl Stats {
    /// Counts each instruction of a code of that length.
    pub fn profiled(len: usize) -> Self {
        Stats {
            counts: vec![(0, 0); len],
            ..Stats::default()
        }
    }

    /// Whether instructions are counted one by one.
    #[inline(always)]
    pub fn is_profiled(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Counts one.
    #[inline(always)]
    pub fn count(&mut self, pc: u32, mask: u32) {
        if let Some((warps, threads)) = self.counts.get_mut(pc as usize) {
            *warps += 1;
            *threads += u64::from(mask.count_ones());
        }
    }

    /// How often warps came to each instruction of the code, and how many threads executed it.
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }
}
