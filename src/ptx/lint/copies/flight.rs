//! How far each batch of copies has come, along every path.

use super::{Batch, Fault, Meeting, meeting};
use crate::ptx::analysis::Unit;
use crate::ptx::flow::Cfg;
use crate::ptx::flow::dataflow::{Direction, Problem, Solution, solve};
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashMap;

/// Groups committed since: bits 0 to 7, the last for seven and more.
const PENDING: u32 = 0xff;
/// The same, after a wait that did not cover the copy.
const PASSED: u32 = 0xff00;
/// Complete, as its own thread knows.
const OWN: u32 = 1 << 16;
/// As before, and the lanes of the warp know.
const WARP: u32 = 1 << 17;
/// Complete, and everybody knows.
const DONE: u32 = 1 << 18;

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `cp.async`.
    Copies,
    /// `wgmma`.
    Matrix,
    /// `tcgen05.ld`.
    Tensor,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Copy(usize),
    Commit,
    /// `None` waits for all.
    Wait(Option<u32>),
    Meet(Meeting),
}

struct Problem_<'u> {
    events: &'u FxHashMap<u32, Event>,
    batches: usize,
    /// Whether mbarriers tell of copies: `cp.async.mbarrier.arrive`.
    by_mbarrier: bool,
    /// Whether loops are followed through their first round only.
    once: Option<&'u Cfg>,
}

/// How far the copies have come.
pub(super) struct Flight<'u> {
    events: FxHashMap<u32, Event>,
    solution: Solution<Vec<u32>>,
    batches: usize,
    by_mbarrier: bool,
    once: Option<&'u Cfg>,
}

impl Problem for Problem_<'_> {
    type State = Vec<u32>;

    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> Vec<u32> {
        vec![0; self.batches]
    }

    fn boundary(&self) -> Vec<u32> {
        vec![0; self.batches]
    }

    fn join(&self, into: &mut Vec<u32>, from: &Vec<u32>) -> bool {
        let mut changed = false;
        for (into, from) in into.iter_mut().zip(from) {
            changed |= *into | from != *into;
            *into |= from;
        }
        changed
    }

    fn inst(&self, state: &mut Vec<u32>, inst: u32) {
        match self.events.get(&inst) {
            None => {}
            Some(Event::Copy(batch)) => state[*batch] = 1,
            Some(Event::Commit) => state.iter_mut().for_each(|bits| *bits = committed(*bits)),
            Some(Event::Wait(groups)) => state.iter_mut().for_each(|bits| *bits = waited(*bits, *groups)),
            Some(Event::Meet(meeting)) => state.iter_mut().for_each(|bits| *bits = self.met(*bits, *meeting)),
        }
    }

    fn edge(&self, state: &mut Vec<u32>, from: u32, to: u32) {
        if self.once.is_some_and(|cfg| cfg.dom().dominates(to, from)) {
            state.fill(0);
        }
    }
}

impl Problem_<'_> {
    fn met(&self, bits: u32, meeting: Meeting) -> u32 {
        let complete = bits & (OWN | WARP) != 0;
        match meeting {
            Meeting::Unknown => 0,
            Meeting::Warp if bits & OWN != 0 => bits & !OWN | WARP,
            Meeting::Mbarrier if self.by_mbarrier && bits != 0 => DONE,
            Meeting::Cta | Meeting::Mbarrier if complete => bits & !(OWN | WARP) | DONE,
            _ => bits,
        }
    }
}

fn committed(bits: u32) -> u32 {
    let up = |groups: u32| groups << 1 & 0xff | groups & 0x80;
    up(bits & PENDING) | up(bits >> 8 & 0xff) << 8 | bits & !(PENDING | PASSED)
}

fn waited(bits: u32, groups: Option<u32>) -> u32 {
    // A copy is waited for where more groups than may stay were committed since.
    let covered = match groups {
        None => 0xff,
        Some(stay) if stay < 7 => 0xffu32 << (stay + 1) & 0xff,
        Some(_) => 0x80,
    };
    let (pending, passed) = (bits & PENDING, bits >> 8 & 0xff);
    let left = (pending | passed) & !covered;
    let complete = (pending | passed) & covered != 0;
    bits & !(PENDING | PASSED) | left << 8 | if complete { OWN } else { 0 }
}

/// What an instruction does to groups of a family.
fn event(unit: &Unit, inst: u32, row: &Inst, family: Family) -> Option<Event> {
    let text: &str = &row.op.text;
    let groups = || {
        row.operands
            .first()
            .and_then(Operand::as_int)
            .map_or(0, |groups| groups.clamp(0, 7) as u32)
    };
    match family {
        Family::Copies if text == "cp.async.commit_group" => Some(Event::Commit),
        Family::Copies if text == "cp.async.wait_all" => Some(Event::Wait(None)),
        Family::Copies if text == "cp.async.wait_group" => Some(Event::Wait(Some(groups()))),
        Family::Copies => meeting(unit, inst).map(Event::Meet),
        Family::Matrix if text.starts_with("wgmma.commit_group") => Some(Event::Commit),
        Family::Matrix if text.starts_with("wgmma.wait_group") => Some(Event::Wait(Some(groups()))),
        Family::Tensor if text.starts_with("tcgen05.wait::ld") => Some(Event::Wait(None)),
        Family::Matrix | Family::Tensor => (row.op.effect == Effect::Call).then_some(Event::Meet(Meeting::Unknown)),
    }
}

