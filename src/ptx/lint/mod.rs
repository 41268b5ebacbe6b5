//! The linter: runs legality checks and rules over a parsed module.

mod between;
mod bounds;
mod causes;
mod context;
mod departures;
mod explain;
mod memory;
mod named;
mod parting;
mod racing;
mod rule;
pub mod rules;
mod status;
mod trials;

pub use rule::{RULES, Rule, rule_named};

use super::diag::{Diag, codes};
use super::parse::Parsed;
use super::source::Span;
use super::target::PtxVersion;
use context::Context;

/// What is known of the launch beside what the text says; `.reqntid` in the text wins over `block`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch {
    /// Threads of a CTA in x, y, z.
    pub block: Option<[u32; 3]>,
    /// CTAs of the grid in x, y, z.
    pub grid: Option<[u32; 3]>,
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
}

impl Report {
    /// The report for a module that is to be linked (`ptxas -c`): what the linker resolves is no finding then.
    #[must_use]
    pub fn relocatable(mut self, parsed: &Parsed) -> Self {
        self.findings.retain(|diag| diag.code != codes::SYN019);
        let header = &parsed.module.header;
        let version = header.version.as_ref().and_then(|text| text.parse::<PtxVersion>().ok());
        if let Some(version) = version.filter(|version| *version < RELOCATABLE) {
            let span = parsed.spans.header.version.unwrap_or_default();
            let message = format!("relocatable code needs PTX {RELOCATABLE}; this module says {version}");
            self.findings.insert(0, Diag::error(codes::GATE002, span, message));
        }
        self
    }
}

/// The least version of which `ptxas -c` makes an object.
const RELOCATABLE: PtxVersion = PtxVersion::new(3, 1);

/// Runs everything: what the parser found, legality, and the rules.
pub fn lint(parsed: &Parsed, text: &str, launch: &Launch) -> Report {
    let mut findings = parsed.diags.clone();
    findings.extend(super::verify::verify(parsed, text));
    let context = Context::new(parsed, text, launch);
    for rule in RULES {
        for found in (rule.check)(&context) {
            // What is illegal to the letter has been said; a rule that sees the same number need not say it again.
            if !rule.restates_legality || !findings.iter().any(|known| same_place(known, &found)) {
                findings.push(found);
            }
        }
    }
    findings.sort_by(|a, b| (a.span.start, a.code.id).cmp(&(b.span.start, b.code.id)));
    Report {
        findings,
        kernels: status::kernels(parsed, text),
    }
}

/// Whether an immediate's range was complained of within the other finding's span.
fn same_place(known: &Diag, found: &Diag) -> bool {
    known.code == super::diag::codes::ISA015 && found.span.start <= known.span.start && known.span.end <= found.span.end
}
