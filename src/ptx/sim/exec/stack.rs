//! The stack of each thread, which grows downwards in its local memory.

use super::super::Stop;
use super::super::lanes::{Longs, Slot, lanes, put};
use super::super::program::Stack;
use super::state::{Ctx, Split};

impl Ctx<'_> {
    /// Executes an instruction on the stack for the lanes of a split.
    pub fn stack(&mut self, what: Stack, split: Split) {
        let Some(pointer) = self.program.stack.map(Slot::Long) else {
            return;
        };
        for lane in lanes(split.mask) {
            let end = self.warp.file.read(pointer, lane);
            match what {
                Stack::Save { d } => self.warp.file.write(d, lane, end),
                Stack::Restore { a } => {
                    let there = self.warp.file.read(a, lane);
                    self.warp.file.write(pointer, lane, there);
                }
                Stack::Take { d, size, align } => {
                    let size = self.warp.file.read(size, lane);
                    let Some(start) = self.take_stack(end, size, align, lane) else {
                        let what = "a stack that grows beyond the bytes a thread has for it here".to_owned();
                        let site = self.site(split.pc);
                        return self.stop(Stop::Unsupported { site, what });
                    };
                    self.warp.file.write(pointer, lane, start);
                    if let Some(d) = d {
                        self.warp.file.write(d, lane, start);
                    }
                }
            }
        }
        self.go_on(split, split.mask);
    }

    /// Where the stack ends when so many bytes more are taken; what lies there counts as unwritten.
    fn take_stack(&mut self, end: u64, size: u64, align: u64, lane: usize) -> Option<u64> {
        let program = self.program;
        let region = program.layout.stack_region()?;
        let start = end.checked_sub(size)?;
        let start = start - start.checked_rem(align.max(1))?;
        if start < region.base || end > region.base + region.size {
            return None;
        }
        let at = region.at + lane as u64 * program.layout.local_len + (start - region.base);
        self.warp.local.unmark(at as usize, (end - start) as usize);
        Some(start)
    }

    /// What the stack pointers are, where the program has a stack.
    pub fn stack_pointers(&self) -> Option<Box<Longs>> {
        let row = self.program.stack?;
        self.warp.file.longs.get(row as usize).map(|row| Box::new(*row))
    }

    /// Sets the stack pointers of lanes that return.
    pub fn restore_stack(&mut self, saved: Option<&Longs>, mask: u32) {
        let row = self
            .program
            .stack
            .and_then(|row| self.warp.file.longs.get_mut(row as usize));
        if let (Some(row), Some(saved)) = (row, saved) {
            put(row, saved, mask);
        }
    }
}
