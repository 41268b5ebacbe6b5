//! What rules look at: the module, where its parts stand, and what the analyses found, computed once.

use super::Launch;
use super::bulk::{self, Bulks};
use super::copies::{self, Copies};
use super::mbarriers::{self, Uses};
use super::named::{self, Numbered};
use super::parting::{self, Parting};
use super::rules::accesses::Access;
use super::rules::kernels::Residency;
use super::trials::{self, Tried};
use super::warps::{self, Sites};
use crate::ptx::analysis::{Analysis, BarrierSite, Code, Graphs, Together, Unit, Unwritten, unwritten};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, FuncId, Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::parse::Parsed;
use crate::ptx::source::{Lines, Span};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// What rules look at.
pub struct Context<'p> {
    /// The text's module and spans.
    pub parsed: &'p Parsed,
    /// The text.
    pub text: &'p str,
    /// What is known of the launch.
    pub launch: Launch,
    /// The functions that some rule looks at.
    pub analysis: Analysis<'p>,
    /// Per function, whether warp instructions can be reached from it by calls.
    reaching: Vec<bool>,
    /// Where lines start.
    lines: OnceCell<Lines>,
    partings: OnceCell<Vec<Parting>>,
    numbered: OnceCell<Vec<Numbered>>,
    lanes: RefCell<FxHashMap<FuncId, Rc<Together>>>,
    warps: OnceCell<Vec<Sites>>,
    bulks: OnceCell<Vec<Bulks>>,
    copies: OnceCell<Vec<Copies>>,
    mbarriers: OnceCell<Vec<Uses>>,
    /// Per function, its graphs, where the analysis has none.
    graphs: Vec<OnceCell<Graphs>>,
    unwritten: OnceCell<Vec<(FuncId, Unwritten)>>,
    /// Per function, what is predicted of its residency, and what its warps access.
    residencies: Vec<OnceCell<Option<Residency>>>,
    accesses: Vec<OnceCell<Vec<Access>>>,
    tried: OnceCell<Vec<Tried>>,
}

impl<'p> Context<'p> {
    pub(super) fn new(parsed: &'p Parsed, text: &'p str, launch: &Launch) -> Self {
        let reaching = warps::reaching(&parsed.module);
        Self {
            parsed,
            text,
            launch: launch.clone(),
            analysis: Analysis::new(&parsed.module, &launch.known(&parsed.module), |id, body, barriers| {
                reaching.get(id.index()).copied().unwrap_or(false) || is_interesting(body, barriers)
            }),
            reaching,
            lines: OnceCell::new(),
            partings: OnceCell::new(),
            numbered: OnceCell::new(),
            lanes: RefCell::default(),
            warps: OnceCell::new(),
            bulks: OnceCell::new(),
            copies: OnceCell::new(),
            mbarriers: OnceCell::new(),
            graphs: parsed.module.functions.iter().map(|_| OnceCell::new()).collect(),
            unwritten: OnceCell::new(),
            residencies: parsed.module.functions.iter().map(|_| OnceCell::new()).collect(),
            accesses: parsed.module.functions.iter().map(|_| OnceCell::new()).collect(),
            tried: OnceCell::new(),
        }
    }

    /// Where an instruction stands.
    pub fn span(&self, function: FuncId, inst: InstId) -> Span {
        let spans = self.parsed.spans.functions.get(function.index());
        spans
            .and_then(|spans| spans.insts.get(inst.index()))
            .copied()
            .unwrap_or_default()
    }

    /// The line of an instruction, from 1.
    pub fn line(&self, function: FuncId, inst: InstId) -> usize {
        let start = self.span(function, inst).start;
        let lines = self.lines.get_or_init(|| Lines::of(self.text));
        lines.at(self.text, start) as usize
    }

