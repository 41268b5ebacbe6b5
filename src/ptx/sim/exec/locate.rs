//! Where addresses lead: which variable or buffer they lie in, and how people call that.

use super::super::fault::Stray;
use super::super::memory::{Home, Map, Region};
use super::state::{BlockId, Ctx};
use crate::ptx::types::Space;

/// A window of memory as the addresses of an access see it.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Which block.
    pub block: BlockId,
    /// The address of the variable's first byte, in the form of the access.
    pub base: u64,
    /// The variable's size.
    pub size: u64,
    /// Where in the block it begins, for lane 0.
    pub at: u64,
    /// How much further it begins for each lane.
    pub stride: u64,
    /// Which thread's local memory it is: that of this thread, if `None`.
    pub owner: Option<u32>,
}

impl Ctx<'_> {
    /// The window in which an address of that space lies.
    #[inline(always)]
    pub fn locate(&self, space: Space, address: u64) -> Option<View> {
        let layout = &self.program.layout;
        match space {
            Space::Global => view(&self.world.global, address, 0, self.hall.shared),
            Space::Shared => view(&layout.shared, address, 0, self.hall.shared),
            Space::Generic => self.locate_generic(address),
            _ => self.locate_rare(space, address),
        }
    }

    #[inline(always)]
    fn locate_generic(&self, address: u64) -> Option<View> {
        let (layout, windows) = (&self.program.layout, &self.program.layout.windows);
        if address < windows.shared {
            return view(&self.world.global, address, 0, self.hall.shared);
        }
        if address - windows.shared < windows.len {
            return self.locate_cluster(address - windows.shared, windows.shared);
        }
        if address.wrapping_sub(windows.local) < windows.len {
            // Addresses of 32 bits have no room for the thread.
            let named = windows.thread_at < 63;
            let owner = (address - windows.local) >> windows.thread_at;
            let start = windows.local + if named { owner << windows.thread_at } else { 0 };
            let mut view = view(&layout.local, address - start, start, self.hall.shared)?;
            view.stride = layout.local_len;
            view.owner = named.then_some(owner as u32);
            return Some(view);
        }
        if address.wrapping_sub(windows.constant) < windows.len {
            return view(&layout.constant, address - windows.constant, windows.constant, 0);
        }
        if address.wrapping_sub(windows.param) < windows.len {
            return view(&layout.param, address - windows.param, windows.param, 0);
        }
        None
    }

    /// Shared memory of a CTA of the cluster; without a rank in the address, of this one.
    fn locate_cluster(&self, address: u64, start: u64) -> Option<View> {
        let rank = address >> super::cluster::RANK_AT;
        if rank == 0 {
            return view(&self.program.layout.shared, address, start, self.hall.shared);
        }
        let peer = *self.hall.peers.get(rank as usize - 1)?;
        let start = start + (rank << super::cluster::RANK_AT);
        let within = address & ((1 << super::cluster::RANK_AT) - 1);
        view(&self.program.layout.shared, within, start, peer)
    }

    fn locate_rare(&self, space: Space, address: u64) -> Option<View> {
        let layout = &self.program.layout;
        match space {
            Space::SharedCluster => self.locate_cluster(address, 0),
            Space::Const => view(&layout.constant, address, 0, 0),
            Space::Local => {
                let mut view = view(&layout.local, address, 0, 0)?;
                view.stride = layout.local_len;
                Some(view)
            }
            Space::Param => {
                let mut view = view(&layout.param, address, 0, 0)?;
                if view.block == BlockId::Arena {
                    view.stride = layout.arena_len;
                }
                Some(view)
            }
            _ => None,
        }
    }

    /// Whether stores may go there.
    #[inline(always)]
    pub fn may_write(&self, space: Space, block: BlockId) -> bool {
        match block {
            BlockId::Params => false,
            BlockId::Buffer(at) => space != Space::Const && !self.is_constant(at),
            _ => true,
        }
    }

    #[inline(always)]
    fn is_constant(&self, block: u32) -> bool {
        self.program
            .layout
            .read_only
            .get(block as usize)
            .copied()
            .unwrap_or(false)
    }

    /// Says in words where an address lies.
    pub fn describe(&self, space: Space, address: u64) -> String {
        let (map, local) = self.map_of(space, address);
        let Some(region) = nearest(map, local) else {
            return String::new();
        };
        let offset = local.wrapping_sub(region.base) as i64;
        let (name, size) = (&region.name, region.size);
        if offset >= 0 && (offset as u64) < size {
            format!(": byte {offset} of {name}")
        } else if offset as u64 == size {
            format!(": just behind the end of {name} ({size} bytes)")
        } else if is_near(region, local) {
            format!(
                ": {} bytes behind the end of {name} ({size} bytes)",
                offset as u64 - size
            )
        } else {
            format!(": {}", self.before(map, local))
        }
    }

    /// What an address out of bounds was aimed at; `None` where nothing is near, in the spaces that the launch has no part in.
    pub fn stray(&self, space: Space, address: u64) -> Option<Stray> {
        let (map, local) = self.map_of(space, address);
        // Windows of global memory are so wide that only a wrong number leads out of them.
        let aimed_at = map
            .find(local)
            .or_else(|| nearest(map, local).filter(|region| is_near(region, local)));
        match aimed_at.or_else(|| in_front(map, local)) {
            None => matches!(space, Space::Global | Space::Generic).then_some(Stray::Nowhere),
            Some(region) => Some(match (region.symbol, region.home) {
                (Some(symbol), _) => Stray::Variable(symbol),
                (None, Home::Shared) => Stray::Dynamic,
                (None, _) => Stray::Buffer,
            }),
        }
    }

    /// The map in which an address of that space is looked up, and what it is there.
    fn map_of(&self, space: Space, address: u64) -> (&Map, u64) {
        let layout = &self.program.layout;
        let windows = layout.windows;
        match space {
            Space::Shared | Space::SharedCluster => (&layout.shared, address),
            Space::Const => (&layout.constant, address),
            Space::Local => (&layout.local, address),
            Space::Param => (&layout.param, address),
            Space::Generic if address.wrapping_sub(windows.shared) < windows.len => {
                (&layout.shared, address - windows.shared)
            }
            _ => (&self.world.global, address),
        }
    }

    fn before(&self, map: &Map, address: u64) -> String {
        match in_front(map, address) {
            Some(region) => format!("{} bytes in front of {}", ahead(region, address), region.name),
            None => "no variable or buffer is near".into(),
        }
    }
}

