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
        // Where a function calls itself, caller and callee have the same rows: arguments are read before those are saved.
        let cargo: Vec<Cargo> = call
            .args
            .iter()
            .map(|from| self.load_cargo(*from, split.mask))
            .collect();
        let saved = again.then(|| Box::new(self.save(routine)));
        let frame = self.new_frame(Frame {
            parent: split.frame,
            back: split.pc + 1,
            depth,
            call: at,
            function: function.0,
            stack: self.stack_pointers(),
            saved,
        });
        for (cargo, to) in cargo.iter().zip(&routine.params) {
            self.unload(cargo, *to, split.mask);
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

    fn save(&self, routine: &Routine) -> Saved {
        let file = &self.warp.file;
        let [words, longs, preds] = routine.rows.clone().map(|rows| rows.start as usize..rows.end as usize);
        Saved {
            file: File {
                words: file.words.get(words).map(<[_]>::to_vec).unwrap_or_default(),
                longs: file.longs.get(longs).map(<[_]>::to_vec).unwrap_or_default(),
                preds: file.preds.get(preds).map(<[_]>::to_vec).unwrap_or_default(),
            },
            arena: self.load_cargo(arena_of(routine), u32::MAX),
        }
    }

    fn restore(&mut self, routine: &Routine, saved: &Saved, mask: u32) {
        let here: Cargo = lanes(mask).filter_map(|lane| saved.arena.get(lane).cloned()).collect();
        self.unload(&here, arena_of(routine), mask);
        let saved = &saved.file;
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
            return self.exit_at(split.pc, split.mask);
        };
        let routine = program.routines.get(frame.function as usize).and_then(Option::as_ref);
        let (Some(routine), Some(Rare::Call(call))) = (routine, program.rares.get(frame.call as usize)) else {
            return self.exit(split.mask);
        };
        // The caller's registers may be the same rows: results wait until those are back.
        let results: Vec<Cargo> = routine
            .results
            .iter()
            .map(|from| self.load_cargo(*from, split.mask))
            .collect();
        if let Some(saved) = &frame.saved {
            self.restore(routine, saved, split.mask);
        }
        self.restore_stack(frame.stack.as_deref(), split.mask);
        for (cargo, to) in results.iter().zip(&call.results) {
            self.unload(cargo, *to, split.mask);
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

    /// What a holder has, of any size, one a lane.
    fn load_cargo(&self, from: Holder, mask: u32) -> Cargo {
        let len = self.program.layout.arena_len as usize;
        let one = |lane: usize| match from {
            Holder::Nowhere => Vec::new(),
            Holder::Slot(slot, size) => {
                let bytes = self.warp.file.read_wide(slot, lane).to_le_bytes();
                bytes.into_iter().take(size as usize).map(Some).collect()
            }
            Holder::Bytes(at, size) => {
                let start = lane * len + at as usize;
                let arena = &self.warp.arena;
                let byte = |at: usize| arena.is_written(at, 1).then(|| arena.load(at, 1) as u8);
                (start..start + size as usize).map(byte).collect()
            }
        };
        lanes(mask).map(one).collect()
    }

    /// Puts it into another holder.
    fn unload(&mut self, cargo: &Cargo, to: Holder, mask: u32) {
        let len = self.program.layout.arena_len as usize;
        for (lane, bytes) in lanes(mask).zip(cargo) {
            match to {
                Holder::Nowhere => {}
                Holder::Slot(slot, size) => {
                    let kept = bytes.iter().take(size as usize).rev();
                    let value = kept.fold(0, |value, byte| value << 8 | u128::from(byte.unwrap_or(0)));
                    self.warp.file.write_wide(slot, lane, value);
                }
                Holder::Bytes(at, size) => {
                    let start = lane * len + at as usize;
                    for (at, byte) in (start..start + size as usize).zip(bytes) {
                        match byte {
                            Some(byte) => self.warp.arena.store(at, 1, u128::from(*byte)),
                            None => self.warp.arena.unmark(at, 1),
                        }
                    }
                }
            }
        }
    }
}

/// Bytes of an argument, one row a lane; `None` for those that nothing has written.
type Cargo = Vec<Vec<Option<u8>>>;

/// What a function held before it called itself.
#[derive(Clone, Debug)]
pub struct Saved {
    file: File,
    arena: Cargo,
}

/// A function's part of the arena.
fn arena_of(routine: &Routine) -> Holder {
    Holder::Bytes(routine.arena.start, routine.arena.end - routine.arena.start)
}
