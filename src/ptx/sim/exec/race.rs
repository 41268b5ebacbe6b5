//! Faults of memory accesses: races, bounds, alignment, reading what nothing has written.

use super::super::fault::{Fault, codes};
use super::super::memory::{Suspect, Visit};
use super::super::program::Order;
use super::clock::Known;
use super::state::{BlockId, Ctx};
use crate::ptx::diag::{Code, Level};
use crate::ptx::types::Space;
use smallvec::SmallVec;

impl Ctx<'_> {
    /// Decides on visits that the quick test did not clear, and reports those that nothing orders, one for each instruction
    /// and kind. `same` says that the visitor writes what is there already.
    #[cold]
    #[inline(never)]
    pub fn judge(&mut self, suspects: &[Suspect], block: BlockId, kind: Visit, pc: u32, same: bool) {
        for (suspect, code, same) in self.guilty(suspects, kind, same) {
            self.tell_race(&suspect, block, kind, pc, (code, same));
        }
    }

    /// The same, with another code for a race within the CTA.
    pub fn judge_as(&mut self, suspects: &[Suspect], block: BlockId, kind: Visit, pc: u32, code: Code) {
        for (suspect, found, _) in self.guilty(suspects, kind, false) {
            let code = if found == codes::RACE006 { found } else { code };
            self.tell_race(&suspect, block, kind, pc, (code, false));
        }
    }

    fn guilty(&self, suspects: &[Suspect], kind: Visit, same: bool) -> SmallVec<[(Suspect, Code, bool); 2]> {
        let mut found: SmallVec<[(Suspect, Code, bool); 2]> = SmallVec::new();
        for suspect in suspects {
            let same = same && suspect.kind == Visit::Write;
            let code = self.race_code(suspect, kind, same);
            let is_known = found
                .iter()
                .any(|(other, known, _)| other.pc == suspect.pc && *known == code);
            if !is_known && !self.is_ordered(suspect) {
                found.push((*suspect, code, same));
            }
        }
        found
    }

    fn tell_race(&mut self, suspect: &Suspect, block: BlockId, kind: Visit, pc: u32, (code, same): (Code, bool)) {
        let level = if same { Level::Info } else { Level::Error };
        let (earlier, later) = (suspect.earlier, suspect.later);
        let earlier_cta = self.world.cta(if later.same_cta(earlier) {
            self.hall.number
        } else {
            earlier.cta()
        });
        let mut other = self.hall.thread(earlier.thread());
        other.cta = earlier_cta;
        let me = self.thread(later.thread() as usize & 31);
        let what = |kind, same: bool| match kind {
            Visit::Read => "reads",
            Visit::Write if same => "writes the same value to",
            Visit::Write => "writes",
            Visit::Atomic => "updates atomically",
        };
        let place = self.place_name(block, suspect.at);
        let message = format!(
            "{me} {} {place}, and {other} {} it, with nothing to order them",
            what(kind, same),
            what(suspect.kind, same)
        );
        let site = self.site(suspect.pc);
        let mut fault = Fault::new(code, level, self.site(pc), message).thread(me);
        fault.address = self.address_of(block, suspect.at);
        let told = format!("{other} {} it here", what(suspect.kind, same));
        self.report(fault.other(Some(site), Some(other), told));
    }

    fn is_ordered(&self, suspect: &Suspect) -> bool {
        let (earlier, later) = (suspect.earlier, suspect.later);
        if later.same_warp(earlier) && earlier.epoch() == later.epoch() && earlier.clock() < later.clock() {
            return true;
        }
        self.warp.known.covers(earlier)
    }

    fn race_code(&self, suspect: &Suspect, kind: Visit, same: bool) -> Code {
        let (earlier, later) = (suspect.earlier, suspect.later);
        match (suspect.kind, kind) {
            _ if same => codes::RACE004,
            (Visit::Atomic, _) | (_, Visit::Atomic) => codes::RACE007,
            _ if !later.same_cta(earlier) => codes::RACE006,
            (Visit::Write, Visit::Write) => codes::RACE003,
            _ if later.same_warp(earlier) => codes::RACE010,
            (Visit::Write, _) => codes::RACE001,
            _ => codes::RACE002,
        }
    }

    /// A block and a byte of it in words.
    fn place_name(&self, block: BlockId, at: usize) -> String {
        let region = self.region_of(block, at);
        match region {
            Some((name, start)) => format!("byte {} of {name}", at as u64 - start),
            None => format!("byte {at}"),
        }
    }

    fn region_of(&self, block: BlockId, at: usize) -> Option<(String, u64)> {
        use super::super::memory::Home;
        let layout = &self.program.layout;
        let (map, home) = match block {
            BlockId::Buffer(at) => (&self.world.global, Home::Buffer(at)),
            BlockId::Shared(_) => (&layout.shared, Home::Shared),
            _ => return None,
        };
        let holds = |region: &&super::super::memory::Region| {
            region.home == home && (region.at..region.at + region.size).contains(&(at as u64))
        };
        map.regions()
            .iter()
            .find(holds)
            .map(|region| (region.name.clone(), region.at))
    }

    fn address_of(&self, block: BlockId, at: usize) -> Option<u64> {
        use super::super::memory::Home;
        let layout = &self.program.layout;
        let (map, home) = match block {
            BlockId::Buffer(at) => (&self.world.global, Home::Buffer(at)),
            _ => (&layout.shared, Home::Shared),
        };
        let mut regions = map.regions().iter();
        let region = regions
            .find(|region| region.home == home && (region.at..region.at + region.size).contains(&(at as u64)))?;
        Some(region.base + at as u64 - region.at)
    }

    /// What an access that orders others does to what this warp knows.
    pub fn synchronise(&mut self, order: Order, place: (BlockId, usize), kind: Visit) {
        if kind == Visit::Read {
            return;
        }
        let mine = self.hall.number;
        let var = self.world.sync.entry(place).or_default();
        let mut seen = var.known.clone();
        if let Some((cta, known)) = &var.narrow
            && *cta == mine
        {
            seen.join(known);
        }
        if order.acquire {
            self.warp.known.join(&seen);
        } else {
            self.warp.pending.join(&seen);
        }
        if order.release {
            let released = self.released();
            self.publish(place, order.wide, &released);
        } else if let Some((wide, fenced)) = self.warp.fenced.clone() {
            self.publish(place, wide, &fenced);
        }
    }

    fn publish(&mut self, place: (BlockId, usize), wide: bool, known: &Known) {
        let mine = self.hall.number;
        let var = self.world.sync.entry(place).or_default();
        if wide {
            var.known.join(known);
            return;
        }
        match &mut var.narrow {
            Some((cta, narrow)) if *cta == mine => narrow.join(known),
            narrow => *narrow = Some((mine, known.clone())),
        }
    }

    /// All that has happened before for this warp, itself included; what it does later is not.
    pub fn released(&mut self) -> Known {
        let mut known = self.warp.known.clone();
        let tag = self.tag(0);
        known.reach(tag.cta(), self.warp.index, self.hall.epoch, self.warp.clock);
        self.warp.clock += 1;
        known
    }

    /// A fence: what was read before counts as known, and what follows publishes all that came before.
    pub fn fence(&mut self, wide: bool) {
        let pending = std::mem::take(&mut self.warp.pending);
        self.warp.known.join(&pending);
        let released = self.released();
        self.warp.fenced = Some((wide, released));
    }

    /// Reports an address that leads nowhere, or outside.
    #[cold]
    pub fn out_of_bounds(&mut self, space: Space, address: u64, size: u64, lane: usize, pc: u32, write: bool) {
        let verb = if write { "writes" } else { "reads" };
        let windows = self.program.layout.windows;
        let foreign = match space {
            // In front of the first byte, addresses wrap round.
            Space::Shared | Space::Local | Space::Const | Space::Param => {
                (windows.shared.min(1 << 32)..0u64.wrapping_sub(1 << 32)).contains(&address)
            }
            Space::Global => address >= windows.shared && address < windows.param.saturating_add(windows.len),
            Space::Generic => address != 0 && address < 1 << 27 && windows.global > 27,
            _ => false,
        };
        let thread = self.thread(lane);
        let fault = if foreign {
            let message = match space {
                Space::Generic => format!(
                    "{verb} {size} bytes at {address:#x}, which is no generic address: one of another space must be converted by `cvta`"
                ),
                _ => format!(
                    "{verb} {size} bytes at {address:#x}, which is no address of the {} space",
                    space.name()
                ),
            };
            Fault::new(codes::MEM007, Level::Error, self.site(pc), message)
        } else {
            let what = self.describe(space, address);
            let message = format!("{verb} {size} bytes at {address:#x}{what}");
            let mut fault = Fault::new(codes::MEM002, Level::Error, self.site(pc), message);
            fault.stray = self.stray(space, address);
            fault
        };
        self.report(fault.thread(thread).address(address));
    }

    /// Reports a load through the read-only path of what the kernel has written.
    #[cold]
    pub fn stale(&mut self, lane: usize, address: u64, pc: u32) {
        let message = "reads through `.nc` what this kernel has written, and may get what was there before";
        let fault = Fault::new(codes::MEM011, Level::Error, self.site(pc), message);
        self.report(fault.thread(self.thread(lane)).address(address));
    }

    /// Reports an address that is no multiple of the access.
    #[cold]
    pub fn misaligned(&mut self, address: u64, size: u64, lane: usize, pc: u32) {
        let message = format!("accesses {size} bytes at {address:#x}, which is no multiple of {size}");
        let fault = Fault::new(codes::MEM003, Level::Error, self.site(pc), message);
        self.report(fault.thread(self.thread(lane)).address(address));
    }

    /// Reports the use of another thread's local memory.
    #[cold]
    pub fn foreign_local(&mut self, address: u64, owner: u32, lane: usize, pc: u32) {
        let owner = self.hall.thread(owner);
        let message = format!("uses an address in the local memory of {owner}");
        let fault = Fault::new(codes::MEM007, Level::Error, self.site(pc), message);
        self.report(fault.thread(self.thread(lane)).address(address));
    }

    /// Reports the use of a register that some lanes have not written.
    #[cold]
    pub fn unwritten(&mut self, pc: u32, missing: u32, name: u32) {
        if !self.world.options.checks.memory {
            return;
        }
        let lane = missing.trailing_zeros() as usize & 31;
        let name = self.program.names.get(name as usize).map_or("", String::as_str);
        let message = format!("reads {name}, which this thread has not written");
        let fault = Fault::new(codes::FLOW001, Level::Error, self.site(pc), message);
        self.report(fault.thread(self.thread(lane)));
    }
}
