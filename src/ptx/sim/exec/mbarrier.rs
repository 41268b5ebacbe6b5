//! mbarriers: phases that end when enough threads have arrived and all expected bytes have come.

use super::super::fault::{Fault, codes};
use super::super::lanes::{Slot, lanes};
use super::super::memory::Visit;
use super::super::program::{Mbarrier, Order, Place};
use super::access::Spot;
use super::clock::Known;
use super::state::{BlockId, Ctx, Split, Wait};
use crate::ptx::diag::{Code, Level};

/// An mbarrier.
#[derive(Clone, Debug, Default)]
pub struct Mbar {
    /// Arrivals that each phase takes.
    pub expected: u32,
    /// Arrivals that the phase at hand still takes.
    pub pending: u32,
    /// Bytes that the phase at hand still takes.
    pub bytes: i64,
    /// The phase.
    pub phase: u64,
    /// What those who arrived in this phase know.
    known: Known,
    /// What is known once the phases so far are over.
    over: Known,
    /// Where it was last touched.
    pub last: u32,
}

impl Mbar {
    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
            let known = std::mem::take(&mut self.known);
            self.over.join(&known);
        }
    }

    /// Somebody arrives who need not be told of it.
    pub fn arrive(&mut self, known: &Known) {
        self.pending = self.pending.saturating_sub(1);
        self.known.join(known);
        self.settle();
    }

    /// Bytes have come.
    pub fn complete(&mut self, bytes: u32, known: &Known) {
        self.bytes -= i64::from(bytes);
        self.known.join(known);
        self.settle();
    }
}

/// A state token: the phase, and what it still took.
fn token(bar: &Mbar) -> u64 {
    bar.phase << 32 | u64::from(bar.pending)
}

