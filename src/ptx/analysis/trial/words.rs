//! Accesses held against each other, word by word.

use super::log::{Log, Record, conflict};
use super::node::Marks;
use rustc_hash::FxHashMap;

/// Words up to which places are found by index, not by hashing.
const FLAT: u64 = 1 << 16;
/// Ends a chain; of a word, that nobody has accessed it.
const NONE: u32 = u32::MAX;
/// Of a word, that several threads have read it.
const READ: u32 = u32::MAX - 1;
/// Of a word, beside its thread, that it has been written.
const WRITTEN: u32 = 1 << 16;

/// An access to a word.
#[derive(Clone, Copy, Debug)]
struct Entry {
    record: u32,
    thread: u16,
    /// Which bytes of the word.
    bytes: u8,
    /// Which element.
    element: u8,
    /// The next entry of the word.
    next: u32,
}

/// Workspace that is used again.
#[derive(Default)]
pub(super) struct Scratch {
    heads: Vec<u32>,
    far: FxHashMap<u64, u32>,
    entries: Vec<Entry>,
    /// Per word, who has come to it.
    owners: Vec<u32>,
}

impl Scratch {
    /// Whether no thread of these accesses, taken one by one, comes to a word that another one writes.
    fn is_apart(&mut self, record: &Record, low: u64, span: u64) -> bool {
        self.owners.resize(span as usize, NONE);
        record.lanes.iter().all(|thread| {
            let Some(place) = record.places.of(thread) else {
                return true;
            };
            let end = (place + record.size()).div_ceil(4).saturating_sub(low);
            let words = (place / 4).saturating_sub(low)..end.min(span);
            words
                .into_iter()
                .all(|word| self.enters(word as usize, thread as u32, record.writes))
        })
    }

    fn enters(&mut self, word: usize, thread: u32, writes: bool) -> bool {
        let Some(owner) = self.owners.get_mut(word) else {
            return false;
        };
        let written = if writes { WRITTEN } else { 0 };
        match *owner {
            NONE => *owner = thread | written,
            READ => return !writes,
            known if known & !WRITTEN == thread => *owner |= written,
            known if known & WRITTEN != 0 || writes => return false,
            _ => *owner = READ,
        }
        true
    }
}

/// Compares these accesses, the earlier ones first.
pub(super) fn compare(log: &mut Log, records: &[Record], members: &[u32]) {
    let all = || members.iter().map(|at| &records[*at as usize]);
    let (Some(low), Some(high)) = (
        all().map(|record| record.low / 4).min(),
        all().map(|record| record.high.div_ceil(4)).max(),
    ) else {
        return;
    };
    let mut scratch = std::mem::take(log.scratch());
    let span = high.saturating_sub(low);
    scratch.owners.clear();
    if span <= FLAT && all().all(|record| scratch.is_apart(record, low, span)) {
        *log.scratch() = scratch;
        return;
    }
    scratch.entries.clear();
    scratch.far.clear();
    scratch.heads.clear();
    if span <= FLAT {
        scratch.heads.resize(span as usize, NONE);
    }
    let mut search = Search {
        log,
        records,
        low,
        scratch,
    };
    for at in members {
        if search.log.pairs == 0 {
            break;
        }
        search.record(*at);
    }
    let Search { log, scratch, .. } = search;
    *log.scratch() = scratch;
}

struct Search<'l, 'r> {
    log: &'l mut Log,
    records: &'r [Record],
    /// The first word.
    low: u64,
    scratch: Scratch,
}

impl Search<'_, '_> {
    fn record(&mut self, at: u32) {
        let records = self.records;
        let record = &records[at as usize];
        for thread in record.lanes.iter() {
            let Some(mut place) = record.places.of(thread) else {
                continue;
            };
            for element in 0..record.elements {
                self.element(at, thread, element as u8, place);
                place += u64::from(record.bytes);
            }
        }
    }

    fn element(&mut self, at: u32, thread: usize, element: u8, place: u64) {
        let end = place + u64::from(self.records[at as usize].bytes);
        let mut word = place / 4;
        while word * 4 < end {
            let low = place.max(word * 4) - word * 4;
            let high = end.min(word * 4 + 4) - word * 4;
            let entry = Entry {
                record: at,
                thread: thread as u16,
                bytes: ((1u8 << high) - 1) & !((1u8 << low) - 1),
                element,
                next: NONE,
            };
            self.word(word, entry);
            word += 1;
        }
    }

    fn head(&mut self, word: u64) -> &mut u32 {
        if self.scratch.heads.is_empty() {
            return self.scratch.far.entry(word).or_insert(NONE);
        }
        let at = (word.saturating_sub(self.low) as usize).min(self.scratch.heads.len() - 1);
        &mut self.scratch.heads[at]
    }

    fn word(&mut self, word: u64, entry: Entry) {
        let records = self.records;
        let record = &records[entry.record as usize];
        let (mut alike, mut near) = (0, 0);
        let (mut at, mut last, mut stale) = (*self.head(word), NONE, NONE);
        while let Some(known) = self.scratch.entries.get(at as usize).copied() {
            let earlier = &records[known.record as usize];
            if earlier.site == record.site && earlier.writes == record.writes {
                alike += 1;
                near += u32::from(known.thread / 32 == entry.thread / 32);
                if stale == NONE && earlier.time < record.time && known.bytes == entry.bytes {
                    stale = at;
                }
            }
            self.log.pairs = self.log.pairs.saturating_sub(1);
            self.pair(word, &known, &entry);
            (last, at) = (at, known.next);
        }
        // Two threads of each of two warps are enough for an instruction; the last ones count once lanes synchronise.
        if alike >= 4 || near >= 2 {
            if let Some(old) = self.scratch.entries.get_mut(stale as usize) {
                let next = old.next;
                *old = Entry { next, ..entry };
            }
            return;
        }
        let new = self.scratch.entries.len() as u32;
        self.scratch.entries.push(entry);
        match self.scratch.entries.get_mut(last as usize) {
            Some(last) => last.next = new,
            None => *self.head(word) = new,
        }
    }

    fn pair(&mut self, word: u64, known: &Entry, new: &Entry) {
        let records = self.records;
        let (a, b) = (&records[known.record as usize], &records[new.record as usize]);
        let common = known.bytes & new.bytes;
        if common == 0 || !(a.writes || b.writes) {
            return;
        }
        let Some(mut conflict) = conflict(a, known.thread.into(), b, new.thread.into()) else {
            return;
        };
        if self.log.is_settled(a, b) {
            return;
        }
        let whole = a.writes && b.writes && known.bytes == new.bytes && !a.atomic && !b.atomic;
        conflict.equal = whole && same(&mut self.log.marks, (a, known), (b, new));
        conflict.fixed = a.is_fixed(known.element.into()) && b.is_fixed(new.element.into());
        conflict.address = word * 4 + u64::from(common.trailing_zeros());
        self.log.keep(conflict);
    }
}

/// Whether both write the same.
fn same(marks: &mut Marks, (a, known): (&Record, &Entry), (b, new): (&Record, &Entry)) -> bool {
    match (a.values.get(known.element as usize), b.values.get(new.element as usize)) {
        (Some(first), Some(second)) => marks.of(first, known.thread.into()) == marks.of(second, new.thread.into()),
        _ => false,
    }
}
