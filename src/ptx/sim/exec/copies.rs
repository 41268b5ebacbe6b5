//! Asynchronous copies. What they bring is there when it has been waited for, and not before.

use super::super::fault::{Fault, codes};
use super::super::lanes::lanes;
use super::super::memory::Visit;
use super::super::program::{Async, Order, Place, Signal};
use super::access::Spot;
use super::clock::Known;
use super::state::{BlockId, Ctx, Split, Wait};
use crate::ptx::diag::Level;

/// A copy under way.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Where it goes.
    pub to: Spot,
    /// What it brings.
    pub bytes: Vec<u8>,
    /// Who started it: the lane's number in the CTA.
    pub thread: u32,
    /// Where it was started.
    pub pc: u32,
    /// The mbarrier that it tells, and the group it is in else.
    pub bar: Option<(BlockId, usize)>,
    /// How many of the thread's groups had been committed when it was; `None` before it is.
    pub group: Option<u32>,
    /// Whether it belongs to the groups of bulk copies.
    pub bulk: bool,
    /// What its starter knew.
    pub known: Known,
}

impl Ctx<'_> {
    /// Executes an asynchronous operation for the lanes of a split.
    pub fn asynchronous(&mut self, what: &Async, split: Split) {
        match what {
            Async::Mbarrier { what, at, order } => return self.mbarrier(*what, at, *order, split),
            Async::ClusterBarrier { arrive, aligned } => {
                if *aligned && split.mask != self.warp.live {
                    self.part_of_a_warp(codes::BAR001, split);
                }
                if !arrive {
                    return self.cluster_wait(split);
                }
                self.cluster_arrive(split);
            }
            Async::Commit => self.commit(split.mask, false),
            Async::BulkCommit => self.commit(split.mask, true),
            Async::Wait(most) => self.wait_groups(split, Some(*most), false),
            Async::WaitAll => self.wait_groups(split, None, false),
            Async::BulkWait { most, .. } => self.wait_groups(split, Some(*most), true),
            Async::PendingCount { d, state } => {
                for lane in lanes(split.mask) {
                    let state = self.warp.file.read(*state, lane);
                    self.warp.file.write(*d, lane, state & u64::from(u32::MAX));
                }
            }
            Async::Copy { .. } => lanes(split.mask).for_each(|lane| self.copy(what, lane, split.pc)),
            Async::CopyArrive { at, counted } => self.copy_arrive(at, *counted, split),
            Async::Bulk { .. } => lanes(split.mask).for_each(|lane| self.bulk(what, lane, split.pc)),
            Async::Store { .. } => lanes(split.mask).for_each(|lane| self.store_async(what, lane, split.pc)),
        }
        self.go_on(split, split.mask);
    }

    fn me(&self, lane: usize) -> u32 {
        self.warp.index * 32 + lane as u32
    }

    fn copy(&mut self, what: &Async, lane: usize, pc: u32) {
        let Async::Copy {
            to,
            from,
            size,
            used,
            skip,
        } = what
        else {
            return;
        };
        let skipped = skip.is_some_and(|slot| self.warp.file.read(slot, lane) == 1);
        let used = used.map_or(*size, |slot| (self.warp.file.read(slot, lane) as u32).min(*size));
        let used = if skipped { 0 } else { used };
        let (there, here) = (self.address(to, lane), self.address(from, lane));
        let size = u64::from(*size);
        if !there.is_multiple_of(size) || (used > 0 && !here.is_multiple_of(size)) {
            let message =
                format!("copies {size} bytes from {here:#x} to {there:#x}, of which one is no multiple of {size}");
            return self.complain(codes::ASYNC012, pc, lane, message);
        }
        let Some(spot) = self.spot(to.space, there, size, lane, pc, true) else {
            return;
        };
        let mut bytes = vec![0; size as usize];
        if used > 0 {
            let Some(data) = self.source(from, here, u64::from(used), lane, pc) else {
                return;
            };
            bytes[..data.len()].copy_from_slice(&data);
        }
        self.depart(spot, bytes, lane, pc, None, false);
    }

    /// Reads what is copied, as a read of that lane.
    fn source(&mut self, from: &Place, address: u64, size: u64, lane: usize, pc: u32) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < size {
            // Pieces that divide both address and length.
            let piece = 16u64
                .min(1 << (address + at).trailing_zeros().min(4))
                .min(1 << (63 - (size - at).leading_zeros()));
            let spot = self.spot(from.space, address + at, piece, lane, pc, false)?;
            let written = self
                .block(spot.block)
                .is_none_or(|block| block.is_written(spot.at, piece as usize));
            if !written && self.world.options.checks.memory {
                let what = self.describe(from.space, address + at);
                let message = format!("copies bytes that nothing has written{what}");
                self.complain(codes::FLOW004, pc, lane, message);
            }
            self.touch(spot, piece as usize, lane, pc, Visit::Read, codes::RACE001);
            let value = self.block(spot.block)?.load(spot.at, piece as usize);
            bytes.extend(value.to_le_bytes().into_iter().take(piece as usize));
            at += piece;
        }
        Some(bytes)
    }

    /// A copy starts: until it is waited for, nobody may read what lies there.
    fn depart(&mut self, to: Spot, bytes: Vec<u8>, lane: usize, pc: u32, bar: Option<(BlockId, usize)>, bulk: bool) {
        self.visit_range(to, bytes.len(), lane, pc);
        if let Some(block) = self.block(to.block) {
            block.unmark(to.at, bytes.len());
        }
        let known = if bar.is_some() {
            self.released()
        } else {
            Known::default()
        };
        let thread = self.me(lane);
        self.world.flights.push((
            self.hall.number,
            Flight {
                to,
                bytes,
                thread,
                pc,
                bar,
                group: None,
                bulk,
                known,
            },
        ));
    }

    /// Notes that a lane writes a range of any length.
    fn visit_range(&mut self, to: Spot, len: usize, lane: usize, pc: u32) {
        let mut at = 0;
        while at < len {
            let place = to.at + at;
            let piece =
                (1usize << place.trailing_zeros().min(4)).min(1 << (usize::BITS - 1 - (len - at).leading_zeros()));
            let spot = Spot { at: place, ..to };
            self.touch(spot, piece, lane, pc, Visit::Write, codes::ASYNC004);
            at += piece;
        }
    }

    fn commit(&mut self, mask: u32, bulk: bool) {
        for lane in lanes(mask) {
            let (me, number) = (self.me(lane), self.hall.number);
            let committed = &mut self.warp.groups[usize::from(bulk)][lane];
            *committed += 1;
            let group = *committed;
            let mine = self.world.flights.iter_mut().filter(|(cta, flight)| {
                *cta == number && flight.thread == me && flight.bulk == bulk && flight.bar.is_none()
            });
            for (_, flight) in mine {
                flight.group.get_or_insert(group);
            }
        }
    }

    /// Waits until at most `most` groups are under way; without a number, for all copies, committed or not.
    fn wait_groups(&mut self, split: Split, most: Option<u32>, bulk: bool) {
        for lane in lanes(split.mask) {
            let (me, number) = (self.me(lane), self.hall.number);
            let last = self.warp.groups[usize::from(bulk)][lane];
            let due = |flight: &Flight| match most {
                None => true,
                Some(most) => flight.group.is_some_and(|group| group + most <= last),
            };
            let mut landed = Vec::new();
            self.world.flights.retain(|(cta, flight)| {
                let mine = *cta == number && flight.thread == me && flight.bulk == bulk && flight.bar.is_none();
                let due = mine && due(flight);
                if due {
                    landed.push(flight.clone());
                }
                !due
            });
            for flight in landed {
                self.arrive_at(&flight, lane);
            }
        }
    }

    /// The bytes of a copy arrive, as a write of the lane that started it or waits for it.
    fn arrive_at(&mut self, flight: &Flight, lane: usize) {
        if let Some(block) = self.block(flight.to.block) {
            for (at, byte) in flight.bytes.iter().enumerate() {
                block.store(flight.to.at + at, 1, u128::from(*byte));
            }
        }
        self.visit_range(flight.to, flight.bytes.len(), lane, flight.pc);
    }

    /// Brings in the bulk copies that tell that mbarrier.
    pub fn land(&mut self, bar: (BlockId, usize)) {
        if !self.world.flights.iter().any(|(_, flight)| flight.bar == Some(bar)) {
            return;
        }
        let mut landed = Vec::new();
        self.world.flights.retain(|(_, flight)| {
            let due = flight.bar == Some(bar);
            if due {
                landed.push(flight.clone());
            }
            !due
        });
        for flight in landed {
            if let Some(block) = self.block(flight.to.block) {
                for (at, byte) in flight.bytes.iter().enumerate() {
                    block.store(flight.to.at + at, 1, u128::from(*byte));
                }
            }
            let bytes = flight.bytes.len() as u32;
            if let Some(object) = self.world.mbarriers.get_mut(&bar) {
                object.complete(bytes, &flight.known);
            }
        }
    }

    /// `cp.async.mbarrier.arrive`: the thread's copies so far are waited for, then it arrives.
    fn copy_arrive(&mut self, at: &Place, counted: bool, split: Split) {
        for lane in lanes(split.mask) {
            let Some(spot) = self.mbarrier_spot(at, lane, split.pc) else {
                continue;
            };
            let only = Split {
                mask: 1 << lane,
                ..split
            };
            self.wait_groups(only, None, false);
            let key = (spot.block, spot.at);
            self.touch(spot, 8, lane, split.pc, Visit::Atomic, codes::ASYNC005);
            if counted && let Some(bar) = self.world.mbarriers.get_mut(&key) {
                bar.pending += 1;
            }
            let order = Order {
                strong: true,
                release: true,
                ..Order::default()
            };
            self.mbarrier_arrive(key, 1, 0, false, order, (lane, split.pc));
        }
    }

    fn bulk(&mut self, what: &Async, lane: usize, pc: u32) {
        let Async::Bulk {
            to,
            from,
            size,
            signal,
            multicast,
        } = what
        else {
            return;
        };
        let size = self.warp.file.read(*size, lane) & u64::from(u32::MAX);
        if size == 0 {
            return;
        }
        let (there, here) = (self.address(to, lane), self.address(from, lane));
        if !(there | here | size).is_multiple_of(16) {
            let message =
                format!("copies {size} bytes from {here:#x} to {there:#x}; all three must be multiples of 16");
            return self.complain(codes::ASYNC012, pc, lane, message);
        }
        let Some(bytes) = self.source(from, here, size, lane, pc) else {
            return;
        };
        let targets = match multicast {
            None => vec![None],
            Some(mask) => {
                let mask = self.warp.file.read(*mask, lane);
                (0..16).filter(|rank| mask >> rank & 1 == 1).map(Some).collect()
            }
        };
        for rank in targets {
            let reach = |ctx: &mut Self, address: u64, space| match rank {
                None => (address, space),
                Some(rank) => (
                    ctx.map_to(address, rank, false),
                    crate::ptx::types::Space::SharedCluster,
                ),
            };
            let (there, space) = reach(self, there, to.space);
            let Some(spot) = self.whole(space, there, size, lane, pc) else {
                continue;
            };
            let bar = match signal {
                Signal::Group => None,
                Signal::Bytes(place) => {
                    let address = self.address(place, lane);
                    let (address, space) = reach(self, address, place.space);
                    let Some(spot) = self.spot(space, address, 8, lane, pc, true) else {
                        continue;
                    };
                    Some((spot.block, spot.at))
                }
            };
            self.depart(spot, bytes.clone(), lane, pc, bar, true);
        }
    }

    /// A range of any length that lies in one variable.
    fn whole(
        &mut self,
        space: crate::ptx::types::Space,
        address: u64,
        size: u64,
        lane: usize,
        pc: u32,
    ) -> Option<Spot> {
        let first = self.spot(space, address, 16, lane, pc, true)?;
        self.spot(space, address + size - 16, 16, lane, pc, true)?;
        Some(first)
    }

    fn store_async(&mut self, what: &Async, lane: usize, pc: u32) {
        let Async::Store { to, values, bytes, bar } = what else {
            return;
        };
        let address = self.address(to, lane);
        let size = u64::from(*bytes) * values.len() as u64;
        let Some(spot) = self.spot(to.space, address, size, lane, pc, true) else {
            return;
        };
        let Some(bar) = self.mbarrier_spot(bar, lane, pc) else {
            return;
        };
        let mut data = Vec::new();
        for value in values {
            let value = self.warp.file.read_wide(*value, lane);
            data.extend(value.to_le_bytes().into_iter().take(*bytes as usize));
        }
        self.depart(spot, data, lane, pc, Some((bar.block, bar.at)), true);
    }

    /// Whether bytes are the target of a copy under way; then it is that which is wrong.
    pub fn in_flight(&mut self, block: BlockId, at: usize, size: usize, lane: usize, address: u64, pc: u32) -> bool {
        let hit = self.world.flights.iter().find(|(_, flight)| {
            let start = flight.to.at;
            flight.to.block == block && at < start + flight.bytes.len() && start < at + size
        });
        let Some((_, flight)) = hit else { return false };
        let starter = self.hall.thread(flight.thread);
        let there = self.site(flight.pc);
        let message = "reads what an asynchronous copy brings, and the copy has not been waited for";
        let fault = Fault::new(codes::ASYNC001, Level::Error, self.site(pc), message);
        let fault = fault.thread(self.thread(lane)).address(address);
        self.report(fault.other(Some(there), Some(starter), format!("{starter} starts the copy here")));
        true
    }

    /// Splits at mbarriers whose phase is over can go on.
    pub fn wake(&mut self) -> bool {
        let waiting: Vec<Split> = self
            .warp
            .splits
            .iter()
            .filter(|split| split.wait == Wait::Mbarrier)
            .copied()
            .collect();
        let mut any = false;
        for split in waiting {
            if self.mbarrier_moved(&split) {
                for other in &mut self.warp.splits {
                    if *other == split {
                        other.wait = Wait::Ready;
                    }
                }
                any = true;
            }
        }
        any
    }
}
