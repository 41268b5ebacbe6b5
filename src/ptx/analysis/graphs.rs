//! A function's graphs: what can be said of code without asking how threads differ.

use super::unit::Unit;
use crate::ptx::flow::{Cfg, Loops, Ssa};
use crate::ptx::ir::{Body, FuncId, Function, Module, RegId, Stmt, SymbolId};
use crate::ptx::types::Space;

/// Blocks, loops and values of one function.
#[derive(Clone, Debug)]
pub struct Graphs {
    /// Blocks and edges.
    pub cfg: Cfg,
    /// Loops.
    pub loops: Loops,
    /// Values.
    pub ssa: Ssa,
}

impl Graphs {
    /// Builds the graphs of a body.
    pub fn new(module: &Module, body: &Body) -> Self {
        let cfg = Cfg::new(module, body);
        let loops = Loops::of_cfg(&cfg);
        let ssa = Ssa::new(body, &cfg);
        Self { cfg, loops, ssa }
    }
}

/// A function with its graphs, wherever these are kept.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    /// The module.
    pub module: &'a Module,
    /// Which function.
    pub id: FuncId,
    /// Its body.
    pub body: &'a Body,
    /// Blocks and edges.
    pub cfg: &'a Cfg,
    /// Loops.
    pub loops: &'a Loops,
    /// Values.
    pub ssa: &'a Ssa,
}

impl<'a> Code<'a> {
    /// The code of a function whose graphs are given.
    pub fn new(module: &'a Module, id: FuncId, body: &'a Body, graphs: &'a Graphs) -> Self {
        Self {
            module,
            id,
            body,
            cfg: &graphs.cfg,
            loops: &graphs.loops,
            ssa: &graphs.ssa,
        }
    }

    /// The code of an analysed function.
    pub fn of_unit(unit: &'a Unit<'_>) -> Self {
        Self {
            module: unit.module,
            id: unit.id,
            body: unit.body,
            cfg: &unit.cfg,
            loops: &unit.loops,
            ssa: &unit.ssa,
        }
    }

    /// The function.
    pub fn function(&self) -> &'a Function {
        self.module.function(self.id)
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.module.name(self.function().symbol)
    }

    /// Whether the register is not this function's own: a parameter or result, one of the module's, or one that nothing
    /// declares, which the parser has said. Others may write and read such.
    pub fn is_foreign(&self, reg: RegId) -> bool {
        let Some(register) = self.body.regs.get(reg.index()) else {
            return true;
        };
        let names_it = |symbol: &SymbolId| {
            let variable = self.module.variable(*symbol);
            variable.is_some_and(|variable| variable.space == Space::Reg)
                && self.module.name(*symbol) == &*register.name
        };
        let declares_it = |stmt: &Stmt| match stmt {
            Stmt::Regs(line) => line.names.iter().any(|name| match name.bank {
                None => *name.name == *register.name,
                Some(_) => register.name.starts_with(&*name.name),
            }),
            _ => false,
        };
        let function = self.function();
        let mut outer = function.params.iter().chain(&function.results);
        !register.declared || outer.any(names_it) || !self.body.stmts.iter().any(declares_it)
    }
}
