//! PTX text to IR. Parsing never fails: it gives a module and what was wrong with the text.
//!
//! One pass, one token of look-ahead. Names are resolved on the way: registers, variables and functions are declared before
//! they are used; labels may come later and are filled in when their scope ends (see `labels`). After an error the parser goes
//! on at the next statement, or at the next function.

mod attribute;
mod body;
mod decl;
mod expr;
mod fragment;
mod function;
mod header;
mod labels;
pub(in crate::ptx) mod lexer;
mod lines;
mod names;
mod opaque;
mod operand;
mod pieces;
mod plain;
mod recover;
mod section;
mod spans;

pub(in crate::ptx) use body::nearest;
pub(super) use function::OPENERS;
pub use pieces::pieces;
pub use spans::{FunctionSpans, HeaderSpans, Pieces, Spans};

use super::diag::{Code, Diag, codes};
use super::ir::{FuncId, Header, Module, Opcode};
use super::source::Span;
use lexer::{Kind, Lexer, Token, Unterminated};
use names::Names;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a text says, and where it says it.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The module.
    pub module: Module,
    /// Where its parts stand in the text.
    pub spans: Spans,
    /// Comments, in textual order.
    pub comments: Vec<Span>,
    /// What the grammar and the names made of it, in the order in which it was found.
    pub diags: Vec<Diag>,
}

/// More errors than this are not told one by one: a text with that many is no PTX.
const MOST_ERRORS: usize = 200;

/// How deep braces, brackets and expressions may nest in one statement.
const DEEPEST: u32 = 100;

/// Parses a whole text.
pub fn parse(text: &str) -> Parsed {
    parse_seeing(text, |_, _| {})
}

/// Parses a whole text, and calls `see` with each function when all of it has been read: it may take the body away, for which
/// the parser has no more use.
pub fn parse_seeing(text: &str, see: impl FnMut(&mut Parsed, FuncId)) -> Parsed {
    let mut parser = Parser::new(text);
    parser.module(see);
    parser.finish()
}

/// Parses a text that may be a part of a module: what its header lacks is taken from `header`, and instructions outside
/// of any function are read as a kernel called `fragment`, in which registers of the usual names (`%r1`, `%rd2`, `%p3`)
/// need no declaration.
pub fn parse_fragment(text: &str, header: &Header) -> Parsed {
    let mut parser = Parser::new(text);
    parser.missing = Some(header.clone());
    parser.module(|_, _| {});
    parser.finish()
}

/// Whether a function of that name comes with OptiX: its compiler knows it, so nothing declares it.
pub fn is_optix_function(name: &str) -> bool {
    name.starts_with("_optix_") || name.starts_with("_rt_")
}

/// The integer that a token stands for, in whatever base.
pub(in crate::ptx) fn number(token: &str) -> Option<i64> {
    let digit = token.starts_with(|c: char| c.is_ascii_digit());
    expr::number(token).ok().filter(|_| digit)?.as_int()
}

/// Where the tokens and comments of a text stand, in order. Between them are blanks.
pub fn tokens(text: &str) -> Vec<Span> {
    let mut lexer = Lexer::starting_at(text, byte_order_mark(text));
    let mut spans = Vec::new();
    loop {
        let comments = lexer.comments.len();
        let token = lexer.next();
        spans.extend_from_slice(&lexer.comments[comments..]);
        if token.kind == Kind::End {
            return spans;
        }
        spans.push(token.span);
    }
}

/// Length of the byte order mark in front of a text.
pub(in crate::ptx) fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { 3 } else { 0 }
}

