//! Memory in a trial run: what accesses touch, and what is wrong with them.

use super::compute::FAR;
use super::fiber::{Frame, Who};
use super::log::{Places, Record, Site};
use super::machine::Machine;
use super::mask::Mask;
use super::node;
use super::parts::{Part, Range};
use super::program::{Access, Arg, Row};
use super::space::{Layout, Region};
use super::value::{Data, Value};
use super::{GlobalUse, Scatter};
use crate::ptx::ir::{FunctionKind, SymbolId};
use crate::ptx::types::Space;
use smallvec::SmallVec;

/// Bytes that a cell may have at most.
const WIDEST: i64 = 64;

impl Machine<'_, '_> {
    pub(super) fn access(&mut self, at: usize, row: &Row, access: &Access, site: Site, who: &Who) {
        if let Arg::Symbol(symbol, by) = access.base
            && access.space == Space::Param
        {
            self.param(at, row, access, symbol, by + access.offset, who);
            return;
        }
        let base = self.read(at, &access.base);
        let address = self.raised(base, access.offset as u64);
        let lanes = who.lanes();
        let maybe = !who.unknown.is_empty() || self.fibers[at].frames.iter().any(Frame::is_maybe);
        let lost = address.unknown_in(&lanes);
        if lost == lanes || address.is_unknown() {
            self.unknown.push(site);
            self.area(at, access, site, &address, &lanes, maybe);
            self.scatter(at, access, site, &address, &lanes);
            self.results(at, row, access, &address, who);
            return;
        }
        let known = lanes.minus(&lost);
        let local = self.local(&address, access, &known);
        match local {
            Some((symbol, offset)) => self.cell(at, row, access, symbol, offset, who),
            None => self.results(at, row, access, &address, who),
        }
        self.touch(at, row, access, site, &address, &known, maybe);
    }

    /// Where in a local variable all threads go, if they do.
    fn local(&self, address: &Value, access: &Access, lanes: &Mask) -> Option<(SymbolId, i64)> {
        if !matches!(access.space, Space::Local | Space::Generic | Space::Param) {
            return None;
        }
        let first = address.of(lanes.lowest()?)?;
        if !matches!(address.data, Data::Same(_)) {
            return None;
        }
        let (space, place) = resolve(access.space, first);
        match self.layout.region(space, place) {
            Region::Local(symbol, offset) => Some((symbol, offset)),
            _ => None,
        }
    }

    /// What a load or atomic brings.
    fn results(&mut self, at: usize, row: &Row, access: &Access, address: &Value, who: &Who) {
        if !access.reads {
            return;
        }
        for def in &row.defs {
            let one = address.is_uniform() && !access.atomic && access.rows.is_none() && !self.is_own(address, access);
            let value = if one {
                Value::some()
            } else if access.atomic {
                // What a counter gives to a thread, no other gets.
                Value {
                    own: true,
                    ..Value::chaos()
                }
            } else if access.rows.is_some() || self.is_own(address, access) {
                Value::chaos()
            } else {
                Value::unknown(node::at(address), true)
            };
            self.write(at, *def, value, who);
        }
    }

    /// Whether an address that is alike in all threads means memory of each thread's own.
    fn is_own(&self, address: &Value, access: &Access) -> bool {
        match address.constant() {
            Some(known) => resolve(access.space, known).0 == Space::Local,
            None => access.space == Space::Local,
        }
    }

    /// A kernel's parameter, an argument, or a result.
    #[allow(clippy::too_many_arguments)]
    fn param(&mut self, at: usize, row: &Row, access: &Access, symbol: SymbolId, offset: i64, who: &Who) {
        let frames = &self.fibers[at].frames;
        let function = frames.last().map(|frame| self.programs.module.function(frame.function));
        let of_kernel =
            function.is_some_and(|function| function.kind == FunctionKind::Entry && function.params.contains(&symbol));
        if !of_kernel {
            self.cell(at, row, access, symbol, offset, who);
            return;
        }
        for (place, def) in row.defs.iter().enumerate() {
            let by = offset + i64::from(access.bytes) * place as i64;
            let value = access
                .ty
                .map_or_else(Value::chaos, |ty| self.params.read(symbol, by, ty));
            self.write(at, *def, value, who);
        }
    }

