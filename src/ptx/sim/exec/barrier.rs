//! CTA barriers. Threads count one by one; exited ones are not waited for, but fill no count either.

use super::super::fault::{Fault, codes};
use super::super::lanes::{Slot, lanes};
use super::super::memory::MOST_EPOCHS;
use super::super::program::{Barrier, Op, Program, Rare, Reduce};
use super::clock::Known;
use super::convergence;
use super::state::{Ctx, Hall, Split, Wait, Warp, World};
use crate::ptx::diag::Level;

impl Ctx<'_> {
    /// Lanes come to a barrier.
    pub fn barrier(&mut self, barrier: &Barrier, split: Split) {
        let uniform = |slot| self.warp.file.is_uniform(slot, split.mask);
        if uniform(barrier.id) && barrier.count.is_none_or(uniform) {
            let lane = split.mask.trailing_zeros() as usize & 31;
            let id = self.warp.file.read(barrier.id, lane) as u32;
            let count = barrier.count.map(|slot| self.warp.file.read(slot, lane) as u32);
            return self.arrive(barrier, id, count, split);
        }
        let mut left = split.mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize & 31;
            let id = self.warp.file.read(barrier.id, lane) as u32;
            let count = barrier.count.map(|slot| self.warp.file.read(slot, lane) as u32);
            let same = lanes(left).filter(|lane| {
                let file = &self.warp.file;
                file.read(barrier.id, *lane) as u32 == id
                    && barrier.count.map(|slot| file.read(slot, *lane) as u32) == count
            });
            let group = same.fold(0, |set, lane| set | 1 << lane);
            left &= !group;
            self.arrive(barrier, id, count, Split { mask: group, ..split });
        }
    }

    fn arrive(&mut self, barrier: &Barrier, id: u32, count: Option<u32>, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let thread = self.thread(lane);
        if id > 15 {
            let message = format!("barrier {id} does not exist; their numbers are 0 to 15");
            let fault = Fault::new(codes::ISA021, Level::Error, self.site(split.pc), message);
            self.report(fault.thread(thread));
            return self.go_on(split, split.mask);
        }
        self.check_count(count, split);
        self.check_agreement(id, count, split);
        let (pc, threads) = (split.pc, split.mask.count_ones());
        if barrier.arrive {
            let released = self.released();
            let bar = &mut self.hall.bars[id as usize];
            bar.arrived += threads;
            bar.came += threads;
            bar.count = bar.count.or(count);
            bar.last = Some((pc, thread));
            bar.known.join(&released);
            self.hall.touched |= 1 << id;
            self.hall.entered |= 1 << id;
            return self.go_on(split, split.mask);
        }
        let bar = &mut self.hall.bars[id as usize];
        bar.count = bar.count.or(count);
        bar.last = Some((pc, thread));
        bar.came += threads;
        self.hall.touched |= 1 << id;
        self.hall.entered |= 1 << id;
        self.warp.splits.push(Split {
            wait: Wait::Barrier(id as u8),
            ..split
        });
    }

    /// Reports a count that is not that of the threads which came first.
    fn check_agreement(&mut self, id: u32, count: Option<u32>, split: Split) {
        let bar = &self.hall.bars[id as usize];
        let Some((pc, first)) = bar.last.filter(|_| bar.count != count) else {
            return;
        };
        let counts = |count: Option<u32>| count.map_or("all threads".to_owned(), |count| format!("{count} threads"));
        let message = format!(
            "barrier {id} counts {} here, and {} where others came first",
            counts(count),
            counts(bar.count)
        );
        let there = self.site(pc);
        let lane = split.mask.trailing_zeros() as usize & 31;
        let fault = Fault::new(codes::BAR006, Level::Error, self.site(split.pc), message).thread(self.thread(lane));
        self.report(fault.other(Some(there), Some(first), format!("{first} came here")));
    }

    fn check_count(&mut self, count: Option<u32>, split: Split) {
        let Some(count) = count else { return };
        let [x, y, z] = self.hall.block;
        let all = (x * y * z).next_multiple_of(32);
        let fault = if count % 32 != 0 {
            let message = format!("the barrier counts {count} threads, which is no multiple of the warp size");
            Fault::new(codes::BAR009, Level::Error, self.site(split.pc), message)
        } else if count == 0 || count > all {
            let message = format!("the barrier counts {count} threads, and the CTA has {}", x * y * z);
            Fault::new(codes::ISA020, Level::Error, self.site(split.pc), message)
        } else {
            return;
        };
        let lane = split.mask.trailing_zeros() as usize & 31;
        self.report(fault.thread(self.thread(lane)));
    }
}

/// How many threads wait at a barrier.
fn waiting(warps: &[Warp], id: u8) -> u32 {
    let splits = warps.iter().flat_map(|warp| &warp.splits);
    splits
        .filter(|split| split.wait == Wait::Barrier(id))
        .map(|split| split.mask.count_ones())
        .sum()
}

/// Lets go whoever waits at a barrier that is full. Whether there was one.
pub fn settle(program: &Program, world: &mut World, hall: &mut Hall, warps: &mut [Warp]) -> bool {
    let touched = std::mem::take(&mut hall.touched) & hall.entered;
    let mut any = false;
    for id in lanes(touched).map(|id| id as u8) {
        let bar = &hall.bars[id as usize];
        // Nobody need be counted where too few have come.
        if bar.came == 0 || bar.came < bar.count.unwrap_or(hall.live) {
            continue;
        }
        let wait = waiting(warps, id);
        let full = match bar.count {
            Some(count) => wait + bar.arrived >= count,
            None => wait > 0 && wait + bar.arrived >= hall.live,
        };
        if !full || wait + bar.arrived == 0 {
            continue;
        }
        if let Some(count) = bar.count.filter(|count| wait + bar.arrived > *count) {
            over_arrival(program, world, hall, id, wait + bar.arrived, count);
        }
        // Arrivals alone fill a barrier, too; nobody is let go then.
        any |= wait > 0;
        release(program, world, hall, warps, id);
    }
    any
}

