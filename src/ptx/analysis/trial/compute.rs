//! What instructions do to registers.

use super::fiber::Who;
use super::log::Site;
use super::machine::Machine;
use super::mask::Mask;
use super::node;
use super::program::{Arg, Exchange, Row, Step};
use super::space::Layout;
use super::value::{Data, Value, buffer};
use crate::ptx::analysis::scalar::{Column, Ramp, Scalar};
use crate::ptx::ir::RegId;
use crate::ptx::types::Space;
use smallvec::SmallVec;

/// Bytes from which on a known offset is taken to lead into another array of a variable, and those up to which it is one.
pub(super) const FAR: u64 = 32;
const LARGE: u64 = 1 << 18;

impl Machine<'_, '_> {
    /// Runs an instruction that neither jumps nor waits.
    pub(super) fn compute(&mut self, at: usize, row: &Row, site: Site) {
        let who = self.executing(at, row);
        if who.is_empty() {
            return;
        }
        match &row.step {
            Step::Scalar { scalar, second, args } => self.scalar(at, row, *scalar, *second, args, &who),
            Step::Move(arg) => {
                let value = self.read(at, arg);
                self.write_first(at, row, value, &who);
            }
            Step::Select(yes, no, which) => {
                let value = self.select(at, yes, no, which);
                self.write_first(at, row, value, &who);
            }
            Step::Cvta(space, to, arg) => {
                let value = self.read(at, arg);
                let value = self.converted(value, *space, *to);
                self.write_first(at, row, value, &who);
            }
            Step::IsSpace(space, arg) => {
                let value = self.read(at, arg);
                let value = self.map(&value, |address| u64::from(is_space(*space, address)));
                self.write_first(at, row, value, &who);
            }
            Step::Access(access) => self.access(at, row, access, site, &who),
            Step::Warp { exchange, mask } => {
                self.sync_lanes(at, mask.as_ref(), &who.lanes());
                self.exchange(at, row, exchange.as_deref(), &who);
            }
            Step::Opaque => {
                let value = self.opaque(at, row);
                for (place, def) in row.defs.iter().enumerate() {
                    let part = if place == 0 {
                        value.clone()
                    } else {
                        self.map(&value, |bits| bits ^ place as u64)
                    };
                    self.write(at, *def, part, &who);
                }
            }
            _ => {
                for def in &row.defs {
                    self.write(at, *def, Value::chaos(), &who);
                }
            }
        }
    }

    fn write_first(&mut self, at: usize, row: &Row, value: Value, who: &Who) {
        if let Some(def) = row.defs.first() {
            self.write(at, *def, value, who);
        }
    }

    /// Puts a value into a register of the threads that hold; the unknown ones may keep what they had.
    pub(super) fn write(&mut self, at: usize, reg: RegId, value: Value, who: &Who) {
        let threads = self.threads;
        let fiber = &mut self.fibers[at];
        let alive = fiber.alive;
        let Some(frame) = fiber.frames.last_mut() else { return };
        let local = frame.program.local.get(reg.index()) == Some(&true);
        let here = frame.stack.last().map_or(alive, |entry| entry.mask);
        let Some(place) = frame.regs.get_mut(reg.index()) else {
            return;
        };
        if who.holds == alive || local && who.holds == here {
            *place = value;
            return;
        }
        let old = std::mem::replace(place, Value::UNSET);
        *place = if who.unknown.is_empty() {
            old.blended(value, &who.holds, threads)
        } else {
            let sure = if who.holds.is_empty() {
                old
            } else {
                old.blended(value.clone(), &who.holds, threads)
            };
            sure.merged(&value, &who.unknown, threads)
        };
    }

    /// An address of a space's own made of a generic one, or the other way round.
    fn converted(&self, value: Value, space: Space, from_generic: bool) -> Value {
        let convert = |address| match from_generic {
            true => Layout::specific(space, address),
            false => Layout::generic(space, address),
        };
        let by = |address: u64| convert(address).wrapping_sub(address);
        let ends = value.ramp().and_then(|ramp| ramp.ends(self.threads.saturating_sub(1)));
        match ends.filter(|(low, high)| by(*low) == by(*high)) {
            Some((low, _)) => self.raised(value, by(low)),
            None => self.map(&value, convert),
        }
    }

