//! Runs a kernel's CTA: control flow, barriers, calls.

use super::fiber::{Cells, Fiber, Frame, Who};
use super::inputs::{Params, Setup};
use super::log::{Log, Site};
use super::mask::Mask;
use super::program::{Arg, Program, Row, Step};
use super::shadow::Shadow;
use super::space::Layout;
use super::value::Value;
use super::{Fault, GlobalUse, Stop};
use crate::ptx::ir::{FuncId, InstId, Module, Special};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Calls within calls.
const DEEPEST: usize = 8;

/// The functions of a module, decoded when first needed.
pub struct Programs<'m> {
    pub(super) module: &'m Module,
    known: FxHashMap<FuncId, Option<Rc<Program<'m>>>>,
}

impl<'m> Programs<'m> {
    /// None is decoded yet.
    pub fn new(module: &'m Module) -> Self {
        Self {
            module,
            known: FxHashMap::default(),
        }
    }

    /// Lets go of a function that will not be run again.
    pub fn forget(&mut self, function: FuncId) {
        self.known.remove(&function);
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    pub(super) fn get(&mut self, function: FuncId) -> Option<Rc<Program<'m>>> {
        let module = self.module;
        let make = || {
            let function = module.function(function);
            let body = function.body.as_ref();
            body.map(|body| Rc::new(Program::new(module, function, body)))
        };
        self.known.entry(function).or_insert_with(make).clone()
    }
}

/// What happens after an instruction.
pub(super) enum Next {
    /// The next instruction.
    On,
    /// The entry's place has been set.
    Jumped,
    /// The fiber waits.
    Wait,
    /// The fiber waits, and then comes to the instruction again.
    Again,
}

/// Who has come to a barrier that is not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrived {
    /// Threads.
    pub(super) threads: u32,
    /// The warps, one bit each.
    pub(super) warps: u32,
    /// What they knew of the clocks.
    pub(super) knew: Vec<u32>,
}

/// A CTA in execution.
pub(super) struct Machine<'r, 'm> {
    pub(super) programs: &'r mut Programs<'m>,
    pub(super) setup: &'r Setup,
    pub(super) threads: usize,
    pub(super) layout: Layout<'m>,
    pub(super) params: Params<'m>,
    pub(super) log: Log,
    pub(super) faults: FxHashMap<(Site, &'static str), Fault>,
    /// Branches and the ways that some run has taken.
    pub(super) covered: &'r mut FxHashSet<(Site, bool)>,
    pub(super) specials: FxHashMap<&'static str, Value>,
    pub(super) time: u32,
    pub(super) fuel: u32,
    /// Half of the fuel at the start.
    pub(super) half: u32,
    /// What is read through the read-only path, and what is written.
    pub(super) read_only: super::parts::ReadOnly,
    pub(super) shadow: Shadow,
    /// Stores by single threads to one place.
    pub(super) slots: FxHashSet<(Site, u64)>,
    /// Per store by several threads, the lowest and the highest place.
    pub(super) arrays: FxHashMap<Site, (u64, u64)>,
    /// What was done to words of global memory, where one CTA is to be held against another.
    pub(super) global: FxHashMap<(u64, bool), GlobalUse>,
    /// Whether the kernel has computed the number of each thread's warp.
    pub(super) warps: bool,
    /// Whether the threads have filled a variable to the brim in one store.
    pub(super) fills: bool,
    /// Whether the kernel reads through the read-only path at all.
    pub(super) has_read_only: bool,
    /// Accesses at addresses that are not known.
    pub(super) unknown: Vec<Site>,
    /// Stores to where loaded data says.
    pub(super) scattered: FxHashMap<Site, super::Scatter>,
    pub(super) gathered: FxHashSet<Site>,
    pub(super) fibers: Vec<Fiber<'m>>,
    /// Whether each warp runs on its own.
    pub(super) by_warp: bool,
    /// Barriers at which some have arrived: how many, and what they knew.
    pub(super) arrived: FxHashMap<u64, Arrived>,
    /// Those of them that wait for all threads.
    pub(super) uncounted: FxHashSet<u64>,
    /// Whether a warp may come to a barrier twice before it is complete.
    pub(super) lenient: bool,
    /// Mbarriers, and the barrier of the cluster.
    pub(super) mbarriers: FxHashMap<u64, super::signals::Mbarrier>,
    pub(super) cluster: super::signals::ClusterBarrier,
}

impl<'m> Machine<'_, 'm> {
    /// Runs the kernel from its start; answers why it could not be run to its end.
    pub(super) fn run(&mut self, kernel: FuncId, program: &Rc<Program<'m>>) -> Result<(), Stop> {
        let all = Mask::first(self.threads as u32);
        let masks: Vec<Mask> = if self.by_warp {
            (0..self.threads.div_ceil(32))
                .map(|warp| Mask::of_warp(warp, u32::MAX).and(&all))
                .collect()
        } else {
            vec![all]
        };
        for mask in masks {
            self.fibers.push(Fiber {
                frames: vec![Frame::new(kernel, program.clone(), mask)],
                alive: mask,
                waits: None,
                again: false,
                cells: Cells::default(),
            });
        }
        loop {
            let mut ran = false;
            for at in 0..self.fibers.len() {
                if self.fibers[at].waits.is_none() && !self.fibers[at].frames.is_empty() {
                    ran = true;
                    self.run_fiber(at)?;
                    self.release();
                }
            }
            if self.fibers.iter().all(|fiber| fiber.frames.is_empty()) {
                return Ok(());
            }
            if ran {
                continue;
            }
            if self.relent() {
                continue;
            }
            return Err(match self.stuck() {
                Some(site) => Stop::Unclear(site, "what is waited for here does not come from this CTA"),
                None => Stop::Deadlock,
            });
        }
    }

