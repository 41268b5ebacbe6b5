//! The accesses since the last barrier, and the conflicts among them.

use super::node::Marks;
use super::value::Value;
use crate::ptx::ir::{FuncId, InstId, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// An instruction of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The function.
    pub function: FuncId,
    /// The instruction.
    pub inst: InstId,
}

/// What an access does, as far as conflicts go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) site: Site,
    pub(super) thread: u32,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) writes: bool,
    pub(super) atomic: bool,
    pub(super) strong: bool,
    /// What is written, where it is one thing: its number among the log's values.
    pub(super) value: Option<u32>,
    /// Whether it may not happen.
    pub(super) maybe: bool,
    /// Whether all threads that execute it access one address.
    pub(super) broadcast: bool,
    pub(super) shared: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    touch: Touch,
    /// When it happened.
    time: u32,
    /// The warp's clock.
    stamp: u32,
    /// Which bytes of the word.
    bytes: u8,
}

/// Two accesses of different threads to one address that nothing orders, one of them a write.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// The access that happened first in the trial run.
    pub first: Site,
    /// The other one.
    pub second: Site,
    /// Their threads, by linear index.
    pub threads: (u32, u32),
    /// Whether they write.
    pub writes: (bool, bool),
    /// Whether they are atomic.
    pub atomic: (bool, bool),
    /// Whether both are volatile, relaxed or stronger.
    pub strong: bool,
    /// The common address.
    pub address: u64,
    /// Whether it is in shared memory.
    pub shared: bool,
    /// The variable or parameter whose memory it is, and the bytes from its start.
    pub object: Option<(SymbolId, i64)>,
    /// Whether only lanes of one warp are in conflict.
    pub in_warp: bool,
    /// Whether both write the same.
    pub equal: bool,
    /// Whether either may not happen.
    pub maybe: bool,
    /// Whether one of them goes to a place in the variable that is not known.
    pub anywhere: bool,
    /// Whether the one that reads is a broadcast: all threads read one address.
    pub broadcast: bool,
    /// When each happened.
    pub times: (u32, u32),
}

/// The accesses since the last barrier.
pub(super) struct Log {
    words: FxHashMap<u64, SmallVec<[Entry; 2]>>,
    pub(super) conflicts: FxHashMap<(Site, Site), Conflict>,
    /// The pairs that were together in one interval, conflict or not.
    pub(super) sites: FxHashSet<Site>,
    /// Per thread, when it last waited for lanes of its warp.
    pub(super) synced: Vec<u32>,
    /// Per warp, its clock, and what it knows of the others' clocks.
    pub(super) clocks: Vec<Vec<u32>>,
    marks: Marks,
    /// What was written.
    values: Vec<Value>,
    /// Per variable, accesses somewhere in it, and samples of those at known places.
    areas: FxHashMap<SymbolId, Vec<Entry>>,
    parts: FxHashMap<SymbolId, Vec<Entry>>,
}

impl Log {
    pub(super) fn new(threads: usize) -> Self {
        let warps = threads.div_ceil(32);
        let mut clocks = vec![vec![0; warps]; warps];
        (0..warps).for_each(|warp| clocks[warp][warp] = 1);
        Self {
            words: FxHashMap::default(),
            conflicts: FxHashMap::default(),
            sites: FxHashSet::default(),
            synced: vec![0; threads],
            clocks,
            marks: Marks::default(),
            values: Vec::new(),
            areas: FxHashMap::default(),
            parts: FxHashMap::default(),
        }
    }

