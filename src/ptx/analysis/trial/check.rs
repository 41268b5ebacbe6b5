//! What is wrong with single accesses of a trial run, and which are worth watching.

use super::access::resolve;
use super::log::Site;
use super::machine::Machine;
use super::mask::Mask;
use super::parts::{Part, Range};
use super::program::{Access, Row};
use super::space::{Layout, Region};
use super::value::{Data, Value};
use super::{Fault, FaultKind};
use crate::ptx::types::Space;

impl Machine<'_, '_> {
    /// Whether accesses to the region are held against each other: not those to input that nobody writes.
    pub(super) fn is_watched(&self, access: &Access, space: Space, region: Region) -> bool {
        match region {
            Region::Shared(..) | Region::RawShared => space == Space::Shared,
            Region::Buffer(number) => access.writes || access.nc || self.params.is_written(number),
            Region::Variable(..) => space != Space::Const && access.space != Space::Const,
            _ => false,
        }
    }

    /// Whether address or control rest on numbers that were made up.
    pub(super) fn is_guess(&self, at: usize, row: &Row, access: &Access, address: &Value, lanes: &Mask) -> bool {
        let control = || {
            self.fibers[at]
                .frames
                .last()
                .is_some_and(|frame| frame.is_guessed(row.block))
        };
        address.guess && !self.is_buffer(access, address, lanes) || control()
    }

    /// What is wrong with an access of one thread.
    fn fault(&self, access: &Access, region: Region, address: u64, size: u32) -> Option<FaultKind> {
        Some(match region {
            Region::Shared(symbol, offset) | Region::Local(symbol, offset) | Region::Variable(symbol, offset) => {
                let variable = self.programs.module.variable(symbol)?;
                let held = variable.size().filter(|held| *held > 0);
                if let Some(held) = held.filter(|held| offset < 0 || offset as u64 + u64::from(size) > *held) {
                    FaultKind::OutOfBounds {
                        symbol,
                        offset,
                        size,
                        held,
                    }
                } else if access.source.is_some() {
                    // How asynchronous copies must be aligned has a rule of its own.
                    return None;
                } else if size.is_power_of_two() && offset.rem_euclid(i64::from(size)) != 0 {
                    FaultKind::Misaligned { symbol, offset, size }
                } else if variable.alignment() < size {
                    let align = variable.alignment();
                    FaultKind::Underaligned { symbol, align, size }
                } else {
                    return None;
                }
            }
            Region::RawShared => FaultKind::RawShared { address },
            Region::NotGeneric(symbol) => FaultKind::NotGeneric { symbol },
            Region::Elsewhere if matches!(access.space, Space::Shared | Space::Local) && address >> 57 != 0 => {
                FaultKind::Generic { space: access.space }
            }
            Region::Elsewhere if access.space == Space::Global => {
                let (space, own) = Layout::locate(address);
                match self.layout.region(space, own) {
                    Region::Shared(symbol, _) | Region::Local(symbol, _) => FaultKind::NotGlobal { symbol },
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// What is wrong with the accesses of some threads to one object.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn part_faults(
        &mut self,
        at: usize,
        row: &Row,
        access: &Access,
        site: Site,
        address: &Value,
        part: &Part,
        maybe: bool,
    ) {
        let size = access.bytes * access.elements;
        if self.is_clean(access, part, size) {
            return;
        }
        let mut guess = None;
        for thread in part.lanes.iter() {
            let Some(known) = address.of(thread) else { continue };
            let (space, place) = resolve(access.space, known);
            let region = self.layout.region(space, place);
            if let Some(kind) = self.fault(access, region, place, size) {
                let guess = *guess.get_or_insert_with(|| self.is_guess(at, row, access, address, &part.lanes));
                self.keep_fault(Fault {
                    site,
                    kind,
                    thread: thread as u32,
                    maybe,
                    guess,
                    constant: matches!(address.data, Data::Same(_)),
                });
            }
        }
    }

    /// Whether nothing is wrong with any of them, as the range and the low bits of their addresses show.
    fn is_clean(&self, access: &Access, part: &Part, size: u32) -> bool {
        let fine = |place: u64| {
            let region = self.layout.region(part.space, place);
            self.fault(access, region, place, size).is_none()
        };
        let even = !size.is_power_of_two() || part.differ & u64::from(size - 1) == 0;
        fine(part.low) && fine(part.high) && even
    }

    pub(super) fn keep_fault(&mut self, found: Fault) {
        let known = self.faults.entry((found.site, found.kind.name())).or_insert(found);
        if (known.guess, known.maybe) > (found.guess, found.maybe) {
            *known = found;
        }
    }

    /// Whether the CTA's threads write a shared variable from its start to its end, all at once.
    pub(super) fn fills_variable(&self, at: usize, address: &Value, lanes: &Mask, size: u32) -> bool {
        let known = address.is_by_thread() && address.unknown_in(lanes).is_empty();
        if self.by_warp || self.fibers[at].alive != *lanes || !known {
            return false;
        }
        let Some(Range {
            low: first, high: last, ..
        }) = Range::of(address, lanes, self.threads)
        else {
            return false;
        };
        let held = |symbol| {
            self.programs
                .module
                .variable(symbol)
                .and_then(|variable| variable.size())
        };
        let (_, place) = Layout::locate(first);
        match self.layout.region(Space::Shared, place) {
            Region::Shared(symbol, 0) => held(symbol) == Some(last - first + u64::from(size)),
            _ => false,
        }
    }
}
