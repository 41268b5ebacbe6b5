//! The decoder: walks over the bodies of a kernel and of what it calls, and over their instructions.

use super::super::fault::Site;
use super::super::lanes::{File, Slot, lanes};
use super::defined::Watched;
use super::stack::Framed;
use super::{Ins, Layout, Op, Program, Rare, Step};
use crate::ptx::flow::{Cfg, Loops, in_order};
use crate::ptx::ir::{Body, FuncId, Inst, InstId, LabelId, Module, Operand, RegId, Special, SymbolId};
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;

/// Why an instruction cannot be executed.
pub type Refused = String;

/// The decoder at work on a function.
pub struct Decoder<'m> {
    pub(super) module: &'m Module,
    pub(super) body: &'m Body,
    pub(super) function: FuncId,
    pub(super) out: Program,
    pub(super) registers: FxHashMap<(RegId, u32), Slot>,
    pub(super) constants: FxHashMap<(u64, bool), Slot>,
    pub(super) specials: FxHashMap<Special, Slot>,
    pub(super) watched: Watched,
    /// Local variables that lie in the function's frame.
    pub(super) framed: FxHashMap<SymbolId, Framed>,
    /// Registers that `wgmma` instructions of the function have, with their numbers.
    pub(super) accumulators: FxHashMap<RegId, u32>,
    /// Functions that must be decoded, too.
    pub(super) called: Vec<FuncId>,
    /// Carry flag of the function.
    pub(super) carry: Option<Slot>,
    guard: (u32, u32),
    site: Site,
    /// Branches to instructions by their number, to be resolved.
    branches: Vec<(u32, LabelId)>,
    starts: Vec<u32>,
}

impl Ins {
    /// An unguarded instruction without operands.
    pub fn plain(op: Op) -> Ins {
        Ins {
            op,
            guard: super::operand::ALWAYS,
            flip: 0,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
        }
    }
}

/// Decodes a kernel and what it can call.
///
/// # Errors
/// What about the kernel as a whole cannot be executed.
pub fn decode(module: &Module, kernel: FuncId, dynamic: u64) -> Result<Program, String> {
    let body = module.function(kernel).body.as_ref().ok_or("the kernel has no body")?;
    let site = Site {
        function: kernel,
        inst: InstId(0),
    };
    let mut decoder = Decoder {
        module,
        body,
        function: kernel,
        out: Program {
            code: Vec::new(),
            sites: Vec::new(),
            order: Vec::new(),
            leaps: Vec::new(),
            steps: Vec::new(),
            accesses: Vec::new(),
            rares: Vec::new(),
            reductions: Vec::new(),
            accumulators: Vec::new(),
            matrices: Vec::new(),
            watched: Vec::new(),
            names: Vec::new(),
            file: File {
                words: vec![[0; 32]],
                longs: vec![[0; 32]],
                preds: vec![u32::MAX],
            },
            stack: None,
            specials: Vec::new(),
            cta_specials: Vec::new(),
            given: Vec::new(),
            layout: Layout::new(module, kernel, dynamic)?,
            entry: 0,
            exact: Vec::new(),
            kernel,
            routines: vec![None; module.functions.len()],
        },
        registers: FxHashMap::default(),
        constants: FxHashMap::default(),
        specials: FxHashMap::default(),
        watched: Watched::default(),
        framed: FxHashMap::default(),
        accumulators: FxHashMap::default(),
        called: Vec::new(),
        carry: None,
        guard: (super::operand::ALWAYS, 0),
        site,
        branches: Vec::new(),
        starts: Vec::new(),
    };
    decoder.function(kernel, body);
    while let Some(function) = decoder.called.pop() {
        let done = decoder.out.routines.get(function.index()).is_none_or(Option::is_some);
        if let (false, Some(body)) = (done || function == kernel, module.function(function).body.as_ref()) {
            decoder.routine(function, body)?;
        }
    }
    decoder.out.watched = decoder.out.find_watched();
    Ok(decoder.out)
}

impl<'m> Decoder<'m> {
    /// Decodes a body at the end of the code.
    pub(super) fn function(&mut self, function: FuncId, body: &'m Body) {
        self.body = body;
        self.function = function;
        self.registers.clear();
        self.carry = None;
        self.branches.clear();
        self.starts.clear();
        self.watched = Watched::of(self.module, body);
        self.find_accumulators(body);
        self.mark_params();
        self.guard = (super::operand::ALWAYS, 0);
        self.site = Site {
            function,
            inst: InstId(0),
        };
        if let Err(why) = self.frame(function, body) {
            self.rare(Rare::Unsupported(why));
        }
        for (at, inst) in body.insts.iter().enumerate() {
            self.starts.push(self.out.code.len() as u32);
            self.site = Site {
                function,
                inst: InstId(at as u32),
            };
            self.guarded(inst);
        }
        self.starts.push(self.out.code.len() as u32);
        self.guard = (super::operand::ALWAYS, 0);
        self.rare(Rare::Return);
        self.resolve();
        self.order(body);
    }

