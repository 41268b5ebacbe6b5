//! Which objects the threads of an access reach, and how far.

use super::access::resolve;
use super::log::{Places, Site};
use super::machine::Machine;
use super::mask::Mask;
use super::program::Access;
use super::space::Region;
use super::value::{Data, Value};
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Accesses that are kept to find what is read through the read-only path and written.
const MOST: usize = 4096;
/// Words that are compared then.
const MOST_WORDS: usize = 1 << 16;

/// The numbers of some threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) low: u64,
    pub(super) high: u64,
    /// Bits in which some differ.
    pub(super) differ: u64,
}

impl Range {
    /// Of a value in these threads, where it is known in all of them.
    pub(super) fn of(value: &Value, lanes: &Mask, threads: usize) -> Option<Self> {
        if let Data::Ramp(ramp) = &value.data
            && lanes.len() as usize == threads
            && let Some((low, high)) = ramp.ends(threads - 1)
        {
            // No bit below those of the step differs; above, any may.
            let differ = u64::MAX << ramp.step().trailing_zeros();
            return Some(Self { low, high, differ });
        }
        let first = value.of(lanes.lowest()?)?;
        let mut range = Self {
            low: first,
            high: first,
            differ: 0,
        };
        let mut see = |known: u64| {
            range.low = range.low.min(known);
            range.high = range.high.max(known);
            range.differ |= known ^ first;
        };
        match &value.data {
            Data::Same(_) => {}
            Data::Each(each) if each.unknown.is_empty() && lanes.len() as usize == threads => {
                each.values.iter().for_each(|known| see(*known));
            }
            _ => {
                for thread in lanes.iter() {
                    see(value.of(thread)?);
                }
            }
        }
        Some(range)
    }
}

/// Threads whose accesses go to one object.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) space: Space,
    /// What makes a space's own address the generic one that is used.
    pub(super) less: u64,
    /// What the lowest address means.
    pub(super) region: Region,
    pub(super) lanes: Mask,
    /// The lowest and the highest place.
    pub(super) low: u64,
    pub(super) high: u64,
    /// Bits in which places differ.
    pub(super) differ: u64,
}

impl Machine<'_, '_> {
    /// The objects that threads reach; mostly it is one.
    pub(super) fn parts(&self, access: &Access, address: &Value, lanes: &Mask) -> SmallVec<[Part; 1]> {
        let Some(range) = Range::of(address, lanes, self.threads) else {
            return SmallVec::new();
        };
        if let Some(part) = self.part(access, range, lanes) {
            return SmallVec::from_iter([part]);
        }
        let mut groups: Vec<((Space, Region), Mask)> = Vec::new();
        for thread in lanes.iter() {
            let Some(known) = address.of(thread) else { continue };
            let (space, place) = resolve(access.space, known);
            let object = self.layout.region(space, place).object();
            match groups.iter_mut().find(|(key, _)| *key == (space, object)) {
                Some((_, mask)) => mask.add(thread),
                None => {
                    let mut mask = Mask::default();
                    mask.add(thread);
                    groups.push(((space, object), mask));
                }
            }
        }
        let part = |(_, mask): &(_, Mask)| {
            let range = Range::of(address, mask, self.threads)?;
            self.part(access, range, mask)
        };
        groups.iter().filter_map(part).collect()
    }

    /// The part, where all of the range lies in one object.
    fn part(&self, access: &Access, range: Range, lanes: &Mask) -> Option<Part> {
        let (space, low) = resolve(access.space, range.low);
        let (other, high) = resolve(access.space, range.high);
        let region = self.layout.region(space, low);
        let same = space == other && region.object() == self.layout.region(space, high).object();
        same.then_some(Part {
            space,
            less: range.low.wrapping_sub(low),
            region,
            lanes: *lanes,
            low,
            high,
            differ: range.differ,
        })
    }
}

/// What is read through the read-only path, and what is written, all through a run.
#[derive(Default)]
pub(super) struct ReadOnly {
    spans: Vec<Span>,
}

struct Span {
    site: Site,
    nc: bool,
    places: Places,
    lanes: Mask,
    size: u64,
    range: (u64, u64),
}

impl ReadOnly {
    /// Notes an access to global memory.
    pub(super) fn note(&mut self, site: Site, nc: bool, places: &Places, lanes: &Mask, size: u64, range: (u64, u64)) {
        let known = |span: &Span| span.site == site && span.range == range;
        if self.spans.len() < MOST && !self.spans.iter().rev().take(64).any(known) {
            self.spans.push(Span {
                site,
                nc,
                places: places.clone(),
                lanes: *lanes,
                size,
                range,
            });
        }
    }

    /// Loads through the read-only path of what is written, with the store.
    pub(super) fn pairs(&self) -> Vec<(Site, Site)> {
        let meet = |a: &Span, b: &Span| a.range.0 < b.range.1 && b.range.0 < a.range.1;
        let meets = |span: &&Span| self.spans.iter().any(|other| other.nc != span.nc && meet(span, other));
        let near: Vec<&Span> = self.spans.iter().filter(meets).collect();
        let mut written: FxHashMap<u64, Site> = FxHashMap::default();
        for span in near.iter().filter(|span| !span.nc) {
            for word in span.words().take(MOST_WORDS.saturating_sub(written.len())) {
                written.entry(word).or_insert(span.site);
            }
        }
        let mut found: Vec<(Site, Site)> = Vec::new();
        for span in near.iter().filter(|span| span.nc) {
            let store = span.words().find_map(|word| written.get(&word));
            found.extend(store.map(|store| (span.site, *store)));
        }
        found.sort();
        found.dedup_by_key(|pair| pair.0);
        found
    }
}

impl Span {
    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let places = self.lanes.iter().filter_map(|thread| self.places.of(thread));
        places.flat_map(|place| place / 4..(place + self.size).div_ceil(4))
    }
}
