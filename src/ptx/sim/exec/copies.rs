//! Asynchronous copies. What they bring is there when it has been waited for, and not before.

use super::super::fault::{Fault, codes};
use super::super::lanes::lanes;
use super::super::memory::Visit;
use super::super::program::{Async, Order, Place, Signal};
use super::access::Spot;
use super::clock::Known;
use super::state::{BlockId, Ctx, Split, Wait};
use crate::ptx::diag::Level;
use crate::ptx::types::Space;

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
    /// What it does there.
    pub kind: Kind,
}

/// What the bytes of a copy do where they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They are put there: of each sixteen those that the mask names.
    Put(u16),
    /// Each element is combined with what is there: an index into [`super::super::program::Program::reductions`].
    Reduce(u32),
    /// There are none: the mbarrier is arrived at, for the commit of that number.
    Arrive(u64),
}

/// All bytes are copied.
pub const WHOLE: Kind = Kind::Put(u16::MAX);

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
            Async::Fill { to, size } => lanes(split.mask).for_each(|lane| self.fill_bulk(to, *size, lane, split.pc)),
            Async::Discard { at, size } => lanes(split.mask).for_each(|lane| self.discard(at, *size, lane, split.pc)),
            Async::Tensor(tensor) => lanes(split.mask).for_each(|lane| self.tensor(tensor, lane, split.pc)),
            Async::ReplaceMap(replace) => lanes(split.mask).for_each(|lane| self.replace_map(replace, lane, split.pc)),
            Async::CopyMap { to, from } => self.copy_map(to, from, split),
            Async::TensorProduct(product) => {
                lanes(split.mask).for_each(|lane| self.tensor_product(product, lane, split.pc));
            }
            Async::TensorCopy(copy) => lanes(split.mask).for_each(|lane| self.tensor_copy(copy, lane, split.pc)),
            Async::TensorCommit { bar, multicast } => {
                lanes(split.mask).for_each(|lane| self.tensor_commit(bar, *multicast, lane, split.pc));
            }
            Async::TryCancel { to, bar, all } => {
                lanes(split.mask).for_each(|lane| self.try_cancel(to, bar, *all, lane, split.pc));
            }
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
            let Some(data) = self.source(from.space, here, u64::from(used), false, lane, pc) else {
                return;
            };
            bytes[..data.len()].copy_from_slice(&data);
        }
        self.depart(spot, bytes, WHOLE, lane, pc, None, false);
    }

    /// Reads what is copied, as a read of that lane.
    #[allow(clippy::too_many_arguments)]
    pub fn source(
        &mut self,
        from: Space,
        address: u64,
        size: u64,
        bulk: bool,
        lane: usize,
        pc: u32,
    ) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < size {
            // Pieces that divide both address and length.
            let piece = 16u64
                .min(1 << (address + at).trailing_zeros().min(4))
                .min(1 << (63 - (size - at).leading_zeros()));
            let spot = self.spot(from, address + at, piece, lane, pc, false)?;
            let written = self
                .block(spot.block)
                .is_none_or(|block| block.is_written(spot.at, piece as usize));
            if !written && self.world.options.checks.memory {
                let what = self.describe(from, address + at);
                let message = format!("copies bytes that nothing has written{what}");
                self.complain(codes::FLOW004, pc, lane, message);
            }
            if bulk {
                self.read_by_proxy(spot, piece as usize, lane, pc);
            }
            self.touch(spot, piece as usize, lane, pc, Visit::Read, codes::RACE001);
            let value = self.block(spot.block)?.load(spot.at, piece as usize);
            bytes.extend(value.to_le_bytes().into_iter().take(piece as usize));
            at += piece;
        }
        Some(bytes)
    }

    /// A copy starts: until it is waited for, nobody may read what lies there.
    #[allow(clippy::too_many_arguments)]
    pub fn depart(
        &mut self,
        to: Spot,
        bytes: Vec<u8>,
        kind: Kind,
        lane: usize,
        pc: u32,
        bar: Option<(BlockId, usize)>,
        bulk: bool,
    ) {
        if let Kind::Reduce(_) = kind {
            self.check_target(to, bytes.len(), lane, pc);
        }
        self.visit_range(to, bytes.len(), kind, lane, pc);
        if let Some(block) = self.block(to.block) {
            match kind {
                Kind::Put(u16::MAX) | Kind::Reduce(_) => block.unmark(to.at, bytes.len()),
                Kind::Put(mask) => named(mask, bytes.len()).for_each(|at| block.unmark(to.at + at, 1)),
                Kind::Arrive(_) => {}
            }
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
                kind,
            },
        ));
    }

    /// What a reduction combines with must have been written, or be under way to where another reduction goes.
    fn check_target(&mut self, to: Spot, len: usize, lane: usize, pc: u32) {
        let written = self.block(to.block).is_none_or(|block| block.is_written(to.at, len));
        let awaited = |flight: &Flight| {
            let start = flight.to.at;
            let meets = flight.to.block == to.block && to.at < start + flight.bytes.len() && start < to.at + len;
            meets && matches!(flight.kind, Kind::Reduce(_))
        };
        if written || !self.world.options.checks.memory || self.world.flights.iter().any(|(_, flight)| awaited(flight))
        {
            return;
        }
        let message = "reduces into bytes that nothing has written".to_owned();
        self.complain(codes::FLOW004, pc, lane, message);
    }

    /// An arrival at an mbarrier, when what it stands for is over.
    pub fn arrive_later(&mut self, bar: (BlockId, usize), kind: Kind, to: Spot, lane: usize, pc: u32) {
        let (known, thread) = (self.released(), self.me(lane));
        let flight = Flight {
            to,
            bytes: Vec::new(),
            thread,
            pc,
            bar: Some(bar),
            group: None,
            bulk: true,
            known,
            kind,
        };
        self.world.flights.push((self.hall.number, flight));
    }

    /// Notes that a lane writes a range of any length, or combines with what is there.
    pub fn visit_range(&mut self, to: Spot, len: usize, kind: Kind, lane: usize, pc: u32) {
        let (visit, code) = match kind {
            Kind::Put(_) => (Visit::Write, codes::ASYNC004),
            Kind::Reduce(_) | Kind::Arrive(_) => (Visit::Atomic, codes::RACE007),
        };
        if let Kind::Put(mask) = kind
            && mask != u16::MAX
        {
            for at in named(mask, len) {
                self.touch(Spot { at: to.at + at, ..to }, 1, lane, pc, visit, code);
            }
            return;
        }
        let mut at = 0;
        while at < len {
            let place = to.at + at;
            let piece =
                (1usize << place.trailing_zeros().min(4)).min(1 << (usize::BITS - 1 - (len - at).leading_zeros()));
            let spot = Spot { at: place, ..to };
            self.touch(spot, piece, lane, pc, visit, code);
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
        self.bring(flight);
        self.keep_under_way(flight);
        self.visit_range(flight.to, flight.bytes.len(), flight.kind, lane, flight.pc);
    }

    /// Where an earlier copy arrives while a later one to the same bytes is under way, those still may not be read.
    fn keep_under_way(&mut self, landed: &Flight) {
        let end = |flight: &Flight| flight.to.at + flight.bytes.len();
        let whole = |flight: &&Flight| matches!(flight.kind, Kind::Put(u16::MAX)) && flight.to.block == landed.to.block;
        let under_way = self.world.flights.iter().map(|(_, flight)| flight).filter(whole);
        let common = under_way.map(|flight| (flight.to.at.max(landed.to.at), end(flight).min(end(landed))));
        let common: Vec<_> = common.filter(|(start, end)| start < end).collect();
        if let Some(block) = self.block(landed.to.block) {
            common
                .into_iter()
                .for_each(|(start, end)| block.unmark(start, end - start));
        }
    }

    /// The bytes of a copy do what they came for.
    fn bring(&mut self, flight: &Flight) {
        let program = self.program;
        let Some(block) = self.block(flight.to.block) else {
            return;
        };
        let (start, bytes) = (flight.to.at, &flight.bytes);
        match flight.kind {
            Kind::Put(mask) => {
                for at in named(mask, bytes.len()) {
                    block.store(start + at, 1, bytes.get(at).copied().unwrap_or(0).into());
                }
            }
            Kind::Arrive(_) => {}
            Kind::Reduce(at) => {
                let Some(reduction) = program.reductions.get(at as usize) else {
                    return;
                };
                let size = reduction.bytes as usize;
                for (nth, element) in bytes.chunks_exact(size.max(1)).enumerate() {
                    let operand = element
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u128::from(*byte));
                    let place = start + nth * size;
                    let new = (reduction.update)(block.load(place, size), operand, 0);
                    block.store(place, size, new);
                }
            }
        }
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
            self.bring(&flight);
            self.keep_under_way(&flight);
            let bytes = flight.bytes.len() as u32;
            if let Some(object) = self.world.mbarriers.get_mut(&bar) {
                match flight.kind {
                    Kind::Arrive(_) => object.arrive(&flight.known),
                    _ => object.complete(bytes, &flight.known),
                }
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
            bytes: mask,
            reduce,
        } = what
        else {
            return;
        };
        let mask = mask.map_or(u16::MAX, |slot| self.warp.file.read(slot, lane) as u16);
        let kind = reduce.map_or(Kind::Put(mask), Kind::Reduce);
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
        let Some(bytes) = self.source(from.space, here, size, true, lane, pc) else {
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
                Some(rank) => (ctx.map_to(address, rank, false), Space::SharedCluster),
            };
            let (there, space) = reach(self, there, to.space);
            let Some(spot) = self.range(space, there, size, 16, lane, pc) else {
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
            self.depart(spot, bytes.clone(), kind, lane, pc, bar, true);
        }
    }

    /// A range of a multiple of `unit` bytes that lies in one variable.
    pub fn range(&mut self, space: Space, address: u64, size: u64, unit: u64, lane: usize, pc: u32) -> Option<Spot> {
        let first = self.spot(space, address, unit, lane, pc, true)?;
        let last = self.spot(space, address.wrapping_add(size - unit), unit, lane, pc, true)?;
        // Addresses that wrap around lead elsewhere.
        (last.block == first.block && last.at.checked_sub(first.at) == Some((size - unit) as usize)).then_some(first)
    }

    fn store_async(&mut self, what: &Async, lane: usize, pc: u32) {
        let Async::Store {
            to,
            values,
            bytes,
            bar,
            reduce,
        } = what
        else {
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
        let kind = reduce.map_or(WHOLE, Kind::Reduce);
        self.depart(spot, data, kind, lane, pc, Some((bar.block, bar.at)), true);
    }

    /// Whether bytes are the target of a copy under way; then it is that which is wrong.
    #[allow(clippy::too_many_arguments)]
    pub fn in_flight(
        &mut self,
        block: BlockId,
        at: usize,
        size: usize,
        strong: bool,
        lane: usize,
        address: u64,
        pc: u32,
    ) -> bool {
        let hit = self.world.flights.iter().find(|(_, flight)| {
            let start = flight.to.at;
            flight.to.block == block && at < start + flight.bytes.len() && start < at + size
        });
        let Some((_, flight)) = hit else { return false };
        // Reductions take turns with atomics and strong accesses.
        if strong && matches!(flight.kind, Kind::Reduce(_)) {
            return true;
        }
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

/// The bytes of a range that a mask over each sixteen names.
fn named(mask: u16, len: usize) -> impl Iterator<Item = usize> {
    (0..len).filter(move |at| mask >> (at % 16) & 1 == 1)
}