    /// Numbers the places of a function that has just been decoded.
    fn order(&mut self, body: &Body) {
        let first = self.out.order.len() as u32;
        self.out.order.extend(first..self.out.code.len() as u32);
        let cfg = Cfg::new(self.module, body);
        let mut next = self.starts.first().copied().unwrap_or(first);
        for block in in_order(&cfg, &Loops::of_cfg(&cfg)) {
            let insts = cfg.insts(block);
            let at = |inst: u32| self.starts.get(inst as usize).copied().unwrap_or(next);
            for pc in at(insts.start)..at(insts.end) {
                self.out.order[pc as usize] = next;
                next += 1;
            }
        }
        let order = &self.out.order;
        let leaps = (first.max(1)..order.len() as u32).filter(|pc| order[*pc as usize] != order[*pc as usize - 1] + 1);
        self.out.leaps.extend(leaps);
    }

    /// Decodes an instruction under its guard; what cannot be executed becomes something that says so.
    fn guarded(&mut self, inst: &Inst) {
        self.guard = (super::operand::ALWAYS, 0);
        let guard = match inst.guard {
            None => Ok((super::operand::ALWAYS, 0)),
            Some(guard) => match self.register(guard.reg, 0) {
                Ok(Slot::Pred(at, _)) => Ok((at, if guard.negated { u32::MAX } else { 0 })),
                _ => Err("a guard that is no predicate".to_owned()),
            },
        };
        self.check_guard(inst);
        let code = self.out.code.len();
        let branches = self.branches.len();
        let done = guard.and_then(|guard| {
            self.guard = guard;
            self.check_uses(inst)?;
            self.mark_defs(inst)?;
            self.touch_accumulators(inst);
            match inst.op.is_known() {
                true => self.instruction(inst),
                false => Err("an instruction that is not known".into()),
            }
        });
        if done.is_ok() {
            self.note_exact(inst);
        }
        if let Err(why) = done {
            self.out.code.truncate(code);
            self.out.sites.truncate(code);
            self.branches.truncate(branches);
            let text = &inst.op.text;
            self.rare(Rare::Unsupported(format!("`{text}`: {why}")));
        }
    }

    /// Makes branches go where their labels are.
    fn resolve(&mut self) {
        for (pc, label) in std::mem::take(&mut self.branches) {
            let target = self.label(label).unwrap_or(pc + 1);
            if let Some(ins) = self.out.code.get_mut(pc as usize) {
                match ins.op {
                    Op::Bra(_) => ins.op = Op::Bra(target),
                    Op::Rare(at) => self.resolve_rare(at, target),
                    _ => {}
                }
            }
        }
    }

    fn resolve_rare(&mut self, at: u32, target: u32) {
        let starts = &self.starts;
        let body = self.body;
        match self.out.rares.get_mut(at as usize) {
            Some(Rare::Uniform(to)) => *to = target,
            // Tables hold labels until here.
            Some(Rare::Table(_, targets)) => {
                for to in targets {
                    let inst = body.labels.get(*to as usize).and_then(|label| label.at);
                    *to = inst.and_then(|inst| starts.get(inst.index())).copied().unwrap_or(0);
                }
            }
            _ => {}
        }
    }

    fn label(&self, label: LabelId) -> Option<u32> {
        let at = self.body.labels.get(label.index())?.at?;
        self.starts.get(at.index()).copied()
    }

    /// Adds a branch whose target is known later.
    pub(super) fn branch(&mut self, op: Op, label: LabelId) -> Result<(), Refused> {
        let known = self.body.labels.get(label.index());
        known.ok_or_else(|| "a label that is not defined".to_owned())?;
        self.branches.push((self.out.code.len() as u32, label));
        self.push(Ins::plain(op));
        Ok(())
    }

    /// Adds an instruction under the guard at hand.
    pub(super) fn push(&mut self, ins: Ins) {
        let (guard, flip) = self.guard;
        self.out.code.push(Ins { guard, flip, ..ins });
        self.out.sites.push(self.site);
    }

    /// Adds an instruction without a guard.
    pub(super) fn push_always(&mut self, ins: Ins) {
        let guard = std::mem::replace(&mut self.guard, (super::operand::ALWAYS, 0));
        self.push(ins);
        self.guard = guard;
    }

    /// Adds an instruction under another guard.
    pub(super) fn push_under(&mut self, ins: Ins, (guard, inverted): (u32, bool)) {
        let flip = if inverted { u32::MAX } else { 0 };
        let own = std::mem::replace(&mut self.guard, (guard, flip));
        self.push(ins);
        self.guard = own;
    }

