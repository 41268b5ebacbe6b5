//! The linter: runs legality checks and rules over a parsed module.

use super::diag::Diag;
use super::parse::Parsed;
use super::source::Span;

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

/// Runs everything: what the parser found, legality, and the rules.
pub fn lint(parsed: &Parsed, text: &str, _launch: &Launch) -> Report {
    let mut findings = parsed.diags.clone();
    findings.extend(super::verify::verify(parsed, text));
    Report {
        findings,
        kernels: Vec::new(),
    }
}