    /// All threads have waited for each other.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.areas.clear();
        self.parts.clear();
        self.values.clear();
    }

    /// Keeps what an instruction writes, and answers its number.
    pub(super) fn value(&mut self, value: &Value) -> u32 {
        self.values.push(value.clone());
        self.values.len() as u32 - 1
    }

    fn entry(&self, touch: Touch, time: u32) -> Entry {
        let warp = touch.thread as usize / 32;
        Entry {
            time,
            stamp: self.clocks[warp][warp],
            bytes: 0xf,
            touch,
        }
    }

    /// Notes an access at a place in the variable that is not known.
    pub(super) fn note_area(&mut self, touch: Touch, time: u32, symbol: SymbolId) {
        let entry = self.entry(touch, time);
        let known: Vec<Entry> = self.parts.get(&symbol).cloned().unwrap_or_default();
        known.iter().for_each(|known| self.meet(known, &entry));
        self.areas.entry(symbol).or_default().push(entry);
    }

    /// Notes one of the accesses at known places in the variable.
    pub(super) fn note_part(&mut self, touch: &Touch, time: u32, symbol: SymbolId) {
        let sampled = |entries: &Vec<Entry>| {
            let own = entries
                .iter()
                .filter(|entry| entry.touch.site == touch.site && entry.time == time);
            let near = own
                .clone()
                .filter(|entry| entry.touch.thread / 32 == touch.thread / 32)
                .count();
            near >= 2 || own.count() >= 4
        };
        if self.parts.get(&symbol).is_some_and(sampled) {
            return;
        }
        let entry = self.entry(*touch, time);
        let areas: Vec<Entry> = self.areas.get(&symbol).cloned().unwrap_or_default();
        areas.iter().for_each(|area| self.meet(area, &entry));
        let parts = self.parts.entry(symbol).or_default();
        if parts.len() < 256 {
            parts.push(entry);
        }
    }

    /// An access at a known place and one at an unknown place: they may meet.
    fn meet(&mut self, known: &Entry, new: &Entry) {
        if known.touch.site == new.touch.site {
            return;
        }
        if let Some(mut conflict) = conflict(known, new, &self.synced, &self.clocks, new.touch.address / 4 * 4) {
            conflict.maybe = true;
            conflict.equal = false;
            conflict.anywhere = true;
            self.keep(conflict);
        }
    }

    fn keep(&mut self, conflict: Conflict) {
        let place = self
            .conflicts
            .entry((conflict.first, conflict.second))
            .or_insert(conflict);
        if rank(&conflict) < rank(place) {
            *place = conflict;
        }
    }

    /// Notes an access at a time, and finds what it is in conflict with.
    pub(super) fn note(&mut self, touch: Touch, time: u32) {
        let end = touch.address + u64::from(touch.bytes);
        let mut word = touch.address / 4;
        while word * 4 < end {
            let low = touch.address.max(word * 4) - word * 4;
            let high = end.min(word * 4 + 4) - word * 4;
            let bytes = ((1u8 << high) - 1) & !((1u8 << low) - 1);
            self.word(touch, time, word, bytes);
            word += 1;
        }
    }

    fn word(&mut self, touch: Touch, time: u32, word: u64, bytes: u8) {
        let warp = touch.thread as usize / 32;
        let stamp = self.clocks[warp][warp];
        let entry = Entry {
            time,
            stamp,
            bytes,
            touch,
        };
        let touch = &entry.touch;
        let entries = self.words.entry(word).or_default();
        let (mut alike, mut near) = (0, 0);
        for known in entries.iter() {
            if known.touch.site == touch.site && known.touch.writes == touch.writes {
                alike += 1;
                near += usize::from(known.touch.thread as usize / 32 == warp);
            }
            if let Some(mut conflict) = conflict(known, &entry, &self.synced, &self.clocks, word * 4) {
                conflict.equal = conflict.equal && same(&mut self.marks, &self.values, known, &entry);
                let place = self
                    .conflicts
                    .entry((conflict.first, conflict.second))
                    .or_insert(conflict);
                if rank(&conflict) < rank(place) {
                    *place = conflict;
                }
            }
        }
        // Two threads of each of two warps are enough for an instruction; the last ones count once lanes synchronise.
        if alike >= 4 || near >= 2 {
            let stale = |known: &Entry| known.touch.site == touch.site && known.time < time && known.bytes == bytes;
            if let Some(old) = entries.iter().position(stale) {
                entries[old] = entry;
            }
            return;
        }
        entries.push(entry);
    }
}

/// Whether both write the same.
fn same(marks: &mut Marks, values: &[Value], known: &Entry, new: &Entry) -> bool {
    let of = |number: Option<u32>| values.get(number? as usize);
    match (of(known.touch.value), of(new.touch.value)) {
        (Some(a), Some(b)) => marks.of(a, known.touch.thread) == marks.of(b, new.touch.thread),
        _ => false,
    }
}

/// The smaller, the more telling.
fn rank(conflict: &Conflict) -> (bool, bool, bool) {
    (conflict.equal, conflict.maybe, conflict.in_warp)
}

fn conflict(known: &Entry, new: &Entry, synced: &[u32], clocks: &[Vec<u32>], base: u64) -> Option<Conflict> {
    let (a, b) = (&known.touch, &new.touch);
    let common = known.bytes & new.bytes;
    if a.thread == b.thread || common == 0 || !(a.writes || b.writes) || (a.atomic && b.atomic) {
        return None;
    }
    let (warp, other) = (a.thread as usize / 32, b.thread as usize / 32);
    let ordered = if warp == other {
        synced[a.thread as usize] > known.time && synced[b.thread as usize] > known.time
    } else {
        clocks[other][warp] >= known.stamp
    };
    if ordered {
        return None;
    }
    let both = a.writes && b.writes;
    Some(Conflict {
        first: a.site,
        second: b.site,
        threads: (a.thread, b.thread),
        writes: (a.writes, b.writes),
        atomic: (a.atomic, b.atomic),
        strong: a.strong && b.strong,
        address: base + u64::from(common.trailing_zeros()),
        shared: a.shared,
        object: None,
        in_warp: warp == other,
        // Whether it really is has yet to be seen.
        equal: both && known.bytes == new.bytes && !a.atomic && !b.atomic,
        maybe: a.maybe || b.maybe,
        anywhere: false,
        broadcast: (!a.writes && a.broadcast) || (!b.writes && b.broadcast),
        times: (known.time, new.time),
    })
}
