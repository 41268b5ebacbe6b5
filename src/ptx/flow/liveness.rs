//! Which registers are live at the ends of blocks, and how many at once.

use super::Cfg;
use super::ssa::Accesses;
use crate::ptx::ir::{Body, InstId, RegId};
use crate::ptx::types::Type;

/// The registers that are live at the end of each block: read later, before anything overwrites them.
#[derive(Clone, Debug)]
pub struct Liveness {
    accesses: Accesses,
    out: Vec<Vec<RegId>>,
}

/// The most registers that are live at one point, by hardware class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// 32-bit registers: one of 64 bits counts as two.
    pub words: u32,
    /// Where that many are live.
    pub at: Option<InstId>,
    /// Predicates.
    pub predicates: u32,
}

/// Marks of blocks, one register at a time: a mark is stale once the register changes.
struct Marks {
    killed: Vec<u32>,
    live_out: Vec<u32>,
    live_in: Vec<u32>,
}

impl Liveness {
    /// Finds what is live in the reachable blocks of a body, one register at a time.
    pub fn new(body: &Body, cfg: &Cfg) -> Self {
        let accesses = Accesses::new(body);
        let (exposed, kills) = by_register(body, cfg, &accesses);
        let blocks = cfg.blocks() as usize + 1;
        let mut out = vec![Vec::new(); blocks];
        let mut marks = Marks {
            killed: vec![0; blocks],
            live_out: vec![0; blocks],
            live_in: vec![0; blocks],
        };
        let mut stack = Vec::new();
        for (reg, exposed) in exposed.iter().enumerate() {
            let stamp = reg as u32 + 1;
            kills[reg]
                .iter()
                .for_each(|block| marks.killed[*block as usize] = stamp);
            stack.extend(exposed);
            exposed.iter().for_each(|block| marks.live_in[*block as usize] = stamp);
            while let Some(block) = stack.pop() {
                for pred in cfg.preds().next(block).iter().filter(|pred| cfg.is_reachable(**pred)) {
                    let at = *pred as usize;
                    if std::mem::replace(&mut marks.live_out[at], stamp) != stamp {
                        out[at].push(RegId(reg as u32));
                    }
                    if marks.killed[at] != stamp && std::mem::replace(&mut marks.live_in[at], stamp) != stamp {
                        stack.push(*pred);
                    }
                }
            }
        }
        Self { accesses, out }
    }

    /// What is live at the end of a block, in the order of the registers.
    pub fn out(&self, block: u32) -> &[RegId] {
        self.out.get(block as usize).map_or(&[], Vec::as_slice)
    }

    /// Calls `see` for each instruction of a block, last first, with what is live behind it and what it writes.
    fn backwards(&self, cfg: &Cfg, block: u32, live: &mut [bool], mut see: impl FnMut(&mut [bool], u32)) {
        for inst in cfg.insts(block).rev() {
            see(live, inst);
            for (reg, survives) in self.accesses.defs(inst) {
                if !survives {
                    live[reg.index()] = false;
                }
            }
            for reg in self.accesses.uses(inst) {
                live[reg.index()] = true;
            }
        }
    }

    /// The registers that are live just behind an instruction, in order.
    pub fn behind(&self, body: &Body, cfg: &Cfg, inst: InstId) -> Vec<RegId> {
        let block = cfg.block_of(inst);
        let mut live = vec![false; body.regs.len()];
        self.out(block).iter().for_each(|reg| live[reg.index()] = true);
        let mut found = Vec::new();
        self.backwards(cfg, block, &mut live, |live, at| {
            if at == inst.0 {
                found = (0..live.len() as u32)
                    .map(RegId)
                    .filter(|reg| live[reg.index()])
                    .collect();
            }
        });
        found
    }

