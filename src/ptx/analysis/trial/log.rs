//! The accesses since the last barrier, and the conflicts among them.
//!
//! While a CTA runs, each access is only noted, whole, with the range of addresses that it covers. They are held against
//! each other when a barrier comes: ranges that nothing writes, and those in which each thread stays at places of its own,
//! need no closer look. What is left is compared word by word (see `words`).

use super::mask::Mask;
use super::node::Marks;
use super::value::{Data, Value};
use super::words;
use crate::ptx::ir::{FuncId, InstId, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;

/// Pairs of accesses to one word that a run compares.
const MOST_PAIRS: u32 = 4_000_000;
/// Pairs of instructions in conflict that a run tells of, and what each further one costs of the pairs to compare.
const MOST_CONFLICTS: usize = 512;
const FUTILE: u32 = 1000;
/// Pairs of accesses at known and unknown places that are compared at one barrier.
const MOST_MEETINGS: usize = 1 << 14;

/// An instruction of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The function.
    pub function: FuncId,
    /// The instruction.
    pub inst: InstId,
}

/// Where the threads of an access go: their addresses, less what makes a space's own address a generic one.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) address: Value,
    pub(super) less: u64,
}

impl Places {
    /// Where a thread goes.
    pub(super) fn of(&self, thread: usize) -> Option<u64> {
        self.address.of(thread).map(|address| address.wrapping_sub(self.less))
    }

    /// Whether all threads go where they go in the other.
    fn are(&self, other: &Places) -> bool {
        self.less == other.less
            && match (&self.address.data, &other.address.data) {
                (Data::Same(a), Data::Same(b)) => a == b,
                (Data::Ramp(a), Data::Ramp(b)) => a == b,
                (Data::Each(a), Data::Each(b)) => Rc::ptr_eq(a, b) || a.values == b.values && a.unknown == b.unknown,
                _ => false,
            }
    }
}

/// One execution of an access by threads that run in step.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) site: Site,
    pub(super) time: u32,
    pub(super) lanes: Mask,
    pub(super) places: Places,
    /// Bytes of an element, and elements of each thread.
    pub(super) bytes: u32,
    pub(super) elements: u32,
    pub(super) writes: bool,
    pub(super) atomic: bool,
    pub(super) strong: bool,
    /// Whether it may not happen.
    pub(super) maybe: bool,
    /// Whether all threads that execute it access one address.
    pub(super) broadcast: bool,
    pub(super) shared: bool,
    /// What is written, one per element.
    pub(super) values: SmallVec<[Value; 1]>,
    /// The lowest byte, and the one behind the highest.
    pub(super) low: u64,
    pub(super) high: u64,
    /// The variable in shared memory.
    pub(super) symbol: Option<SymbolId>,
    /// Whether it goes to a place in the variable that is not known.
    pub(super) anywhere: bool,
    /// Per thread, when it had last waited for lanes of its warp.
    pub(super) synced: Rc<Vec<u32>>,
    /// What the warp, where one runs on its own, knew of the others' clocks.
    pub(super) knows: Option<Rc<Vec<u32>>>,
}

impl Record {
    /// Bytes that a thread accesses.
    pub(super) fn size(&self) -> u64 {
        u64::from(self.bytes) * u64::from(self.elements)
    }

    /// Whether it writes nothing but one known number.
    pub(super) fn is_fixed(&self, element: usize) -> bool {
        !self.writes || self.values.get(element).is_some_and(|value| value.constant().is_some())
    }

    /// The clock of a warp when it did this.
    fn stamp(&self, warp: usize) -> u32 {
        self.knows
            .as_ref()
            .and_then(|knows| knows.get(warp))
            .copied()
            .unwrap_or(1)
    }

    /// Whether something orders this access of a thread before a later one of another.
    fn is_before(&self, thread: usize, later: &Record, other: usize) -> bool {
        let since = |thread: usize| later.synced.get(thread).is_some_and(|synced| *synced > self.time);
        if thread / 32 == other / 32 {
            return since(thread) && since(other);
        }
        let warp = thread / 32;
        let known = later.knows.as_ref().and_then(|knows| knows.get(warp)).copied();
        known.unwrap_or(0) >= self.stamp(warp)
    }
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
    /// Whether both are: all threads go to the one address, to read and to write.
    pub slot: bool,
    /// Whether what is written is one known number.
    pub fixed: bool,
    /// When each happened.
    pub times: (u32, u32),
}