    /// Reads or writes a variable of each thread's own.
    #[allow(clippy::too_many_arguments)]
    fn cell(&mut self, at: usize, row: &Row, access: &Access, symbol: SymbolId, offset: i64, who: &Who) {
        for place in 0..access.elements as usize {
            let key = (symbol, offset + i64::from(access.bytes) * place as i64);
            if access.reads {
                let Some(def) = row.defs.get(place) else { continue };
                let held = self.fibers[at]
                    .cells
                    .get(&key)
                    .filter(|(bytes, _)| *bytes == access.bytes);
                let value = held.map_or_else(Value::chaos, |(_, value)| value.clone());
                self.write(at, *def, value, who);
                continue;
            }
            let new = access
                .values
                .get(place)
                .map_or_else(Value::chaos, |value| self.read(at, value));
            let maybe = !who.unknown.is_empty() || self.fibers[at].frames.iter().any(Frame::is_maybe);
            let threads = self.threads;
            let whole = who.holds == self.fibers[at].alive && !maybe;
            let cells = &mut self.fibers[at].cells;
            // What overlaps in another cut is lost.
            let end = key.1 + i64::from(access.bytes);
            let near = cells.range((key.0, key.1 - WIDEST)..(key.0, end));
            let cut = near.filter(|(place, (bytes, _))| **place != key && key.1 < place.1 + i64::from(*bytes));
            for place in cut.map(|(place, _)| *place).collect::<SmallVec<[_; 4]>>() {
                cells.remove(&place);
            }
            let value = match cells.get(&key) {
                Some((bytes, old)) if !whole && *bytes == access.bytes => match maybe {
                    true => old.merged(&new, &who.lanes(), threads),
                    false => old.blended(new, &who.holds, threads),
                },
                _ => new,
            };
            cells.insert(key, (access.bytes, value));
        }
    }

    /// Notes what the threads access, and what is wrong with it.
    #[allow(clippy::too_many_arguments)]
    fn touch(&mut self, at: usize, row: &Row, access: &Access, site: Site, address: &Value, lanes: &Mask, maybe: bool) {
        self.fuel = self.fuel.saturating_sub(lanes.len() / 16 * access.elements);
        let lanes = match access.rows {
            Some(rows) => lanes.filter(|thread| thread as u32 % 32 < rows),
            None => *lanes,
        };
        let mut logged = false;
        for part in self.parts(access, address, &lanes) {
            self.part_faults(at, row, access, site, address, &part, maybe);
            if !self.is_watched(access, part.space, part.region) {
                continue;
            }
            logged = true;
            self.note_part(at, access, site, address, &part, maybe);
        }
        let values = || access.values.first();
        if self.setup.shade {
            let value = values().map(|value| self.read(at, value));
            self.shade(access, site, address, &lanes, value.as_ref());
        }
        if !logged {
            return;
        }
        self.log.sites.insert(site);
        if access.writes && self.is_shared(access, address, &lanes) {
            self.note_overlap(access, site, address, &lanes);
        }
        let size = access.bytes * access.elements;
        self.fills |= access.writes && !maybe && self.fills_variable(at, address, &lanes, size);
    }

