//! The linter: runs legality checks and rules over a parsed module.

mod alike;
mod between;
mod bits;
mod blind;
mod bounds;
mod bulk;
mod catalogue;
mod causes;
mod context;
mod copies;
mod departures;
mod explain;
mod fingerprint;
mod fix;
mod fold;
mod gathers;
mod helpers;
mod idioms;
mod mbarriers;
mod memory;
mod messages;
mod named;
mod numbers;
mod origin;
mod parting;
mod plan;
mod racing;
mod retold;
mod rule;
pub mod rules;
mod select;
mod status;
mod suppress;
mod trail;
mod trials;
mod warps;
mod wide;
mod widths;

pub use catalogue::{Entry, GROUPS, MERGED, Merged, catalogue, merged};
pub use fingerprint::{Fingerprint, fingerprints};
pub use fix::apply as apply_fixes;
pub use origin::{Origin, Origins, Place};
pub use plan::{blocks as usual_blocks, unusual as unusual_blocks};
pub use rule::{RULES, Rule, rule_named};
pub use select::{Directive, Selection, Selector, UnknownSelector};

use super::analysis;
use super::diag::{Diag, codes};
use super::ir::{Function, FunctionKind, Module, SymbolId};
use super::parse::{Parsed, parse};
use super::source::Span;
use super::target::PtxVersion;
use context::Context;
use std::rc::Rc;
use std::sync::Arc;
use suppress::{Judge, Suppressions};

/// What is known of the launch beside what the text says; `.reqntid` in the text wins over `block`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Threads of a CTA in x, y, z.
    pub block: Option<[u32; 3]>,
    /// CTAs of the grid in x, y, z.
    pub grid: Option<[u32; 3]>,
    /// What kernel parameters hold.
    pub params: Arc<[Given]>,
}

impl Launch {
    /// The same, with the parameters found in a module.
    fn known(&self, module: &Module) -> analysis::Given {
        let kernels = module.functions.iter();
        let kernels = kernels.filter(|function| function.kind == FunctionKind::Entry);
        let params = kernels.flat_map(|kernel| self.given(module, kernel).iter().rev().copied().collect::<Vec<_>>());
        analysis::Given {
            block: self.block,
            grid: self.grid,
            // Of two that name one parameter, the first counts.
            params: Rc::new(params.map(|(symbol, _, value)| (symbol, value)).collect()),
        }
    }

    /// The parameters of a kernel that something is said of: each with the bytes from its start, and what it holds.
    pub fn given(&self, module: &Module, kernel: &Function) -> Rc<[(SymbolId, i64, u64)]> {
        let symbol = |given: &Given| {
            let number: Option<usize> = given.name.parse().ok();
            let by_number = number.and_then(|number| kernel.params.get(number));
            let by_name = || kernel.params.iter().find(|param| module.name(**param) == given.name);
            by_number.or_else(by_name).copied()
        };
        self.params
            .iter()
            .filter_map(|given| Some((symbol(given)?, 0, given.value)))
            .collect()
    }
}

/// What is known of a scalar kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The parameter's name, or its number from 0.
    pub name: String,
    /// What it holds; the low bits where the parameter is narrower.
    pub value: u64,
}

/// What a lint run is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The launch.
    pub launch: Launch,
    /// Which codes report, and at which level.
    pub selection: Selection,
    /// Whether the module is to be linked (`ptxas -c`): what the linker resolves is no finding then.
    pub relocatable: bool,
}

/// What became of one kernel or function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelStatus {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// `None` if all rules ran on all of it; else why not (never to be taken for clean).
    pub not_analysed: Option<String>,
}

/// The outcome of a lint run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Findings in textual order: by span start, then code.
    pub findings: Vec<Diag>,
    /// Kernels (entries) in textual order.
    pub kernels: Vec<KernelStatus>,
    /// How many findings comments in the text suppress.
    pub suppressed: usize,
}

/// The least version of which `ptxas -c` makes an object.
const RELOCATABLE: PtxVersion = PtxVersion::new(3, 1);

/// Runs what the parser found, legality, and the rules, save those that must be asked for.
pub fn lint(parsed: &Parsed, text: &str, launch: &Launch) -> Report {
    let options = Options {
        launch: launch.clone(),
        ..Options::default()
    };
    lint_with(parsed, text, &options)
}

/// Runs what the parser found, legality, and the rules, as far as the options ask for them.
pub fn lint_with(parsed: &Parsed, text: &str, options: &Options) -> Report {
    let findings = run(parsed, text, options);
    report(parsed, text, options, findings)
}

