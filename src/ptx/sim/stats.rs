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

/// Counts of one instruction of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How often a warp came to it.
    pub warps: u64,
    /// How many threads executed it.
    pub threads: u64,
    /// Accesses of warps to global memory, and the sectors of 32 bytes that they touched.
    pub sectors: (u64, u64),
    /// Accesses of warps to shared memory, and the passes over its banks that they took.
    pub passes: (u64, u64),
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
    /// Per instruction of the code; empty unless asked for.
    counts: Vec<Count>,
}

impl Stats {
    /// Counts each instruction of a code of that length.
    pub fn profiled(len: usize) -> Self {
        Stats {
            counts: vec![Count::default(); len],
            ..Stats::default()
        }
    }

    /// Whether instructions are counted one by one.
    #[inline(always)]
    pub fn is_profiled(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Adds the counts of another part of the run.
    pub(super) fn join(&mut self, other: &Stats) {
        self.thread_instructions += other.thread_instructions;
        self.warp_instructions += other.warp_instructions;
        self.untold += other.untold;
        self.counts.resize(other.counts.len(), Count::default());
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            count.warps += more.warps;
            count.threads += more.threads;
            for (mine, more) in [(&mut count.sectors, more.sectors), (&mut count.passes, more.passes)] {
                *mine = (mine.0 + more.0, mine.1 + more.1);
            }
        }
    }

    /// Counts one.
    #[inline(always)]
    pub fn count(&mut self, pc: u32, mask: u32) {
        if let Some(count) = self.counts.get_mut(pc as usize) {
            count.warps += 1;
            count.threads += u64::from(mask.count_ones());
        }
    }

    /// The counts of an instruction, where they are taken.
    pub fn count_mut(&mut self, pc: u32) -> Option<&mut Count> {
        self.counts.get_mut(pc as usize)
    }

    /// The counts of each instruction of the code.
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }
}
