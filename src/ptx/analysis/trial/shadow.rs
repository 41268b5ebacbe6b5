//! Who wrote what is in shared memory, to see an array's element lost to a slot that was laid over it.

use super::log::Site;
use super::value::{Data, Value};
use rustc_hash::FxHashMap;

/// Words that are followed at most.
const MOST: usize = 1 << 16;

/// An element that was stored with the rest of an array, overwritten before anybody read it, and read with the rest again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clobber {
    /// The store of the array.
    pub array: Site,
    /// The store to the slot.
    pub slot: Site,
    /// The load of the array.
    pub load: Site,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    writer: Site,
    /// The store whose value was lost.
    lost: Option<Site>,
    read: bool,
    /// Whether all threads have read it at once.
    broadcast: bool,
}

/// The words of shared memory.
#[derive(Default)]
pub(super) struct Shadow {
    words: FxHashMap<u64, Word>,
    pub(super) found: Vec<Clobber>,
}

impl Shadow {
    /// Notes a store: by all threads to places of their own, or to one slot.
    pub(super) fn store(&mut self, site: Site, address: u64, slot: bool, value: Option<&Value>) {
        let unknown = value.is_some_and(|value| matches!(value.data, Data::Unknown(_)));
        let lost = match self.words.get(&(address / 4)) {
            Some(old) if slot && unknown && !old.read && old.writer != site => Some(old.writer),
            _ => None,
        };
        if self.words.len() < MOST {
            let word = Word {
                writer: site,
                // Only data is missed, not what an array was cleared with.
                lost: lost.filter(|_| unknown),
                read: !unknown,
                broadcast: false,
            };
            self.words.insert(address / 4, word);
        }
    }

    /// Notes a load by all threads of their own places.
    pub(super) fn load(&mut self, site: Site, addresses: impl Iterator<Item = u64> + Clone) {
        let words = &self.words;
        let of = |address: u64| words.get(&(address / 4)).copied();
        let lost = addresses
            .clone()
            .filter_map(of)
            .find(|word| word.broadcast && word.lost.is_some());
        if let Some((slot, array)) = lost.and_then(|word| Some((word.writer, word.lost?)))
            && addresses.clone().filter_map(of).any(|word| word.writer == array)
        {
            let clobber = Clobber {
                array,
                slot,
                load: site,
            };
            if !self.found.contains(&clobber) {
                self.found.push(clobber);
            }
        }
        for address in addresses {
            if let Some(word) = self.words.get_mut(&(address / 4)) {
                word.read = true;
            }
        }
    }

    /// Notes a load of one slot by all threads.
    pub(super) fn load_slot(&mut self, address: u64) {
        if let Some(word) = self.words.get_mut(&(address / 4)) {
            word.read = true;
            word.broadcast = true;
        }
    }
}