/// The accesses since the last barrier.
pub(super) struct Log {
    records: Vec<Record>,
    pub(super) conflicts: FxHashMap<(Site, Site), Conflict>,
    /// The accesses at known addresses.
    pub(super) sites: FxHashSet<Site>,
    /// Per thread, when it last waited for lanes of its warp.
    pub(super) synced: Rc<Vec<u32>>,
    /// Per warp, its clock, and what it knows of the others' clocks.
    pub(super) clocks: Vec<Rc<Vec<u32>>>,
    pub(super) marks: Marks,
    scratch: words::Scratch,
    /// How many pairs of accesses may still be compared.
    pub(super) pairs: u32,
}

impl Log {
    pub(super) fn new(threads: usize) -> Self {
        let warps = threads.div_ceil(32);
        let clock = |warp: usize| {
            let mut clock = vec![0; warps];
            clock[warp] = 1;
            Rc::new(clock)
        };
        Self {
            records: Vec::new(),
            conflicts: FxHashMap::default(),
            sites: FxHashSet::default(),
            synced: Rc::new(vec![0; threads]),
            clocks: (0..warps).map(clock).collect(),
            marks: Marks::default(),
            scratch: words::Scratch::default(),
            pairs: MOST_PAIRS,
        }
    }

    /// These threads have waited for each other.
    pub(super) fn meet(&mut self, threads: impl Iterator<Item = usize>, time: u32) {
        let synced = Rc::make_mut(&mut self.synced);
        threads.for_each(|thread| synced[thread] = time);
    }

    /// Notes an access.
    pub(super) fn note(&mut self, record: Record) {
        self.records.push(record);
    }

    /// All threads have waited for each other, or there are none left.
    pub(super) fn clear(&mut self) {
        let mut records = std::mem::take(&mut self.records);
        if records.iter().any(|record| record.writes) {
            self.settle(&records);
        }
        records.clear();
        self.records = records;
    }

    fn settle(&mut self, records: &[Record]) {
        if records.iter().any(|record| record.anywhere) {
            self.meetings(records);
        }
        let known = |at: &u32| !records[*at as usize].anywhere;
        let mut order: Vec<u32> = (0..records.len() as u32).filter(known).collect();
        order.sort_unstable_by_key(|at| (records[*at as usize].low, *at));
        let mut rest = &mut order[..];
        while let Some(first) = rest.first() {
            let mut high = records[*first as usize].high;
            let mut count = 0;
            for at in rest.iter() {
                let record = &records[*at as usize];
                if record.low >= high && count > 0 {
                    break;
                }
                high = high.max(record.high);
                count += 1;
            }
            let (cluster, behind) = rest.split_at_mut(count);
            self.cluster(records, cluster);
            rest = behind;
        }
    }

    /// Accesses whose ranges overlap one after another.
    fn cluster(&mut self, records: &[Record], members: &mut [u32]) {
        let of = |at: u32| &records[at as usize];
        let mut written: Option<(u64, u64)> = None;
        for record in members.iter().map(|at| of(*at)).filter(|record| record.writes) {
            let (low, high) = written.unwrap_or((record.low, record.high));
            written = Some((low.min(record.low), high.max(record.high)));
        }
        let Some((low, high)) = written else { return };
        let mut near: Vec<u32> = members
            .iter()
            .copied()
            .filter(|at| of(*at).low < high && low < of(*at).high)
            .collect();
        if near.iter().all(|at| of(*at).atomic) || is_private(records, &near) {
            return;
        }
        near.sort_unstable();
        words::compare(self, records, &near);
    }

    /// Accesses somewhere in a variable, and those at known places in it: they may meet.
    fn meetings(&mut self, records: &[Record]) {
        let mut left = MOST_MEETINGS;
        for (at, area) in records.iter().enumerate().filter(|(_, record)| record.anywhere) {
            for (by, known) in records.iter().enumerate() {
                let apart = known.anywhere || known.symbol != area.symbol || known.site == area.site;
                if apart || !(known.writes || area.writes) {
                    continue;
                }
                let Some(rest) = left.checked_sub(1) else { return };
                left = rest;
                let (first, second) = if by < at { (known, area) } else { (area, known) };
                self.meeting(first, second, known);
            }
        }
    }