    /// The most that is live at one point. `counts` says which registers count: constants need none of their own.
    pub fn pressure(&self, body: &Body, cfg: &Cfg, counts: impl Fn(RegId) -> bool) -> Pressure {
        let weights: Vec<u32> = (0..body.regs.len() as u32)
            .map(RegId)
            .map(|reg| if counts(reg) { weight(body, reg) } else { 0 })
            .collect();
        let is_predicate: Vec<bool> = body.regs.iter().map(|reg| reg.ty == Type::Pred).collect();
        let mut most = Pressure::default();
        let mut live = vec![false; body.regs.len()];
        for block in cfg.rpo() {
            let mut sum = Sum::new(&weights, &is_predicate);
            for reg in self.out(*block) {
                sum.set(&mut live, *reg, true);
            }
            for inst in cfg.insts(*block).rev() {
                // Results that nobody reads need a place all the same.
                let defs = self.accesses.defs(inst);
                defs.iter().for_each(|(reg, _)| sum.set(&mut live, *reg, true));
                sum.note(&mut most, inst);
                for (reg, _) in defs.iter().filter(|(_, survives)| !survives) {
                    sum.set(&mut live, *reg, false);
                }
                self.accesses
                    .uses(inst)
                    .iter()
                    .for_each(|reg| sum.set(&mut live, *reg, true));
                sum.note(&mut most, inst);
            }
            sum.clear(&mut live);
        }
        most
    }
}

/// The weight of what is live.
struct Sum<'a> {
    weights: &'a [u32],
    is_predicate: &'a [bool],
    words: u32,
    predicates: u32,
    /// Registers that have been live in this block.
    touched: Vec<RegId>,
}

impl<'a> Sum<'a> {
    fn new(weights: &'a [u32], is_predicate: &'a [bool]) -> Self {
        Self {
            weights,
            is_predicate,
            words: 0,
            predicates: 0,
            touched: Vec::new(),
        }
    }

    fn set(&mut self, live: &mut [bool], reg: RegId, on: bool) {
        let at = reg.index();
        if std::mem::replace(&mut live[at], on) == on {
            return;
        }
        self.touched.push(reg);
        let sum = if self.is_predicate[at] {
            &mut self.predicates
        } else {
            &mut self.words
        };
        *sum = if on {
            *sum + self.weights[at]
        } else {
            *sum - self.weights[at]
        };
    }

    fn note(&self, most: &mut Pressure, inst: u32) {
        most.predicates = most.predicates.max(self.predicates);
        if self.words > most.words {
            most.words = self.words;
            most.at = Some(InstId(inst));
        }
    }

    fn clear(&self, live: &mut [bool]) {
        self.touched.iter().for_each(|reg| live[reg.index()] = false);
    }
}

/// Hardware registers that a register takes.
fn weight(body: &Body, reg: RegId) -> u32 {
    let register = &body.regs[reg.index()];
    match register.ty {
        Type::Pred => 1,
        ty => ty.bits().div_ceil(32) * u32::from(register.lanes),
    }
}

