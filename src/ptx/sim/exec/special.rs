//! Special registers, and what asks where an address lies.

use super::super::lanes::{Slot, lanes};
use super::super::program::Program;
use super::access;
use super::state::{Ctx, Split};
use crate::ptx::ir::Special;
use crate::ptx::isa::Extent;
use crate::ptx::types::Space;

impl Ctx<'_> {
    /// Fills the rows that do not change while the warp is there: special registers, and parameters of the kernel.
    pub fn set_lasting(&mut self) {
        let program: &Program = self.program;
        for (special, slot) in &program.specials {
            // All lanes have the same of what is not the thread's own.
            if special.info().extent != Extent::Thread {
                self.warp.file.fill(*slot, self.special(*special, 0));
                continue;
            }
            for lane in 0..32 {
                let value = self.special(*special, lane);
                self.warp.file.write(*slot, lane, value);
            }
        }
        for given in &program.given {
            let value = self.world.params.load(given.at, given.access.bytes as usize);
            let value = access::fill(&given.access, value, given.slot);
            self.warp.file.fill(given.slot, value as u64);
        }
    }

    /// Fills the special registers that CTAs have their own of.
    pub fn set_specials(&mut self) {
        let program: &Program = self.program;
        if self.warp.index == 0 {
            let mut values = std::mem::take(&mut self.hall.specials);
            values.clear();
            values.extend(
                program
                    .cta_specials
                    .iter()
                    .map(|(special, _)| self.special(*special, 0)),
            );
            self.hall.specials = values;
        }
        for ((_, slot), value) in program.cta_specials.iter().zip(&self.hall.specials) {
            self.warp.file.fill(*slot, *value);
        }
    }

    /// Reads a special register that changes. Time is counted in instructions of the warp.
    pub fn read_special(&mut self, special: Special, d: Slot, mask: u32) {
        let now = self.warp.executed;
        let value = match special.name() {
            "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo" => now,
            "%clock_hi" | "%globaltimer_hi" => now >> 32,
            _ => 0,
        };
        for lane in lanes(mask) {
            self.warp.file.write(d, lane, value);
        }
    }

    fn special(&self, special: Special, lane: usize) -> u64 {
        let number = self.warp.index * 32 + lane as u32;
        let [bx, by, bz] = self.hall.block;
        let threads = bx * by * bz;
        let tid = self.hall.thread(number.min(threads.saturating_sub(1))).tid;
        let bit = 1u32 << lane;
        let name = special.name();
        if let Some(value) = self.cluster_special(name) {
            return u64::from(value);
        }
        u64::from(match name {
            "%tid.x" => tid[0],
            "%tid.y" => tid[1],
            "%tid.z" => tid[2],
            "%ntid.x" => bx,
            "%ntid.y" => by,
            "%ntid.z" => bz,
            "%ctaid.x" => self.hall.cta[0],
            "%ctaid.y" => self.hall.cta[1],
            "%ctaid.z" => self.hall.cta[2],
            "%nctaid.x" => self.world.grid[0],
            "%nctaid.y" => self.world.grid[1],
            "%nctaid.z" => self.world.grid[2],
            "%laneid" => lane as u32,
            "%warpid" => self.warp.index,
            "%nwarpid" => 64,
            "%nsmid" => 1,
            "WARP_SZ" => 32,
            "%lanemask_eq" => bit,
            "%lanemask_lt" => bit - 1,
            "%lanemask_le" => bit | (bit - 1),
            "%lanemask_gt" => !(bit | (bit - 1)),
            "%lanemask_ge" => !(bit - 1),
            "%dynamic_smem_size" => self.program.layout.dynamic as u32,
            "%total_smem_size" | "%aggr_smem_size" => self.program.layout.shared_len as u32,
            _ => 0,
        })
    }

    fn cluster_special(&self, name: &str) -> Option<u32> {
        let cluster = self.world.options.cluster;
        let cta = self.hall.cta;
        let axis = |at: usize| {
            (
                cta[at] % cluster[at],
                cta[at] / cluster[at],
                self.world.grid[at].div_ceil(cluster[at]),
            )
        };
        let of = |suffix: &str| match suffix {
            ".x" => Some(0),
            ".y" => Some(1),
            ".z" => Some(2),
            _ => None,
        };
        let rank = axis(0).0 + cluster[0] * (axis(1).0 + cluster[1] * axis(2).0);
        Some(match name {
            "%cluster_ctarank" => rank,
            "%cluster_nctarank" => cluster.iter().product(),
            "%is_explicit_cluster" => u32::from(cluster != [1, 1, 1]),
            _ => {
                let dot = name.rfind('.')?;
                let at = of(name.get(dot..)?)?;
                match name.get(..dot)? {
                    "%cluster_ctaid" => axis(at).0,
                    "%clusterid" => axis(at).1,
                    "%nclusterid" => axis(at).2,
                    "%cluster_nctaid" => cluster[at],
                    _ => return None,
                }
            }
        })
    }

    /// `cvta`, `isspacep`, `mapa`, `getctarank`.
    pub fn space(&mut self, op: &super::super::program::SpaceOp, split: Split) {
        use super::super::program::SpaceOp;
        for lane in lanes(split.mask) {
            let (d, value) = match *op {
                SpaceOp::Is { d, a, space } => {
                    let address = self.warp.file.read(a, lane);
                    (d, u64::from(self.is_of(space, address)))
                }
                SpaceOp::ToGeneric { d, a, space } => {
                    let address = self.warp.file.read(a, lane);
                    (d, address.wrapping_add(self.window(space, lane)))
                }
                SpaceOp::ToSpace { d, a, space } => {
                    let address = self.warp.file.read(a, lane);
                    (d, address.wrapping_sub(self.window(space, lane)))
                }
                SpaceOp::Map { d, a, b, generic } => {
                    let (address, rank) = (self.warp.file.read(a, lane), self.warp.file.read(b, lane));
                    (d, self.map_to(address, rank, generic))
                }
                SpaceOp::Rank { d, a, generic } => {
                    let address = self.warp.file.read(a, lane);
                    (d, self.rank_of(address, generic))
                }
            };
            self.warp.file.write(d, lane, value);
        }
    }

    /// What makes an address of a space generic, for one lane.
    fn window(&self, space: Space, lane: usize) -> u64 {
        let windows = self.program.layout.windows;
        match space {
            Space::Local if windows.thread_at < 63 => {
                let thread = u64::from(self.warp.index) * 32 + lane as u64;
                windows.local + (thread << windows.thread_at)
            }
            space => self.program.layout.window(space),
        }
    }

    fn is_of(&self, space: Space, address: u64) -> bool {
        let windows = self.program.layout.windows;
        let within = |start: u64| address.wrapping_sub(start) < windows.len;
        match space {
            Space::Shared | Space::SharedCluster => within(windows.shared),
            Space::Local => within(windows.local),
            Space::Const => within(windows.constant),
            Space::Param => within(windows.param),
            Space::Global => address < windows.shared,
            _ => false,
        }
    }
}