    /// The value with every known number made greater by one amount.
    pub(super) fn raised(&self, value: Value, by: u64) -> Value {
        match value.ramp() {
            _ if by == 0 => value,
            Some(ramp) => Value {
                data: Data::ramp(ramp.raised(by)),
                ..value
            },
            None => self.map(&value, |known| known.wrapping_add(by)),
        }
    }

    /// The value with every known number changed.
    pub(super) fn map(&self, value: &Value, change: impl Fn(u64) -> u64) -> Value {
        match &value.data {
            Data::Same(known) => Value {
                data: Data::Same(change(*known)),
                ..*value
            },
            Data::Ramp(ramp) => {
                let mut values = buffer(self.threads);
                let changed = (0..self.threads).map(|thread| change(ramp.at(thread)));
                values.iter_mut().zip(changed).for_each(|(place, value)| *place = value);
                let mut result = Value::each(values, Mask::default());
                result.guess = value.guess;
                result
            }
            Data::Each(lanes) => {
                let mut values = buffer(lanes.values.len());
                let changed = lanes.values.iter().map(|known| change(*known));
                values.iter_mut().zip(changed).for_each(|(place, value)| *place = value);
                let mut result = Value::each(values, lanes.unknown);
                result.guess |= value.guess;
                result
            }
            Data::Unset => Value::UNSET,
            // All changes are alike in all threads.
            Data::Unknown(_) => Value {
                data: node::made(change(0) ^ change(1).rotate_left(32), false, vec![value.clone()]),
                ..*value
            },
        }
    }

    fn scalar(&mut self, at: usize, row: &Row, scalar: Scalar, second: bool, args: &[Arg], who: &Who) {
        let values: SmallVec<[Value; 3]> = args.iter().map(|arg| self.read(at, arg)).collect();
        let value = self.apply(scalar, &values, row);
        if second && let Some(def) = row.defs.get(1) {
            let complement = self.map(&value, |bit| bit ^ 1);
            self.write(at, *def, complement, who);
        }
        self.write_first(at, row, value, who);
    }

    fn apply(&mut self, scalar: Scalar, values: &[Value], row: &Row) -> Value {
        let guess = values.iter().any(|value| value.guess);
        let constants: Option<SmallVec<[u64; 4]>> = values.iter().map(Value::constant).collect();
        if let Some(constants) = constants {
            return match scalar.apply(&constants) {
                Some(result) => Value {
                    guess,
                    ..Value::same(result)
                },
                None => Value::some(),
            };
        }
        let ramps: Option<SmallVec<[Ramp; 4]>> = values.iter().map(Value::ramp).collect();
        if let Some(ramp) = ramps.and_then(|ramps| scalar.apply_ramps(&ramps, self.threads.saturating_sub(1))) {
            return Value {
                guess,
                ..Value::rising(ramp)
            };
        }
        if values
            .iter()
            .any(|value| value.constant().is_some_and(|known| scalar.absorbs(known)))
            && let Some(result) = absorbed(scalar, values)
        {
            return result;
        }
        let lost = values.iter().any(Value::is_unknown);
        if lost && !values.iter().any(Value::is_by_thread) {
            return self.unknown_sum(scalar, values, row);
        }
        self.fuel = self.fuel.saturating_sub(self.threads as u32 / 64);
        let mut results = buffer(self.threads);
        let columns: SmallVec<[Column; 4]> = values.iter().filter_map(column).collect();
        if columns.len() == values.len() && scalar.apply_all(&columns, &mut results) {
            let mut value = Value::each(results, Mask::default());
            value.guess |= guess;
            self.warps |= self.threads > 32 && counts_warps(&value);
            return value;
        }
        let unknown = self.apply_each(scalar, values, lost, &mut results);
        let mut value = Value::each(results, unknown);
        value.guess |= guess;
        if lost && unknown.len() as usize == self.threads {
            return self.unknown_sum(scalar, values, row);
        }
        self.warps |= self.threads > 32 && counts_warps(&value);
        value
    }

