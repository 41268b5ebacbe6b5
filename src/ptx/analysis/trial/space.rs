//! Where variables and buffers lie in a trial run: so far apart that an address says what it was made from.

use crate::ptx::ir::{Module, SymbolId};
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// Where variables in shared memory start.
const SHARED: u64 = 0x0100_0000;
/// Where variables in local memory start.
const LOCAL: u64 = 0x8000_0000;
/// End of addresses of shared and local memory.
const END: u64 = 1 << 32;
/// From one variable in shared or local memory to the next.
const SLOT: u64 = 1 << 20;
/// Where in its slot a variable starts: what lies before it belongs to it, too.
const LEAD: u64 = 1 << 18;
/// From one buffer in global memory to the next.
const BUFFER: u64 = 1 << 40;
/// Added to an address in shared memory to make it generic.
const GENERIC_SHARED: u64 = 1 << 57;
/// Added to an address in local memory to make it generic.
const GENERIC_LOCAL: u64 = 1 << 58;
/// Added to an address of a kernel parameter to make it generic.
const GENERIC_PARAM: u64 = 1 << 59;

/// What memory an address means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Region {
    /// A variable in shared memory, with the bytes from its start.
    Shared(SymbolId, i64),
    /// Shared memory by a number that no variable's address went into.
    RawShared,
    /// A variable in local memory.
    Local(SymbolId, i64),
    /// A variable in global or constant memory.
    Variable(SymbolId, i64),
    /// What a parameter points to: its number.
    Buffer(u32),
    /// A shared or local address that was not made generic.
    NotGeneric(SymbolId),
    /// Something else.
    Elsewhere,
}

impl Region {
    /// The same without the place in it: what all addresses of one object have in common.
    pub(super) fn object(self) -> Self {
        match self {
            Region::Shared(symbol, _) => Region::Shared(symbol, 0),
            Region::Local(symbol, _) => Region::Local(symbol, 0),
            Region::Variable(symbol, _) => Region::Variable(symbol, 0),
            other => other,
        }
    }
}

/// The addresses of variables.
pub(super) struct Layout<'m> {
    module: &'m Module,
    places: FxHashMap<SymbolId, u64>,
    shared: Vec<SymbolId>,
    local: Vec<SymbolId>,
    global: Vec<SymbolId>,
    /// The one region that all `.extern .shared` arrays share.
    dynamic: Option<u64>,
}

impl<'m> Layout<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self {
            module,
            places: FxHashMap::default(),
            shared: Vec::new(),
            local: Vec::new(),
            global: Vec::new(),
            dynamic: None,
        }
    }

    /// The address of a variable in its own space.
    pub(super) fn address(&mut self, symbol: SymbolId) -> Option<u64> {
        if let Some(known) = self.places.get(&symbol) {
            return Some(*known);
        }
        let variable = self.module.variable(symbol)?;
        let slot = |list: &mut Vec<SymbolId>, start: u64| {
            list.push(symbol);
            start + SLOT * (list.len() as u64 - 1) + LEAD
        };
        let place = match variable.space {
            Space::Shared if variable.size().is_none() || variable.size() == Some(0) => match self.dynamic {
                Some(place) => place,
                None => *self.dynamic.insert(slot(&mut self.shared, SHARED)),
            },
            Space::Shared => slot(&mut self.shared, SHARED),
            Space::Local => slot(&mut self.local, LOCAL),
            Space::Global | Space::Const => {
                self.global.push(symbol);
                (0x8000 + self.global.len() as u64) * BUFFER
            }
            _ => return None,
        };
        let fits = match variable.space {
            Space::Shared => place + SLOT < LOCAL,
            Space::Local => place + SLOT < END,
            _ => self.global.len() < 0x7000,
        };
        fits.then(|| {
            self.places.insert(symbol, place);
            place
        })
    }

    /// The address of what the parameter of this number points to.
    pub(super) fn buffer(number: u32) -> u64 {
        // Sums of two such addresses are none.
        (u64::from(number) * 64 + 17) * BUFFER
    }

    /// Whether an address can be one of a variable in shared memory, generic or not.
    pub(super) fn is_variable(address: u64) -> bool {
        (SHARED..LOCAL).contains(&Self::locate(address).1) && Self::locate(address).0 != Space::Local
    }

    /// A space's own address as a generic one.
    pub(super) fn generic(space: Space, address: u64) -> u64 {
        match space {
            Space::Shared | Space::SharedCluster => address.wrapping_add(GENERIC_SHARED),
            Space::Local => address.wrapping_add(GENERIC_LOCAL),
            Space::Param => address.wrapping_add(GENERIC_PARAM),
            _ => address,
        }
    }

    /// A generic address as one of a space's own.
    pub(super) fn specific(space: Space, address: u64) -> u64 {
        match space {
            Space::Shared | Space::SharedCluster if address >= GENERIC_SHARED => address - GENERIC_SHARED,
            Space::Local if address >= GENERIC_LOCAL => address - GENERIC_LOCAL,
            _ => address,
        }
    }

    /// The space a generic address lies in, and its address there.
    pub(super) fn locate(address: u64) -> (Space, u64) {
        match address {
            GENERIC_PARAM.. => (Space::Param, address - GENERIC_PARAM),
            GENERIC_LOCAL.. => (Space::Local, address - GENERIC_LOCAL),
            GENERIC_SHARED.. => (Space::Shared, address - GENERIC_SHARED),
            _ => (Space::Global, address),
        }
    }

    /// What an address in a space means.
    pub(super) fn region(&self, space: Space, address: u64) -> Region {
        let slot = |list: &[SymbolId], start: u64| {
            let at = address.checked_sub(start)? / SLOT;
            let symbol = *list.get(usize::try_from(at).ok()?)?;
            Some((symbol, address as i64 - (start + at * SLOT + LEAD) as i64))
        };
        match space {
            Space::Shared | Space::SharedCluster => match slot(&self.shared, SHARED) {
                Some((symbol, offset)) => Region::Shared(symbol, offset),
                None if address < SHARED => Region::RawShared,
                None => Region::Elsewhere,
            },
            Space::Local => match slot(&self.local, LOCAL) {
                Some((symbol, offset)) => Region::Local(symbol, offset),
                None => Region::Elsewhere,
            },
            _ => self.global_region(address),
        }
    }

    fn global_region(&self, address: u64) -> Region {
        if address < END {
            let raw = self.region(Space::Shared, address);
            return match (raw, self.region(Space::Local, address)) {
                (Region::Shared(symbol, _), _) | (_, Region::Local(symbol, _)) => Region::NotGeneric(symbol),
                _ => Region::Elsewhere,
            };
        }
        let nearest = address.wrapping_add(BUFFER / 2) / BUFFER;
        if let Some(at) = nearest.checked_sub(0x8001).filter(|at| *at < 0x7000) {
            let symbol = self.global.get(at as usize);
            return symbol.map_or(Region::Elsewhere, |symbol| {
                Region::Variable(*symbol, address.wrapping_sub(nearest * BUFFER) as i64)
            });
        }
        match nearest.checked_sub(17) {
            Some(at) if at % 64 == 0 && at / 64 < 512 => Region::Buffer((at / 64) as u32),
            _ => Region::Elsewhere,
        }
    }
}
