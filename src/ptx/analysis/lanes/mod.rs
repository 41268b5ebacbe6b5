//! What the lanes of one warp hold, up to a part that is alike in all of them: enough to see which addresses a warp touches.
//!
//! A value is known exactly in each lane, or relative to lane 0 (its base is unknown, but the same for all lanes), or not at all.
//! Arithmetic on relative values is taken not to wrap around. Threads are those of the first warp of a CTA; all of
//! its lanes are taken to be there.

mod line;
#[cfg(test)]
mod tests;

use super::geometry::Shape;
use super::graphs::Code;
use crate::ptx::flow::{Condition, Definition, ValueId};
use crate::ptx::ir::{Address, Base, Guard, Inst, InstId, Operand};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;
pub use line::Line;
use line::{LANES, exact, relative};

/// Loops are gone round no more often than this; what still changes then is unknown.
const ROUNDS: usize = 12;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "they lie side by side, and most that are computed at all are known"
)]
enum State {
    Unseen,
    Known(Line),
    Unknown,
}

impl State {
    fn line(self) -> Option<Line> {
        match self {
            State::Known(line) => Some(line),
            _ => None,
        }
    }
}

/// The lanes that execute something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active {
    /// One bit a lane.
    pub mask: u32,
    /// Whether conditions that are not known may take more of them away.
    pub unsure: bool,
}

/// The lanes' values in one function.
pub struct Lanes<'a> {
    code: Code<'a>,
    shape: Shape,
    states: Vec<State>,
    /// The values that addresses and conditions depend on.
    needed: Vec<bool>,
}

impl<'a> Lanes<'a> {
    /// Computes them for CTAs of a shape, as far as the addresses of the instructions that concern the caller depend on them.
    pub fn new(code: Code<'a>, shape: Shape, concerns: impl Fn(&Inst) -> bool) -> Self {
        let mut lanes = Self {
            code,
            shape,
            states: vec![State::Unseen; code.ssa.len()],
            needed: needed(code, concerns),
        };
        for round in 0..=ROUNDS {
            if !lanes.round(round == ROUNDS) {
                break;
            }
        }
        lanes
    }

    /// What the lanes hold in a value.
    pub fn value(&self, id: ValueId) -> Option<Line> {
        self.states.get(id.index())?.line()
    }

    /// The addresses that an instruction's lanes access.
    pub fn address(&self, inst: InstId, address: &Address) -> Option<Line> {
        let base = match address.base {
            Base::Reg(reg) => self.value(self.code.ssa.use_of(inst, reg)?)?,
            Base::Symbol(_) => Line::UNIFORM,
            Base::Absolute => Line::exact(0),
        };
        Some(Line {
            lanes: base.lanes.map(|lane| {
                if base.exact {
                    lane.wrapping_add(address.offset)
                } else {
                    lane
                }
            }),
            ..base
        })
    }

    /// The lanes that execute an instruction when the warp comes there.
    pub fn active(&self, inst: InstId) -> Active {
        let Code { cfg, body, .. } = self.code;
        let mut active = Active {
            mask: u32::MAX,
            unsure: false,
        };
        if let Some(guard) = body.insts[inst.index()].guard {
            self.restrict(&mut active, inst, guard, true);
        }
        let mut at = cfg.block_of(inst);
        while let Some(above) = cfg.dom().idom(at) {
            if let (Some(condition), Some(last)) = (cfg.condition(body, above), cfg.last(above))
                && cfg.preds().next(at) == [above]
            {
                match condition {
                    Condition::Guard(guard) => {
                        let holds = cfg.succs().next(above).first() == Some(&at);
                        self.restrict(&mut active, last, guard, holds);
                    }
                    Condition::Index(_) => active.unsure = true,
                }
            }
            at = above;
        }
        active
    }

    fn restrict(&self, active: &mut Active, inst: InstId, guard: Guard, holds: bool) {
        let line = self
            .code
            .ssa
            .use_of(inst, guard.reg)
            .and_then(|value| self.value(value));
        match line {
            Some(line) if line.exact => {
                for (lane, value) in line.lanes.iter().enumerate() {
                    if (value & 1 == 1) != (holds != guard.negated) {
                        active.mask &= !(1 << lane);
                    }
                }
            }
            Some(line) if line.is_uniform() => {}
            _ => active.unsure = true,
        }
    }

