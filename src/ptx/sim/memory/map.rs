//! Addresses: every buffer and every variable lies in a window of its own, so that what runs out of one never lands in another.

use crate::ptx::ir::SymbolId;

/// Size of a page of the spaces with 32-bit addresses: each variable starts one.
const PAGE: u32 = 20;

/// Which block a region lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// A block of the whole launch: a buffer, or a `.global` or `.const` variable.
    Buffer(u32),
    /// The CTA's shared memory.
    Shared,
    /// The kernel's parameters.
    Params,
    /// A thread's arguments of calls.
    Arena,
    /// A thread's local memory.
    Local,
}

/// A variable or buffer, and where it is.
#[derive(Clone, Debug)]
pub struct Region {
    /// First address, in its own space.
    pub base: u64,
    /// Length in bytes.
    pub size: u64,
    /// Which block.
    pub home: Home,
    /// Where in the block.
    pub at: u64,
    /// What people call it.
    pub name: String,
    /// The variable, if it is one.
    pub symbol: Option<SymbolId>,
}

/// The regions of a space, each in pages of its own.
#[derive(Clone, Debug)]
pub struct Map {
    /// Bytes of a page, as a power of two.
    shift: u32,
    /// The region of each page; `u16::MAX` for none.
    pages: Vec<u16>,
    regions: Vec<Region>,
    /// Offset of the first region in its first page.
    skip: u64,
    /// The most pages.
    most: u64,
}

impl Map {
    /// A space with 32-bit addresses of up to so many pages. The first variable is at `skip`.
    pub fn narrow(first_page: usize, skip: u64, most: u64) -> Self {
        Map {
            shift: PAGE,
            pages: vec![u16::MAX; first_page],
            regions: Vec::new(),
            skip,
            most,
        }
    }

    /// Global memory: windows of `1 << shift` bytes; address 0 lies in none.
    pub fn wide(shift: u32) -> Self {
        Map {
            shift,
            pages: vec![u16::MAX],
            regions: Vec::new(),
            skip: 0,
            most: 1 << 12,
        }
    }

    /// Gives a variable its window. `None` if there are too many.
    pub fn add(&mut self, size: u64, home: Home, at: u64, name: String, symbol: Option<SymbolId>) -> Option<u64> {
        let base = ((self.pages.len() as u64) << self.shift) + std::mem::take(&mut self.skip);
        let id = u16::try_from(self.regions.len()).ok().filter(|id| *id < u16::MAX)?;
        // What runs out of a window must not reach the next one at once.
        let pages = (size >> self.shift) + 1 + u64::from(size & ((1 << self.shift) - 1) > (1 << self.shift) / 2);
        if self.pages.len() as u64 + pages > self.most {
            return None;
        }
        self.pages.resize(self.pages.len() + pages as usize, id);
        self.regions.push(Region {
            base,
            size,
            home,
            at,
            name,
            symbol,
        });
        Some(base)
    }

    /// The region in whose window an address lies; the address may be outside of the region itself.
    #[inline(always)]
    pub fn find(&self, address: u64) -> Option<&Region> {
        let page = *self.pages.get((address >> self.shift) as usize)?;
        self.regions.get(usize::from(page))
    }

    /// The regions, in the order of their addresses.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Where a variable is.
    pub fn of(&self, symbol: SymbolId) -> Option<&Region> {
        self.regions.iter().find(|region| region.symbol == Some(symbol))
    }
}

/// Where the other spaces lie in the generic one.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Size of a window of global memory, as a power of two.
    pub global: u32,
    /// Shared memory.
    pub shared: u64,
    /// Local memory.
    pub local: u64,
    /// Constants.
    pub constant: u64,
    /// Kernel parameters.
    pub param: u64,
    /// Length of each of the four.
    pub len: u64,
    /// Where in a local address the thread's number stands; 64 for nowhere.
    pub thread_at: u32,
}

impl Windows {
    /// Of 64-bit addresses.
    pub const WIDE: Windows = Windows {
        global: 36,
        shared: 1 << 48,
        local: 2 << 48,
        constant: 3 << 48,
        param: 4 << 48,
        len: 1 << 48,
        thread_at: 32,
    };
    /// Of 32-bit addresses.
    pub const NARROW: Windows = Windows {
        global: 26,
        shared: 0x8000_0000,
        local: 0xA000_0000,
        constant: 0xC000_0000,
        param: 0xE000_0000,
        len: 0x2000_0000,
        thread_at: 63,
    };
}
