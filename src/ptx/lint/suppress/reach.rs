//! What a suppression covers: the statement, block or function behind it, or the line it stands on.

use crate::ptx::ir::{Body, Stmt};
use crate::ptx::parse::lexer::{Kind, Lexer};
use crate::ptx::parse::{FunctionSpans, Parsed};
use crate::ptx::source::Span;

/// Directives at module scope that end with their line.
const LINES: &[&str] = &[".version", ".target", ".address_size", ".file", ".loc"];

/// Where a finding must start to be covered by the comment.
pub(super) fn of(parsed: &Parsed, text: &str, comment: Span) -> Span {
    let spans = &parsed.spans.functions;
    let at = spans.partition_point(|function| function.whole.start <= comment.start);
    let around = at
        .checked_sub(1)
        .and_then(|at| Some((spans.get(at)?, parsed.module.functions.get(at)?.body.as_ref())))
        .filter(|(function, _)| comment.end <= function.whole.end);
    if let Some(line) = line_before(text, comment) {
        let statements = around.map_or(&[][..], |(function, _)| &function.stmts);
        return line_of(text, line, comment, statements);
    }
    match (around, spans.get(at)) {
        (Some((function, body)), _) => inside(text, comment, function, body),
        (None, next) => outside(text, comment, next),
    }
}

/// Where the comment's line starts, if code stands in front of the comment on it.
fn line_before(text: &str, comment: Span) -> Option<u32> {
    let before = text.get(..comment.start as usize)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let own = before[start..].trim();
    let is_comment = own.starts_with("/*") && own.ends_with("*/");
    (!own.is_empty() && !is_comment).then_some(start as u32)
}

/// The line up to the comment, with all of a statement that began on a line before.
fn line_of(text: &str, start: u32, comment: Span, statements: &[Span]) -> Span {
    // Labels and what follows them are statements of their own, so the last one that starts before the text of the line.
    let code = start + blanks(text, start);
    let at = statements.partition_point(|span| span.start <= code);
    let over = at
        .checked_sub(1)
        .and_then(|at| statements.get(at))
        .filter(|span| span.end > code);
    Span::new(over.map_or(start, |span| span.start.min(start)), comment.start)
}

fn blanks(text: &str, start: u32) -> u32 {
    let rest = text.get(start as usize..).unwrap_or("");
    (rest.len() - rest.trim_start().len()) as u32
}

/// In a function: the next statement or block of its body; all of it in front of the body.
fn inside(text: &str, comment: Span, function: &FunctionSpans, body: Option<&Body>) -> Span {
    let first = function.stmts.partition_point(|span| span.start < comment.end);
    let next = Lexer::starting_at(text, comment.end as usize).next();
    let starts_statement = function
        .stmts
        .get(first)
        .is_some_and(|span| span.start == next.span.start);
    if next.is(b'{') && !starts_statement {
        return function.whole;
    }
    let Some(body) = body.filter(|_| !in_head(text, comment, function)) else {
        return Span::new(comment.end, end_of_line(text, next.span.end));
    };
    let end = statement(body, first)
        .and_then(|last| function.stmts.get(last))
        .map_or(comment.end, |span| span.end);
    Span::new(comment.end, end)
}

/// Whether the comment stands in front of the function's body.
fn in_head(text: &str, comment: Span, function: &FunctionSpans) -> bool {
    let mut lexer = Lexer::starting_at(text, function.whole.start as usize);
    loop {
        let token = lexer.next();
        if token.kind == Kind::End || token.span.start >= comment.start {
            return true;
        }
        if token.is(b'{') {
            return false;
        }
    }
}

/// The last statement of what starts at statement `first`: itself, or the end of the block that it opens.
fn statement(body: &Body, first: usize) -> Option<usize> {
    let rest = body.stmts.get(first..)?.iter();
    let mut rest = (first..).zip(rest);
    let passed = |stmt: &Stmt| matches!(stmt, Stmt::Label(_) | Stmt::Loc(_) | Stmt::Raw(_));
    let (at, stmt) = rest.find(|(_, stmt)| !passed(stmt))?;
    match stmt {
        Stmt::Close => None,
        Stmt::Open => {
            let mut depth = 1;
            let (end, _) = rest.find(|(_, stmt)| {
                match stmt {
                    Stmt::Open => depth += 1,
                    Stmt::Close => depth -= 1,
                    _ => {}
                }
                depth == 0
            })?;
            Some(end)
        }
        _ => Some(at),
    }
}

/// At module scope: the next function, or declaration or directive.
fn outside(text: &str, comment: Span, next: Option<&FunctionSpans>) -> Span {
    let mut lexer = Lexer::starting_at(text, comment.end as usize);
    let first = lexer.next();
    if let Some(function) = next
        && function.whole.start <= first.span.start
    {
        return Span::new(comment.end, function.whole.end);
    }
    if LINES.contains(&first.span.of(text)) {
        return Span::new(comment.end, end_of_line(text, first.span.end));
    }
    let mut last = first;
    while last.kind != Kind::End && !last.is(b';') {
        last = lexer.next();
    }
    Span::new(comment.end, last.span.end)
}

fn end_of_line(text: &str, at: u32) -> u32 {
    let rest = text.get(at as usize..).unwrap_or("");
    at + rest.find('\n').unwrap_or(rest.len()) as u32
}