fn over_arrival(program: &Program, world: &mut World, hall: &Hall, id: u8, came: u32, count: u32) {
    let Some((pc, thread)) = hall.bars[id as usize].last else {
        return;
    };
    let Some(site) = program.sites.get(pc as usize) else {
        return;
    };
    let message = format!("{came} threads come to barrier {id}, which counts {count}");
    world.report(Fault::new(codes::BAR006, Level::Error, *site, message).thread(thread));
}

fn release(program: &Program, world: &mut World, hall: &mut Hall, warps: &mut [Warp], id: u8) {
    convergence::check(program, world, hall, warps, id);
    let bar = std::mem::take(&mut hall.bars[id as usize]);
    let whole = bar.count.is_none() && bar.arrived == 0;
    reduce(program, warps, id);
    let mut known = bar.known;
    let synced = warps
        .iter()
        .any(|warp| !warp.known.is_empty() || !warp.pending.is_empty());
    if !whole || synced {
        for warp in warps.iter_mut().filter(|warp| waits(warp, id)) {
            let pending = std::mem::take(&mut warp.pending);
            known.join(&warp.known);
            known.join(&pending);
            if !whole {
                let tag = super::super::memory::Tag::new(hall.number, hall.epoch, warp.clock, 0);
                known.reach(tag.cta(), warp.index, hall.epoch, warp.clock);
                warp.clock += 1;
            }
        }
    }
    for warp in warps.iter_mut() {
        let at_barrier = waits(warp, id);
        if at_barrier && !known_is_nothing(&known) {
            warp.known.join(&known);
        }
        if let [only] = warp.splits.as_mut_slice()
            && only.wait == Wait::Barrier(id)
        {
            pass(&mut warp.passed, only);
            continue;
        }
        let splits = std::mem::take(&mut warp.splits);
        for mut split in splits {
            if split.wait == Wait::Barrier(id) {
                pass(&mut warp.passed, &mut split);
            }
            merge(&mut warp.splits, split);
        }
    }
    if whole {
        hall.epoch += 1;
        if hall.epoch >= MOST_EPOCHS {
            forget(world, hall);
        }
    }
}

fn known_is_nothing(known: &Known) -> bool {
    known.is_empty()
}

fn waits(warp: &Warp, id: u8) -> bool {
    warp.splits.iter().any(|split| split.wait == Wait::Barrier(id))
}

/// A split goes on behind its barrier.
fn pass(passed: &mut Vec<(u32, u32)>, split: &mut Split) {
    match passed.iter_mut().find(|(pc, _)| *pc == split.pc) {
        Some((_, lanes)) => *lanes |= split.mask,
        None => passed.push((split.pc, split.mask)),
    }
    split.wait = Wait::Ready;
    split.pc += 1;
}

fn merge(splits: &mut Vec<Split>, split: Split) {
    let same = |other: &&mut Split| {
        other.pc == split.pc && other.frame == split.frame && other.wait == Wait::Ready && split.wait == Wait::Ready
    };
    match splits.iter_mut().find(same) {
        Some(other) => other.mask |= split.mask,
        None => splits.push(split),
    }
}

/// Tags have no room for more intervals: what the CTA did before is forgotten, which its barriers have ordered anyway.
fn forget(world: &mut World, hall: &mut Hall) {
    let tag = super::super::memory::Tag::new(hall.number, 0, 0, 0);
    for block in &mut world.buffers {
        block.shadow.forget(tag);
    }
    if let Some(block) = world.shared.get_mut(hall.shared) {
        block.shadow.clear();
    }
    hall.epoch = 0;
    world.forgot = true;
}

/// Which barrier instruction is there.
pub fn barrier_at(program: &Program, pc: u32) -> Option<&Barrier> {
    match program.code.get(pc as usize)?.op {
        Op::Rare(at) => match program.rares.get(at as usize)? {
            Rare::Barrier(barrier) => Some(barrier),
            _ => None,
        },
        _ => None,
    }
}

/// Computes `bar.red` over all threads that wait.
fn reduce(program: &Program, warps: &mut [Warp], id: u8) {
    let mut targets: Vec<(usize, u32, Reduce, Slot)> = Vec::new();
    let (mut yes, mut all) = (0, 0);
    for (at, warp) in warps.iter().enumerate() {
        for split in warp.splits.iter().filter(|split| split.wait == Wait::Barrier(id)) {
            let reduce = barrier_at(program, split.pc).and_then(|barrier| barrier.reduce);
            if let Some((kind, p, d)) = reduce {
                yes += (warp.file.pred(p) & split.mask).count_ones();
                all += split.mask.count_ones();
                targets.push((at, split.mask, kind, d));
            }
        }
    }
    for (at, mask, kind, d) in targets {
        let value = match kind {
            Reduce::Count => yes,
            Reduce::All => u32::from(yes == all),
            Reduce::Any => u32::from(yes > 0),
        };
        if let Some(warp) = warps.get_mut(at) {
            lanes(mask).for_each(|lane| warp.file.write(d, lane, u64::from(value)));
        }
    }
}
