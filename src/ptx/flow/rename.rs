//! Gives every definition a value and every use the value it sees: a walk down the dominator tree.

use super::Cfg;
use super::place::Placed;
use super::ssa::{Accesses, Definition, Rows, Ssa, Value, ValueId};
use crate::ptx::ir::{Body, InstId, RegId};

struct Renamer<'a> {
    cfg: &'a Cfg,
    accesses: &'a Accesses,
    ssa: Ssa,
    /// The value each register has at this point of the walk.
    current: Vec<ValueId>,
    /// The undefined value of each register, made when first needed.
    undefined: Vec<ValueId>,
    /// What to restore when the walk leaves a subtree.
    undo: Vec<(RegId, ValueId)>,
}

/// Numbers the values.
pub(super) fn rename(body: &Body, cfg: &Cfg, accesses: &Accesses, placed: &Placed) -> Ssa {
    let mut renamer = Renamer {
        cfg,
        accesses,
        ssa: prepare(body, cfg, accesses, placed),
        current: vec![ValueId::NONE; body.regs.len()],
        undefined: vec![ValueId::NONE; body.regs.len()],
        undo: Vec::new(),
    };
    renamer.walk();
    renamer.ssa
}

/// Lays out the tables, phis included, with all uses still open.
fn prepare(body: &Body, cfg: &Cfg, accesses: &Accesses, placed: &Placed) -> Ssa {
    let mut ssa = Ssa {
        uses: Rows {
            start: accesses.use_start.clone(),
            items: vec![ValueId::NONE; accesses.uses.len()],
        },
        defs: Rows {
            start: accesses.def_start.clone(),
            items: vec![ValueId::NONE; accesses.defs.len()],
        },
        before: vec![ValueId::NONE; accesses.defs.len()],
        ..Ssa::default()
    };
    ssa.values.reserve(body.insts.len());
    for block in 0..=cfg.blocks() {
        ssa.phi_start.push(ssa.phis.len() as u32);
        for reg in &placed.of_block[block as usize] {
            ssa.phi_row.push(ssa.phi_inputs.start.len() as u32);
            ssa.phi_inputs.start.push(ssa.phi_inputs.items.len() as u32);
            let open = cfg.preds().next(block).iter().map(|_| ValueId::NONE);
            ssa.phi_inputs.items.extend(open);
            ssa.phis.push(ValueId(ssa.values.len() as u32));
            ssa.values.push(Value {
                reg: *reg,
                definition: Definition::Phi(block),
                block,
            });
        }
    }
    ssa.phi_start.push(ssa.phis.len() as u32);
    ssa.phi_inputs.start.push(ssa.phi_inputs.items.len() as u32);
    ssa
}

impl Renamer<'_> {
    fn walk(&mut self) {
        let dom = self.cfg.dom();
        // Subtrees still open: where each ends in preorder, and how long the undo list was when it began.
        let mut open: Vec<(u32, usize)> = Vec::new();
        for (at, block) in (0u32..).zip(dom.preorder()) {
            while let Some((end, mark)) = open.last().copied() {
                if at < end {
                    break;
                }
                self.unwind(mark);
                open.pop();
            }
            open.push((dom.subtree_end(*block), self.undo.len()));
            self.block(*block);
        }
    }

    fn unwind(&mut self, mark: usize) {
        for (reg, value) in self.undo.drain(mark..).rev() {
            self.current[reg.index()] = value;
        }
    }

    fn block(&mut self, block: u32) {
        let phis = self.ssa.phi_start[block as usize] as usize..self.ssa.phi_start[block as usize + 1] as usize;
        for at in phis {
            let phi = self.ssa.phis[at];
            self.set(self.ssa.values[phi.index()].reg, phi);
        }
        for inst in self.cfg.insts(block) {
            self.inst(inst, block);
        }
        for succ in self.cfg.succs().next(block) {
            self.feed(block, *succ);
        }
    }

    fn inst(&mut self, inst: u32, block: u32) {
        let accesses = self.accesses;
        let first = accesses.use_start[inst as usize] as usize;
        for (at, reg) in accesses.uses(inst).iter().enumerate() {
            self.ssa.uses.items[first + at] = self.read(*reg);
        }
        let first = accesses.def_start[inst as usize] as usize;
        for (at, (reg, survives)) in accesses.defs(inst).iter().enumerate() {
            if *survives {
                self.ssa.before[first + at] = self.read(*reg);
            }
            let value = self.make(*reg, Definition::Inst(InstId(inst)), block);
            self.ssa.defs.items[first + at] = value;
            self.set(*reg, value);
        }
    }

    /// Gives the phis of a successor their inputs along the edge.
    fn feed(&mut self, block: u32, succ: u32) {
        let phis = self.ssa.phi_start[succ as usize] as usize..self.ssa.phi_start[succ as usize + 1] as usize;
        for (place, pred) in self.cfg.preds().next(succ).iter().enumerate() {
            if *pred != block {
                continue;
            }
            for at in phis.clone() {
                let phi = self.ssa.phis[at];
                let value = self.read(self.ssa.values[phi.index()].reg);
                let row = self.ssa.phi_row[phi.index()] as usize;
                let start = self.ssa.phi_inputs.start[row] as usize;
                self.ssa.phi_inputs.items[start + place] = value;
            }
        }
    }

    fn read(&mut self, reg: RegId) -> ValueId {
        let value = self.current[reg.index()];
        if value.is_some() {
            return value;
        }
        if !self.undefined[reg.index()].is_some() {
            self.undefined[reg.index()] = self.make(reg, Definition::Undefined, 0);
        }
        self.undefined[reg.index()]
    }

    fn make(&mut self, reg: RegId, definition: Definition, block: u32) -> ValueId {
        let id = ValueId(self.ssa.values.len() as u32);
        self.ssa.values.push(Value { reg, definition, block });
        self.ssa.phi_row.push(u32::MAX);
        id
    }

    fn set(&mut self, reg: RegId, value: ValueId) {
        let old = std::mem::replace(&mut self.current[reg.index()], value);
        self.undo.push((reg, old));
    }
}
