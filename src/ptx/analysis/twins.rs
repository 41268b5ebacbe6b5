//! Functions that are the same but for names: instances of one template, mostly. What is found of one holds for all.

use crate::ptx::ir::{Address, Base, Body, FuncId, Function, Module, Operand, Stmt, SymbolId, SymbolKind, TableKind};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Functions and variables of one function, and what stands in their place in another.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    functions: FxHashMap<FuncId, FuncId>,
    symbols: FxHashMap<SymbolId, SymbolId>,
}

impl Renaming {
    /// The function that stands in a function's place.
    pub fn function(&self, id: FuncId) -> FuncId {
        self.functions.get(&id).copied().unwrap_or(id)
    }

    /// The functions with what stands in their place.
    pub fn functions(&self) -> impl Iterator<Item = (FuncId, FuncId)> + '_ {
        self.functions.iter().map(|(a, b)| (*a, *b))
    }

    /// The symbols with what stands in their place.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, SymbolId)> + '_ {
        self.symbols.iter().map(|(a, b)| (*a, *b))
    }

    /// Whether the variables are the same still: what is read later may say more of one.
    pub fn holds(&self, module: &Module) -> bool {
        let variables = self.symbols().filter(|(a, b)| a != b);
        let mut variables = variables.map(|(a, b)| (module.variable(a), module.variable(b)));
        variables.all(|(a, b)| a == b)
    }

    /// Whether nothing has one thing in its place here and another there.
    pub fn agrees(&self, other: &Renaming) -> bool {
        let mut symbols = other.symbols.iter();
        symbols.all(|(a, b)| self.symbols.get(a).is_none_or(|known| known == b))
    }

    /// The symbol that stands in a symbol's place.
    pub fn symbol(&self, id: SymbolId) -> SymbolId {
        self.symbols.get(&id).copied().unwrap_or(id)
    }
}

/// Finds for functions of a module, taken one by one, the first that is the same.
#[derive(Default)]
pub struct Twins {
    /// Functions by a number for their content.
    known: FxHashMap<u64, Vec<FuncId>>,
    /// Functions whose bodies are gone, with those that they are the same as.
    gone: FxHashMap<FuncId, (FuncId, Renaming)>,
    /// Whether functions without a body are taken to be the same.
    trusts: bool,
}

impl Twins {
    /// For functions that call some whose bodies have yet to be read: these are taken to be the same, wherever they are called
    /// alike; whether they are has to be seen to.
    pub fn trusting() -> Self {
        Self {
            trusts: true,
            ..Self::default()
        }
    }

    /// Takes note that a function has lost its body, and of what it is the same as.
    pub fn lose(&mut self, id: FuncId, first: FuncId, renaming: &Renaming) {
        self.gone.insert(id, (first, renaming.clone()));
    }

    /// The first function seen that this one is the same as, with what to rename; it counts as seen itself where there is none.
    pub fn first(&mut self, module: &Module, id: FuncId) -> Option<(FuncId, Renaming)> {
        let function = module.function(id);
        let body = function.body.as_ref()?;
        let known = self.known.entry(content(function, body)).or_default();
        for first in known.iter().take(8).filter(|first| **first < id) {
            let mut search = Search::new(module, &self.gone, self.trusts);
            if search.functions(*first, id) {
                return Some((*first, search.renaming));
            }
        }
        if !known.contains(&id) {
            known.push(id);
        }
        None
    }
}

/// A number for what a function contains, names aside.
fn content(function: &Function, body: &Body) -> u64 {
    let mut hasher = FxHasher::default();
    (function.params.len(), body.insts.len(), body.regs.len()).hash(&mut hasher);
    for inst in &body.insts {
        hasher.write_usize(Arc::as_ptr(&inst.op) as usize);
        if let Some(guard) = inst.guard {
            hasher.write_u64(u64::from(guard.reg.0) << 1 | u64::from(guard.negated));
        }
        for operand in &inst.operands {
            match operand {
                Operand::Reg(reg) => hasher.write_u32(reg.0),
                Operand::Imm(imm) => imm.hash(&mut hasher),
                Operand::Symbol(_, by) => hasher.write_i64(*by),
                Operand::Label(label) => hasher.write_u32(label.0),
                Operand::Address(Address { base, offset }) => {
                    hasher.write_i64(*offset);
                    if let Base::Reg(reg) = base {
                        hasher.write_u32(reg.0);
                    }
                }
                _ => {}
            }
        }
    }
    hasher.finish()
}

