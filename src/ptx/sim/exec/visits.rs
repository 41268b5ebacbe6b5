//! One lane's access: whether it may, and noting that it was there.

use super::super::fault::{Fault, codes};
use super::super::memory::Visit;
use super::super::program::Access;
use super::access::Spot;
use super::locate::View;
use super::state::{BlockId, Ctx};
use crate::ptx::diag::Level;
use crate::ptx::types::Space;

impl Ctx<'_> {
    /// Where one lane's access leads, if it is in order; else says what is wrong.
    pub fn spot(&mut self, space: Space, address: u64, size: u64, lane: usize, pc: u32, write: bool) -> Option<Spot> {
        let found = self.locate(space, address);
        let inside = |view: &View| address.wrapping_sub(view.base) <= view.size.wrapping_sub(size) && view.size >= size;
        let Some(view) = found.filter(inside) else {
            self.out_of_bounds(space, address, size, lane, pc, write);
            return None;
        };
        if !address.is_multiple_of(size) {
            self.misaligned(address, size, lane, pc);
            return None;
        }
        if write && !self.may_write(space, view.block) {
            let message = "a store to memory that cannot be written";
            let fault = Fault::new(codes::ISA017, Level::Error, self.site(pc), message);
            self.report(fault.thread(self.thread(lane)).address(address));
            return None;
        }
        let mine = self.warp.index * 32 + lane as u32;
        if let Some(owner) = view.owner.filter(|owner| *owner != mine) {
            self.foreign_local(address, owner, lane, pc);
            return None;
        }
        let at = view.at + view.stride * lane as u64 + (address - view.base);
        Some(Spot {
            block: view.block,
            at: at as usize,
        })
    }

    /// Checks and notes one lane's access.
    #[allow(clippy::too_many_arguments)]
    pub fn visit(&mut self, access: &Access, spot: Spot, size: usize, lane: usize, address: u64, pc: u32, kind: Visit) {
        let reads = kind != Visit::Write;
        if reads && !(kind == Visit::Atomic && access.order.release) {
            self.check_written(access, spot.block, spot.at, size, lane, address, pc);
        }
        if !self.world.options.checks.races || !matches!(spot.block, BlockId::Buffer(_) | BlockId::Shared(_)) {
            return;
        }
        if access.order.strong {
            self.synchronise(access.order, (spot.block, spot.at), kind);
        }
        let tag = self.tag(lane);
        let suspects = match self.block(spot.block) {
            Some(block) => block.shadow.visit(kind, spot.at, size, 1, tag, pc),
            None => return,
        };
        if access.read_only
            && self
                .block(spot.block)
                .is_some_and(|block| block.shadow.is_stored(spot.at, size))
        {
            self.stale(lane, address, pc);
        }
        if !suspects.is_empty() {
            let same = kind == Visit::Write && self.holds_already(access, spot, lane);
            self.judge(&suspects, spot.block, kind, pc, same);
        }
    }

    /// Whether memory holds already what the lane is about to write.
    pub fn holds_already(&mut self, access: &Access, spot: Spot, lane: usize) -> bool {
        let size = access.bytes as usize;
        access.regs.iter().enumerate().all(|(element, slot)| {
            let Some(slot) = slot else { return true };
            let value = self.warp.file.read_wide(*slot, lane);
            let value = if size < 16 {
                value & ((1 << (8 * size)) - 1)
            } else {
                value
            };
            let block = self.block(spot.block);
            block.is_some_and(|block| block.load(spot.at + element * size, size) == value)
        })
    }

    /// Reports a read of memory that nobody has written.
    #[allow(clippy::too_many_arguments)]
    pub fn check_written(
        &mut self,
        access: &Access,
        id: BlockId,
        at: usize,
        size: usize,
        lane: usize,
        address: u64,
        pc: u32,
    ) {
        if !self.world.options.checks.memory {
            return;
        }
        let written = self.block(id).is_none_or(|block| block.is_written(at, size));
        if written {
            return;
        }
        if self.in_flight(id, at, size, access.order.strong, lane, address, pc) {
            return;
        }
        let what = self.describe(access.space, address);
        let message = format!("reads {size} bytes that nothing has written{what}");
        let fault = Fault::new(codes::FLOW004, Level::Error, self.site(pc), message);
        self.report(fault.thread(self.thread(lane)).address(address));
    }
}
