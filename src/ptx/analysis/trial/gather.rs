//! Named barriers among warps that run on their own, and arguments of calls.

use super::Stop;
use super::fiber::{Cells, Fiber, Frame, Who};
use super::log::Site;
use super::machine::{Arrived, Machine, Next};
use super::mask::Mask;
use super::program::{Arg, Row, arg};
use super::value::Value;
use crate::ptx::analysis::calls::Call;
use crate::ptx::ir::{BarrierOp, FuncId, Operand, SymbolId};
use std::rc::Rc;

impl Machine<'_, '_> {
    /// A barrier of the CTA: all meet, or the warps that come are counted.
    pub(super) fn barrier(
        &mut self,
        at: usize,
        row: &Row,
        site: Site,
        op: BarrierOp,
        id: Option<&Arg>,
        count: Option<&Arg>,
    ) -> Result<Next, Stop> {
        for def in &row.defs {
            // Whatever comes out, all threads get the same.
            let token = Value::some();
            let mask = self.mask(at);
            self.write(at, *def, token, &Who::sure(mask));
        }
        let who = self.executing(at, row);
        let maybe = self.fibers[at].frames.iter().any(Frame::is_maybe);
        if who.is_empty() {
            return Ok(Next::On);
        }
        let uniform = self.is_uniform_guard(at, row);
        if (!who.unknown.is_empty() && !uniform) || maybe {
            return Err(Stop::Tangled(site));
        }
        let alive = self.fibers[at].alive;
        let count = match count.map(|count| self.read(at, count)) {
            None => None,
            Some(value) if !self.by_warp && value.constant().is_none() && value.is_by_thread() => {
                return Err(Stop::NeedsWarps);
            }
            Some(value) => {
                let known = value.constant().or_else(|| common(&value, &alive));
                Some(known.ok_or(Stop::Unclear(site, "a barrier's count is not known"))?)
            }
        };
        let id = id.map(|id| self.read(at, id));
        let apart = id
            .as_ref()
            .is_some_and(|id| id.constant().is_none() && id.is_by_thread());
        let whole = who.lanes() == alive;
        let full = count.is_none_or(|count| count >= u64::from(alive.len()));
        if !self.by_warp {
            if !whole || !full || apart || op == BarrierOp::Arrive {
                return Err(Stop::NeedsWarps);
            }
            self.log.clear();
            return Ok(Next::On);
        }
        if !whole {
            return Err(Stop::Tangled(site));
        }
        let id = match id {
            None => 0,
            Some(value) => {
                let known = value.constant().or_else(|| common(&value, &alive));
                known.ok_or(Stop::Unclear(site, "a barrier's number is not known"))?
            }
        };
        let id = id & 0xffff_ffff;
        let came = |arrived: &Arrived| arrived.warps >> at & 1 == 1;
        if !self.lenient && self.arrived.get(&id).is_some_and(came) {
            // The others have not come yet: to arrive twice would be to come in their place.
            let fiber = &mut self.fibers[at];
            (fiber.waits, fiber.again) = (Some(id), true);
            return Ok(Next::Again);
        }
        self.arrive(at, id, op, count);
        Ok(if op == BarrierOp::Arrive { Next::On } else { Next::Wait })
    }

    /// A warp arrives at a barrier, and waits unless it only arrives.
    fn arrive(&mut self, at: usize, id: u64, op: BarrierOp, count: Option<u64>) {
        let knows = self.log.clocks[at].clone();
        Rc::make_mut(&mut self.log.clocks[at])[at] += 1;
        let arrived = self.arrived.entry(id).or_default();
        arrived.threads += 32;
        arrived.warps |= 1 << at;
        arrived.knew.resize(knows.len(), 0);
        let knew = arrived.knew.iter_mut().zip(knows.iter());
        knew.for_each(|(knew, known)| *knew = (*knew).max(*known));
        let complete = count.is_some_and(|count| u64::from(arrived.threads) >= count);
        if op != BarrierOp::Arrive {
            self.fibers[at].waits = Some(id);
        }
        if complete {
            self.complete(id);
        }
        if count.is_none() {
            self.uncounted.insert(id);
        }
    }

    /// Lets go whoever waits at a barrier.
    fn complete(&mut self, id: u64) {
        let Some(Arrived { knew, .. }) = self.arrived.remove(&id) else {
            return;
        };
        self.uncounted.remove(&id);
        let waiting = |(_, fiber): &(usize, &mut Fiber)| fiber.waits == Some(id);
        for (warp, fiber) in self.fibers.iter_mut().enumerate().filter(waiting) {
            fiber.waits = None;
            if std::mem::take(&mut fiber.again) {
                continue;
            }
            // Its lanes have met there, too.
            self.log.meet(fiber.alive.iter(), self.time);
            let clocks = Rc::make_mut(&mut self.log.clocks[warp]);
            let clocks = clocks.iter_mut().zip(&knew).enumerate();
            clocks
                .filter(|(of, _)| *of != warp)
                .for_each(|(_, (own, knew))| *own = (*own).max(*knew));
        }
    }

