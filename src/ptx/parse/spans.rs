//! Where the parts of a module stand in its text: tables beside the IR, indexed by the IR's ids.

use crate::ptx::source::Span;

/// Spans of a module's parts.
#[derive(Debug, Default)]
pub struct Spans {
    /// The header's directives.
    pub header: HeaderSpans,
    /// Each item of the module, first word to last.
    pub items: Vec<Span>,
    /// The name of each symbol where it is declared (or first used, if it never is).
    pub symbols: Vec<Span>,
    /// Each function's parts.
    pub functions: Vec<FunctionSpans>,
}

/// Where the header's directives stand, keyword to last argument.
#[derive(Debug, Default)]
pub struct HeaderSpans {
    /// `.version`.
    pub version: Option<Span>,
    /// `.target`.
    pub target: Option<Span>,
    /// `.address_size`.
    pub address_size: Option<Span>,
}

/// Where a function's parts stand.
#[derive(Debug, Default)]
pub struct FunctionSpans {
    /// From the first directive to the closing brace or semicolon.
    pub whole: Span,
    /// The name.
    pub name: Span,
    /// The directives between parameters and body.
    pub attrs: Vec<Span>,
    /// Each statement, guard to semicolon.
    pub stmts: Vec<Span>,
    /// Each instruction, guard to the last character before its semicolon.
    pub insts: Vec<Span>,
    /// Each label where it is defined (or first used, if it never is).
    pub labels: Vec<Span>,
}

/// The parts of one instruction's text, found by reading the statement once more: only findings need them.
#[derive(Debug, Default)]
pub struct Pieces {
    /// `@!%p1`.
    pub guard: Option<Span>,
    /// The whole dotted opcode.
    pub opcode: Span,
    /// Each modifier, its dot included.
    pub mods: Vec<Span>,
    /// Each operand.
    pub operands: Vec<Span>,
}