struct Search<'m> {
    module: &'m Module,
    gone: &'m FxHashMap<FuncId, (FuncId, Renaming)>,
    trusts: bool,
    renaming: Renaming,
    /// The same, the other way.
    back: FxHashMap<SymbolId, SymbolId>,
    /// Functions that are called, not compared yet.
    left: Vec<(FuncId, FuncId)>,
}

impl<'m> Search<'m> {
    fn new(module: &'m Module, gone: &'m FxHashMap<FuncId, (FuncId, Renaming)>, trusts: bool) -> Self {
        Self {
            module,
            gone,
            trusts,
            renaming: Renaming::default(),
            back: FxHashMap::default(),
            left: Vec::new(),
        }
    }

    fn functions(&mut self, a: FuncId, b: FuncId) -> bool {
        self.pair(a, b);
        while let Some((a, b)) = self.left.pop() {
            if !self.function(self.module.function(a), self.module.function(b)) {
                return false;
            }
        }
        true
    }

    /// Lets one function stand for the other.
    fn pair(&mut self, a: FuncId, b: FuncId) -> bool {
        if let Some(known) = self.renaming.functions.get(&a) {
            return *known == b;
        }
        if let Some((first, renaming)) = self.gone.get(&b) {
            return *first == a && self.joins(renaming);
        }
        self.renaming.functions.insert(a, b);
        self.left.push((a, b));
        let names = (self.module.function(a).symbol, self.module.function(b).symbol);
        self.renaming.symbols.insert(names.0, names.1);
        self.back.insert(names.1, names.0);
        true
    }

    /// Adds what is known of a function whose body is gone.
    fn joins(&mut self, other: &Renaming) -> bool {
        let back = other
            .symbols()
            .all(|(a, b)| self.back.get(&b).is_none_or(|back| *back == a));
        if !back || !self.renaming.agrees(other) {
            return false;
        }
        self.renaming.functions.extend(&other.functions);
        self.renaming.symbols.extend(&other.symbols);
        self.back.extend(other.symbols().map(|(a, b)| (b, a)));
        true
    }

    fn function(&mut self, a: &'m Function, b: &'m Function) -> bool {
        if self.trusts && b.body.is_none() {
            return true;
        }
        let outside = a.kind == b.kind
            && a.attrs == b.attrs
            && self.all(&a.params, &b.params)
            && self.all(&a.results, &b.results);
        match (&a.body, &b.body) {
            (Some(a), Some(b)) => outside && self.body(a, b),
            // What only has a name is what its name says.
            (None, None) => outside && a.symbol == b.symbol,
            _ => false,
        }
    }