/// How far outside of a variable an address is still told by it, in bytes.
const NEAR: u64 = 1 << 19;

/// The region that an address lies in the window of, else the last one before it.
fn nearest(map: &Map, address: u64) -> Option<&Region> {
    let regions = map.regions();
    map.find(address)
        .or_else(|| regions.iter().rfind(|region| region.base <= address))
}

/// Whether an address lies in a region or not far behind it.
fn is_near(region: &Region, address: u64) -> bool {
    let offset = address.wrapping_sub(region.base);
    address >= region.base && offset.saturating_sub(region.size) < NEAR
}

/// The region that begins not far behind an address.
fn in_front(map: &Map, address: u64) -> Option<&Region> {
    let mut regions = map.regions().iter();
    regions.find(|region| (1..NEAR).contains(&ahead(region, address)))
}

/// How far ahead of an address a region begins. Addresses in front of the first byte have wrapped round.
fn ahead(region: &Region, address: u64) -> u64 {
    region.base.wrapping_sub(address)
}

#[inline(always)]
fn view(map: &Map, address: u64, start: u64, shared: usize) -> Option<View> {
    let region = map.find(address)?;
    Some(View {
        block: match region.home {
            Home::Buffer(at) => BlockId::Buffer(at),
            Home::Shared => BlockId::Shared(shared as u32),
            Home::Params => BlockId::Params,
            Home::Arena => BlockId::Arena,
            Home::Local => BlockId::Local,
        },
        base: start + region.base,
        size: region.size,
        at: region.at,
        stride: 0,
        owner: None,
    })
}