    /// Runs a fiber until it waits or ends.
    fn run_fiber(&mut self, at: usize) -> Result<(), Stop> {
        loop {
            let fiber = &mut self.fibers[at];
            let alive = fiber.alive;
            let Some(frame) = fiber.frames.last_mut() else {
                return Ok(());
            };
            let Some(entry) = frame.stack.last_mut() else {
                self.leave_function(at);
                continue;
            };
            entry.mask = entry.mask.and(&alive);
            if entry.mask.is_empty() || entry.pc == entry.until {
                self.close(at);
                continue;
            }
            let pc = entry.pc;
            let program = frame.program.clone();
            let Some(row) = program.rows.get(pc as usize) else {
                self.end(at, true);
                continue;
            };
            self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Fuel)?;
            self.time += 1;
            match self.step(at, &program, pc, row)? {
                Next::On => self.advance(at, pc + 1),
                Next::Jumped => {}
                Next::Wait => {
                    self.advance(at, pc + 1);
                    return Ok(());
                }
                Next::Again => return Ok(()),
            }
        }
    }

    /// Lets the running entry go on at another place.
    pub(super) fn advance(&mut self, at: usize, to: u32) {
        let Some(frame) = self.fibers[at].frames.last_mut() else {
            return;
        };
        let Some(entry) = frame.stack.last_mut() else { return };
        let (from, target) = (
            frame.program.cfg.block_of(InstId(entry.pc)),
            frame.program.cfg.block_of(InstId(to)),
        );
        entry.pc = to;
        let start = frame.program.cfg.insts(target).start;
        if start == to {
            frame.pass(from, target);
        }
    }

    /// Ends the running entry: its threads have met those below, or there are none left.
    fn close(&mut self, at: usize) {
        let threads = self.threads;
        let Some(frame) = self.fibers[at].frames.last_mut() else {
            return;
        };
        let Some(mut entry) = frame.stack.pop() else { return };
        if let Some(first) = entry.fork.take().and_then(|fork| fork.first) {
            let lasting = frame.regs.iter_mut().zip(&first).zip(&frame.program.local);
            for ((reg, other), _) in lasting.filter(|(_, local)| !**local) {
                *reg = reg.merged(other, &entry.mask, threads);
            }
        }
        // The first of two ways is done: the second starts from where both parted.
        if let Some(fork) = frame.stack.last_mut().and_then(|top| top.fork.as_mut())
            && fork.first.is_none()
        {
            let start = std::mem::take(&mut fork.start);
            fork.first = Some(std::mem::replace(&mut frame.regs, start));
        }
    }

    fn leave_function(&mut self, at: usize) {
        let Some(done) = self.fibers[at].frames.pop() else {
            return;
        };
        if !self.fibers[at].frames.is_empty() {
            self.keep_results(at, &done);
            self.pass_results(at, done.function);
            let pc = self.fibers[at]
                .frames
                .last()
                .and_then(|frame| frame.stack.last())
                .map(|entry| entry.pc);
            if let Some(pc) = pc {
                self.advance(at, pc + 1);
            }
        }
    }

    /// The threads of the running entry end: the function, or altogether.
    pub(super) fn end(&mut self, at: usize, function_only: bool) {
        let fiber = &mut self.fibers[at];
        let outermost = fiber.frames.len() == 1;
        let maybe = fiber.frames.iter().any(Frame::is_maybe);
        let Some(frame) = fiber.frames.last_mut() else { return };
        let Some(mask) = frame.stack.last().map(|entry| entry.mask) else {
            return;
        };
        self.end_these(at, &mask, function_only && !outermost, maybe);
    }

    /// These threads end. Where they only may have come here, they stay in the entries below.
    pub(super) fn end_these(&mut self, at: usize, mask: &Mask, function_only: bool, maybe: bool) {
        let fiber = &mut self.fibers[at];
        if !function_only && !maybe {
            fiber.alive = fiber.alive.minus(mask);
        }
        let Some(frame) = fiber.frames.last_mut() else { return };
        let fork = frame
            .stack
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, entry)| Some((at, entry.fork.as_ref()?)));
        let bottom = match fork {
            Some((at, fork)) if fork.first.is_none() => at + 1,
            Some((at, _)) => at,
            None => 0,
        };
        for entry in &mut frame.stack[bottom..] {
            entry.mask = entry.mask.minus(mask);
        }
    }

    fn step(&mut self, at: usize, program: &Rc<Program<'m>>, pc: u32, row: &Row) -> Result<Next, Stop> {
        let site = Site {
            function: self.fibers[at].frames.last().map_or(FuncId(0), |frame| frame.function),
            inst: InstId(pc),
        };
        match &row.step {
            Step::Nothing => Ok(Next::On),
            Step::Branch(target) => self.branch(at, program, pc, row, site, *target),
            Step::Switch(index, targets) => self.switch(at, site, index, targets),
            Step::End(function_only) => self.guarded_end(at, row, *function_only, site),
            Step::Barrier { op, id, count } => self.barrier(at, row, site, *op, id.as_ref(), count.as_ref()),
            Step::Signal(signal) => self.signal(at, row, site, signal),
            Step::Cluster { arrives } => Ok(self.cluster(at, row, *arrives)),
            Step::Call(function) => self.call(at, *function, site),
            _ => {
                self.compute(at, row, site);
                Ok(Next::On)
            }
        }
    }

    pub(super) fn mask(&self, at: usize) -> Mask {
        let entry = self.fibers[at].frames.last().and_then(|frame| frame.stack.last());
        entry.map(|entry| entry.mask).unwrap_or_default()
    }

    /// The threads of the running entry for which the guard holds, and those for which it is not known.
    pub(super) fn executing(&self, at: usize, row: &Row) -> Who {
        let mask = self.mask(at);
        let Some(guard) = row.guard else {
            return Who::sure(mask);
        };
        let Some(value) = self.fibers[at]
            .frames
            .last()
            .and_then(|frame| frame.regs.get(guard.reg.index()))
        else {
            return Who::sure(mask);
        };
        let unknown = value.unknown_in(&mask);
        let known = mask.minus(&unknown);
        let holds = known.filter(|thread| value.of(thread).is_some_and(|bit| (bit & 1 == 1) != guard.negated));
        Who { holds, unknown }
    }

    fn call(&mut self, at: usize, function: FuncId, site: Site) -> Result<Next, Stop> {
        let depth = self.fibers[at].frames.len();
        let recursive = self.fibers[at].frames.iter().any(|frame| frame.function == function);
        let program = self.programs.get(function).filter(|_| depth < DEEPEST && !recursive);
        let Some(program) = program else {
            return Err(Stop::Unclear(site, "the called function calls itself or is not known"));
        };
        if program.foreign.is_some() {
            return Err(Stop::Unclear(
                site,
                "the called function waits in ways that are not followed",
            ));
        }
        let mask = self.mask(at);
        self.pass_arguments(at, function, site);
        let frame = Frame::new(function, program, mask);
        self.fibers[at].frames.push(frame);
        self.take_registers(at, function);
        Ok(Next::Jumped)
    }

    fn read_special(&mut self, special: Special) -> Value {
        let setup = self.setup;
        self.specials
            .entry(special.name())
            .or_insert_with(|| setup.special(special))
            .clone()
    }

    /// What a source holds.
    pub(super) fn read(&mut self, at: usize, arg: &Arg) -> Value {
        match arg {
            Arg::Known(value) => Value::same(*value),
            Arg::Special(special) => self.read_special(*special),
            Arg::Symbol(symbol, by) => match self.layout.address(*symbol) {
                Some(address) => Value::same(address.wrapping_add(*by as u64)),
                None => Value::token(0x2000_0000 + u64::from(symbol.0)),
            },
            Arg::Reg(reg, by, negated) => {
                let value = self.fibers[at]
                    .frames
                    .last()
                    .and_then(|frame| frame.regs.get(reg.index()));
                let value = value.cloned().unwrap_or_else(Value::chaos);
                match (*by, *negated) {
                    (0, false) => value,
                    (0, true) => self.map(&value, |bits| bits ^ 1),
                    (by, _) => self.raised(value, by as u64),
                }
            }
            Arg::Other => Value::chaos(),
        }
    }
}
