//! Calls and returns.

use super::super::Stop;
use super::super::fault::{Fault, codes};
use super::super::lanes::{File, lanes};
use super::super::program::{CallSite, Callee, Holder, Rare, Routine};
use super::state::{Ctx, Frame, Split};
use crate::ptx::diag::Level;
use crate::ptx::ir::FuncId;

/// The deepest that calls may nest.
const DEEPEST: u32 = 1 << 12;

impl Ctx<'_> {
    /// Lanes call a function.
    pub fn call(&mut self, at: u32, call: &CallSite, split: Split) {
        match &call.callee {
            Callee::Function(function) => self.enter(at, call, *function, split),
            Callee::System(name) => self.system(name, call, split),
            Callee::Register(slot) => {
                let mut left = split.mask;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize & 31;
                    let address = self.warp.file.read(*slot, lane);
                    let same = lanes(left).filter(|lane| self.warp.file.read(*slot, *lane) == address);
                    let group = same.fold(0, |set, lane| set | 1 << lane);
                    left &= !group;
                    match self.program.layout.function(address) {
                        Some(function) => self.enter(at, call, function, Split { mask: group, ..split }),
                        None => self.no_function(address, Split { mask: group, ..split }),
                    }
                }
            }
        }
    }

    fn no_function(&mut self, address: u64, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let message = format!("calls {address:#x}, where no function is");
        let fault = Fault::new(codes::MEM007, Level::Error, self.site(split.pc), message);
        self.report(fault.thread(self.thread(lane)).address(address));
        self.exit(split.mask);
    }

    fn enter(&mut self, at: u32, call: &CallSite, function: FuncId, split: Split) {
        let program = self.program;
        let routine = program.routines.get(function.index()).and_then(Option::as_ref);
        let depth = self
            .warp
            .frames
            .get(split.frame as usize)
            .map_or(0, |frame| frame.depth)
            + 1;
        let Some(routine) = routine.filter(|_| depth < DEEPEST) else {
            let what = "a call that is too deep, or of a function that is not defined".to_owned();
            let site = self.site(split.pc);
            return self.stop(Stop::Unsupported { site, what });
        };
        let again = self.is_active(split.frame, function);
        if again && (routine.has_locals || !routine.arena.is_empty()) {
            let what = "a function that calls itself and has local variables or parameters in memory".to_owned();
            let site = self.site(split.pc);
            return self.stop(Stop::Unsupported { site, what });
        }
        let saved = again.then(|| Box::new(self.save(routine)));
        let frame = self.new_frame(Frame {
            parent: split.frame,
            back: split.pc + 1,
            depth,
            call: at,
            function: function.0,
            saved,
        });
        for (from, to) in call.args.iter().zip(&routine.params) {
            self.pass(*from, *to, split.mask);
        }
        self.put(Split {
            pc: routine.start,
            frame,
            ..split
        });
    }

    fn is_active(&self, mut frame: u32, function: FuncId) -> bool {
        while let Some(here) = self.warp.frames.get(frame as usize).filter(|here| here.depth > 0) {
            if here.function == function.0 {
                return true;
            }
            frame = here.parent;
        }
        false
    }

    /// A frame that no split is in any more is used again.
    fn new_frame(&mut self, frame: Frame) -> u32 {
        let mut used = vec![false; self.warp.frames.len()];
        let mut mark = |mut at: u32| {
            while let Some(flag) = used.get_mut(at as usize).filter(|flag| !**flag) {
                *flag = true;
                at = self.warp.frames[at as usize].parent;
            }
        };
        self.warp.splits.iter().for_each(|split| mark(split.frame));
        mark(frame.parent);
        match used.iter().skip(1).position(|used| !used) {
            Some(free) => {
                self.warp.frames[free + 1] = frame;
                free as u32 + 1
            }
            None => {
                self.warp.frames.push(frame);
                self.warp.frames.len() as u32 - 1
            }
        }
    }

    fn save(&self, routine: &Routine) -> File {
        let file = &self.warp.file;
        let [words, longs, preds] = routine.rows.clone().map(|rows| rows.start as usize..rows.end as usize);
        File {
            words: file.words.get(words).map(<[_]>::to_vec).unwrap_or_default(),
            longs: file.longs.get(longs).map(<[_]>::to_vec).unwrap_or_default(),
            preds: file.preds.get(preds).map(<[_]>::to_vec).unwrap_or_default(),
        }
    }

    fn restore(&mut self, routine: &Routine, saved: &File, mask: u32) {
        let file = &mut self.warp.file;
        let [words, longs, preds] = routine.rows.clone().map(|rows| rows.start as usize);
        for (at, row) in saved.words.iter().enumerate() {
            super::super::lanes::put(&mut file.words[words + at], row, mask);
        }
        for (at, row) in saved.longs.iter().enumerate() {
            super::super::lanes::put(&mut file.longs[longs + at], row, mask);
        }
        for (at, bits) in saved.preds.iter().enumerate() {
            let pred = &mut file.preds[preds + at];
            *pred = (*pred & !mask) | (bits & mask);
        }
    }

    /// Lanes return: to the caller, or the thread ends.
    pub fn back(&mut self, split: Split) {
        let program = self.program;
        let Some(frame) = self
            .warp
            .frames
            .get(split.frame as usize)
            .filter(|frame| frame.depth > 0)
            .cloned()
        else {
            return self.exit(split.mask);
        };
        let routine = program.routines.get(frame.function as usize).and_then(Option::as_ref);
        let (Some(routine), Some(Rare::Call(call))) = (routine, program.rares.get(frame.call as usize)) else {
            return self.exit(split.mask);
        };
        // The caller's registers may be the same rows: results wait until those are back.
        let results: Vec<Vec<u128>> = routine
            .results
            .iter()
            .map(|from| self.fetch(*from, split.mask))
            .collect();
        if let Some(saved) = &frame.saved {
            self.restore(routine, saved, split.mask);
        }
        for (values, to) in results.iter().zip(&call.results) {
            self.deliver(values, *to, split.mask);
        }
        for (from, to) in routine.results.iter().zip(&call.results) {
            if let (Holder::Bytes(..), Holder::Bytes(..)) = (from, to) {
                self.pass(*from, *to, split.mask);
            }
        }
        self.put(Split {
            pc: frame.back,
            frame: frame.parent,
            ..split
        });
    }

    /// The values of up to 16 bytes in a holder, one a lane.
    pub fn fetch(&self, from: Holder, mask: u32) -> Vec<u128> {
        let len = self.program.layout.arena_len as usize;
        lanes(mask)
            .map(|lane| match from {
                Holder::Slot(slot, _) => self.warp.file.read_wide(slot, lane),
                Holder::Bytes(at, size) => self.warp.arena.load(lane * len + at as usize, size.min(16) as usize),
                Holder::Nowhere => 0,
            })
            .collect()
    }

    /// Puts values into a holder.
    pub fn deliver(&mut self, values: &[u128], to: Holder, mask: u32) {
        let len = self.program.layout.arena_len as usize;
        for (lane, value) in lanes(mask).zip(values) {
            match to {
                Holder::Slot(slot, _) => self.warp.file.write_wide(slot, lane, *value),
                Holder::Bytes(at, size) => {
                    self.warp
                        .arena
                        .store(lane * len + at as usize, size.min(16) as usize, *value);
                }
                Holder::Nowhere => {}
            }
        }
    }

    /// Copies an argument or result, whatever its size.
    fn pass(&mut self, from: Holder, to: Holder, mask: u32) {
        let (Holder::Bytes(from_at, size), Holder::Bytes(to_at, room)) = (from, to) else {
            let values = self.fetch(from, mask);
            return self.deliver(&values, to, mask);
        };
        let len = self.program.layout.arena_len as usize;
        for lane in lanes(mask) {
            let (from, to) = (lane * len + from_at as usize, lane * len + to_at as usize);
            for byte in 0..size.min(room) as usize {
                let arena = &mut self.warp.arena;
                let value = arena.load(from + byte, 1);
                match arena.is_written(from + byte, 1) {
                    true => arena.store(to + byte, 1, value),
                    false => arena.unmark(to + byte, 1),
                }
            }
        }
    }
}