    /// Looks at every value once; answers whether something changed. The last time, what changes becomes unknown.
    fn round(&mut self, last: bool) -> bool {
        let Code { cfg, ssa, .. } = self.code;
        let mut changed = false;
        for block in cfg.rpo() {
            for phi in ssa.phis(*block) {
                if self.needed[phi.index()] {
                    let state = self.phi(*phi, *block);
                    changed |= self.lower(*phi, state, last);
                }
            }
            for inst in cfg.insts(*block).map(InstId) {
                let defs = ssa.defs(inst);
                if !defs.iter().any(|def| self.needed[def.index()]) {
                    continue;
                }
                let state = self.inst(inst);
                for def in defs {
                    changed |= self.lower(*def, state, last);
                }
            }
        }
        changed
    }

    /// Notes a state; what is known only ever gets less.
    fn lower(&mut self, id: ValueId, state: State, last: bool) -> bool {
        let bits = self.bits(id);
        let known = &mut self.states[id.index()];
        let next = match (*known, state) {
            (State::Unseen, state) | (state, State::Unseen) => state,
            (State::Known(old), State::Known(new)) => old.or(&new, bits).map_or(State::Unknown, State::Known),
            _ => State::Unknown,
        };
        if *known == next {
            return false;
        }
        *known = if last { State::Unknown } else { next };
        true
    }

    fn bits(&self, id: ValueId) -> u32 {
        let reg = self
            .code
            .ssa
            .value(id)
            .and_then(|value| self.code.body.regs.get(value.reg.index()));
        reg.map_or(64, |reg| reg.ty.bits())
    }

    fn phi(&self, id: ValueId, block: u32) -> State {
        let bits = self.bits(id);
        let mut merged: Option<Line> = None;
        for input in self.code.ssa.phi_inputs(id) {
            match self.states.get(input.index()).copied().unwrap_or(State::Unknown) {
                State::Unseen => {}
                State::Unknown => return State::Unknown,
                State::Known(line) => {
                    let Some(joined) = merged.map_or(Some(line), |known| known.or(&line, bits)) else {
                        return State::Unknown;
                    };
                    merged = Some(joined);
                }
            }
        }
        match merged {
            None => State::Unseen,
            // Lanes that came another way may hold another base.
            Some(line) if !line.exact && !self.meets_together(block) => State::Unknown,
            Some(line) => State::Known(line),
        }
    }

    /// Whether the lanes that are active at a join came the same way.
    fn meets_together(&self, block: u32) -> bool {
        let Code {
            cfg, body, ssa, loops, ..
        } = self.code;
        let together = |at: u32| match (cfg.condition(body, at), cfg.last(at)) {
            (Some(Condition::Guard(guard)), Some(last)) => ssa
                .use_of(last, guard.reg)
                .and_then(|value| self.value(value))
                .is_some_and(|line| line.is_uniform()),
            (Some(_), _) => false,
            _ => true,
        };
        // A loop's rounds are counted alike by all lanes that are still in it.
        let is_header = loops.innermost(block).is_some_and(|id| loops.get(id).header == block);
        is_header
            || cfg.dom().idom(block).is_none_or(together) && cfg.preds().next(block).iter().all(|pred| together(*pred))
    }

    fn inst(&self, inst: InstId) -> State {
        let row = &self.code.body.insts[inst.index()];
        if row.guard.is_some() {
            return State::Unknown;
        }
        match row.op.effect {
            Effect::Pure => self.pure(inst, row),
            Effect::Load if row.op.space != Space::Local => self.load(inst, row),
            Effect::Barrier => State::Known(Line::UNIFORM),
            Effect::Warp if matches!(row.op.base(), "vote" | "redux" | "activemask") => State::Known(Line::UNIFORM),
            _ => State::Unknown,
        }
    }