    fn meeting(&mut self, first: &Record, second: &Record, known: &Record) {
        for a in telling(&first.lanes) {
            for b in telling(&second.lanes) {
                let place = known.places.of(if std::ptr::eq(known, first) { a } else { b });
                if let (Some(mut conflict), Some(place)) = (conflict(first, a, second, b), place) {
                    conflict.maybe = true;
                    conflict.anywhere = true;
                    conflict.address = place / 4 * 4;
                    self.keep(conflict);
                }
            }
        }
    }

    /// Keeps a conflict, if it tells more than what is known of its instructions.
    pub(super) fn keep(&mut self, conflict: Conflict) {
        let key = (conflict.first, conflict.second);
        if self.conflicts.len() >= MOST_CONFLICTS && !self.conflicts.contains_key(&key) {
            // So many that the fault is plain: nothing more is to be learned.
            self.pairs = self.pairs.saturating_sub(FUTILE);
            return;
        }
        let place = self.conflicts.entry(key).or_insert(conflict);
        if rank(&conflict) < rank(place) {
            *place = conflict;
        }
    }

    /// Whether a conflict of these instructions is known that none can outdo.
    pub(super) fn is_settled(&self, first: &Record, second: &Record) -> bool {
        let known = self.conflicts.get(&(first.site, second.site));
        known.is_some_and(|known| rank(known) == (false, false, false))
    }

    /// The words' workspace.
    pub(super) fn scratch(&mut self) -> &mut words::Scratch {
        &mut self.scratch
    }
}

/// Two threads of each of two warps stand for all.
fn telling(lanes: &Mask) -> SmallVec<[usize; 4]> {
    let mut chosen: SmallVec<[usize; 4]> = SmallVec::new();
    for thread in lanes.iter() {
        let near = chosen.iter().filter(|known| **known / 32 == thread / 32).count();
        if near < 2 {
            chosen.push(thread);
        }
        if chosen.len() == 4 {
            break;
        }
    }
    chosen
}

/// Whether each thread stays at places of its own in all of these accesses.
fn is_private(records: &[Record], members: &[u32]) -> bool {
    let Some(first) = members.first().map(|at| &records[*at as usize]) else {
        return true;
    };
    let mut all = Mask::default();
    let mut size = 0;
    for record in members.iter().map(|at| &records[*at as usize]) {
        if !record.places.are(&first.places) {
            return false;
        }
        all = all.or(&record.lanes);
        size = size.max(record.size());
    }
    if all.len() == 1 || matches!(first.places.address.data, Data::Ramp(ramp) if ramp.step().unsigned_abs() >= size) {
        return true;
    }
    let mut end = 0;
    all.iter().all(|thread| {
        let Some(place) = first.places.of(thread) else {
            return false;
        };
        let apart = place >= end;
        end = place + size;
        apart
    })
}

/// The smaller, the more telling.
fn rank(conflict: &Conflict) -> (bool, bool, bool) {
    (conflict.equal, conflict.maybe, conflict.in_warp)
}

/// The conflict of two threads' accesses, as far as the address goes: whether both write the same has yet to be seen.
pub(super) fn conflict(a: &Record, thread: usize, b: &Record, other: usize) -> Option<Conflict> {
    // Volatile accesses and atomics never tear each other.
    let whole = (a.atomic || a.strong) && (b.atomic || b.strong) && (a.atomic || b.atomic);
    if thread == other || !(a.writes || b.writes) || whole || a.is_before(thread, b, other) {
        return None;
    }
    Some(Conflict {
        first: a.site,
        second: b.site,
        threads: (thread as u32, other as u32),
        writes: (a.writes, b.writes),
        atomic: (a.atomic, b.atomic),
        strong: a.strong && b.strong,
        address: 0,
        shared: a.shared,
        object: None,
        in_warp: thread / 32 == other / 32,
        equal: false,
        maybe: a.maybe || b.maybe,
        anywhere: false,
        broadcast: (!a.writes && a.broadcast) || (!b.writes && b.broadcast),
        slot: a.broadcast && b.broadcast,
        fixed: false,
        times: (a.time, b.time),
    })
}
