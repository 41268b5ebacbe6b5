//! Bulk operations that are no copies: `st.bulk`, `discard`, and requests to cancel the launch of a cluster.

use super::super::fault::codes;
use super::super::lanes::Slot;
use super::super::program::Place;
use super::copies::WHOLE;
use super::state::Ctx;
use crate::ptx::types::Space;

impl Ctx<'_> {
    /// Zeros in shared memory, as writes of the lane.
    pub fn fill_bulk(&mut self, to: &Place, size: Slot, lane: usize, pc: u32) {
        let (address, size) = (self.address(to, lane), self.warp.file.read(size, lane));
        if size == 0 {
            return;
        }
        if !(address | size).is_multiple_of(8) {
            let message = format!("fills {size} bytes at {address:#x}; both must be multiples of 8");
            return self.complain(codes::ASYNC012, pc, lane, message);
        }
        let Some(spot) = self.range(to.space, address, size, 8, lane, pc) else {
            return;
        };
        self.visit_range(spot, size as usize, WHOLE, lane, pc);
        if let Some(block) = self.block(spot.block) {
            (0..size as usize)
                .step_by(8)
                .for_each(|at| block.store(spot.at + at, 8, 0));
        }
    }

    /// What lies there may be lost: reading it before it is written again is a fault.
    pub fn discard(&mut self, at: &Place, size: u32, lane: usize, pc: u32) {
        let (address, size) = (self.address(at, lane), u64::from(size));
        if !address.is_multiple_of(128) {
            let message = format!("discards {size} bytes at {address:#x}, which is no multiple of 128");
            return self.complain(codes::MEM003, pc, lane, message);
        }
        let Some(spot) = self.range(at.space, address, size, 16, lane, pc) else {
            return;
        };
        self.visit_range(spot, size as usize, WHOLE, lane, pc);
        if let Some(block) = self.block(spot.block) {
            block.unmark(spot.at, size as usize);
        }
    }

    /// Asks to cancel the launch of another cluster. All clusters count as launched, so the answer is no.
    pub fn try_cancel(&mut self, to: &Place, bar: &Place, all: bool, lane: usize, pc: u32) {
        let ranks = if all { self.hall.peers.len() as u64 } else { 1 };
        for rank in 0..ranks {
            let reach = |ctx: &mut Self, place: &Place| {
                let address = ctx.address(place, lane);
                match all {
                    true => (ctx.map_to(address, rank, place.space == Space::Generic), place.space),
                    false => (address, place.space),
                }
            };
            let ((there, space), (object, of)) = (reach(self, to), reach(self, bar));
            let wide = |space| match (all, space) {
                (true, Space::Shared) => Space::SharedCluster,
                (_, space) => space,
            };
            let Some(spot) = self.spot(wide(space), there, 16, lane, pc, true) else {
                continue;
            };
            if let Some(bar) = self.spot(wide(of), object, 8, lane, pc, true) {
                self.depart(spot, vec![0; 16], WHOLE, lane, pc, Some((bar.block, bar.at)), true);
            }
        }
    }
}