    fn note_part(&mut self, at: usize, access: &Access, site: Site, address: &Value, part: &Part, maybe: bool) {
        let shared = matches!(part.region, Region::Shared(..) | Region::RawShared);
        let mut values: SmallVec<[Value; 1]> = access.values.iter().map(|value| self.read(at, value)).collect();
        if let Some((from, offset)) = &access.source {
            let from = self.read(at, from);
            let from = self.raised(from, *offset as u64);
            values.push(match from.is_uniform() {
                true => Value::some(),
                false => Value::unknown(node::at(&from), true),
            });
        }
        let size = u64::from(access.bytes * access.elements);
        let places = Places {
            address: address.clone(),
            less: part.less,
        };
        if self.setup.cta.is_some() && !shared && (!access.strong || access.atomic) && !maybe {
            let known = values.first().and_then(Value::constant);
            for thread in part.lanes.iter() {
                let Some(place) = places.of(thread) else { continue };
                let used = GlobalUse {
                    site,
                    bytes: 0,
                    written: 0,
                    value: known,
                    atomic: access.atomic,
                    narrow: access.narrow,
                };
                self.note_global(place, size as u32, access.writes, used);
            }
        }
        if !shared && self.has_read_only && (access.nc || access.writes) {
            self.read_only.note(
                site,
                access.nc,
                &places,
                &part.lanes,
                size,
                (part.low, part.high + size),
            );
        }
        let knows = self.by_warp.then(|| self.log.clocks.get(at).cloned()).flatten();
        let record = Record {
            site,
            time: self.time,
            lanes: part.lanes,
            places,
            bytes: access.bytes,
            elements: access.elements,
            writes: access.writes,
            atomic: access.atomic || access.strong && !access.volatile,
            strong: access.volatile,
            maybe,
            broadcast: matches!(address.data, Data::Same(_)) && part.lanes.len() > 1,
            shared,
            values,
            low: part.low,
            high: part.high + size,
            symbol: match part.region {
                Region::Shared(symbol, _) => Some(symbol),
                _ => None,
            },
            anywhere: false,
            synced: self.log.synced.clone(),
            knows,
        };
        self.log.note(record);
    }

    fn is_shared(&self, access: &Access, address: &Value, lanes: &Mask) -> bool {
        let first = lanes.lowest().and_then(|thread| address.of(thread));
        first.is_some_and(|first| resolve(access.space, first).0 == Space::Shared)
    }

    /// Whether the address is made up for where a buffer lies, and for that alone.
    pub(super) fn is_buffer(&self, access: &Access, address: &Value, lanes: &Mask) -> bool {
        let first = lanes.lowest().and_then(|thread| address.of(thread));
        first.is_some_and(|first| {
            let (space, place) = resolve(access.space, first);
            matches!(self.layout.region(space, place), Region::Buffer(_))
        })
    }

    /// Notes where arrays and single slots are stored: where a slot lies within an array, another run looks closer.
    fn note_overlap(&mut self, access: &Access, site: Site, address: &Value, lanes: &Mask) {
        match &address.data {
            Data::Same(known) if lanes.len() == 1 && access.elements == 1 => {
                self.slots.insert((site, resolve(access.space, *known).1));
            }
            Data::Ramp(_) | Data::Each(_) if address.unknown_in(lanes).is_empty() && lanes.len() > 1 => {
                let Some(range) = Range::of(address, lanes, self.threads) else {
                    return;
                };
                let (low, high) = (resolve(access.space, range.low).1, resolve(access.space, range.high).1);
                let known = self.arrays.entry(site).or_insert((low, high));
                *known = (known.0.min(low), known.1.max(high));
            }
            _ => {}
        }
    }

    /// Follows who wrote what is in shared memory.
    fn shade(&mut self, access: &Access, site: Site, address: &Value, lanes: &Mask, value: Option<&Value>) {
        let place = |thread| address.of(thread).map(|known| resolve(access.space, known));
        let is_shared = |(space, _): &(Space, u64)| *space == Space::Shared;
        let Some((_, first)) = lanes.lowest().and_then(place).filter(is_shared) else {
            return;
        };
        let slot = matches!(address.data, Data::Same(_));
        let words = (access.bytes * access.elements).div_ceil(4) as u64;
        let of_vector = |(_, place): (Space, u64)| (0..words).map(move |word| place + 4 * word);
        let all: Vec<u64> = lanes.iter().filter_map(place).flat_map(of_vector).collect();
        if access.writes && !access.atomic {
            let slot = slot && lanes.len() == 1;
            all.iter()
                .for_each(|place| self.shadow.store(site, *place, slot, value));
        } else if slot && lanes.len() > 1 {
            of_vector((Space::Shared, first)).for_each(|place| self.shadow.load_slot(place));
        } else {
            self.shadow.load(site, all.iter().copied());
        }
    }

