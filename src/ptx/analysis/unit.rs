//! The analysis of a module: one unit per function, callees before callers for results, callers before callees for parameters.

use super::barriers::{BarrierSite, Barriers};
use super::calls::{Call, Callee};
use super::converge::Converge;
use super::exact::{Evaluator, Memo};
use super::geometry::{Shape, reads_other_dimensions};
use super::given::Given;
use super::source::{Nature, nature};
use super::uniform::{Parts, Slot, Surroundings, Uniformity, is_param_slot};
use crate::ptx::flow::{Cfg, Loops, Ssa};
use crate::ptx::ir::{Body, FuncId, Function, FunctionKind, InstId, Module, Operand, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// What is known of one function.
pub struct Unit<'m> {
    /// The module.
    pub module: &'m Module,
    /// Which function.
    pub id: FuncId,
    /// Its body.
    pub body: &'m Body,
    /// Blocks and edges.
    pub cfg: Cfg,
    /// Loops.
    pub loops: Loops,
    /// Values.
    pub ssa: Ssa,
    /// Where threads meet.
    pub converge: Converge,
    /// How far apart values are.
    pub uniformity: Uniformity,
    /// The shape of the CTA.
    pub shape: Shape,
    /// Per instruction with barriers behind it, in textual order.
    pub barriers: Vec<BarrierSite>,
    given: Given,
    exact: Rc<RefCell<Memo>>,
}

/// How far apart the results of functions are: given uniform arguments, and whatever the arguments are.
type Returns = FxHashMap<FuncId, (Extent, Extent)>;

/// What is known of a module's functions.
pub struct Analysis<'m> {
    /// The module.
    pub module: &'m Module,
    units: Vec<Option<Unit<'m>>>,
}

impl<'m> Analysis<'m> {
    /// Analyses the functions that `wanted` picks, and what they call.
    ///
    pub fn new(module: &'m Module, given: &Given, wanted: impl Fn(FuncId, &Body, &[BarrierSite]) -> bool) -> Self {
        let barriers = Barriers::new(module);
        let order = callees_first(module, |id, body| wanted(id, body, barriers.of(id)));
        let mut analysis = Self {
            module,
            units: module.functions.iter().map(|_| None).collect(),
        };
        let shared = shared_shape(module, given.block);
        let mut returns = Returns::default();
        for id in &order {
            let function = module.function(*id);
            let Some(body) = &function.body else { continue };
            let shape = match function.kind {
                FunctionKind::Entry => Shape::of(function, given.block),
                FunctionKind::Func => shared,
            };
            let mut unit = Unit::new(module, *id, body, shape, barriers.of(*id));
            unit.given = given.clone();
            // What is agreed on at a barrier, or by the lanes of a warp, is alike in them, whatever each of them brings along.
            let votes = body.insts.iter().any(|inst| inst.op.effect == Effect::Warp);
            let agrees = function.kind == FunctionKind::Func && (votes || !unit.barriers.is_empty());
            let ceiling = if agrees && !function.results.is_empty() {
                let apart = function.params.iter().map(|param| (*param, Extent::Thread)).collect();
                unit.solve(&apart, &returns);
                unit.return_extent(function)
            } else {
                Extent::Thread
            };
            unit.solve(&FxHashMap::default(), &returns);
            returns.insert(*id, (unit.return_extent(function), ceiling));
            analysis.units[id.index()] = Some(unit);
        }
        analysis.pass_arguments(&order, &returns);
        analysis
    }

    /// Solves callees again whose callers pass them what differs between threads.
    fn pass_arguments(&mut self, order: &[FuncId], returns: &Returns) {
        let mut params: FxHashMap<FuncId, FxHashMap<SymbolId, Extent>> = FxHashMap::default();
        for id in order.iter().rev() {
            if let (Some(params), Some(unit)) = (params.get(id), self.units[id.index()].as_mut()) {
                unit.solve(params, returns);
            }
            let Some(unit) = &self.units[id.index()] else { continue };
            for call in Call::all(self.module, unit.body) {
                let Callee::Known(callee) = call.callee else { continue };
                if callee == *id {
                    continue;
                }
                for (param, arg) in self.module.function(callee).params.iter().zip(call.args) {
                    let extent = unit.argument(&call, arg);
                    if extent > Extent::Grid {
                        let known = params.entry(callee).or_default().entry(*param).or_insert(extent);
                        *known = extent.max(*known);
                    }
                }
            }
        }
    }

    /// The unit of a function, where it was analysed.
    pub fn unit(&self, id: FuncId) -> Option<&Unit<'m>> {
        self.units.get(id.index())?.as_ref()
    }

    /// The units, in textual order.
    pub fn units(&self) -> impl Iterator<Item = &Unit<'m>> {
        self.units.iter().flatten()
    }
}

