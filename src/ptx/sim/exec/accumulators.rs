//! The registers of `wgmma`: the instruction returns at once, and reads and writes its registers until it is waited for.
//!
//! The product is computed where it is issued, so what is checked here is the order alone: `wgmma.fence` between other uses of
//! a register and the instruction, `wgmma.wait_group` between the instruction and other uses.

use super::super::fault::{Fault, codes};
use super::super::program::{Touch, Warpgroup, WarpgroupOrder};
use super::state::{Ctx, Split};
use crate::ptx::diag::Level;

/// A register that an instruction under way has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    /// Where the instruction is.
    pc: u32,
    /// Whether it writes the register.
    writes: bool,
    /// Whether it is `tcgen05.ld` and not `wgmma`.
    loads: bool,
    /// The group it was committed to.
    group: Option<u32>,
}

/// What a warp's `wgmma` instructions have of its registers, by the numbers the decoder gave them.
#[derive(Clone, Debug, Default)]
pub struct Accumulators {
    /// Whether there has been a fence at all.
    fenced: bool,
    /// Where a register was used otherwise since the last fence.
    touched: Vec<Option<u32>>,
    held: Vec<Option<Held>>,
    /// Groups committed.
    groups: u32,
}

fn slot<T: Copy>(all: &mut Vec<Option<T>>, at: u32) -> &mut Option<T> {
    let at = at as usize;
    if all.len() <= at {
        all.resize(at + 1, None);
    }
    &mut all[at]
}

impl Ctx<'_> {
    /// `wgmma.fence`, `.commit_group`, `.wait_group`.
    pub fn warpgroup_order(&mut self, what: WarpgroupOrder) {
        let state = &mut self.warp.accumulators;
        match what {
            WarpgroupOrder::Fence => {
                state.fenced = true;
                state.touched.fill(None);
            }
            WarpgroupOrder::Commit => {
                state.groups += 1;
                let open = state
                    .held
                    .iter_mut()
                    .flatten()
                    .filter(|held| held.group.is_none() && !held.loads);
                open.for_each(|held| held.group = Some(state.groups));
            }
            WarpgroupOrder::Wait(most) => {
                let due = |held: &Held| {
                    held.group
                        .is_some_and(|group| group.saturating_add(most) <= state.groups)
                };
                let done = state.held.iter_mut().filter(|held| held.as_ref().is_some_and(due));
                done.for_each(|held| *held = None);
            }
        }
    }

    /// An instruction that is not `wgmma` uses registers that `wgmma` uses somewhere.
    pub fn touch_accumulators(&mut self, touch: &Touch, split: Split) {
        for (register, writes) in &touch.registers {
            let state = &mut self.warp.accumulators;
            *slot(&mut state.touched, *register) = Some(split.pc);
            let held = *slot(&mut state.held, *register);
            let Some(held) = held.filter(|held| held.writes || *writes) else {
                continue;
            };
            // Once is enough.
            *slot(&mut state.held, *register) = None;
            let name = self.register_name(*register);
            if held.loads {
                return self.loaded_early(&name, *writes, split, held.pc);
            }
            let message = match (held.writes, *writes) {
                (true, false) => format!("reads `{name}` while `wgmma` may not have written it yet"),
                (true, true) => format!("writes `{name}` while `wgmma` may still write it"),
                _ => format!("writes `{name}` while `wgmma` may still read it"),
            };
            self.broken_order(
                message,
                split,
                held.pc,
                "the multiplication that has not been waited for",
            );
            return;
        }
    }

    /// `wgmma.mma_async` takes its registers.
    pub fn hold_accumulators(&mut self, group: &Warpgroup, split: Split) {
        let pc = split.pc;
        if !std::mem::replace(&mut self.warp.accumulators.fenced, true) {
            let message = "`wgmma.mma_async` without a `wgmma.fence` before it".to_owned();
            self.broken_order(message, split, pc, "this instruction");
        }
        let all = group.sums.iter().map(|register| (*register, true));
        for (register, writes) in all.chain(group.inputs.iter().map(|register| (*register, false))) {
            let state = &mut self.warp.accumulators;
            let touched = slot(&mut state.touched, register).take();
            let before = *slot(&mut state.held, register);
            let other = before.filter(|before| before.writes != writes);
            *slot(&mut state.held, register) = Some(Held {
                pc,
                writes: writes || before.is_some_and(|before| before.writes),
                loads: false,
                group: None,
            });
            let name = self.register_name(register);
            if let Some(other) = other {
                let message = format!(
                    "`{name}` is a sum and a factor of `wgmma` instructions, one of which has not been waited for"
                );
                self.broken_order(message, split, other.pc, "the other one");
            } else if let Some(there) = touched {
                let message = format!("`{name}` has been used since the last `wgmma.fence`");
                self.broken_order(message, split, there, "it is used here");
            }
        }
    }

    /// `tcgen05.ld` takes its registers.
    pub fn hold_loads(&mut self, registers: &[u32], split: Split) {
        for register in registers {
            *slot(&mut self.warp.accumulators.held, *register) = Some(Held {
                pc: split.pc,
                writes: true,
                loads: true,
                group: None,
            });
        }
    }

    /// `tcgen05.wait::ld`.
    pub fn loads_are_there(&mut self) {
        let held = self.warp.accumulators.held.iter_mut();
        held.filter(|held| held.is_some_and(|held| held.loads))
            .for_each(|held| *held = None);
    }

    fn loaded_early(&mut self, name: &str, writes: bool, split: Split, pc: u32) {
        let verb = if writes { "writes" } else { "reads" };
        let message = format!("{verb} `{name}` before `tcgen05.wait::ld`: it may not be loaded yet");
        let lane = split.mask.trailing_zeros() as usize & 31;
        let site = self.site(pc);
        let fault = Fault::new(codes::ASYNC018, Level::Error, self.site(split.pc), message).thread(self.thread(lane));
        self.report(fault.other(Some(site), None, "the load"));
    }

    fn register_name(&self, register: u32) -> String {
        self.program
            .accumulators
            .get(register as usize)
            .cloned()
            .unwrap_or_default()
    }

    fn broken_order(&mut self, message: String, split: Split, other: u32, what: &str) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let site = self.site(other);
        let fault = Fault::new(codes::ASYNC013, Level::Error, self.site(split.pc), message).thread(self.thread(lane));
        self.report(fault.other(Some(site), None, what.to_owned()));
    }
}