/// Per register, the reachable blocks that read it before they surely overwrite it, and those that surely overwrite it.
fn by_register(body: &Body, cfg: &Cfg, accesses: &Accesses) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let regs = body.regs.len();
    let (mut exposed, mut kills) = (vec![Vec::new(); regs], vec![Vec::new(); regs]);
    for block in (0..cfg.blocks()).filter(|block| cfg.is_reachable(*block)) {
        for inst in cfg.insts(block) {
            for reg in accesses.uses(inst) {
                let at = reg.index();
                if kills[at].last() != Some(&block) && exposed[at].last() != Some(&block) {
                    exposed[at].push(block);
                }
            }
            for (reg, _) in accesses.defs(inst).iter().filter(|(_, survives)| !survives) {
                let at = reg.index();
                if kills[at].last() != Some(&block) {
                    kills[at].push(block);
                }
            }
        }
    }
    (exposed, kills)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse::parse;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::fmt::Write;

    const REGS: usize = 6;
    const BLOCKS: usize = 6;

    /// A statement: kind, three registers, a block.
    type Statement = (u8, usize, usize, usize, usize);

    fn programs() -> impl Strategy<Value = Vec<Vec<Statement>>> {
        let statement = (0u8..6, 0..REGS, 0..REGS, 0..REGS, 0..BLOCKS);
        prop::collection::vec(prop::collection::vec(statement, 0..5), BLOCKS)
    }

    fn text(program: &[Vec<Statement>]) -> String {
        let mut text =
            String::from(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .pred %p<3>;\n");
        writeln!(
            text,
            ".reg .b32 %r<{REGS}>;\n.reg .b64 %rd<2>;\nsetp.eq.u32 %p1, %r0, 0;"
        )
        .unwrap();
        for (at, block) in program.iter().enumerate() {
            writeln!(text, "L{at}:").unwrap();
            for (kind, a, b, c, to) in block {
                match kind {
                    0 | 1 => writeln!(text, "add.u32 %r{a}, %r{b}, %r{c};"),
                    2 => writeln!(text, "@%p1 mov.u32 %r{a}, %r{b};"),
                    3 => writeln!(text, "mov.u32 %r{a}, 1;"),
                    4 => writeln!(text, "@%p1 bra L{to};"),
                    _ => writeln!(text, "setp.eq.u32 %p1, %r{a}, %r{b};\n@!%p1 bra L{to};"),
                }
                .unwrap();
            }
        }
        text + "ret;\n}\n"
    }

    /// What is live behind each instruction, by the equations taken literally.
    fn naive(body: &Body, cfg: &Cfg) -> Vec<BTreeSet<RegId>> {
        let count = body.insts.len();
        let next = |at: usize| -> Vec<usize> {
            let block = cfg.block_of(InstId(at as u32));
            if cfg.last(block) != Some(InstId(at as u32)) {
                return vec![at + 1];
            }
            let succs = cfg.succs().next(block).iter();
            succs
                .filter_map(|to| cfg.insts(*to).next())
                .map(|at| at as usize)
                .collect()
        };
        let mut behind = vec![BTreeSet::new(); count];
        loop {
            let before = behind.clone();
            for at in (0..count).rev() {
                let mut live = BTreeSet::new();
                for to in next(at) {
                    let mut into: BTreeSet<RegId> = before[to].clone();
                    if body.insts[to].guard.is_none() {
                        body.insts[to].defs(&mut |reg| {
                            into.remove(&reg);
                        });
                    }
                    body.insts[to].uses(&mut |reg| {
                        into.insert(reg);
                    });
                    live.extend(into);
                }
                behind[at] = live;
            }
            if behind == before {
                return behind;
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_equations(program in programs()) {
            let text = text(&program);
            let parsed = parse(&text);
            prop_assert_eq!(parsed.diags.len(), 0);
            let body = parsed.module.functions[0].body.as_ref().unwrap();
            let cfg = Cfg::new(&parsed.module, body);
            let liveness = Liveness::new(body, &cfg);
            let expected = naive(body, &cfg);
            for at in (0..body.insts.len() as u32).map(InstId) {
                if cfg.is_reachable(cfg.block_of(at)) {
                    let found: BTreeSet<RegId> = liveness.behind(body, &cfg, at).into_iter().collect();
                    prop_assert_eq!(&found, &expected[at.index()], "behind instruction {} of\n{}", at.0, text);
                }
            }
            let count = |regs: &BTreeSet<RegId>| regs.iter().filter(|reg| body.regs[reg.index()].ty != Type::Pred).count() as u32;
            let reachable = (0..body.insts.len()).filter(|at| cfg.is_reachable(cfg.block_of(InstId(*at as u32))));
            let most = reachable.map(|at| count(&expected[at])).max().unwrap_or(0);
            prop_assert!(liveness.pressure(body, &cfg, |_| true).words >= most);
        }
    }

    #[test]
    fn wide_registers_count_twice() {
        let parsed = parse(
            ".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n.reg .pred %p<2>;
            mov.u64 %rd1, 1;\nmov.u32 %r1, 2;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 st.global.u32 [%rd1], %r1;\nret;\n}\n",
        );
        let body = parsed.module.functions[0].body.as_ref().unwrap();
        let cfg = Cfg::new(&parsed.module, body);
        let pressure = Liveness::new(body, &cfg).pressure(body, &cfg, |_| true);
        assert_eq!((pressure.words, pressure.predicates), (3, 1));
    }
}
