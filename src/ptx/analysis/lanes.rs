//! What the lanes of one warp hold, up to a part that is alike in all of them: enough to see which addresses a warp touches.
//!
//! A value is known exactly in each lane, or relative to lane 0 (its base is unknown, but the same for all lanes), or not at all.
//! Arithmetic on relative values is taken not to wrap around. Threads are those of the first warp of a CTA; all of
//! its lanes are taken to be there.

use super::geometry::{Shape, WARP};
use super::graphs::Code;
use super::scalar;
use crate::ptx::flow::{Condition, Definition, ValueId};
use crate::ptx::ir::{Address, Base, Guard, Inst, InstId, Operand};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;

/// Lanes of a warp.
const LANES: usize = WARP as usize;

/// Loops are gone round no more often than this; what still changes then is unknown.
const ROUNDS: usize = 12;

/// What the lanes of a warp hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Per lane, the value, or its distance from lane 0's.
    pub lanes: [i64; LANES],
    /// Whether these are the values themselves.
    pub exact: bool,
}

impl Line {
    const UNIFORM: Line = Line {
        lanes: [0; LANES],
        exact: false,
    };

    fn exact(value: i64) -> Self {
        Self {
            lanes: [value; LANES],
            exact: true,
        }
    }

    /// Whether all lanes hold the same.
    pub fn is_uniform(&self) -> bool {
        self.lanes.iter().all(|lane| *lane == self.lanes[0])
    }

    /// The same without its base. `bits` is the width in which lanes differ.
    fn relative(&self, bits: u32) -> Line {
        if !self.exact {
            return *self;
        }
        let first = self.lanes[0];
        let narrow = |distance: i64| {
            if bits <= 32 {
                i64::from(distance as i32)
            } else {
                distance
            }
        };
        Line {
            lanes: self.lanes.map(|lane| narrow(lane.wrapping_sub(first))),
            exact: false,
        }
    }

    fn map2(&self, other: &Line, join: impl Fn(i64, i64) -> i64) -> Line {
        let mut lanes = [0; LANES];
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = join(self.lanes[at], other.lanes[at]);
        }
        Line { lanes, exact: false }
    }

    /// What is known of something that is one or the other, alike in all lanes.
    fn or(&self, other: &Line, bits: u32) -> Option<Line> {
        if self == other {
            return Some(*self);
        }
        let (a, b) = (self.relative(bits), other.relative(bits));
        (a == b).then_some(a)
    }
}

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

/// The result where all operands are known.
fn exact(row: &Inst, args: &[Line]) -> Option<Line> {
    if !matches!(row.operands.first()?, Operand::Reg(_)) {
        return None;
    }
    let scalar = scalar::decode(row)?;
    let mut lanes = [0; LANES];
    for (at, lane) in lanes.iter_mut().enumerate() {
        let mut values = [0u64; 4];
        values
            .iter_mut()
            .zip(args)
            .for_each(|(value, line)| *value = line.lanes[at] as u64);
        *lane = scalar.apply(values.get(..scalar.arity)?)? as i64;
    }
    Some(Line { lanes, exact: true })
}

