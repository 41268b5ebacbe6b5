//! What instructions ask for: gates of their forms and modifiers, special registers, kinds of addresses.

use super::{Need, Needs, Place, Sink, gate};
use crate::ptx::ir::{Body, FuncId, FunctionKind, Inst, InstId, Module, Operand, SymbolKind, shape};
use crate::ptx::isa::{Form, Gate, Match, Opcode, OperandSpec, OperandType, Removal, SpecialInfo};
use crate::ptx::target::Target;
use crate::ptx::types::{Space, Type};
use rustc_hash::FxHashSet;

/// Collects what the instructions of all bodies ask for.
pub(super) fn collect(module: &Module, needs: &mut Needs) {
    let mut collector = Collector {
        module,
        needs,
        sink: Sink::default(),
        seen: FxHashSet::default(),
    };
    for (id, function) in (0..).map(FuncId).zip(&module.functions) {
        let insts = function.body.iter().flat_map(|body| &body.insts);
        for (at, inst) in (0..).map(InstId).zip(insts) {
            collector.inst(id, at, inst);
        }
    }
}

/// The function and those that it or its callees mention.
pub(super) fn reached(module: &Module, root: FuncId) -> FxHashSet<FuncId> {
    let mut seen = FxHashSet::from_iter([root]);
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let insts = module.function(id).body.iter().flat_map(|body| &body.insts);
        for operand in insts.flat_map(|inst| &inst.operands) {
            if let Operand::Symbol(symbol, _) = operand
                && let SymbolKind::Function(callee) = module.symbol(*symbol).kind
                && seen.insert(callee)
            {
                open.push(callee);
            }
        }
    }
    seen
}

struct Collector<'m> {
    module: &'m Module,
    needs: &'m mut Needs,
    sink: Sink,
    /// Spellings that have been met in a function, by form: most instructions repeat one.
    seen: FxHashSet<(FuncId, *const Opcode, *const Form)>,
}

impl Collector<'_> {
    fn inst(&mut self, function: FuncId, at: InstId, inst: &Inst) {
        let place = (function, at);
        for operand in &inst.operands {
            self.operand(place, inst, operand);
        }
        let body = self.module.function(function).body.as_ref();
        let Some(found) = body.and_then(|body| form(body, inst)) else {
            self.needs.unknown.push(place);
            return;
        };
        if !shape::fits(&found.form.operands, &inst.operands) {
            self.needs.misfit.get_or_insert_with(|| inst.op.text.to_string());
        }
        let first = self.seen.insert((function, std::ptr::from_ref(&*inst.op), found.form));
        if !first {
            return;
        }
        for (at, (_, gate)) in found.gates().enumerate() {
            let removal = if at == 0 { found.form.removal } else { None };
            self.add(place, &inst.op.text, gate.clone(), removal);
        }
        self.access(place, inst);
    }

    /// Generic addresses came with sm_20, accesses of 32 bytes with sm_100.
    fn access(&mut self, place: (FuncId, InstId), inst: &Inst) {
        let op = &inst.op;
        if !matches!(op.base(), "ld" | "st" | "atom" | "red") {
            return;
        }
        if op.space == Space::Generic && !op.mods().any(|name| name.contains("::")) {
            self.add(place, &op.text, gate(2, 0, 20), None);
        }
        let bits = op.ty().map_or(0, |ty| ty.bits()) * u32::from(op.lanes);
        if bits > 128 && matches!(op.base(), "ld" | "st") {
            self.add(place, &op.text, gate(8, 8, 100), None);
        }
    }

    fn operand(&mut self, place: (FuncId, InstId), inst: &Inst, operand: &Operand) {
        match operand {
            Operand::Special(special) => {
                let info = special.info();
                self.add(place, info.name, special_gate(info), None);
            }
            Operand::Symbol(symbol, _) if inst.op.base() == "mov" => {
                if let SymbolKind::Function(id) = self.module.symbol(*symbol).kind {
                    let needed = match self.module.function(id).kind {
                        FunctionKind::Entry => gate(3, 1, 35),
                        FunctionKind::Func => gate(2, 1, 0),
                    };
                    self.add(place, "the address of a function", needed, None);
                }
            }
            Operand::Vector(parts) | Operand::List(parts) | Operand::Bracket(parts) => {
                parts.iter().for_each(|part| self.operand(place, inst, part));
            }
            _ => {}
        }
    }

    fn add(&mut self, (function, inst): (FuncId, InstId), what: &str, gate: Gate, removal: Option<Removal>) {
        let need = Need {
            what: what.to_owned(),
            gate,
            removal,
            place: Place::Inst(function, inst),
            owner: Some(function),
        };
        self.sink.add(&mut self.needs.all, need);
    }
}

/// The form that an instruction is in. Where several take operands of these shapes, one that is there to stay, and whose
/// predicates are predicates: the rest about types is the business of legality.
fn form<'i>(body: &Body, inst: &'i Inst) -> Option<&'i Match> {
    let fits = |found: &&Match| {
        let form = found.form;
        shape::fits(&form.operands, &inst.operands) && has_predicates(body, &form.operands, &inst.operands)
    };
    let mut fitting = inst.op.matches.iter().filter(fits);
    let first = fitting.next().or(inst.form())?;
    let mut all = std::iter::once(first).chain(fitting);
    Some(all.find(|found| found.form.removal.is_none()).unwrap_or(first))
}

fn has_predicates(body: &Body, specs: &[OperandSpec], operands: &[Operand]) -> bool {
    let is_pred = |operand: &Operand| match operand {
        Operand::Reg(reg) | Operand::Not(reg) => body.regs.get(reg.index()).map(|decl| decl.ty == Type::Pred),
        Operand::Imm(_) => Some(false),
        _ => None,
    };
    shape::pair_up(specs, operands).all(|(spec, operand)| match (spec.map(|spec| spec.ty), is_pred(operand)) {
        (Some(OperandType::Fixed(ty)), Some(pred)) => (ty == Type::Pred) == pred,
        _ => true,
    })
}

fn special_gate(info: &SpecialInfo) -> Gate {
    Gate {
        ptx: info.ptx.parse().ok(),
        targets: (info.sm > 0).then(|| Target::base(info.sm)).into_iter().collect(),
    }
}
