//! A warp's splits: which runs, how they part and meet, and what rare instructions do.

use super::super::fault::{Fault, codes};
use super::super::lanes::{Slot, lanes};
use super::super::program::Rare;
use super::super::{Limit, Stop};
use super::fast::{self, Event, Reach};
use super::state::{Ctx, Split, Wait};
use crate::ptx::diag::Level;

/// Backward branches a split may take while others could run.
const TURNS: u32 = 256;
/// The same while no other split could.
const ALONE: u32 = 1024;

impl Ctx<'_> {
    /// Runs the warp until nothing of it can run, or it has run for `slices` slices. Whether anything could.
    pub fn run(&mut self, slices: u32) -> bool {
        let (mut any, mut left) = (false, slices);
        while left > 0 {
            left -= 1;
            if self.world.over || !self.step(&mut left) {
                return any;
            }
            any = true;
            if std::mem::take(&mut self.warp.rested) {
                return any;
            }
            self.world.resting = false;
        }
        any
    }

    /// Runs one split until something happens; further slices are taken from `left`. Whether there was one.
    fn step(&mut self, left: &mut u32) -> bool {
        // Most warps are one split.
        let next = match self.warp.splits.as_mut_slice() {
            [] => return false,
            [only] => match only.wait {
                Wait::Barrier(_) | Wait::Cluster => return false,
                Wait::Ready | Wait::Resting => {
                    only.wait = Wait::Ready;
                    Some(0)
                }
                Wait::Together | Wait::Mbarrier => None,
            },
            _ => self.next(),
        };
        let Some(at) = next else {
            return self.come_together() || self.wake();
        };
        let mut split = self.warp.splits.swap_remove(at);
        let (limit, floor) = self.limit(&split);
        let alone = !self
            .warp
            .splits
            .iter()
            .any(|other| matches!(other.wait, Wait::Ready | Wait::Resting));
        let turns = if alone { ALONE } else { TURNS };
        let single = self.world.options.trace || self.world.precision.is_some();
        let foreseen = self
            .world
            .precision
            .is_some()
            .then(|| self.foresee(split.pc, split.mask));
        let reach = Reach {
            limit,
            floor,
            turns,
            single,
        };
        let is_whole = !single && self.warp.splits.is_empty();
        let (pc, count, event) = loop {
            let (pc, count, event) = fast::run(self, split.pc, split.mask, reach);
            match event {
                // Kernels shuffle a lot; the next slice begins behind it, as it would anyway.
                Event::Rare { at, mask }
                    if is_whole && mask == split.mask && *left > 0 && self.is_for_all(at, split.mask) =>
                {
                    self.spend(count, split.mask, pc);
                    self.together_at_once(at, Split { pc, ..split });
                    split.pc = pc + 1;
                    if self.world.over {
                        self.put(split);
                        return true;
                    }
                    *left -= 1;
                    self.world.resting = false;
                }
                event => break (pc, count, event),
            }
        };
        if self.world.options.trace {
            self.trace(&split);
        }
        if let Some(foreseen) = foreseen {
            self.follow(split.pc, foreseen);
        }
        self.spend(count, split.mask, pc);
        let split = Split { pc, ..split };
        match event {
            Event::Limit => self.put(split),
            Event::Rest => {
                self.warp.rested = alone;
                self.put(Split {
                    wait: if alone { Wait::Ready } else { Wait::Resting },
                    ..split
                });
            }
            Event::Part { taken, target } => {
                self.put(Split {
                    pc: pc + 1,
                    mask: split.mask & !taken,
                    ..split
                });
                self.put(Split {
                    pc: target,
                    mask: taken,
                    ..split
                });
            }
            Event::Rare { at, mask } => {
                if split.mask & !mask != 0 {
                    self.check_guard(at, mask, &split);
                    self.put(Split {
                        pc: pc + 1,
                        mask: split.mask & !mask,
                        ..split
                    });
                }
                self.rare(at, Split { mask, ..split });
            }
            Event::Over => {
                self.world.over = true;
            }
        }
        true
    }

    /// An aligned barrier that some of the lanes at it pass over.
    fn check_guard(&mut self, at: u32, mask: u32, split: &Split) {
        let program = self.program;
        let Some(Rare::Barrier(barrier)) = program.rares.get(at as usize) else {
            return;
        };
        if barrier.aligned {
            let lane = mask.trailing_zeros() as usize & 31;
            let message = format!(
                "the guard of this aligned barrier holds for lanes {mask:#010x} of {:#010x} only",
                split.mask
            );
            let fault = Fault::new(codes::BAR003, Level::Error, self.site(split.pc), message);
            self.report(fault.thread(self.thread(lane)));
        }
    }

    fn spend(&mut self, count: u64, mask: u32, pc: u32) {
        let threads = count * u64::from(mask.count_ones());
        self.warp.executed += count;
        self.world.stats.warp_instructions += count;
        self.world.stats.thread_instructions += threads;
        if self.world.stats.thread_instructions >= self.world.beat && self.world.look(0) {
            let stop = Stop::Interrupted(self.site(pc));
            self.stop(stop);
        }
        match self.world.fuel.checked_sub(threads) {
            Some(left) => self.world.fuel = left,
            None => {
                let stop = Stop::Limit(Limit {
                    site: self.site(pc),
                    budget: self.world.options.budget,
                });
                self.stop(stop);
            }
        }
    }

    /// Ends everything.
    pub fn stop(&mut self, stop: Stop) {
        self.world.over = true;
        self.world.stop.get_or_insert(stop);
    }

    /// The split to run: the deepest in calls, then the first in the order of the program.
    fn next(&mut self) -> Option<usize> {
        if !self.warp.splits.iter().any(|split| split.wait == Wait::Ready) {
            for split in &mut self.warp.splits {
                if split.wait == Wait::Resting {
                    split.wait = Wait::Ready;
                }
            }
        }
        let splits = &self.warp.splits;
        let ready = splits.iter().enumerate().filter(|(_, split)| split.wait == Wait::Ready);
        let depth = |split: &Split| {
            self.warp
                .frames
                .get(split.frame as usize)
                .map_or(0, |frame| frame.depth)
        };
        ready
            .min_by_key(|(_, split)| (u32::MAX - depth(split), self.order(split.pc)))
            .map(|(at, _)| at)
    }

    fn order(&self, pc: u32) -> u32 {
        self.program.order.get(pc as usize).copied().unwrap_or(u32::MAX)
    }

    /// Where a split meets the next one, or has come so far that another one is to run: the place in the code, and its number
    /// in the order of the program.
    fn limit(&self, split: &Split) -> (u32, u32) {
        let others = || {
            let splits = self.warp.splits.iter();
            splits.filter(|other| other.frame == split.frame && other.wait != Wait::Resting)
        };
        let behind = others().map(|other| other.pc).filter(|pc| *pc > split.pc);
        let limit = behind.min().unwrap_or(u32::MAX);
        let ready = others().filter(|other| other.wait == Wait::Ready);
        let floor = ready.map(|other| self.order(other.pc)).min().unwrap_or(u32::MAX);
        if floor == u32::MAX {
            return (limit, floor);
        }
        let leaps = &self.program.leaps;
        let mut leaps = leaps[leaps.partition_point(|pc| *pc <= split.pc)..].iter().copied();
        let leap = leaps.find(|pc| *pc >= limit || self.order(*pc) >= floor);
        (limit.min(leap.unwrap_or(u32::MAX)), floor)
    }

    /// Adds a split; one at the same place takes it in.
    pub fn put(&mut self, split: Split) {
        let same = |other: &&mut Split| other.pc == split.pc && other.frame == split.frame;
        match self.warp.splits.iter_mut().find(same) {
            Some(other) => {
                other.mask |= split.mask;
                // Together they may have what one of them waited for.
                other.wait = Wait::Ready;
            }
            None => self.warp.splits.push(split),
        }
    }

    /// Lanes that go on behind the instruction.
    pub fn go_on(&mut self, split: Split, mask: u32) {
        if mask != 0 {
            self.put(Split {
                pc: split.pc + 1,
                mask,
                wait: Wait::Ready,
                ..split
            });
        }
    }

    /// Executes a rare instruction for the lanes of a split.
    fn rare(&mut self, at: u32, split: Split) {
        let program = self.program;
        let Some(rare) = program.rares.get(at as usize) else {
            return;
        };
        match rare {
            Rare::Unsupported(what) => {
                let site = self.site(split.pc);
                let what = what.clone();
                self.stop(Stop::Unsupported { site, what });
            }
            Rare::Table(index, targets) => self.table(*index, targets, split),
            Rare::Uniform(target) => {
                // The lanes that do not branch have gone on already; a promise was kept if there are none.
                let waiting = self
                    .warp
                    .splits
                    .iter()
                    .any(|other| other.pc == split.pc + 1 && other.frame == split.frame);
                if waiting {
                    self.false_uniform(split);
                }
                self.put(Split { pc: *target, ..split });
            }
            Rare::Call(call) => self.call(at, call, split),
            Rare::Return => self.back(split),
            Rare::Exit => self.exit_at(split.pc, split.mask),
            Rare::Trap => self.trap(split),
            Rare::Special(special, d) => {
                self.read_special(*special, *d, split.mask);
                self.go_on(split, split.mask);
            }
            Rare::Barrier(barrier) => self.barrier(barrier, split),
            Rare::Together(what, mask) => self.together(what, *mask, split),
            Rare::ActiveMask(d) => {
                for lane in lanes(split.mask) {
                    self.warp.file.write(*d, lane, u64::from(split.mask));
                }
                self.go_on(split, split.mask);
            }
            Rare::Fence(wide) => {
                self.fence(*wide);
                self.go_on(split, split.mask);
            }
            Rare::Proxy(proxy) => {
                self.fence_proxy(*proxy, split.mask);
                self.go_on(split, split.mask);
            }
            Rare::Order(what) => {
                self.warpgroup_order(*what);
                self.go_on(split, split.mask);
            }
            Rare::Touch(touch) => {
                self.touch_accumulators(touch, split);
                self.go_on(split, split.mask);
            }
            Rare::Atomic(atomic) => {
                self.atomic(atomic, split);
                self.go_on(split, split.mask);
            }
            Rare::Async(what) => self.asynchronous(what, split),
            Rare::Stack(what) => self.stack(*what, split),
            Rare::Space(op) => {
                self.space(op, split);
                self.go_on(split, split.mask);
            }
            Rare::Nothing => self.go_on(split, split.mask),
        }
    }

    fn table(&mut self, index: Slot, targets: &[u32], split: Split) {
        for lane in lanes(split.mask) {
            let index = self.warp.file.read(index, lane) as usize;
            match targets.get(index) {
                Some(target) => self.put(Split {
                    pc: *target,
                    mask: 1 << lane,
                    ..split
                }),
                None => {
                    let message = format!("branches to entry {index} of a table of {}", targets.len());
                    let fault = Fault::new(codes::MEM002, Level::Error, self.site(split.pc), message);
                    self.report(fault.thread(self.thread(lane)));
                    self.exit(1 << lane);
                }
            }
        }
    }

    fn false_uniform(&mut self, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let message = "`.uni` promises that all threads of the warp branch alike, and they do not";
        let fault = Fault::new(codes::BAR019, Level::Error, self.site(split.pc), message);
        self.report(fault.thread(self.thread(lane)));
    }

    /// The end of threads at an instruction.
    pub fn exit_at(&mut self, pc: u32, mask: u32) {
        match self.warp.exits.iter_mut().find(|(at, _)| *at == pc) {
            Some((_, lanes)) => *lanes |= mask,
            None => self.warp.exits.push((pc, mask)),
        }
        self.exit(mask);
    }

    /// The end of threads.
    pub fn exit(&mut self, mask: u32) {
        self.warp.live &= !mask;
        self.hall.live = self.hall.live.saturating_sub(mask.count_ones());
        self.hall.touched = u32::MAX;
    }

    fn trap(&mut self, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let fault = Fault::new(
            codes::RUN001,
            Level::Error,
            self.site(split.pc),
            "a thread executes `trap`",
        );
        self.report(fault.thread(self.thread(lane)));
        self.world.over = true;
    }

    fn trace(&mut self, split: &Split) {
        let line = super::super::Step {
            site: self.site(split.pc),
            cta: self.hall.cta,
            warp: self.warp.index,
            mask: split.mask,
        };
        if self.world.stats.trace.len() < self.world.options.most_steps {
            self.world.stats.trace.push(line);
        }
    }
}