/// The state of a parse.
struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The token to look at.
    token: Token,
    /// Where the token before it ended.
    end: u32,
    names: Names<'t>,
    /// Opcodes met so far: each spelling is resolved once.
    opcodes: FxHashMap<&'t str, Arc<Opcode>>,
    /// Statements that the next body gets room for: about as many as those before it had.
    room: usize,
    /// Nesting inside the statement at hand.
    depth: u32,
    /// Errors beyond [`MOST_ERRORS`].
    untold: usize,
    /// What stands for a header that is not there; a whole module brings its own.
    missing: Option<Header>,
    /// Whether a directive of the header could not be read, which has been reported.
    is_header_broken: bool,
    /// What was passed without being understood.
    skipped: Vec<Span>,
    out: Parsed,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let mut lexer = Lexer::starting_at(text, byte_order_mark(text));
        let token = lexer.next();
        Self {
            text,
            lexer,
            token,
            end: 0,
            names: Names::default(),
            opcodes: FxHashMap::default(),
            room: 0,
            depth: 0,
            untold: 0,
            missing: None,
            is_header_broken: false,
            skipped: Vec::new(),
            out: Parsed::default(),
        }
    }

    fn finish(mut self) -> Parsed {
        self.drop_consequences();
        for unterminated in std::mem::take(&mut self.lexer.unterminated) {
            let (span, opening, message, help) = match unterminated {
                Unterminated::Comment(span) => (span, 2, "this comment never ends", "close it with `*/`"),
                Unterminated::Text(span) => (span, 1, "this string does not end on its line", "close it with `\"`"),
            };
            let opening = Span::new(span.start, span.start + opening);
            self.out
                .diags
                .push(Diag::error(codes::SYN002, opening, message).help(help));
        }
        if self.untold > 0 {
            let message = format!("{} more errors are not shown", self.untold);
            self.out
                .diags
                .push(Diag::error(codes::SYN001, self.token.span, message));
        }
        self.out.comments = std::mem::take(&mut self.lexer.comments);
        self.out
    }

    /// Passes the token and returns it.
    fn bump(&mut self) -> Token {
        let token = self.token;
        self.end = token.span.end;
        self.token = self.lexer.next();
        token
    }

    /// Passes the token if it is that character.
    fn eat(&mut self, punct: u8) -> bool {
        let found = self.token.is(punct);
        if found {
            self.bump();
        }
        found
    }

    /// Passes that character, or reports what stands in its place.
    fn expect(&mut self, punct: u8, context: &str) -> bool {
        let found = self.eat(punct);
        if !found {
            self.unexpected(&format!("`{}` {context}", char::from(punct)));
        }
        found
    }

    /// The text of a span, with the lifetime of the whole text.
    fn slice(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    /// The text of the token at hand.
    fn here(&self) -> &'t str {
        self.slice(self.token.span)
    }

    /// From `start` to the end of the last token passed.
    fn since(&self, start: u32) -> Span {
        Span::new(start, self.end.max(start))
    }

    /// The tokens passed since `start`, without the comments among them; every run of blanks is made `between`.
    fn text_since(&self, start: u32, between: &str) -> String {
        let mut lexer = Lexer::starting_at(self.text, start as usize);
        let mut text = String::new();
        let mut end = start;
        loop {
            let token = lexer.next();
            if token.kind == Kind::End || token.span.start >= self.end {
                return text;
            }
            if token.span.start > end {
                text.push_str(between);
            }
            text.push_str(self.slice(token.span));
            end = token.span.end;
        }
    }

    /// Whether the token at hand starts a line.
    fn starts_line(&self) -> bool {
        let between = self.text.get(self.end as usize..self.token.span.start as usize);
        between.is_none_or(|blank| blank.contains('\n'))
    }

    fn report(&mut self, diag: Diag) {
        // What comes of one token that nobody expected is one error.
        let syntax = |diag: &Diag| diag.code == codes::SYN001;
        let last = self.out.diags.last();
        if syntax(&diag) && last.is_some_and(|last| syntax(last) && last.span.start == diag.span.start) {
            return;
        }
        if self.out.diags.len() < MOST_ERRORS {
            self.out.diags.push(diag);
        } else {
            self.untold += 1;
        }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diag::error(code, span, message));
    }

    /// Reports the token at hand as one that should not be there.
    fn unexpected(&mut self, wanted: &str) {
        let found = match self.token.kind {
            Kind::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.here()),
        };
        self.error(
            codes::SYN001,
            self.token.span,
            format!("expected {wanted}, found {found}"),
        );
    }

    /// Runs `inner` one level deeper; too deep is an error and `None`.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEEPEST {
            let message = format!("nested more than {DEEPEST} deep");
            self.error(codes::SYN001, self.token.span, message);
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }
}

#[cfg(test)]
mod tests;
