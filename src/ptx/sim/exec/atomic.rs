//! `atom`, `red`: lane after lane, each in one step.

use super::super::lanes::lanes;
use super::super::memory::Visit;
use super::super::program::Atomic;
use super::access::{addresses, fill};
use super::state::{Ctx, Split};

impl Ctx<'_> {
    /// Executes an atomic for the lanes of a split.
    pub fn atomic(&mut self, atomic: &Atomic, split: Split) {
        let access = &atomic.access;
        let addresses = addresses(self, access);
        let bytes = access.bytes as usize;
        let size = bytes * access.regs.len();
        for lane in lanes(split.mask) {
            let address = addresses[lane];
            let Some(spot) = self.spot(access.space, address, size as u64, lane, split.pc, true) else {
                continue;
            };
            self.visit(access, spot, size, lane, address, split.pc, Visit::Atomic);
            for (element, slot) in access.regs.iter().enumerate() {
                let at = spot.at + element * bytes;
                let operand = atomic
                    .operands
                    .get(element)
                    .map_or(0, |slot| self.warp.file.read_wide(*slot, lane));
                let second = atomic.second.map_or(0, |slot| self.warp.file.read_wide(slot, lane));
                let narrow = |value: u128| {
                    if bytes < 16 {
                        value & ((1 << (8 * bytes)) - 1)
                    } else {
                        value
                    }
                };
                let Some(block) = self.block(spot.block) else { continue };
                let old = block.load(at, bytes);
                let new = (atomic.update)(old, narrow(operand), narrow(second));
                block.store(at, bytes, new);
                if let Some(slot) = slot {
                    self.warp.file.write_wide(*slot, lane, fill(access, old, *slot));
                }
            }
        }
    }
}