impl Ctx<'_> {
    /// The address of a lane's place.
    pub fn address(&self, place: &Place, lane: usize) -> u64 {
        let base = self.warp.file.read(place.base, lane);
        match place.base {
            Slot::Word(_) => u64::from((base as u32).wrapping_add(place.offset as u32)),
            _ => base.wrapping_add(place.offset),
        }
    }

    /// Says what is wrong with a lane's use of an mbarrier.
    pub fn complain(&mut self, code: Code, pc: u32, lane: usize, message: String) {
        let fault = Fault::new(code, Level::Error, self.site(pc), message);
        self.report(fault.thread(self.thread(lane)));
    }

    /// Finds the mbarrier at a place; one that does not lie right is reported.
    pub fn mbarrier_spot(&mut self, place: &Place, lane: usize, pc: u32) -> Option<Spot> {
        let address = self.address(place, lane);
        if !address.is_multiple_of(8) {
            let message = format!("the mbarrier at {address:#x} is not aligned to 8 bytes");
            self.complain(codes::ASYNC009, pc, lane, message);
            return None;
        }
        let spot = self.spot(place.space, address, 8, lane, pc, true)?;
        if matches!(spot.block, BlockId::Shared(_)) {
            return Some(spot);
        }
        self.complain(
            codes::ASYNC009,
            pc,
            lane,
            "an mbarrier that is not in shared memory".into(),
        );
        None
    }

    /// Executes an mbarrier instruction for the lanes of a split.
    pub fn mbarrier(&mut self, what: Mbarrier, at: &Place, order: Order, split: Split) {
        let mut waiting = 0;
        for lane in lanes(split.mask) {
            let Some(spot) = self.mbarrier_spot(at, lane, split.pc) else {
                continue;
            };
            match what {
                Mbarrier::Init { count } => self.mbarrier_init(spot, count, lane, split.pc),
                _ => waiting |= u32::from(self.mbarrier_use(what, spot, order, lane, split.pc)) << lane,
            }
        }
        self.go_on(split, split.mask & !waiting);
        if waiting != 0 {
            self.warp.splits.push(Split {
                mask: waiting,
                wait: Wait::Mbarrier,
                ..split
            });
        }
    }

    fn mbarrier_init(&mut self, spot: Spot, count: Slot, lane: usize, pc: u32) {
        let count = self.warp.file.read(count, lane) as u32;
        self.touch(spot, 8, lane, pc, Visit::Write, codes::ASYNC005);
        if let Some(block) = self.block(spot.block) {
            block.store(spot.at, 8, 0x6D62_6172);
        }
        let bar = Mbar {
            expected: count,
            pending: count,
            last: pc,
            ..Mbar::default()
        };
        self.world.mbarriers.insert((spot.block, spot.at), bar);
    }

    /// Notes a visit; a race is told under that code.
    pub fn touch(&mut self, spot: Spot, size: usize, lane: usize, pc: u32, kind: Visit, code: Code) {
        if !self.world.options.checks.races {
            return;
        }
        let tag = self.tag(lane);
        let Some(block) = self.block(spot.block) else { return };
        let suspects = block.shadow.visit(kind, spot.at, size, 1, tag, pc);
        self.judge_as(&suspects, spot.block, kind, pc, code);
    }

    /// Whether the lane must wait.
    fn mbarrier_use(&mut self, what: Mbarrier, spot: Spot, order: Order, lane: usize, pc: u32) -> bool {
        let key = (spot.block, spot.at);
        self.touch(spot, 8, lane, pc, Visit::Atomic, codes::ASYNC005);
        if !self.world.mbarriers.contains_key(&key) {
            self.complain(
                codes::ASYNC005,
                pc,
                lane,
                "uses an mbarrier that is not initialised".into(),
            );
            return false;
        }
        match what {
            Mbarrier::Init { .. } => {}
            Mbarrier::Inval => {
                self.world.mbarriers.remove(&key);
                if let Some(block) = self.block(spot.block) {
                    block.unmark(spot.at, 8);
                }
            }
            Mbarrier::ExpectTx { tx } => {
                let tx = self.warp.file.read(tx, lane) as u32;
                self.with_bar(key, |bar| bar.bytes += i64::from(tx));
            }
            Mbarrier::CompleteTx { tx } => {
                let tx = self.warp.file.read(tx, lane) as u32;
                self.with_bar(key, |bar| bar.complete(tx, &Known::default()));
            }
            Mbarrier::Arrive {
                state,
                count,
                expect,
                drop,
            } => {
                let read =
                    |slot: Option<Slot>, other| slot.map_or(other, |slot| self.warp.file.read(slot, lane) as u32);
                let (count, expect) = (read(count, 1), read(expect, 0));
                let value = self.mbarrier_arrive(key, count, expect, drop, order, (lane, pc));
                if let Some(state) = state {
                    self.warp.file.write(state, lane, value);
                }
            }
            Mbarrier::Wait {
                done,
                token,
                parity,
                waits,
            } => return self.mbarrier_wait(key, done, token, (parity, waits), order, lane),
        }
        false
    }

    fn with_bar(&mut self, key: (BlockId, usize), f: impl FnOnce(&mut Mbar)) {
        if let Some(bar) = self.world.mbarriers.get_mut(&key) {
            f(bar);
        }
    }

    /// Arrives; returns the state before.
    pub fn mbarrier_arrive(
        &mut self,
        key: (BlockId, usize),
        count: u32,
        expect: u32,
        drop: bool,
        order: Order,
        (lane, pc): (usize, u32),
    ) -> u64 {
        let released = match order.release {
            true => self.released(),
            false => Known::default(),
        };
        let Some(bar) = self.world.mbarriers.get_mut(&key) else {
            return 0;
        };
        let before = token(bar);
        bar.last = pc;
        bar.bytes += i64::from(expect);
        bar.known.join(&released);
        if drop {
            bar.expected = bar.expected.saturating_sub(count);
        }
        let left = bar.pending.checked_sub(count);
        bar.pending = left.unwrap_or(0);
        bar.settle();
        if left.is_none() {
            let expected = bar.expected;
            let message = format!("more threads arrive at an mbarrier than the {expected} it was initialised with");
            self.complain(codes::ASYNC006, pc, lane, message);
        }
        before
    }

    fn mbarrier_wait(
        &mut self,
        key: (BlockId, usize),
        done: Slot,
        token: Slot,
        (parity, waits): (bool, bool),
        order: Order,
        lane: usize,
    ) -> bool {
        self.land(key);
        let wanted = self.warp.file.read(token, lane);
        let Some(bar) = self.world.mbarriers.get(&key) else {
            return false;
        };
        let over = match parity {
            true => bar.phase & 1 != wanted & 1,
            false => bar.phase > wanted >> 32,
        };
        if !over && waits {
            return true;
        }
        if over && order.acquire {
            let known = bar.over.clone();
            self.warp.known.join(&known);
        }
        self.warp.file.write(done, lane, u64::from(over));
        false
    }

    /// Whether a split that waits at an mbarrier can go on trying: something it waits for has changed, or can.
    pub fn mbarrier_moved(&mut self, split: &Split) -> bool {
        use super::super::program::{Async, Op, Rare};
        let program = self.program;
        let Some(Op::Rare(at)) = program.code.get(split.pc as usize).map(|ins| ins.op) else {
            return true;
        };
        let Some(Rare::Async(Async::Mbarrier { what, at, .. })) = program.rares.get(at as usize) else {
            return true;
        };
        let Mbarrier::Wait { token, parity, .. } = what else {
            return true;
        };
        lanes(split.mask).any(|lane| {
            let address = self.address(at, lane);
            let Some(view) = self.locate(at.space, address) else {
                return true;
            };
            let key = (view.block, (view.at + address.wrapping_sub(view.base)) as usize);
            self.land(key);
            let wanted = self.warp.file.read(*token, lane);
            self.world.mbarriers.get(&key).is_none_or(|bar| match parity {
                true => bar.phase & 1 != wanted & 1,
                false => bar.phase > wanted >> 32,
            })
        })
    }
}