    /// Adds something rare.
    pub(super) fn rare(&mut self, rare: Rare) {
        let at = self.out.rares.len() as u32;
        self.out.rares.push(rare);
        self.push(Ins::plain(Op::Rare(at)));
    }

    /// Adds a function over rows.
    pub(super) fn step(&mut self, step: Step) {
        let at = self.out.steps.len() as u32;
        self.out.steps.push(step);
        self.push(Ins::plain(Op::Step(at)));
    }

    /// Adds a function of one value, lane by lane.
    pub(super) fn lanewise1(&mut self, d: Slot, a: Slot, f: impl Fn(u64) -> u64 + Send + Sync + 'static) {
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let value = f(file.read(a, lane));
                file.write(d, lane, value);
            }
        }));
    }

    /// Adds a function of two values, lane by lane.
    pub(super) fn lanewise2(&mut self, d: Slot, a: Slot, b: Slot, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) {
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let value = f(file.read(a, lane), file.read(b, lane));
                file.write(d, lane, value);
            }
        }));
    }

    /// Adds a function of three values, lane by lane.
    pub(super) fn lanewise3(
        &mut self,
        d: Slot,
        s: [Slot; 3],
        f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static,
    ) {
        self.step(Box::new(move |file, mask| {
            for lane in lanes(mask) {
                let value = f(file.read(s[0], lane), file.read(s[1], lane), file.read(s[2], lane));
                file.write(d, lane, value);
            }
        }));
    }

    /// Adds an operation on rows of 32 bits.
    pub(super) fn on_words(&mut self, op: Op, d: Slot, sources: &[Slot]) -> Result<(), Refused> {
        let d = word(d)?;
        let s = sources.iter().map(|slot| word(*slot)).collect::<Result<Vec<_>, _>>()?;
        self.on_rows(op, d, &s);
        Ok(())
    }

    /// Adds an operation on rows of 64 bits.
    pub(super) fn on_longs(&mut self, op: Op, d: Slot, sources: &[Slot]) -> Result<(), Refused> {
        let d = long(d)?;
        let s = sources.iter().map(|slot| long(*slot)).collect::<Result<Vec<_>, _>>()?;
        self.on_rows(op, d, &s);
        Ok(())
    }

    /// Adds an operation on rows, whose banks the caller has checked.
    pub(super) fn on_rows(&mut self, op: Op, d: u32, s: &[u32]) {
        let at = |nth: usize| s.get(nth).copied().unwrap_or(0);
        self.push(Ins {
            d,
            a: at(0),
            b: at(1),
            c: at(2),
            ..Ins::plain(op)
        });
    }

    /// The operand at that place.
    pub(super) fn operand<'i>(&self, inst: &'i Inst, at: usize) -> Result<&'i Operand, Refused> {
        inst.operands.get(at).ok_or_else(|| "an operand is missing".to_owned())
    }

    /// The source operand at that place.
    pub(super) fn arg(&mut self, inst: &Inst, at: usize, ty: Type) -> Result<Slot, Refused> {
        let operand = self.operand(inst, at)?;
        self.source(operand, ty)
    }

    /// The destination at place 0.
    pub(super) fn dest(&mut self, inst: &Inst, ty: Type) -> Result<Slot, Refused> {
        let operand = self.operand(inst, 0)?;
        self.target(operand, ty)
    }

    /// The first and the second destination of `d|p`; the second may be missing.
    pub(super) fn pair(
        &mut self,
        operand: &Operand,
        first: Type,
        second: Type,
    ) -> Result<(Slot, Option<Slot>), Refused> {
        match operand {
            Operand::Pair(pair) => Ok((
                self.target(&pair.0, first)?,
                match &pair.1 {
                    Operand::Sink => None,
                    other => Some(self.target(other, second)?),
                },
            )),
            operand => Ok((self.target(operand, first)?, None)),
        }
    }

    /// The variable that a parameter operand names.
    pub(super) fn symbol_of(&self, operand: &Operand) -> Option<SymbolId> {
        match operand {
            Operand::Symbol(symbol, 0) => Some(*symbol),
            _ => None,
        }
    }
}

/// The row of a word.
pub fn word(slot: Slot) -> Result<u32, Refused> {
    match slot {
        Slot::Word(at) => Ok(at),
        _ => Err("a register of another width".into()),
    }
}

/// The row of a long.
pub fn long(slot: Slot) -> Result<u32, Refused> {
    match slot {
        Slot::Long(at) => Ok(at),
        _ => Err("a register of another width".into()),
    }
}

/// The number of a predicate.
pub fn pred(slot: Slot) -> Result<(u32, bool), Refused> {
    match slot {
        Slot::Pred(at, flip) => Ok((at, flip)),
        _ => Err("a register that is no predicate".into()),
    }
}