    /// Lanes that load from one address get one value.
    fn load(&self, inst: InstId, row: &Inst) -> State {
        let address = row.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        });
        let state = address.map_or(State::Unknown, |address| match address.base {
            Base::Reg(reg) => self.of_reg(inst, reg),
            _ => State::Known(Line::UNIFORM),
        });
        match state {
            State::Known(line) if !line.is_uniform() => State::Unknown,
            State::Known(_) => State::Known(Line::UNIFORM),
            other => other,
        }
    }

    fn of_reg(&self, inst: InstId, reg: crate::ptx::ir::RegId) -> State {
        let value = self.code.ssa.use_of(inst, reg);
        value
            .and_then(|value| self.states.get(value.index()).copied())
            .unwrap_or(State::Unknown)
    }

    fn operand(&self, inst: InstId, operand: &Operand) -> State {
        match operand {
            Operand::Reg(reg) => self.of_reg(inst, *reg),
            Operand::Not(reg) => match self.of_reg(inst, *reg) {
                State::Known(line) if line.exact => State::Known(Line {
                    lanes: line.lanes.map(|lane| lane ^ 1),
                    ..line
                }),
                state => state,
            },
            Operand::Imm(imm) => imm
                .as_int()
                .map_or(State::Known(Line::UNIFORM), |value| State::Known(Line::exact(value))),
            Operand::Symbol(..) => State::Known(Line::UNIFORM),
            Operand::Special(special) => {
                let mut lanes = [0; LANES];
                for (at, lane) in lanes.iter_mut().enumerate() {
                    match self.shape.special(*special, at as u32) {
                        Some(value) => *lane = value as i64,
                        // A row of a CTA with several is taken to be a warp wide at least.
                        None if special.name() == "%tid.x" => *lane = at as i64,
                        None if matches!(special.name(), "%tid.y" | "%tid.z")
                            || special.info().extent < Extent::Thread =>
                        {
                            return State::Known(Line::UNIFORM);
                        }
                        None => return State::Unknown,
                    }
                }
                let exact = special.name() != "%tid.x" || !matches!(self.shape, Shape::Unknown(_));
                State::Known(Line { lanes, exact })
            }
            _ => State::Unknown,
        }
    }

    fn pure(&self, inst: InstId, row: &Inst) -> State {
        let mut args: Vec<Line> = Vec::with_capacity(row.operands.len());
        for operand in row.operands.iter().skip(1) {
            match self.operand(inst, operand) {
                State::Known(line) => args.push(line),
                other => return other,
            }
        }
        if args.iter().all(|line| line.exact)
            && let Some(line) = exact(row, &args)
        {
            return State::Known(line);
        }
        let line = if args.iter().all(Line::is_uniform) {
            Some(Line::UNIFORM)
        } else {
            relative(row, &args)
        };
        line.map_or(State::Unknown, State::Known)
    }
}

/// The values that the addresses of some instructions, and all conditions, depend on.
fn needed(code: Code, concerns: impl Fn(&Inst) -> bool) -> Vec<bool> {
    let Code { ssa, body, .. } = code;
    let mut needed = vec![false; ssa.len()];
    let mut stack: Vec<ValueId> = Vec::new();
    for (at, row) in (0..).map(InstId).zip(&body.insts) {
        let guard = row.guard.and_then(|guard| ssa.use_of(at, guard.reg));
        if matches!(row.op.effect, Effect::Branch | Effect::Exit) || concerns(row) {
            stack.extend(guard);
        }
        if concerns(row) {
            let bases = row
                .operands
                .iter()
                .filter(|operand| matches!(operand, Operand::Address(_)));
            bases.for_each(|operand| operand.for_each_reg(&mut |reg| stack.extend(ssa.use_of(at, reg))));
        }
    }
    while let Some(value) = stack.pop() {
        let Some(seen) = needed.get_mut(value.index()) else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        match ssa.value(value).map(|value| value.definition) {
            Some(Definition::Inst(inst)) => stack.extend(ssa.uses(inst)),
            Some(Definition::Phi(_)) => stack.extend(ssa.phi_inputs(value)),
            _ => {}
        }
    }
    needed
}