    /// The units, in textual order.
    pub fn units(&self) -> impl Iterator<Item = &Unit<'p>> {
        self.analysis.units()
    }

    /// The functions with a body that the parser could read without an error, in textual order.
    pub fn codes(&self) -> impl Iterator<Item = Code<'_>> {
        let ids = (0..self.parsed.module.functions.len() as u32).map(FuncId);
        ids.filter(|id| !self.is_broken(*id)).filter_map(|id| self.code(id))
    }

    /// Whether the parser found an error in a function: what was dropped there may be what a rule would miss.
    fn is_broken(&self, id: FuncId) -> bool {
        let Some(whole) = self.parsed.spans.functions.get(id.index()).map(|spans| spans.whole) else {
            return false;
        };
        let errors = self.parsed.diags.iter().filter(|diag| diag.level == Level::Error);
        errors
            .into_iter()
            .any(|diag| whole.start <= diag.span.start && diag.span.start < whole.end)
    }

    /// A function's code; `None` where it has no body.
    pub fn code(&self, id: FuncId) -> Option<Code<'_>> {
        if let Some(unit) = self.analysis.unit(id) {
            return Some(Code::of_unit(unit));
        }
        let module = &self.parsed.module;
        let body = module.function(id).body.as_ref()?;
        let graphs = self.graphs.get(id.index())?.get_or_init(|| Graphs::new(module, body));
        Some(Code::new(module, id, body, graphs))
    }

    /// Where a function's name stands.
    pub fn name_span(&self, function: FuncId) -> Span {
        self.parsed
            .spans
            .functions
            .get(function.index())
            .map(|spans| spans.name)
            .unwrap_or_default()
    }

    /// The uses of registers that nothing may have written.
    pub(super) fn unwritten(&self) -> &[(FuncId, Unwritten)] {
        let find = || {
            self.codes()
                .flat_map(|code| unwritten(code).into_iter().map(move |found| (code.id, found)))
        };
        self.unwritten.get_or_init(|| find().collect())
    }

    /// What is predicted of a kernel's place on a multiprocessor; `None` where nothing is known of the target.
    pub(super) fn residency(&self, code: Code) -> Option<&Residency> {
        self.residencies
            .get(code.id.index())?
            .get_or_init(|| Residency::new(self, code))
            .as_ref()
    }

    /// What the warps of a function access in shared and global memory, as far as addresses are known.
    pub(super) fn accesses(&self, code: Code) -> &[Access] {
        let found = self.accesses.get(code.id.index());
        found.map_or(&[], |found| found.get_or_init(|| Access::all(self, code)))
    }

    /// Where threads part in the sight of barriers.
    pub(super) fn partings(&self) -> &[Parting] {
        self.partings
            .get_or_init(|| self.units().flat_map(parting::find).collect())
    }

    /// Barriers with what is known of their numbers.
    pub(super) fn numbered(&self) -> &[Numbered] {
        self.numbered
            .get_or_init(|| self.units().flat_map(named::find).collect())
    }

    /// Whether warp instructions can be reached from a function by calls, or stand in one that is called.
    fn reaches(&self, id: FuncId) -> bool {
        self.reaching.get(id.index()).copied().unwrap_or(false)
    }

    /// Who comes to each block of a unit, lane by lane.
    pub(super) fn lanes(&self, unit: &Unit) -> Rc<Together> {
        let known = self.lanes.borrow().get(&unit.id).cloned();
        known.unwrap_or_else(|| {
            let lanes = Rc::new(Together::new(unit, |callee| self.reaches(callee)));
            self.lanes.borrow_mut().insert(unit.id, Rc::clone(&lanes));
            lanes
        })
    }

    /// What trial runs of the kernels have shown.
    pub(super) fn tried(&self) -> &[Tried] {
        self.tried
            .get_or_init(|| trials::all(&self.parsed.module, &self.launch))
    }

    /// What lanes of a warp execute together.
    pub(super) fn warps(&self) -> &[Sites] {
        self.warps.get_or_init(|| {
            let mut callees = warps::Callees::default();
            let units = |id| self.analysis.unit(id);
            let found = self.units().filter_map(|unit| {
                let sites = |lanes: &Together| callees.sites(unit, &units, lanes);
                warps::find(unit, || self.lanes(unit), sites, self.reaches(unit.id))
            });
            found.collect()
        })
    }

    /// Asynchronous copies, and what is read or refilled too early.
    pub(super) fn copies(&self) -> &[Copies] {
        self.copies.get_or_init(|| {
            self.units()
                .filter_map(|unit| copies::find(unit, || self.lanes(unit)))
                .collect()
        })
    }

    /// Bulk copies and the rest of the asynchronous proxy.
    pub(super) fn bulks(&self) -> &[Bulks] {
        self.bulks.get_or_init(|| {
            self.units()
                .filter_map(|unit| bulk::find(unit, || self.lanes(unit)))
                .collect()
        })
    }

    /// What is done to mbarriers.
    pub(super) fn mbarriers(&self) -> &[Uses] {
        self.mbarriers.get_or_init(|| {
            self.units()
                .filter_map(|unit| mbarriers::find(unit, || self.lanes(unit)))
                .collect()
        })
    }
}

/// Whether the instruction has to do with other threads in a way that some rule looks at.
fn is_cooperative(inst: &Inst) -> bool {
    let op = &inst.op;
    match op.effect {
        Effect::Mbarrier | Effect::Async => true,
        Effect::Atomic => op.has("cas") || op.has("exch"),
        Effect::Call => inst.operands.iter().any(|operand| matches!(operand, Operand::Reg(_))),
        _ => matches!(op.base(), "mapa" | "getctarank"),
    }
}

/// Whether a rule looks at the function: it meets barriers, or promises uniformity.
fn is_interesting(body: &Body, barriers: &[BarrierSite]) -> bool {
    let promises = |effect| matches!(effect, Effect::Branch | Effect::Call | Effect::Exit);
    !barriers.is_empty()
        || body
            .insts
            .iter()
            .any(|inst| warps::is_site(inst) || is_cooperative(inst))
        || body
            .insts
            .iter()
            .any(|inst| inst.guard.is_some() && promises(inst.op.effect) && inst.op.has("uni"))
}