/// Reads a text and lints it. It is the same as to parse it and to call [`lint_with`], and faster on large modules: bodies of
/// functions that are the same as earlier ones but for names may be empty in what is returned.
pub fn lint_text(text: &str, options: &Options) -> (Parsed, Report) {
    if let Some(done) = fold::lint(text, options) {
        return done;
    }
    let parsed = parse(text);
    let report = lint_with(&parsed, text, options);
    (parsed, report)
}

/// The report of what was found, as far as it is asked for.
fn report(parsed: &Parsed, text: &str, options: &Options, mut findings: Vec<Diag>) -> Report {
    let selection = &options.selection;
    findings.extend(super::verify::asides(parsed));
    let findings = findings.into_iter().filter_map(|diag| selection.admit(diag)).collect();
    let kernels = status::kernels(parsed, text);
    let judge = match parsed.diags.is_empty() && kernels.iter().all(|kernel| kernel.not_analysed.is_none()) {
        true => Judge::All,
        false => Judge::None,
    };
    let outcome = Suppressions::find(parsed, text).apply(findings, selection, text, judge);
    let mut findings = outcome.kept;
    findings.sort_by(|a, b| (a.span.start, a.code.id).cmp(&(b.span.start, b.code.id)));
    Report {
        findings,
        kernels,
        suppressed: outcome.suppressed,
    }
}

/// What parser, legality and the selected rules find.
fn run(parsed: &Parsed, text: &str, options: &Options) -> Vec<Diag> {
    let by_name = !options.launch.params.is_empty();
    if let Some(alike) = alike::Alike::find(parsed).filter(|_| !by_name) {
        let findings = run_all(&alike.reduced, text, options);
        if let Some(complete) = alike::complete(&alike.twins, parsed, text, findings) {
            return complete;
        }
    }
    run_all(parsed, text, options)
}

fn run_all(parsed: &Parsed, text: &str, options: &Options) -> Vec<Diag> {
    let mut findings = parsed.diags.clone();
    findings.extend(super::verify::code(parsed, text));
    if options.relocatable {
        findings.retain(|diag| diag.code != codes::SYN019);
        findings.extend(not_relocatable(parsed));
    }
    let context = Context::new(parsed, text, &options.launch);
    for rule in RULES.iter().filter(|rule| options.selection.is_on(rule.code)) {
        for found in (rule.check)(&context) {
            // The rule knows more of the number than legality, which only sees that it is out of range.
            if rule.restates_legality {
                findings.retain(|known| !same_place(known, &found));
            }
            findings.push(found);
        }
    }
    one_cause(parsed, &mut findings);
    findings
}

/// Rules on asynchronous work that say why threads race: the race itself is the same fault then.
const CAUSES: [&str; 10] = [
    "ASYNC001", "ASYNC002", "ASYNC004", "ASYNC005", "ASYNC006", "ASYNC007", "ASYNC008", "ASYNC009", "ASYNC019",
    "ASYNC020",
];
/// Rules on races that such a fault may show in.
const EFFECTS: [&str; 4] = ["RACE001", "RACE002", "RACE003", "RACE005"];

/// Drops races of functions that work with mbarriers or bulk copies where a fault of that work is known.
fn one_cause(parsed: &Parsed, findings: &mut Vec<Diag>) {
    let functions = parsed.spans.functions.iter().zip(&parsed.module.functions);
    let works = |body: &super::ir::Body| {
        let mut insts = body.insts.iter();
        insts.any(|inst| inst.op.effect == super::isa::Effect::Mbarrier)
    };
    let wholes: Vec<Span> = functions
        .filter(|(_, function)| function.body.as_ref().is_some_and(works))
        .map(|(spans, _)| spans.whole)
        .collect();
    for whole in wholes {
        let inside = |diag: &Diag| whole.start <= diag.span.start && diag.span.start < whole.end;
        let told = findings
            .iter()
            .any(|diag| inside(diag) && CAUSES.contains(&diag.code.id));
        if told {
            findings.retain(|diag| !(inside(diag) && EFFECTS.contains(&diag.code.id)));
        }
    }
}

/// The finding that no object can be made of a module of this version.
fn not_relocatable(parsed: &Parsed) -> Option<Diag> {
    let version: PtxVersion = parsed.module.header.version.as_ref()?.parse().ok()?;
    let span = parsed.spans.header.version.unwrap_or_default();
    let message = format!("relocatable code needs PTX {RELOCATABLE}; this module says {version}");
    (version < RELOCATABLE).then(|| Diag::error(codes::GATE002, span, message))
}

/// Whether an immediate's range was complained of within the other finding's span.
fn same_place(known: &Diag, found: &Diag) -> bool {
    known.code == super::diag::codes::ISA015 && found.span.start <= known.span.start && known.span.end <= found.span.end
}
