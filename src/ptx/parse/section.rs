//! What stands in a `.section`: bytes and words of debug data. It is kept to the letter, and only looked at.

use super::Parser;
use super::lexer::{Kind, Lexer, Token};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::source::Span;

/// Directives of data.
const DATA: &[&str] = &[".b8", ".b16", ".b32", ".b64"];

/// What has been read of a line of data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing, or a label.
    Start,
    /// A name that is to be a label.
    Label,
    /// A directive or a comma: a value must come.
    Value,
    /// A value.
    Behind,
}

impl Parser<'_> {
    /// Reports the first thing that is neither data nor a label.
    pub(super) fn debug_section(&mut self, data: Span) {
        let mut lexer = Lexer::starting_at(self.text, data.start as usize);
        let mut state = State::Start;
        loop {
            let token = lexer.next();
            if token.kind == Kind::End || token.span.start >= data.end {
                return;
            }
            let word = self.slice(token.span);
            match next(state, token, word) {
                Ok(then) => state = then,
                Err(wanted) => {
                    let message = format!("expected {wanted}, found `{word}`");
                    return self.report(Diag::error(codes::SYN001, token.span, message));
                }
            }
        }
    }
}

/// The state behind a token.
fn next(state: State, token: Token, word: &str) -> Result<State, &'static str> {
    let is_data = DATA.contains(&word);
    match (state, token.kind) {
        (State::Start | State::Behind, Kind::Dot) if is_data => Ok(State::Value),
        (State::Start | State::Behind, Kind::Word) => Ok(State::Label),
        (State::Label, Kind::Punct(b':')) => Ok(State::Start),
        (State::Value, Kind::Number) if is_integer(word) => Ok(State::Behind),
        (State::Value, Kind::Word) if !word.starts_with('%') => Ok(State::Behind),
        (State::Value, Kind::Dot) if !is_data => Ok(State::Behind),
        (State::Value, Kind::Punct(b'-' | b'+' | b'(')) => Ok(State::Value),
        (State::Behind, Kind::Punct(b',' | b'+' | b'-')) => Ok(State::Value),
        (State::Behind, Kind::Punct(b')')) => Ok(State::Behind),
        (State::Label, _) => Err("`:` behind a label"),
        (State::Value, _) => Err("an integer or a label"),
        (State::Start | State::Behind, _) => Err("data such as `.b8 1, 2`"),
    }
}

fn is_integer(word: &str) -> bool {
    let is_hex = word.starts_with("0x") || word.starts_with("0X");
    let mut rest = word.trim_end_matches(['U', 'u']).bytes();
    is_hex || rest.all(|byte| byte.is_ascii_digit())
}