    fn body(&mut self, a: &'m Body, b: &'m Body) -> bool {
        let same_labels = a.labels.len() == b.labels.len() && a.labels.iter().zip(&b.labels).all(|(a, b)| a.at == b.at);
        if !same_labels || a.insts.len() != b.insts.len() || a.regs != b.regs {
            return false;
        }
        let tables = |body: &'m Body| {
            body.stmts.iter().filter_map(|stmt| match stmt {
                Stmt::Table(table) => Some(table),
                _ => None,
            })
        };
        let plain = |kind: &TableKind| matches!(kind, TableKind::Branch(_));
        let same_tables =
            tables(a).count() == tables(b).count() && tables(a).zip(tables(b)).all(|(a, b)| a == b && plain(&a.kind));
        same_tables
            && a.insts.iter().zip(&b.insts).all(|(a, b)| {
                (Arc::ptr_eq(&a.op, &b.op) || a.op == b.op)
                    && a.guard == b.guard
                    && self.operands(&a.operands, &b.operands)
            })
    }

    fn operands(&mut self, a: &'m [Operand], b: &'m [Operand]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.operand(a, b))
    }

    fn operand(&mut self, a: &'m Operand, b: &'m Operand) -> bool {
        match (a, b) {
            (Operand::Symbol(a, by), Operand::Symbol(b, other)) => by == other && self.symbol(*a, *b),
            (Operand::Element(a, by), Operand::Element(b, other)) => by == other && self.symbol(*a, *b),
            (Operand::Address(a), Operand::Address(b)) => {
                a.offset == b.offset
                    && match (a.base, b.base) {
                        (Base::Symbol(a), Base::Symbol(b)) => self.symbol(a, b),
                        (a, b) => a == b,
                    }
            }
            (Operand::Bracket(a), Operand::Bracket(b))
            | (Operand::Vector(a), Operand::Vector(b))
            | (Operand::List(a), Operand::List(b)) => self.operands(a, b),
            (Operand::Pair(a), Operand::Pair(b)) => self.operand(&a.0, &b.0) && self.operand(&a.1, &b.1),
            _ => a == b,
        }
    }

    fn all(&mut self, a: &[SymbolId], b: &[SymbolId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.symbol(*a, *b))
    }

    /// Whether the symbols can stand for each other, everywhere.
    fn symbol(&mut self, a: SymbolId, b: SymbolId) -> bool {
        if let Some(known) = self.renaming.symbols.get(&a) {
            return *known == b;
        }
        if self.back.get(&b).is_some_and(|back| *back != a) {
            return false;
        }
        let same = match (&self.module.symbol(a).kind, &self.module.symbol(b).kind) {
            (SymbolKind::Variable(first), SymbolKind::Variable(second)) => a == b || first == second,
            (SymbolKind::Function(first), SymbolKind::Function(second)) => self.pair(*first, *second),
            _ => a == b,
        };
        self.renaming.symbols.insert(a, b);
        self.back.insert(b, a);
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse::parse;

    const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

    fn kernel(name: &str, size: u32, by: u32) -> String {
        format!(
            ".visible .entry {name}(.param .u64 {name}_p)\n{{\n.reg .b32 %r<4>;\n.shared .align 4 .b8 s_{name}[{size}];\n\
             mov.u32 %r1, s_{name};\nst.shared.u32 [%r1+{by}], %r1;\nret;\n}}\n"
        )
    }

    #[test]
    fn names_make_no_difference_and_all_else_does() {
        let text = [
            HEAD.to_owned(),
            kernel("a", 64, 0),
            kernel("b", 64, 0),
            kernel("c", 128, 0),
            kernel("d", 64, 4),
        ]
        .concat();
        let parsed = parse(&text);
        let mut twins = Twins::default();
        let first: Vec<Option<u32>> = (0..4)
            .map(|id| twins.first(&parsed.module, FuncId(id)).map(|(id, _)| id.0))
            .collect();
        assert_eq!(first, [None, Some(0), None, None]);
    }

    #[test]
    fn symbols_are_renamed() {
        let text = [HEAD.to_owned(), kernel("a", 64, 0), kernel("b", 64, 0)].concat();
        let parsed = parse(&text);
        let mut twins = Twins::default();
        twins.first(&parsed.module, FuncId(0));
        let (_, renaming) = twins.first(&parsed.module, FuncId(1)).unwrap();
        let named = |name: &str| {
            let ids = (0..)
                .map(SymbolId)
                .take_while(|id| id.index() < parsed.module.symbols.len());
            ids.into_iter().find(|id| parsed.module.name(*id) == name).unwrap()
        };
        assert_eq!(renaming.symbol(named("s_a")), named("s_b"));
        assert_eq!(renaming.function(FuncId(0)), FuncId(1));
    }
}