    /// The results thread by thread; answers for which there are none.
    fn apply_each(&self, scalar: Scalar, values: &[Value], lost: bool, results: &mut [u64]) -> Mask {
        let mut unknown = Mask::default();
        for (thread, result) in results.iter_mut().enumerate() {
            let mut sources = [0u64; 4];
            let mut all = true;
            let mut decided = false;
            for (source, value) in sources.iter_mut().zip(values) {
                match value.of(thread) {
                    Some(known) => {
                        *source = known;
                        decided |= lost && scalar.absorbs(known);
                    }
                    None => all = false,
                }
            }
            match scalar.apply(&sources[..values.len().min(4)]) {
                Some(known) if all || decided => *result = known,
                _ => unknown.add(thread),
            }
        }
        unknown
    }

    /// Something unknown, with the known address that it starts from.
    fn unknown_sum(&self, scalar: Scalar, values: &[Value], row: &Row) -> Value {
        let mut result = mixed(values, row);
        if scalar.is_sum() && !result.own {
            let address = |value: &Value| {
                value
                    .origin
                    .or(value.constant().filter(|known| Layout::is_variable(*known)))
            };
            // What lies far behind the start is another array in the same variable.
            let known = |value: &Value| value.constant().filter(|known| (FAR..LARGE).contains(known));
            let further = values.iter().find_map(known).unwrap_or(0);
            result.origin = values.iter().find_map(address).map(|origin| origin + further);
        }
        result
    }

    fn select(&mut self, at: usize, yes: &Arg, no: &Arg, which: &Arg) -> Value {
        let (yes, no, which) = (self.read(at, yes), self.read(at, no), self.read(at, which));
        let all = Mask::first(self.threads as u32);
        let unknown = which.unknown_in(&all);
        let mut result = if let Some(bit) = which.constant() {
            if bit & 1 == 1 { yes } else { no }
        } else if which.is_unknown() && [&which, &yes, &no].iter().all(|value| value.is_uniform()) {
            // One of two things that are alike in all threads, by a choice that is, too.
            if yes.constant().is_some() && yes.constant() == no.constant() {
                yes
            } else {
                Value::some()
            }
        } else if unknown.is_empty() {
            let chosen = all.filter(|thread| which.of(thread).is_some_and(|bit| bit & 1 == 1));
            no.blended(yes, &chosen, self.threads)
        } else {
            no.merged(&yes, &all, self.threads)
        };
        result.guess |= which.guess;
        result
    }

    /// A result that depends on the sources, and on nothing else.
    fn opaque(&mut self, at: usize, row: &Row) -> Value {
        let Some(frame) = self.fibers[at].frames.last() else {
            return Value::chaos();
        };
        if row.own {
            return Value::chaos();
        }
        let skip = usize::from(row.guard.is_some());
        let parts: Vec<Value> = row
            .uses
            .iter()
            .skip(skip)
            .map(|reg| frame.regs[reg.index()].clone())
            .collect();
        mixed(&parts, row)
    }

    /// The lanes named by a mask wait for each other.
    fn sync_lanes(&mut self, at: usize, mask: Option<&Arg>, lanes: &Mask) {
        let Some(mask) = mask else { return };
        let named = self.read(at, mask);
        let takes_part = |thread: &usize| named.of(*thread).is_none_or(|named| named >> (*thread % 32) & 1 == 1);
        self.log.meet(lanes.iter().filter(takes_part), self.time);
    }

    fn exchange(&mut self, at: usize, row: &Row, exchange: Option<&Exchange>, who: &Who) {
        let computed = match exchange {
            Some(Exchange::Shuffle { mode, value, by, clamp }) => self.shuffle(at, mode, value, by, clamp, &who.holds),
            Some(Exchange::Elect) => {
                let lanes = who.lanes();
                let first = |thread: usize| lanes.warp(thread / 32).trailing_zeros() as usize == thread % 32;
                let values = (0..self.threads).map(|thread| u64::from(first(thread))).collect();
                Some(Value::each(values, Mask::default()))
            }
            None => None,
        };
        let elect = matches!(exchange, Some(Exchange::Elect));
        for (place, def) in row.defs.iter().enumerate() {
            let wanted = if elect { row.defs.len() - 1 } else { 0 };
            let value = match &computed {
                Some(value) if place == wanted => value.clone(),
                _ if row.warp_wide => Value::unknown(node::warp(), true),
                _ => Value::chaos(),
            };
            self.write(at, *def, value, who);
        }
    }