impl<'m> Unit<'m> {
    fn new(module: &'m Module, id: FuncId, body: &'m Body, shape: Shape, barriers: &[BarrierSite]) -> Self {
        let cfg = Cfg::new(module, body);
        let loops = Loops::of_cfg(&cfg);
        let ssa = Ssa::new(body, &cfg);
        let waits = |inst: u32| barriers.binary_search_by_key(&inst, |site| site.inst.0).is_ok();
        let is_kernel = module.function(id).kind == FunctionKind::Entry;
        let converge = Converge::new(body, &cfg, &loops, is_kernel, &waits);
        Self {
            module,
            id,
            body,
            cfg,
            loops,
            ssa,
            converge,
            uniformity: Uniformity::default(),
            shape,
            barriers: barriers.to_vec(),
            given: Given::default(),
            exact: Rc::default(),
        }
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            module: self.module,
            function: self.id,
            body: self.body,
            cfg: &self.cfg,
            loops: &self.loops,
            ssa: &self.ssa,
            converge: &self.converge,
        }
    }

    fn solve(&mut self, params: &FxHashMap<SymbolId, Extent>, returns: &Returns) {
        let parts = self.parts();
        let of_call = |call: &Call| match call.callee {
            Callee::Known(callee) => returns
                .get(&callee)
                .copied()
                .unwrap_or((Extent::Thread, Extent::Thread)),
            _ => (Extent::Thread, Extent::Thread),
        };
        let surroundings = Surroundings {
            params,
            returns: &of_call,
        };
        let mut evaluator = self.evaluator();
        let uniformity = Uniformity::new(parts, &surroundings, &mut evaluator);
        self.uniformity = uniformity;
    }

    /// An evaluator of exact values.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(self.body, &self.cfg, &self.ssa, (self.shape, &self.given), &self.exact)
    }

    /// The function.
    pub fn function(&self) -> &'m Function {
        self.module.function(self.id)
    }

    /// The barrier or call of barriers at an instruction.
    pub fn barrier_at(&self, inst: u32) -> Option<&BarrierSite> {
        let at = self.barriers.binary_search_by_key(&inst, |site| site.inst.0).ok()?;
        self.barriers.get(at)
    }

    /// How far apart the results are, given uniform arguments.
    fn return_extent(&self, function: &Function) -> Extent {
        let extents = function
            .results
            .iter()
            .map(|symbol| self.uniformity.slot(Slot::Param(*symbol)).0);
        let registers = function.results.iter().any(|symbol| {
            let variable = self.module.variable(*symbol);
            variable.is_some_and(|variable| variable.space == crate::ptx::types::Space::Reg)
        });
        // Results in registers are not followed.
        let floor = if registers { Extent::Thread } else { Extent::Grid };
        extents.max().unwrap_or(Extent::Grid).max(floor)
    }

    fn argument(&self, call: &Call, arg: &Operand) -> Extent {
        match arg {
            Operand::Symbol(symbol, _) => self.uniformity.slot(Slot::Param(*symbol)).0,
            Operand::Reg(reg) => {
                let block = self.cfg.block_of(call.inst);
                let value = self.ssa.use_of(call.inst, *reg);
                value.map_or(Extent::Grid, |value| {
                    self.uniformity.seen_from(&self.loops, value, block).0
                })
            }
            _ => Extent::Grid,
        }
    }
}

/// How the results of an instruction follow from its operands.
pub fn nature_of(unit: &Unit, inst: InstId) -> Nature {
    let parts = unit.parts();
    unit.body
        .insts
        .get(inst.index())
        .map_or(Nature::Always(Extent::Thread), |row| {
            let number = |operand: &Operand| unit.evaluator().operand(inst, operand)?.constant();
            nature(row, |row| is_param_slot(parts, row), number)
        })
}

/// The wanted functions and what they call, callees first.
fn callees_first(module: &Module, wanted: impl Fn(FuncId, &Body) -> bool) -> Vec<FuncId> {
    let callees = |id: FuncId| -> Vec<FuncId> {
        let calls = module.function(id).body.iter().flat_map(|body| Call::all(module, body));
        let known = calls.filter_map(|call| match call.callee {
            Callee::Known(callee) => Some(callee),
            _ => None,
        });
        known.collect()
    };
    let mut seen = vec![false; module.functions.len()];
    let mut order = Vec::new();
    for (root, function) in (0..).map(FuncId).zip(&module.functions) {
        let is_root = function.body.as_ref().is_some_and(|body| wanted(root, body));
        if !is_root || std::mem::replace(&mut seen[root.index()], true) {
            continue;
        }
        let mut stack = vec![(root, callees(root))];
        while let Some((id, left)) = stack.last_mut() {
            match left.pop() {
                Some(callee) => {
                    if !std::mem::replace(&mut seen[callee.index()], true) {
                        stack.push((callee, callees(callee)));
                    }
                }
                None => {
                    order.push(*id);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// The shape to take for device functions: that of all kernels, where they agree.
fn shared_shape(module: &Module, block: Option<[u32; 3]>) -> Shape {
    let kernels = || {
        module
            .functions
            .iter()
            .filter(|function| function.kind == FunctionKind::Entry && function.body.is_some())
    };
    let mut shapes = kernels().map(|kernel| Shape::of(kernel, block));
    if let Some(first) = shapes.next()
        && shapes.all(|shape| shape == first)
        && matches!(first, Shape::Exact(_))
    {
        return first;
    }
    let most = kernels().map(|kernel| Shape::of(kernel, block).most_threads()).max();
    let most = most.unwrap_or(super::geometry::MOST_THREADS);
    let bodies = || module.functions.iter().filter_map(|function| function.body.as_ref());
    let exact =
        kernels().any(|kernel| matches!(Shape::of(kernel, block), Shape::Exact(dims) if dims[1] > 1 || dims[2] > 1));
    if exact || bodies().any(reads_other_dimensions) {
        Shape::Unknown(most)
    } else {
        Shape::Line(most)
    }
}
