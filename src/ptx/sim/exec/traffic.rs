//! What accesses of a warp cost: sectors of global memory, passes over the banks of shared memory.

use super::super::lanes::{Longs, lanes};
use super::state::Ctx;
use crate::ptx::types::Space;

/// Bytes of a sector.
const SECTOR: u64 = 32;
/// Bytes that shared memory gives in one pass: 32 banks of 4.
const PASS: u64 = 128;

impl Ctx<'_> {
    /// Counts what an access costs.
    #[cold]
    #[inline(never)]
    pub fn measure(&mut self, space: Space, addresses: &Longs, mask: u32, size: u64, pc: u32) {
        let windows = self.program.layout.windows;
        let first = addresses[mask.trailing_zeros() as usize & 31];
        let shared = matches!(space, Space::Shared | Space::SharedCluster)
            || (space == Space::Generic && first.wrapping_sub(windows.shared) < windows.len);
        let global = space == Space::Global || (space == Space::Generic && first < windows.shared);
        let Some(count) = self.world.stats.count_mut(pc) else {
            return;
        };
        if shared {
            count.passes.0 += 1;
            count.passes.1 += passes(addresses, mask, size);
        } else if global {
            count.sectors.0 += 1;
            count.sectors.1 += sectors(addresses, mask, size);
        }
    }
}

fn distinct(mut all: Vec<u64>) -> Vec<u64> {
    all.sort_unstable();
    all.dedup();
    all
}

fn sectors(addresses: &Longs, mask: u32, size: u64) -> u64 {
    let of = |lane: usize| addresses[lane] / SECTOR..=addresses[lane].saturating_add(size - 1) / SECTOR;
    distinct(lanes(mask).flat_map(of).collect()).len() as u64
}

/// Lanes go in groups that together ask for no more than a pass gives; in a group, words of one bank take turns.
fn passes(addresses: &Longs, mask: u32, size: u64) -> u64 {
    let per_group = (PASS / size.max(4)).max(1) as usize;
    let all: Vec<usize> = lanes(mask).collect();
    all.chunks(per_group)
        .map(|group| {
            let words = |lane: &usize| addresses[*lane] / 4..=(addresses[*lane].saturating_add(size - 1)) / 4;
            let words = distinct(group.iter().flat_map(words).collect());
            let mut banks = [0u64; 32];
            words.iter().for_each(|word| banks[(word % 32) as usize] += 1);
            banks.into_iter().max().unwrap_or(0)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(stride: u64) -> Longs {
        std::array::from_fn(|lane| lane as u64 * stride)
    }

    #[test]
    fn neighbours_share_sectors() {
        assert_eq!(sectors(&strided(4), u32::MAX, 4), 4);
        assert_eq!(sectors(&strided(128), u32::MAX, 4), 32);
        assert_eq!(sectors(&strided(0), u32::MAX, 4), 1);
        assert_eq!(sectors(&strided(16), u32::MAX, 16), 16);
    }

    #[test]
    fn one_bank_serves_one_word_at_a_time() {
        assert_eq!(passes(&strided(4), u32::MAX, 4), 1);
        assert_eq!(passes(&strided(8), u32::MAX, 4), 2);
        assert_eq!(passes(&strided(128), u32::MAX, 4), 32);
        assert_eq!(passes(&strided(0), u32::MAX, 4), 1, "one word for all");
        assert_eq!(passes(&strided(16), u32::MAX, 16), 4);
    }
}