    /// `shfl` of known numbers by known distances.
    fn shuffle(&mut self, at: usize, mode: &str, value: &Arg, by: &Arg, clamp: &Arg, lanes: &Mask) -> Option<Value> {
        let (value, by, clamp) = (self.read(at, value), self.read(at, by), self.read(at, clamp));
        let clamp = clamp.constant()?;
        if value.is_unknown() {
            return unknown_from(mode, value, by.constant()?, clamp);
        }
        let segment = (clamp >> 8 & 0x1f) as i64;
        let last = (clamp & 0x1f) as i64;
        let mut results = vec![0; self.threads];
        let mut lost = Mask::default();
        for thread in lanes.iter() {
            let lane = (thread % 32) as i64;
            let found = by.of(thread).and_then(|by| {
                let by = (by & 0x1f) as i64;
                let most = (lane & segment) | (last & !segment);
                let named = (lane & segment) | (by & !segment);
                let (source, ok) = match mode {
                    "idx" => (named, named <= most),
                    "up" => (lane - by, lane - by >= most),
                    "down" => (lane + by, lane + by <= most),
                    _ => (lane ^ by, lane ^ by <= most),
                };
                let source = if ok { source } else { lane };
                value.of(thread - lane as usize + source as usize)
            });
            match found {
                Some(known) => results[thread] = known,
                None => lost.add(thread),
            }
        }
        let mut result = Value::each(results, lost);
        result.guess |= value.guess || by.guess;
        Some(result)
    }
}

/// A value as a source of many threads, where it is known in all of them.
fn column(value: &Value) -> Option<Column<'_>> {
    match &value.data {
        Data::Same(known) => Some(Column::Same(*known)),
        Data::Ramp(ramp) => Some(Column::Ramp(*ramp)),
        Data::Each(lanes) if lanes.unknown.is_empty() => Some(Column::Each(&lanes.values)),
        _ => None,
    }
}

/// An unknown content of another lane.
fn unknown_from(mode: &str, value: Value, by: u64, clamp: u64) -> Option<Value> {
    if value.is_uniform() && mode == "idx" {
        return Some(value);
    }
    match mode {
        "bfly" if clamp & 0x1f == 0x1f => Some(Value::unknown(node::swapped(&value, (by & 0x1f) as u32), true)),
        "idx" if clamp == 0x1f => Some(Value::unknown(node::of_lane(&value, (by & 0x1f) as u32), true)),
        _ => None,
    }
}

/// Whether a value is the number of the thread's warp, or some bytes for each warp.
fn counts_warps(value: &Value) -> bool {
    let step = value.of(32).unwrap_or(0);
    let steps = [(0, 0), (1, 0), (31, 0), (33, step), (63, step)];
    (1..=64).contains(&step) && steps.iter().all(|(thread, wanted)| value.of(*thread) == Some(*wanted))
}

fn is_space(space: Space, address: u64) -> bool {
    match Layout::locate(address).0 {
        Space::Shared => matches!(space, Space::Shared | Space::SharedCluster),
        found => found == space,
    }
}

/// A product or conjunction that one source decides.
fn absorbed(scalar: Scalar, values: &[Value]) -> Option<Value> {
    let known: Vec<u64> = values.iter().map(|value| value.constant().unwrap_or(0)).collect();
    let decided = values.len() == 2;
    decided.then(|| scalar.apply(&known).map(Value::same)).flatten()
}

/// Something unknown that these make: equal sources, equal results.
fn mixed(values: &[Value], row: &Row) -> Value {
    let varying = values.iter().any(|value| !value.is_uniform());
    let parts = values.to_vec();
    let mut result = Value::unknown(node::made(row.how, row.commutes, parts), varying);
    result.own = values.iter().any(|value| value.own || value.is_by_thread());
    result
}
