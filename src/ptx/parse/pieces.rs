//! The parts of one instruction's text. Only findings need them, so they are found anew instead of being kept.

use super::lexer::{Kind, Lexer, Token};
use super::spans::Pieces;
use crate::ptx::source::Span;

/// Where guard, opcode, modifiers and operands of the instruction at `span` stand.
pub fn pieces(text: &str, span: Span) -> Pieces {
    let mut lexer = Lexer::starting_at(text, span.start as usize);
    let mut tokens = std::iter::from_fn(|| {
        let token = lexer.next();
        (token.kind != Kind::End && token.span.start < span.end).then_some(token)
    })
    .peekable();
    let mut pieces = Pieces::default();
    if let Some(at) = tokens.next_if(|token| token.is(b'@')) {
        let mut guard = at.span;
        if let Some(not) = tokens.next_if(|token| token.is(b'!')) {
            guard = guard.to(not.span);
        }
        if let Some(register) = tokens.next() {
            guard = guard.to(register.span);
        }
        pieces.guard = Some(guard);
    }
    pieces.opcode = tokens.next().map_or(span, |token| token.span);
    while let Some(modifier) = tokens.next_if(|token| token.kind == Kind::Dot) {
        pieces.opcode = pieces.opcode.to(modifier.span);
        pieces.mods.push(modifier.span);
    }
    pieces.operands = operands(tokens);
    pieces
}

/// Splits at the commas outside of all brackets.
fn operands(tokens: impl Iterator<Item = Token>) -> Vec<Span> {
    let mut found = Vec::new();
    let mut current: Option<Span> = None;
    let mut depth = 0usize;
    for token in tokens {
        match token.kind {
            Kind::Punct(b'[' | b'{' | b'(') => depth += 1,
            Kind::Punct(b']' | b'}' | b')') => depth = depth.saturating_sub(1),
            Kind::Punct(b',') if depth == 0 => {
                found.extend(current.take());
                continue;
            }
            Kind::Punct(b';') => break,
            _ => {}
        }
        current = Some(current.map_or(token.span, |span| span.to(token.span)));
    }
    found.extend(current);
    found
}