    /// Notes a store to where loaded data says, as two threads may have loaded the same, and such a load.
    fn scatter(&mut self, at: usize, access: &Access, site: Site, address: &Value, lanes: &Mask) {
        let plain = access.writes && !access.atomic && !access.strong && access.rows.is_none();
        let Data::Unknown(place) = &address.data else { return };
        let memory = matches!(access.space, Space::Global | Space::Shared | Space::Generic);
        if !memory || !address.varying || address.own || !node::is_loaded(place) {
            return;
        }
        let gathers = access.reads && !access.atomic && !access.strong && !access.nc;
        if gathers && access.space != Space::Shared {
            self.gathered.insert(site);
        }
        if !plain {
            return;
        }
        let mut threads = lanes.iter();
        let (Some(first), Some(second)) = (threads.next(), threads.next()) else {
            return;
        };
        let values: SmallVec<[Value; 1]> = access.values.iter().map(|value| self.read(at, value)).collect();
        let marks = &mut self.log.marks;
        let equal = values
            .iter()
            .all(|value| marks.of(value, first as u32) == marks.of(value, second as u32));
        let updates = values.iter().any(|value| node::is_made_from(value, place));
        self.scattered.entry(site).or_insert(Scatter {
            site,
            threads: (first as u32, second as u32),
            shared: access.space == Space::Shared,
            equal,
            updates,
        });
    }

    /// Notes an access somewhere in a variable.
    fn area(&mut self, at: usize, access: &Access, site: Site, address: &Value, lanes: &Mask, maybe: bool) {
        // What lies far behind the start is another array in the same variable.
        let further = u64::try_from(access.offset).unwrap_or(0);
        let start = |origin: u64| {
            if further < FAR {
                origin
            } else {
                origin.wrapping_add(further)
            }
        };
        let Some((space, place)) = address.origin.map(|origin| resolve(access.space, start(origin))) else {
            return;
        };
        let Region::Shared(symbol, 0) = self.layout.region(space, place) else {
            return;
        };
        // Dynamic shared memory is cut into parts of which nothing is known.
        let sized = self
            .programs
            .module
            .variable(symbol)
            .is_some_and(|variable| variable.size().is_some_and(|size| size > 0));
        if space != Space::Shared || !sized {
            return;
        }
        self.log.sites.insert(site);
        let knows = self.by_warp.then(|| self.log.clocks.get(at).cloned()).flatten();
        let record = Record {
            site,
            time: self.time,
            lanes: *lanes,
            places: Places {
                address: address.clone(),
                less: 0,
            },
            bytes: access.bytes,
            elements: 1,
            writes: access.writes,
            atomic: access.atomic || access.strong && !access.volatile,
            strong: access.volatile,
            maybe,
            broadcast: false,
            shared: true,
            values: SmallVec::new(),
            low: place,
            high: place,
            symbol: Some(symbol),
            anywhere: true,
            synced: self.log.synced.clone(),
            knows,
        };
        self.log.note(record);
    }

    /// Notes what the CTA does to global memory, to hold it against another.
    fn note_global(&mut self, address: u64, size: u32, writes: bool, used: GlobalUse) {
        if self.global.len() > 1 << 16 {
            return;
        }
        let end = address + u64::from(size);
        let whole = address.is_multiple_of(4) && size.is_multiple_of(4);
        for word in address / 4..end.div_ceil(4) {
            let start = word * 4;
            let bytes = match whole {
                true => 0xf,
                false => (0xf_u8 << address.saturating_sub(start)) & (0xf >> (4 - (end - start).min(4))),
            };
            let written = if writes { bytes } else { 0 };
            let new = GlobalUse { bytes, written, ..used };
            let known = self.global.entry((word, used.atomic)).or_insert(new);
            if writes && known.written == 0 {
                *known = GlobalUse {
                    bytes: known.bytes,
                    ..new
                };
            } else if writes && known.value != used.value {
                known.value = None;
            }
            known.bytes |= bytes;
            known.written |= written;
        }
    }
}

/// The space and address that an access goes to.
pub(super) fn resolve(space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic => Layout::locate(address),
        Space::SharedCluster => (Space::Shared, address),
        _ => (space, address),
    }
}