/// The result relative to lane 0, where the instruction keeps distances or multiplies them.
fn relative(row: &Inst, args: &[Line]) -> Option<Line> {
    let bits = row.op.types.last()?.bits();
    if !row.op.types.iter().all(|ty| ty.is_integral()) || row.op.has("hi") {
        return None;
    }
    let part = |at: usize| args.get(at).map(|line: &Line| line.relative(bits));
    let product = |a: &Line, b: &Line| {
        let factor = if b.exact && b.is_uniform() { b } else { a };
        let other = if std::ptr::eq(factor, b) { a } else { b };
        let by = factor.lanes[0];
        let by = if bits <= 32 { i64::from(by as i32) } else { by };
        (factor.exact && factor.is_uniform()).then(|| Line {
            lanes: other.relative(bits).lanes.map(|lane| lane.wrapping_mul(by)),
            exact: false,
        })
    };
    match (row.op.base(), args) {
        ("mov" | "cvt" | "cvta", [a]) => Some(a.relative(bits)),
        ("add", [..]) => Some(part(0)?.map2(&part(1)?, i64::wrapping_add)),
        ("sub", [..]) => Some(part(0)?.map2(&part(1)?, i64::wrapping_sub)),
        ("shl", [a, by]) if by.exact && by.is_uniform() && (0..63).contains(&by.lanes[0]) => {
            Some(product(a, &Line::exact(1 << by.lanes[0]))?)
        }
        ("mul", [a, b]) => product(a, b),
        ("mad", [a, b, c]) => Some(product(a, b)?.map2(
            &c.relative(if row.op.has("wide") { bits * 2 } else { bits }),
            i64::wrapping_add,
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::analysis::graphs::Graphs;
    use crate::ptx::ir::FuncId;
    use crate::ptx::parse::parse;

    /// The addresses of the stores of a kernel, and the lanes that do them.
    fn stores(body: &str, shape: Shape) -> Vec<(Option<Line>, Active)> {
        let regs =
            ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n";
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{{\n{regs}{body}\nret;\n}}\n"
        );
        let parsed = parse(&text);
        assert_eq!(parsed.diags, Vec::new());
        let body = parsed.module.functions[0].body.as_ref().unwrap();
        let graphs = Graphs::new(&parsed.module, body);
        let is_store = |row: &Inst| row.op.effect == Effect::Store;
        let lanes = Lanes::new(Code::new(&parsed.module, FuncId(0), body, &graphs), shape, is_store);
        let stores = (0..).map(InstId).zip(&body.insts).filter(|(_, row)| is_store(row));
        stores
            .map(|(at, row)| (lanes.address(at, row.as_mem().unwrap().address), lanes.active(at)))
            .collect()
    }

    fn strides(body: &str, shape: Shape) -> Vec<Option<i64>> {
        let stride = |line: Line| line.lanes[1] - line.lanes[0];
        stores(body, shape)
            .into_iter()
            .map(|(line, _)| line.map(stride))
            .collect()
    }

    const LINE: Shape = Shape::Line(256);

    #[test]
    fn strides_of_arithmetic() {
        let body = "mul.wide.u32 %rd2, %r1, 12;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3+8], 1;
            mov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r3, %r2, 256, %r1;\nshl.b32 %r4, %r3, 1;\ncvt.u64.u32 %rd4, %r4;
            sub.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], 1;\nst.global.u32 [%rd1], 1;";
        assert_eq!(strides(body, LINE), [Some(12), Some(-2), Some(0)]);
    }

    #[test]
    fn masks_and_rows_are_exact() {
        let body = "and.b32 %r2, %r1, 3;\nst.shared.u32 [%r2], 1;\nmov.u32 %r3, %tid.y;\nst.shared.u32 [%r3], 1;";
        let found = stores(body, Shape::Exact([16, 4, 1]));
        assert_eq!(found[0].0.unwrap().lanes[..6], [0, 1, 2, 3, 0, 1]);
        assert_eq!(found[1].0.unwrap().lanes[15..17], [0, 1]);
    }

    #[test]
    fn counters_of_loops_keep_the_distance() {
        let body = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r2, 0;
            L: st.global.u32 [%rd3], 1;\nadd.s64 %rd3, %rd3, 128;\nadd.u32 %r2, %r2, 1;
            setp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;";
        assert_eq!(strides(body, LINE), [Some(4)]);
    }

    #[test]
    fn what_lanes_load_or_choose_apart_is_unknown() {
        let body = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u64 %rd4, [%rd3];\nst.global.u32 [%rd4], 1;
            ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5], 1;
            setp.lt.u32 %p1, %r1, 9;\nmov.u64 %rd6, %rd1;\n@%p1 bra J;\nadd.s64 %rd6, %rd1, 64;\nJ: st.global.u32 [%rd6], 1;";
        assert_eq!(strides(body, LINE), [None, Some(0), None]);
    }

    #[test]
    fn conditions_on_the_thread_take_lanes_away() {
        let body = "setp.lt.u32 %p1, %r1, 4;\n@!%p1 bra D;\nst.global.u32 [%rd1], 1;\nsetp.eq.u32 %p2, %r1, 0;
            @%p2 st.global.u32 [%rd1], 1;\nD: st.global.u32 [%rd1], 1;";
        let masks: Vec<u32> = stores(body, LINE).into_iter().map(|(_, active)| active.mask).collect();
        assert_eq!(masks, [15, 1, u32::MAX]);
    }
}
