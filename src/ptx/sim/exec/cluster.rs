//! Clusters: barriers over several CTAs, and addresses in another CTA's shared memory.

use super::super::program::Program;
use super::grid::Cta;
use super::state::{Ctx, World};

/// Lets go whoever waits at a cluster barrier that is full. Whether there was one.
pub fn settle(_program: &Program, _world: &mut World, _group: &mut [Cta]) -> bool {
    false
}

impl Ctx<'_> {
    /// The address of the same variable in the CTA of that rank.
    pub fn map_to(&mut self, address: u64, _rank: u64, _generic: bool) -> u64 {
        address
    }

    /// The rank of the CTA in whose shared memory an address lies.
    pub fn rank_of(&self, _address: u64, _generic: bool) -> u64 {
        u64::from(self.hall.rank)
    }
}
