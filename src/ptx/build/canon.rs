//! From a draft to a body as the parser would read it: registers have ids and names in order of first appearance,
//! labels in order of definition, and declarations stand in front.

use super::function::Draft;
use crate::ptx::ir::{Address, Base, Body, Inst, Label, LabelId, Operand, RegDecl, RegId, RegLine, RegName, Stmt};
use crate::ptx::types::Type;

/// The finished body, and its comments keyed by statement.
pub(super) fn body(draft: Draft) -> (Body, Vec<(usize, String)>) {
    let mut rename = Rename {
        kinds: draft.regs,
        regs: Vec::new(),
        new_reg: Vec::new(),
        counts: Vec::new(),
        old_labels: draft.labels,
        labels: Vec::new(),
        new_label: Vec::new(),
    };
    rename.new_reg = vec![None; rename.kinds.len()];
    rename.new_label = vec![None; rename.old_labels.len()];
    let mut insts = draft.insts;
    let mut stmts = draft.stmts;
    for stmt in &mut stmts {
        if let Stmt::Label(label) = stmt {
            rename.label(label);
        }
    }
    for stmt in &stmts {
        if let Stmt::Inst(id) = stmt {
            rename.inst(&mut insts[id.index()]);
        }
    }
    let mut all: Vec<Stmt> = rename
        .counts
        .iter()
        .map(|count| Stmt::Regs(Box::new(count.line())))
        .collect();
    all.extend(draft.variables.into_iter().map(Stmt::Variable));
    let shift = all.len();
    all.append(&mut stmts);
    let body = Body {
        stmts: all,
        insts,
        regs: rename.regs,
        labels: rename.labels,
    };
    (body, join(draft.notes, shift))
}

/// Comments of one statement become one of several lines.
fn join(notes: Vec<(usize, String)>, shift: usize) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    for (at, text) in notes {
        match joined.last_mut() {
            Some((last, lines)) if *last == at + shift => *lines = format!("{lines}\n{text}"),
            _ => joined.push((at + shift, text)),
        }
    }
    joined
}

/// How many registers of a bank have appeared.
struct Count {
    bank: &'static str,
    ty: Type,
    used: u32,
}

impl Count {
    /// `.reg .b32 %r<8>;`
    fn line(&self) -> RegLine {
        RegLine {
            ty: self.ty,
            lanes: 1,
            names: vec![RegName {
                name: self.bank.into(),
                bank: Some(self.used),
            }],
        }
    }
}

struct Rename {
    /// Type and bank of the draft's registers.
    kinds: Vec<(Type, &'static str)>,
    regs: Vec<RegDecl>,
    new_reg: Vec<Option<RegId>>,
    counts: Vec<Count>,
    old_labels: Vec<Label>,
    labels: Vec<Label>,
    new_label: Vec<Option<LabelId>>,
}

impl Rename {
    fn inst(&mut self, inst: &mut Inst) {
        if let Some(guard) = &mut inst.guard {
            self.reg(&mut guard.reg);
        }
        for operand in &mut inst.operands {
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: &mut Operand) {
        match operand {
            Operand::Reg(reg) | Operand::Not(reg) | Operand::Part(reg, _) | Operand::Neg(reg, _) => self.reg(reg),
            Operand::Address(Address {
                base: Base::Reg(reg), ..
            }) => self.reg(reg),
            Operand::Label(label) => self.label(label),
            Operand::Bracket(parts) | Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter_mut().for_each(|part| self.operand(part));
            }
            Operand::Pair(pair) => {
                self.operand(&mut pair.0);
                self.operand(&mut pair.1);
            }
            _ => {}
        }
    }

    fn reg(&mut self, reg: &mut RegId) {
        let old = reg.index();
        if let Some(new) = self.new_reg[old] {
            *reg = new;
            return;
        }
        let (ty, bank) = self.kinds[old];
        let found = self.counts.iter().position(|count| count.bank == bank);
        let at = found.unwrap_or_else(|| {
            self.counts.push(Count { bank, ty, used: 0 });
            self.counts.len() - 1
        });
        let name = format!("{bank}{}", self.counts[at].used).into();
        self.counts[at].used += 1;
        *reg = RegId(self.regs.len() as u32);
        self.regs.push(RegDecl {
            name,
            ty,
            lanes: 1,
            declared: true,
        });
        self.new_reg[old] = Some(*reg);
    }

    fn label(&mut self, label: &mut LabelId) {
        let old = label.index();
        *label = *self.new_label[old].get_or_insert_with(|| {
            self.labels.push(self.old_labels[old].clone());
            LabelId(self.labels.len() as u32 - 1)
        });
    }
}
