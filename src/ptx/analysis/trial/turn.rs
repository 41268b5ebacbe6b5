//! Branches: known in every thread, different between threads, or not known.

use super::Stop;
use super::fiber::{Entry, Fork, Frame, NEVER, Who};
use super::log::Site;
use super::machine::{Machine, Next};
use super::mask::Mask;
use super::program::{Arg, Program, Row};
use crate::ptx::flow::LoopId;
use crate::ptx::ir::InstId;
use std::rc::Rc;

/// Rounds that a loop runs whose end is not known.
const GUESSED_ROUNDS: u32 = 4;
/// Rounds of one that halves or doubles a number: they end within as many.
const HALVING_ROUNDS: u32 = 16;
/// Rounds that a loop runs at most.
const MOST_ROUNDS: u32 = 300;

/// A two-way branch and who goes which way.
#[derive(Clone, Copy)]
struct Ways {
    block: u32,
    target: u32,
    next: u32,
    taken: Mask,
    falls: Mask,
}

impl<'m> Machine<'_, 'm> {
    /// An exit, by the threads for which its guard holds.
    pub(super) fn guarded_end(&mut self, at: usize, row: &Row, function_only: bool, site: Site) -> Result<Next, Stop> {
        let Who { mut holds, unknown } = self.executing(at, row);
        if !unknown.is_empty() && unknown == self.mask(at) && self.is_uniform_guard(at, row) && self.choose(site, None)
        {
            holds = unknown;
        }
        let outermost = self.fibers[at].frames.len() == 1;
        let maybe = self.fibers[at].frames.iter().any(Frame::is_maybe);
        if row.guard.is_none() {
            self.end(at, function_only);
            return Ok(Next::Jumped);
        }
        self.end_these(at, &holds, function_only && !outermost, maybe);
        Ok(Next::On)
    }

    /// Whether the guard is alike in all threads.
    pub(super) fn is_uniform_guard(&self, at: usize, row: &Row) -> bool {
        let frame = self.fibers[at].frames.last();
        row.guard
            .is_some_and(|guard| frame.is_some_and(|frame| frame.regs[guard.reg.index()].is_uniform()))
    }

    /// Which way to go where both are possible: one that no run has taken, else the likely one.
    fn choose(&mut self, site: Site, likely: Option<bool>) -> bool {
        let way = match likely {
            Some(way) if !self.setup.explore || self.covered.contains(&(site, !way)) => way,
            Some(way) => !way,
            None => self.covered.contains(&(site, false)) && !self.covered.contains(&(site, true)),
        };
        self.covered.insert((site, way));
        way
    }

    /// A branch.
    pub(super) fn branch(
        &mut self,
        at: usize,
        program: &Rc<Program<'m>>,
        pc: u32,
        row: &Row,
        site: Site,
        target: u32,
    ) -> Result<Next, Stop> {
        let mask = self.mask(at);
        let Some(guard) = row.guard else {
            self.advance(at, target);
            return Ok(Next::Jumped);
        };
        let Who { holds: taken, unknown } = self.executing(at, row);
        let falls = mask.minus(&taken).minus(&unknown);
        let guess = self.fibers[at]
            .frames
            .last()
            .is_none_or(|frame| frame.regs[guard.reg.index()].guess);
        let uniform = self.is_uniform_guard(at, row);
        if guess && let Some(frame) = self.fibers[at].frames.last_mut() {
            frame.guessed[row.block as usize] = true;
        }
        // Loops are not run for ever.
        if let Some(way) = self.leaving(at, program, row.block, target, pc + 1, guess) {
            if let Some(frame) = self.fibers[at].frames.last_mut() {
                frame.guessed[row.block as usize] = true;
            }
            self.go(at, row.block, if way { target } else { pc + 1 }, true);
            return Ok(Next::Jumped);
        }
        let ways = Ways {
            block: row.block,
            target,
            next: pc + 1,
            taken: taken.or(&unknown),
            falls: falls.or(&unknown),
        };
        if unknown.is_empty() && !taken.is_empty() && !falls.is_empty() {
            self.split(at, program, &ways);
            return Ok(Next::Jumped);
        }
        if !(unknown.is_empty() || uniform && unknown == mask) {
            self.fork(at, program, &ways);
            return Ok(Next::Jumped);
        }
        let maybe = self.fibers[at].frames.iter().any(Frame::is_maybe);
        let way = match unknown.is_empty() {
            true if guess && uniform && !maybe => self.choose(site, Some(!taken.is_empty())),
            true => !taken.is_empty(),
            false => self.choose(site, None),
        };
        self.go(at, row.block, if way { target } else { pc + 1 }, guess);
        Ok(Next::Jumped)
    }

    /// Goes one way. What a loop has computed rests on made-up numbers where its end does.
    fn go(&mut self, at: usize, block: u32, to: u32, guess: bool) {
        if guess && let Some(frame) = self.fibers[at].frames.last_mut() {
            let program = frame.program.clone();
            let target = program.cfg.block_of(InstId(to));
            let left = program
                .loops
                .around(block)
                .take_while(|id| !program.loops.contains(*id, target))
                .last();
            let inside = |row: &&Row| left.is_some_and(|id| program.loops.contains(id, row.block));
            if left.is_some() {
                for def in program.rows.iter().filter(inside).flat_map(|row| &row.defs) {
                    frame.regs[def.index()].guess = true;
                }
            }
        }
        self.advance(at, to);
    }

    /// Whether it is time to leave a loop here, and which way leads out.
    fn leaving(&self, at: usize, program: &Program, block: u32, target: u32, next: u32, guess: bool) -> Option<bool> {
        let frame = self.fibers[at].frames.last()?;
        // When half of the fuel is gone, loops are left early, so that what comes behind them is seen.
        let scarce = self.fuel < self.half;
        let most = |id: LoopId| match program.halving.get(id.0 as usize) {
            Some(true) if guess && !scarce => HALVING_ROUNDS,
            _ if guess || scarce => GUESSED_ROUNDS,
            _ => MOST_ROUNDS,
        };
        let block_of = |inst: u32| program.cfg.block_of(InstId(inst));
        let mut around = program
            .loops
            .around(block)
            .filter(|id| frame.rounds[id.0 as usize] >= most(*id));
        around.find_map(|id| {
            let stays = |inst: u32| program.loops.contains(id, block_of(inst));
            match (stays(target), stays(next)) {
                (true, false) => Some(false),
                (false, true) => Some(true),
                _ => None,
            }
        })
    }

    fn meeting(&self, program: &Program, block: u32) -> u32 {
        let meeting = program.converge.meeting(block);
        meeting.map_or(NEVER, |meeting| program.cfg.insts(meeting).start)
    }

    /// Sets the running entry to where the threads that part meet again, and answers where that is.
    fn park(&mut self, at: usize, program: &Program, ways: &Ways) -> Option<(&mut Frame<'m>, u32)> {
        let until = self.meeting(program, ways.block);
        let frame = self.fibers[at].frames.last_mut()?;
        let top = frame.stack.last_mut()?;
        top.pc = until;
        if until == NEVER {
            top.mask = Mask::default();
        }
        frame.pass(ways.block, program.cfg.block_of(InstId(ways.target)));
        Some((frame, until))
    }

    /// Lets the threads part: those that go to the earlier place run first.
    fn split(&mut self, at: usize, program: &Program, ways: &Ways) {
        let Some((frame, until)) = self.park(at, program, ways) else {
            return;
        };
        let (taken, falls) = ((ways.target, ways.taken), (ways.next, ways.falls));
        let order = if ways.target <= ways.next {
            [falls, taken]
        } else {
            [taken, falls]
        };
        for (pc, mask) in order {
            frame.stack.push(Entry {
                pc,
                mask,
                until,
                fork: None,
            });
        }
    }

    /// Runs both ways, one after the other, for threads of which it is not known which way they go.
    fn fork(&mut self, at: usize, program: &Program, ways: &Ways) {
        let Some((frame, until)) = self.park(at, program, ways) else {
            return;
        };
        let entry = |pc: u32, mask: Mask, fork: Option<Box<Fork>>| Entry { pc, mask, until, fork };
        let start = Fork {
            start: frame.regs.clone(),
            first: None,
        };
        let cost = frame.regs.len() as u32 / 16;
        frame.stack.push(entry(ways.target, ways.taken, Some(Box::new(start))));
        frame.stack.push(entry(ways.next, ways.falls, None));
        self.fuel = self.fuel.saturating_sub(cost);
    }

    /// An indexed branch: its index must be known.
    pub(super) fn switch(&mut self, at: usize, site: Site, index: &Arg, targets: &[u32]) -> Result<Next, Stop> {
        let value = self.read(at, index);
        let Some(known) = value.constant().and_then(|index| targets.get(index as usize)) else {
            return Err(Stop::Unclear(site, "an indexed branch goes where it is not known"));
        };
        self.advance(at, *known);
        Ok(Next::Jumped)
    }
}
