//! What a finding claims, and which faults of a run show it.

use crate::ptx::analysis::{Call, Callee};
use crate::ptx::diag::{Diag, Level};
use crate::ptx::ir::{FuncId, FunctionKind, InstId, Module};
use crate::ptx::parse::Parsed;
use crate::ptx::sim::{Fault, Site, Stray};
use crate::ptx::source::Span;
use std::collections::BTreeSet;

/// How the places of a finding and of a fault must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Both accesses of the fault are among the finding's places, and one of them is where it stands.
    Pair,
    /// The same, and the threads are of different CTAs.
    Across,
    /// Some place of the fault is some place of the finding, or in a function that is called there.
    Any,
    /// As before, or the fault is of the same code in the same function: the finding stands where an object is made.
    Object,
    /// The fault is where the finding stands; where that is a call, at what the finding says the call executes.
    Here,
}

/// The races of the simulator, those of copies included, except stores of the same value.
const RACES: &[&str] = &[
    "RACE001", "RACE002", "RACE003", "RACE006", "RACE007", "RACE010", "ASYNC001", "ASYNC004",
];
/// What it says of barriers that not all come to.
const BARRIERS: &[&str] = &["BAR001", "BAR002", "BAR003", "BAR004", "BAR006", "BAR012"];
/// What it says of masks.
const MASKS: &[&str] = &["WARP001", "WARP002", "WARP003", "WARP005", "WARP008", "WARP011"];
/// What it says of copies that are not waited for, beside races.
const COPIES: &[&str] = &[
    "ASYNC001", "ASYNC004", "FLOW004", "RACE001", "RACE002", "RACE003", "RACE007", "RACE010",
];
/// What it says of mbarriers that are waited for in vain.
const MBARRIERS: &[&str] = &[
    "ASYNC005", "ASYNC006", "ASYNC007", "ASYNC008", "FLOW004", "RACE001", "RACE002",
];

/// The faults that show a finding of a code; none where the simulator has no fault of its kind.
pub(super) fn kin(code: &str) -> &'static [&'static str] {
    match code {
        "RACE001" | "RACE002" | "RACE003" | "RACE005" | "RACE007" | "RACE009" | "RACE010" | "RACE011" => RACES,
        "RACE004" => &["RACE004"],
        "RACE006" | "RACE008" => RACES,
        "BAR001" | "BAR002" | "BAR003" | "BAR004" | "BAR005" => BARRIERS,
        "BAR006" => &["BAR006", "BAR002", "BAR007", "ISA020"],
        "BAR007" => &["BAR007", "BAR006"],
        "BAR009" => &["BAR009", "BAR006"],
        "BAR012" => &["BAR012", "WARP001", "WARP011"],
        "BAR013" => &["BAR013"],
        "BAR019" => &["BAR019"],
        "WARP001" | "WARP002" | "WARP003" | "WARP004" | "WARP005" | "WARP008" | "WARP011" | "WARP012" => MASKS,
        "MEM001" | "MEM002" => &["MEM002"],
        "MEM003" | "MEM004" => &["MEM003", "ASYNC012"],
        "MEM005" | "MEM007" => &["MEM002", "MEM007"],
        "MEM011" => &["MEM011"],
        "MEM014" => &["MEM007"],
        "FLOW001" | "FLOW002" | "FLOW003" => &["FLOW001"],
        "FLOW004" => &["FLOW004"],
        "ASYNC001" | "ASYNC002" | "ASYNC003" | "ASYNC004" => COPIES,
        "ASYNC005" | "ASYNC006" | "ASYNC007" | "ASYNC008" | "ASYNC020" => MBARRIERS,
        "ASYNC009" => &["ASYNC009", "ASYNC005"],
        "ASYNC010" => &["ASYNC010"],
        "ASYNC012" => &["ASYNC012", "MEM003"],
        "ASYNC013" | "ASYNC014" => &["ASYNC013"],
        "ASYNC017" => &["ASYNC017"],
        "ASYNC018" => &["ASYNC018"],
        "ISA017" => &["ISA017"],
        "ISA020" => &["ISA020", "BAR006"],
        "ISA021" => &["ISA021"],
        _ => &[],
    }
}

/// How the places must agree for a code.
fn fit(code: &str) -> Fit {
    match code {
        "RACE006" | "RACE008" => Fit::Across,
        "ASYNC006" | "ASYNC007" | "ASYNC008" => Fit::Object,
        _ if code.starts_with("RACE") => Fit::Pair,
        _ if ["BAR", "ASYNC", "FLOW"].iter().any(|group| code.starts_with(group)) => Fit::Any,
        _ => Fit::Here,
    }
}

/// What a finding claims.
pub(super) struct Claim {
    /// The finding's number.
    pub(super) finding: usize,
    /// The function in which it stands.
    pub(super) function: FuncId,
    code: &'static str,
    /// The instructions at which it stands.
    here: BTreeSet<Site>,
    /// Those, and all that belong to it.
    all: BTreeSet<Site>,
    /// Functions that are called there.
    called: BTreeSet<FuncId>,
}

