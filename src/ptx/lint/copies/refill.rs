//! Copies over what other threads may still read: no barrier between the read and the refill.

use super::{Access, Meeting, access_of_copy, clash, is_bulk_load, is_copy, meeting};
use crate::ptx::analysis::{Clash, Footprint, Places, Together, Unit};
use crate::ptx::flow::dataflow::{Direction, Problem, solve};
use crate::ptx::ir::{InstId, Operand};
use rustc_hash::FxHashMap;

/// A copy over what is still read.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx::lint) struct Refill {
    /// The copy.
    pub(in crate::ptx::lint) copy: InstId,
    /// The read.
    pub(in crate::ptx::lint) read: InstId,
    /// Two threads that touch one byte.
    pub(in crate::ptx::lint) clash: Clash,
}

/// Which reads may have happened with no meeting since; a bit each.
struct Unmet<'u> {
    unit: &'u Unit<'u>,
    bits: FxHashMap<u32, u64>,
}

impl Problem for Unmet<'_> {
    type State = u64;

    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> u64 {
        0
    }

    fn boundary(&self) -> u64 {
        0
    }

    fn join(&self, into: &mut u64, from: &u64) -> bool {
        let sum = *into | from;
        sum != std::mem::replace(into, sum)
    }

    fn inst(&self, state: &mut u64, inst: u32) {
        if let Some(bit) = self.bits.get(&inst) {
            *state |= bit;
        }
        if meeting(self.unit, inst).is_some_and(|meeting| meeting != Meeting::Warp) {
            *state = 0;
        }
    }
}

/// Finds them; the first for each copy.
pub(in crate::ptx::lint) fn refills(
    unit: &Unit,
    lanes: &Together,
    places: &mut Places,
    reads: &[Access],
) -> Vec<Refill> {
    let mut pairs: Vec<(InstId, usize, Clash)> = Vec::new();
    let mut bits: FxHashMap<u32, u64> = FxHashMap::default();
    let known: Vec<(usize, Access)> = (0..)
        .zip(reads)
        .filter(|(_, read)| read.place.as_ref().is_some_and(|place| place.offset.is_some()))
        .take(512)
        .map(|(at, read)| (at, with_company(unit, lanes, read)))
        .collect();
    let extents: Vec<Option<(i64, i64)>> = known.iter().map(|(_, read)| bounds(read)).collect();
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        if !is_copy(row) && !is_bulk_load(row) || pairs.len() > 64 {
            continue;
        }
        let Some(mut target) = access_of_copy(unit, places, inst, row) else {
            continue;
        };
        let size = row
            .operands
            .get(2)
            .filter(|_| !row.op.has("tensor"))
            .and_then(Operand::as_int);
        target.size = size.unwrap_or(16);
        let extent = bounds(&with_company(unit, lanes, &target));
        for ((at, read), own) in known.iter().zip(&extents) {
            if extent.is_none_or(|extent| own.is_none_or(|own| own.1 <= extent.0 || extent.1 <= own.0)) {
                continue;
            }
            if let Some(clash) = clash(unit, lanes, &target, read, |writer, reader| writer != reader) {
                pairs.push((inst, *at, clash));
                let next = bits.len() as u32;
                bits.entry(reads[*at].inst.0).or_insert(1 << next.min(63));
            }
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let problem = Unmet { unit, bits };
    let solution = solve(&problem, &unit.cfg);
    let mut found: Vec<Refill> = Vec::new();
    for (copy, at, clash) in pairs {
        let state = solution.before(&problem, &unit.cfg, copy.0);
        let read = reads[at].inst;
        let unmet = problem.bits.get(&read.0).is_some_and(|bit| state & bit != 0);
        if unmet && found.iter().all(|refill| refill.copy != copy && refill.read != read) {
            found.push(Refill { copy, read, clash });
        }
    }
    found
}

/// The bytes that an access can touch, all threads together.
fn bounds(access: &Access) -> Option<(i64, i64)> {
    let footprint = Footprint {
        place: access.place.as_ref()?,
        size: access.size,
        threads: access.company.as_ref()?.threads,
    };
    footprint.bounds()
}

fn with_company(unit: &Unit, lanes: &Together, read: &Access) -> Access {
    Access {
        inst: read.inst,
        place: read.place.clone(),
        base: read.base,
        size: read.size,
        company: lanes.company(unit, read.inst),
        spreads: read.spreads,
        room: read.room,
    }
}