    /// Lets warps come to a barrier twice, where nothing else goes on; answers whether that helps any.
    pub(super) fn relent(&mut self) -> bool {
        if self.lenient {
            return false;
        }
        let mut any = false;
        for fiber in self.fibers.iter_mut().filter(|fiber| fiber.again) {
            (fiber.waits, fiber.again) = (None, false);
            any = true;
        }
        self.lenient |= any;
        any
    }

    /// Completes the barriers without a count for which all that still run have come.
    pub(super) fn release(&mut self) {
        if self.by_warp {
            self.close_cluster();
        }
        for id in self.uncounted.clone() {
            let mut running = self.fibers.iter().filter(|fiber| !fiber.frames.is_empty());
            if running.all(|fiber| fiber.waits == Some(id) && !fiber.again) {
                self.log.clear();
                self.complete(id);
            }
        }
    }

    /// Hands the arguments of the call that runs to the function.
    pub(super) fn pass_arguments(&mut self, at: usize, function: FuncId, site: Site) {
        let Some(frame) = self.fibers[at].frames.last() else {
            return;
        };
        let body = frame.program.body;
        let Some(call) = body
            .insts
            .get(site.inst.index())
            .and_then(|inst| Call::of(self.programs.module, site.inst, inst))
        else {
            return;
        };
        let params = &self.programs.module.function(function).params;
        for (param, operand) in params.iter().zip(call.args) {
            match operand {
                Operand::Symbol(symbol, _) => copy(&mut self.fibers[at].cells, *symbol, *param),
                _ => {
                    let value = match arg(operand) {
                        Arg::Other => Value::chaos(),
                        arg => self.read(at, &arg),
                    };
                    self.fibers[at].cells.insert((*param, 0), (8, value));
                }
            }
        }
    }

    /// Puts arguments into the registers of the called function that stand for its parameters.
    pub(super) fn take_registers(&mut self, at: usize, function: FuncId) {
        let module = self.programs.module;
        let fiber = &mut self.fibers[at];
        let Some(frame) = fiber.frames.last_mut() else { return };
        for param in &module.function(function).params {
            let register = frame
                .program
                .body
                .regs
                .iter()
                .position(|reg| *reg.name == *module.name(*param));
            if let (Some(register), Some((_, value))) = (register, fiber.cells.get(&(*param, 0))) {
                frame.regs[register] = value.clone();
            }
        }
    }

    /// What the registers hold that stand for results of the function that ends.
    pub(super) fn keep_results(&mut self, at: usize, done: &Frame) {
        let module = self.programs.module;
        for result in &module.function(done.function).results {
            let register = done
                .program
                .body
                .regs
                .iter()
                .position(|reg| *reg.name == *module.name(*result));
            if let Some(register) = register {
                self.fibers[at]
                    .cells
                    .insert((*result, 0), (8, done.regs[register].clone()));
            }
        }
    }

    /// Hands the results of a function that has ended to the call below it.
    pub(super) fn pass_results(&mut self, at: usize, function: FuncId) {
        let Some(frame) = self.fibers[at].frames.last() else {
            return;
        };
        let Some(entry) = frame.stack.last() else { return };
        let (pc, mask) = (entry.pc, entry.mask);
        let body = frame.program.body;
        let at_call = crate::ptx::ir::InstId(pc);
        let Some(call) = body
            .insts
            .get(pc as usize)
            .and_then(|inst| Call::of(self.programs.module, at_call, inst))
        else {
            return;
        };
        let results = &self.programs.module.function(function).results;
        for (result, operand) in results.iter().zip(call.results) {
            match operand {
                Operand::Symbol(symbol, _) => copy(&mut self.fibers[at].cells, *result, *symbol),
                Operand::Reg(reg) => {
                    let held = self.fibers[at].cells.get(&(*result, 0)).map(|(_, value)| value.clone());
                    self.write(at, *reg, held.unwrap_or_else(Value::chaos), &Who::sure(mask));
                }
                _ => {}
            }
        }
    }
}

/// Copies what one variable holds to another.
fn copy(cells: &mut Cells, from: SymbolId, to: SymbolId) {
    let held: Vec<_> = cells
        .iter()
        .filter(|((symbol, _), _)| *symbol == from)
        .map(|((_, at), cell)| (*at, cell.clone()))
        .collect();
    cells.retain(|(symbol, _), _| *symbol != to);
    cells.extend(held.into_iter().map(|(at, cell)| ((to, at), cell)));
}

/// What a value is in all of these threads, where that is one known number.
fn common(value: &Value, lanes: &Mask) -> Option<u64> {
    let first = value.of(lanes.lowest()?)?;
    lanes
        .iter()
        .all(|thread| value.of(thread) == Some(first))
        .then_some(first)
}