impl Claim {
    /// The fault among these that is what the finding says.
    pub(super) fn shown_by<'f>(&self, faults: &'f [Fault]) -> Option<&'f Fault> {
        let exact = faults.iter().find(|fault| self.fits(fault, true));
        exact.or_else(|| faults.iter().find(|fault| self.fits(fault, false)))
    }

    /// Whether the fault is what the finding says. If not `exact`, the other access of a race may be one that the finding
    /// does not name.
    fn fits(&self, fault: &Fault, exact: bool) -> bool {
        if !kin(self.code).contains(&fault.code.id) {
            return false;
        }
        // Made-up buffers run out whatever the kernel does.
        let made_up = matches!(fault.stray, Some(Stray::Buffer | Stray::Dynamic | Stray::Nowhere));
        if made_up && self.code != "MEM005" && self.code != "MEM007" {
            return false;
        }
        let others = || fault.others.iter().filter_map(|other| other.site);
        let mut sites = others().chain([fault.site]);
        match fit(self.code) {
            Fit::Here => {
                let called = self.called.contains(&fault.site.function) && self.all.contains(&fault.site);
                called || self.here.contains(&fault.site)
            }
            Fit::Object if self.code == fault.code.id && self.function == fault.site.function => true,
            Fit::Any | Fit::Object => {
                sites.any(|site| self.all.contains(&site) || self.called.contains(&site.function))
            }
            fit => {
                let stands = sites.any(|site| self.here.contains(&site));
                let within = || others().chain([fault.site]).all(|site| self.all.contains(&site));
                let same = !exact && fault.code.id == self.code;
                stands && (same || within()) && is_across(fault) == (fit == Fit::Across)
            }
        }
    }
}

/// Whether the threads of a fault are of different CTAs.
fn is_across(fault: &Fault) -> bool {
    let other = fault.others.iter().find_map(|other| other.thread);
    matches!((fault.thread, other), (Some(one), Some(other)) if one.cta != other.cta)
}

/// Where the instructions of a module stand.
pub(super) struct Places<'p> {
    parsed: &'p Parsed,
}

impl<'p> Places<'p> {
    pub(super) fn new(parsed: &'p Parsed) -> Self {
        Self { parsed }
    }

    /// What a finding claims; `None` where no fault can show it.
    pub(super) fn claim(&self, finding: usize, diag: &Diag) -> Option<Claim> {
        // Leaving early is legal: only where it is more than information, something goes wrong.
        let legal = diag.code.id == "BAR005" && diag.level == Level::Info;
        if legal || kin(diag.code.id).is_empty() {
            return None;
        }
        let here: BTreeSet<Site> = self.at(diag.span).into_iter().collect();
        let related = diag.related.iter().flat_map(|related| self.at(related.span));
        let all: BTreeSet<Site> = here.iter().copied().chain(related).collect();
        let function = here.first().or(all.first())?.function;
        Some(Claim {
            finding,
            function,
            code: diag.code.id,
            called: self.called(&here),
            here,
            all,
        })
    }

    /// The functions that are called at some instructions, and those that they call.
    fn called(&self, sites: &BTreeSet<Site>) -> BTreeSet<FuncId> {
        let module = &self.parsed.module;
        let callee = |site: &Site| {
            let body = module.function(site.function).body.as_ref()?;
            Call::of(module, site.inst, body.insts.get(site.inst.index())?)
        };
        let known = |call: Call| match call.callee {
            Callee::Known(function) => Some(function),
            _ => None,
        };
        let first: Vec<FuncId> = sites.iter().filter_map(callee).filter_map(known).collect();
        reached(module, first)
    }

    /// The instruction in which a span begins.
    fn at(&self, span: Span) -> Option<Site> {
        let functions = &self.parsed.spans.functions;
        let within = |outer: &Span| outer.start <= span.start && span.start < outer.end;
        let function = functions.iter().position(|spans| within(&spans.whole))?;
        let insts = &functions.get(function)?.insts;
        let inst = insts.partition_point(|inst| inst.start <= span.start).checked_sub(1)?;
        within(insts.get(inst)?).then_some(Site {
            function: FuncId(function as u32),
            inst: InstId(inst as u32),
        })
    }
}

/// Where an instruction stands in the text.
pub(super) fn span(parsed: &Parsed, site: Site) -> Span {
    let spans = parsed.spans.functions.get(site.function.index());
    spans.map_or(Span::default(), |spans| {
        spans.insts.get(site.inst.index()).copied().unwrap_or(spans.name)
    })
}

/// Functions with all that they call.
pub(super) fn reached(module: &Module, first: Vec<FuncId>) -> BTreeSet<FuncId> {
    let (mut seen, mut stack) = (BTreeSet::new(), first);
    while let Some(function) = stack.pop() {
        let body = module
            .function(function)
            .body
            .as_ref()
            .filter(|_| seen.insert(function));
        let calls = body.into_iter().flat_map(|body| Call::all(module, body));
        stack.extend(calls.filter_map(|call| match call.callee {
            Callee::Known(function) => Some(function),
            _ => None,
        }));
    }
    seen
}

/// The kernels that come to a function: itself, or the first few that call it.
pub(super) fn kernels(module: &Module, function: FuncId) -> Vec<FuncId> {
    const MOST: usize = 4;
    let is_entry = |id: FuncId| module.function(id).kind == FunctionKind::Entry;
    if is_entry(function) {
        return vec![function];
    }
    let (mut seen, mut stack) = (BTreeSet::from([function]), vec![function]);
    while let Some(callee) = stack.pop() {
        for (id, caller) in (0..).map(FuncId).zip(&module.functions) {
            let Some(body) = &caller.body else { continue };
            let calls = || Call::all(module, body).any(|call| call.callee == Callee::Known(callee));
            if !seen.contains(&id) && calls() {
                seen.insert(id);
                stack.push(id);
            }
        }
    }
    seen.into_iter().filter(|id| is_entry(*id)).take(MOST).collect()
}
