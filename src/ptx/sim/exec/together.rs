//! What lanes of a warp do together: `shfl`, `vote`, `match`, `redux`, `elect`, `bar.warp.sync`.
//!
//! Lanes wait until all lanes that their mask names have come, or have exited. They need not come to one instruction.

use super::super::fault::{Fault, codes};
use super::super::lanes::{LANES, Longs, Slot, lanes, map1, put, test};
use super::super::program::{Op, Rare, Together, Vote};
use super::state::{Ctx, Split, Wait};
use crate::ptx::diag::{Code, Level};

/// Lanes that execute one instruction together with others.
#[derive(Clone, Copy)]
struct Party<'p> {
    what: &'p Together,
    split: Split,
}

impl Together {
    /// The fault that lanes are named and do not come.
    pub(super) fn absence(&self) -> Code {
        match self {
            Together::Sync | Together::Shuffle { .. } => codes::WARP001,
            Together::Matrix(_) => codes::BAR012,
            _ => codes::WARP011,
        }
    }
}

impl Ctx<'_> {
    /// Lanes come to such an instruction.
    pub fn together(&mut self, what: &Together, mask: Option<Slot>, split: Split) {
        let Some(mask) = mask else {
            self.perform(&[Party { what, split }], split.mask);
            return self.go_on(split, split.mask);
        };
        let mut left = split.mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize & 31;
            let named = self.warp.file.read(mask, lane) as u32;
            let group = self.lanes_with(mask, named, left);
            left &= !group;
            self.meet(what, named, Split { mask: group, ..split });
        }
    }

    /// Whether lanes that come to a rare instruction are all of the warp, and do it together with nobody else.
    pub fn is_for_all(&self, at: u32, mask: u32) -> bool {
        let Some(Rare::Together(_, Some(slot))) = self.program.rares.get(at as usize) else {
            return false;
        };
        let named = self.warp.file.read(*slot, mask.trailing_zeros() as usize) as u32;
        mask == self.warp.live && mask & !named == 0 && self.warp.file.is_uniform(*slot, mask)
    }

    /// Does it for lanes of which [`Ctx::is_for_all`] holds.
    pub fn together_at_once(&mut self, at: u32, split: Split) {
        let program = self.program;
        if let Some(Rare::Together(what, _)) = program.rares.get(at as usize) {
            self.perform(&[Party { what, split }], split.mask);
        }
    }

    /// The lanes of a set whose mask is that.
    fn lanes_with(&self, mask: Slot, named: u32, among: u32) -> u32 {
        if self.warp.file.is_uniform(mask, among) {
            return among;
        }
        lanes(among).fold(0, |set, lane| {
            let same = self.warp.file.read(mask, lane) as u32 == named;
            set | u32::from(same) << lane
        })
    }

    fn meet(&mut self, what: &Together, named: u32, split: Split) {
        let outside = split.mask & !named;
        if outside != 0 {
            self.mask_fault(named, outside, split);
        }
        let needed = named & self.warp.live;
        if needed & !split.mask == 0 {
            self.perform(&[Party { what, split }], needed | split.mask);
            return self.go_on(split, split.mask);
        }
        self.warp.splits.push(Split {
            wait: Wait::Together,
            ..split
        });
    }

    fn mask_fault(&mut self, named: u32, outside: u32, split: Split) {
        let lane = outside.trailing_zeros() as usize & 31;
        let (code, message) = match named {
            0 => (codes::WARP005, "the mask names no lane".to_owned()),
            _ => (
                codes::WARP002,
                format!("lane {lane} executes this with the mask {named:#010x}, which does not name it"),
            ),
        };
        let fault = Fault::new(code, Level::Error, self.site(split.pc), message);
        self.report(fault.thread(self.thread(lane)));
    }

    /// When no split can run: whether lanes that wait at different instructions have all come together.
    pub fn come_together(&mut self) -> bool {
        let program = self.program;
        let waiting: Vec<Split> = self
            .warp
            .splits
            .iter()
            .filter(|split| split.wait == Wait::Together)
            .copied()
            .collect();
        for first in &waiting {
            let Some((what, Some(mask))) = self.together_at(program, first.pc) else {
                continue;
            };
            let lane = first.mask.trailing_zeros() as usize & 31;
            let named = self.warp.file.read(mask, lane) as u32;
            let mut parties = Vec::new();
            let mut came = 0;
            for split in &waiting {
                let Some((other, Some(mask))) = self.together_at(program, split.pc) else {
                    continue;
                };
                let lane = split.mask.trailing_zeros() as usize & 31;
                let same_kind = std::mem::discriminant(other) == std::mem::discriminant(what);
                if same_kind && self.warp.file.read(mask, lane) as u32 == named {
                    came |= split.mask;
                    parties.push(Party {
                        what: other,
                        split: *split,
                    });
                }
            }
            if named & self.warp.live & !came == 0 {
                self.went_past(what, first, named, named & !came);
                self.release(&parties, came);
                return true;
            }
        }
        false
    }

    /// Reports lanes that the mask names and that have gone round the instruction and exited behind it. That ends the wait, but
    /// they were there to come, and the result is undefined then. Lanes that leave early for good, as guards of the tail do, may be named.
    fn went_past(&mut self, what: &Together, split: &Split, named: u32, missing: u32) {
        let (program, joins) = (self.program, &mut self.world.joins);
        let mut exits = self.warp.exits.iter().filter(|(_, lanes)| lanes & missing != 0);
        let guilty = exits.find(|(pc, _)| joins.is_behind(program, split.pc, *pc));
        let Some((pc, lanes)) = guilty.copied() else { return };
        let code = what.absence();
        let lanes = lanes & missing;
        let message = format!("the mask {named:#010x} names lanes {lanes:#010x}, which went past and exited");
        let thread = |lanes: u32| self.thread(lanes.trailing_zeros() as usize & 31);
        let (me, them) = (thread(split.mask), thread(lanes));
        let fault = Fault::new(code, Level::Warning, self.site(split.pc), message).thread(me);
        self.report(fault.other(Some(self.site(pc)), Some(them), format!("{them} exits here")));
    }

    fn together_at<'p>(
        &self,
        program: &'p super::super::program::Program,
        pc: u32,
    ) -> Option<(&'p Together, Option<Slot>)> {
        match program.code.get(pc as usize)?.op {
            Op::Rare(at) => match program.rares.get(at as usize)? {
                Rare::Together(what, mask) => Some((what, *mask)),
                _ => None,
            },
            _ => None,
        }
    }

    fn release(&mut self, parties: &[Party], came: u32) {
        if let [first, second, ..] = parties
            && first.split.pc != second.split.pc
            && !matches!(first.what, Together::Sync)
        {
            let lane = first.split.mask.trailing_zeros() as usize & 31;
            let message = "lanes of one warp meet here and at another instruction with one mask";
            let fault = Fault::new(codes::WARP008, Level::Error, self.site(first.split.pc), message);
            let (there, other) = (
                self.site(second.split.pc),
                second.split.mask.trailing_zeros() as usize & 31,
            );
            let (me, other) = (self.thread(lane), self.thread(other));
            self.report(
                fault
                    .thread(me)
                    .other(Some(there), Some(other), format!("{other} is here")),
            );
        }
        self.perform(parties, came);
        for party in parties {
            self.warp.splits.retain(|split| *split != party.split);
            self.go_on(party.split, party.split.mask);
        }
    }

    /// Does it for all who came.
    fn perform(&mut self, parties: &[Party], came: u32) {
        if let [party] = parties
            && matches!(party.what, Together::Shuffle { .. })
        {
            return self.shuffle_here(party.split, party.what, came);
        }
        for party in parties {
            let mut values: Longs = [0; LANES];
            for giver in parties {
                let slot = match giver.what {
                    Together::Shuffle { a, .. }
                    | Together::Vote { a, .. }
                    | Together::MatchAny { a, .. }
                    | Together::MatchAll { a, .. }
                    | Together::Redux { a, .. } => *a,
                    Together::Sync | Together::Elect { .. } | Together::Matrix(_) => continue,
                };
                put(&mut values, &self.warp.file.row(slot), giver.split.mask);
            }
            self.results(party, &values, came);
        }
        if parties.iter().any(|party| matches!(party.what, Together::Sync)) {
            self.warp.clock += 1;
        }
    }

    fn results(&mut self, party: &Party, values: &Longs, came: u32) {
        let mask = party.split.mask;
        let held = |value: u64| came & test(values, &[value; LANES], |one, other| one == other);
        match party.what {
            Together::Sync => {}
            Together::Shuffle {
                mode, d, valid, b, c, ..
            } => {
                let values = map1(values, |value| value as u32);
                self.shuffle(party.split, *mode, (*d, *valid), (*b, *c), &values, came);
            }
            Together::Vote { kind, d, .. } => {
                let yes = held(1);
                let value = match kind {
                    Vote::All => u64::from(yes == came),
                    Vote::Any => u64::from(yes != 0),
                    Vote::Uni => u64::from(yes == 0 || yes == came),
                    Vote::Ballot => u64::from(yes),
                };
                lanes(mask).for_each(|lane| self.warp.file.write(*d, lane, value));
            }
            Together::MatchAny { d, .. } => {
                for lane in lanes(mask) {
                    self.warp.file.write(*d, lane, u64::from(held(values[lane])));
                }
            }
            Together::MatchAll { d, pred, .. } => {
                let first = came.trailing_zeros() as usize & 31;
                let all = held(values[first]) == came;
                for lane in lanes(mask) {
                    self.warp.file.write(*d, lane, if all { u64::from(came) } else { 0 });
                    if let Some(pred) = pred {
                        self.warp.file.write(*pred, lane, u64::from(all));
                    }
                }
            }
            Together::Redux { f, d, .. } => {
                let all = lanes(came).map(|lane| values[lane] as u32).reduce(*f).unwrap_or(0);
                lanes(mask).for_each(|lane| self.warp.file.write(*d, lane, u64::from(all)));
            }
            Together::Elect { d, pred } => {
                let leader = came.trailing_zeros();
                for lane in lanes(mask) {
                    self.warp.file.write(*d, lane, u64::from(leader));
                    self.warp.file.write(*pred, lane, u64::from(lane as u32 == leader));
                }
            }
            Together::Matrix(at) => self.matrix(*at, party.split),
        }
    }
}
