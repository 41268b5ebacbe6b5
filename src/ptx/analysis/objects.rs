//! Variables in shared and local memory: who reads and who writes them.

use super::graphs::Code;
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Base, FuncId, Inst, InstId, Linkage, Module, Operand, SymbolId, SymbolKind};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// What is done to a variable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object {
    /// The first load from it.
    pub read: Option<(FuncId, InstId)>,
    /// Whether something may write it: a store, an atomic, a copy, or whoever got its address.
    pub written: bool,
}

/// The variables of the module that live in shared or local memory, and what its functions do to them.
#[derive(Debug, Default)]
pub struct Objects {
    objects: FxHashMap<SymbolId, Object>,
    /// Whether shared memory is written through an address of which no variable is known.
    stray: bool,
}

impl Objects {
    /// Looks at all functions.
    pub fn new<'a>(module: &Module, codes: impl Iterator<Item = Code<'a>>) -> Self {
        let mut found = Self::default();
        for (id, symbol) in (0..).map(SymbolId).zip(&module.symbols) {
            if let SymbolKind::Variable(variable) = &symbol.kind
                && matches!(variable.space, Space::Shared | Space::Local)
                && variable.linkage != Linkage::Extern
                && variable.init.is_none()
                && !variable.is_param
            {
                found.objects.insert(id, Object::default());
            }
        }
        if !found.objects.is_empty() {
            codes.for_each(|code| found.function(code));
        }
        found
    }

    /// The variables that are read and never written, with the first load, in the order of their names' appearance.
    pub fn never_written(&self) -> Vec<(SymbolId, FuncId, InstId)> {
        let unwritten = self.objects.iter().filter(|(_, object)| !object.written && !self.stray);
        let mut found: Vec<_> = unwritten
            .filter_map(|(symbol, object)| Some((*symbol, object.read?.0, object.read?.1)))
            .collect();
        found.sort_unstable();
        found
    }

    fn function(&mut self, code: Code) {
        let names_one = |operand: &Operand| self.named(operand).is_some();
        let is_stray =
            |row: &Inst| matches!(row.op.space, Space::Shared | Space::SharedCluster) && row.op.effect != Effect::Load;
        if !code
            .body
            .insts
            .iter()
            .any(|row| row.operands.iter().any(names_one) || is_stray(row))
        {
            return;
        }
        // Which variable a value points into.
        let mut points: FxHashMap<ValueId, SymbolId> = FxHashMap::default();
        let mut known = usize::MAX;
        // A loop may carry a pointer round: until nothing new is found.
        while known != points.len() {
            known = points.len();
            for block in code.cfg.rpo() {
                for phi in code.ssa.phis(*block) {
                    for input in code.ssa.phi_inputs(*phi) {
                        if let Some(symbol) = points.get(input).copied() {
                            self.point(&mut points, *phi, symbol);
                        }
                    }
                }
                for inst in code.cfg.insts(*block).map(InstId) {
                    self.pure(code, inst, &mut points);
                }
            }
        }
        for block in code.cfg.rpo() {
            for inst in code.cfg.insts(*block).map(InstId) {
                self.access(code, inst, &points);
            }
        }
    }

    /// Notes that a value points into a variable; one that may point into two is not followed.
    fn point(&mut self, points: &mut FxHashMap<ValueId, SymbolId>, value: ValueId, symbol: SymbolId) {
        let known = *points.entry(value).or_insert(symbol);
        if known != symbol {
            self.write(known);
            self.write(symbol);
        }
    }

    fn write(&mut self, symbol: SymbolId) {
        if let Some(object) = self.objects.get_mut(&symbol) {
            object.written = true;
        }
    }

    /// The variable that an operand names.
    fn named(&self, operand: &Operand) -> Option<SymbolId> {
        let symbol = match operand {
            Operand::Symbol(symbol, _) | Operand::Element(symbol, _) => *symbol,
            Operand::Address(address) => match address.base {
                Base::Symbol(symbol) => symbol,
                _ => return None,
            },
            _ => return None,
        };
        self.objects.contains_key(&symbol).then_some(symbol)
    }

    /// Pointers through arithmetic, copies and conversions.
    fn pure(&mut self, code: Code, inst: InstId, points: &mut FxHashMap<ValueId, SymbolId>) {
        let row = &code.body.insts[inst.index()];
        if row.op.effect != Effect::Pure || row.op.base() == "setp" {
            return;
        }
        let named = row.operands.iter().filter_map(|operand| self.named(operand));
        let used = code
            .ssa
            .uses(inst)
            .iter()
            .chain(code.ssa.before(inst))
            .filter_map(|value| points.get(value).copied());
        let symbols: Vec<SymbolId> = named.chain(used).collect();
        for symbol in symbols {
            for def in code.ssa.defs(inst) {
                self.point(points, *def, symbol);
            }
        }
    }

    /// What an instruction does to the variables it reaches.
    fn access(&mut self, code: Code, inst: InstId, points: &FxHashMap<ValueId, SymbolId>) {
        let row = &code.body.insts[inst.index()];
        if row.op.effect == Effect::Pure {
            return;
        }
        let named = row.operands.iter().filter_map(|operand| self.named(operand));
        let used = code
            .ssa
            .uses(inst)
            .iter()
            .filter_map(|value| points.get(value).copied());
        let symbols: Vec<SymbolId> = named.chain(used).collect();
        let shared = matches!(row.op.space, Space::Shared | Space::SharedCluster);
        self.stray |= symbols.is_empty() && shared && row.op.effect != Effect::Load;
        for symbol in symbols {
            match (row.op.effect, self.objects.get_mut(&symbol)) {
                (Effect::Load, Some(object)) => {
                    object.read.get_or_insert((code.id, inst));
                }
                _ => self.write(symbol),
            }
        }
    }
}