impl<'u> Flight<'u> {
    pub(super) fn new(unit: &'u Unit, batches: &[Batch], family: Family) -> Self {
        Self::follow(unit, batches, family, None)
    }

    /// Through the first round of each loop only.
    pub(super) fn first_round(unit: &'u Unit, batches: &[Batch], family: Family) -> Self {
        Self::follow(unit, batches, family, Some(&unit.cfg))
    }

    fn follow(unit: &'u Unit, batches: &[Batch], family: Family, once: Option<&'u Cfg>) -> Self {
        let mut events = FxHashMap::default();
        for (at, batch) in batches.iter().enumerate() {
            events.extend(batch.insts.iter().map(|inst| (inst.0, Event::Copy(at))));
        }
        let mut by_mbarrier = false;
        for (inst, row) in (0u32..).zip(&unit.body.insts) {
            by_mbarrier |=
                family == Family::Copies && row.op.row.is_some_and(|row| row.name == "cp.async.mbarrier.arrive");
            if !events.contains_key(&inst)
                && let Some(event) = event(unit, inst, row, family)
            {
                events.insert(inst, event);
            }
        }
        let problem = Problem_ {
            events: &events,
            batches: batches.len(),
            by_mbarrier,
            once,
        };
        let solution = solve(&problem, &unit.cfg);
        Self {
            solution,
            batches: batches.len(),
            by_mbarrier,
            once,
            events,
        }
    }

    fn problem(&self) -> Problem_<'_> {
        Problem_ {
            events: &self.events,
            batches: self.batches,
            by_mbarrier: self.by_mbarrier,
            once: self.once,
        }
    }

    /// The states that each batch can be in before each of some instructions (in textual order); none where it has not
    /// started or it is not known.
    pub(super) fn before(&self, unit: &Unit, insts: &[InstId]) -> Vec<Vec<u32>> {
        let problem = self.problem();
        let mut found = Vec::with_capacity(insts.len());
        let mut at: Option<(u32, u32, Vec<u32>)> = None;
        for inst in insts {
            let block = unit.cfg.block_of(*inst);
            let (mut next, mut state) = match at.take() {
                Some((known, next, state)) if known == block => (next, state),
                _ => (unit.cfg.insts(block).start, self.solution.at(block).clone()),
            };
            while next < inst.0 {
                problem.inst(&mut state, next);
                next += 1;
            }
            found.push(state.clone());
            at = Some((block, next, state));
        }
        found
    }

    /// What is wrong with reading what the batch writes: only where it is wrong on every path.
    pub(super) fn fault(&self, states: u32, read: InstId) -> Option<Fault> {
        if states & (OWN | WARP | DONE) == 0 {
            let passed = states & PASSED != 0;
            return Some(match self.last_wait(read).filter(|_| passed) {
                Some(wait) => Fault::NotCovered(wait),
                None => Fault::NotAwaited,
            });
        }
        if states & !(OWN | WARP) == 0 {
            return self.last_wait(read).map(Fault::NotShared);
        }
        None
    }

    /// Whether the work is under way on every path.
    pub(super) fn is_pending(states: u32) -> bool {
        states & (PENDING | PASSED) != 0 && states & (OWN | WARP | DONE) == 0
    }

    /// Whether at least the lanes of the warp know of the copies.
    pub(super) fn is_warp_synced(&self, states: u32) -> bool {
        states & OWN == 0
    }

    /// The nearest wait in the text before an instruction, or else any.
    fn last_wait(&self, read: InstId) -> Option<InstId> {
        let waits: Vec<InstId> = self.waits().collect();
        let before = waits.iter().filter(|wait| **wait < read).max();
        before.or(waits.first()).copied()
    }

    /// Everything that waits for copies.
    pub(super) fn waits(&self) -> impl Iterator<Item = InstId> {
        self.events.iter().filter_map(|(inst, event)| match event {
            Event::Wait(_) => Some(InstId(*inst)),
            Event::Meet(Meeting::Mbarrier) if self.by_mbarrier => Some(InstId(*inst)),
            Event::Meet(Meeting::Unknown) => Some(InstId(*inst)),
            _ => None,
        })
    }

    /// Waits that cover no copy on any path, though one is in flight on all paths.
    pub(super) fn idle(&self, unit: &Unit) -> Vec<InstId> {
        let mut found: Vec<InstId> = Vec::new();
        for (inst, event) in &self.events {
            let Event::Wait(groups) = event else { continue };
            if unit.body.insts[*inst as usize].op.effect != Effect::Async {
                continue;
            }
            let states = self.solution.before(&self.problem(), &unit.cfg, *inst);
            let in_flight = |bits: &&u32| **bits & (PENDING | PASSED) != 0;
            let waits = |bits: &u32| waited(*bits & (PENDING | PASSED), *groups) & OWN != 0;
            if states.iter().any(|bits| in_flight(&bits)) && !states.iter().any(waits) {
                found.push(InstId(*inst));
            }
        }
        found.sort_unstable();
        found
    }
}
