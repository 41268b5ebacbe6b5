//! Finding the next place from which to go on after an error.

use super::Parser;
use super::lexer::Kind;
use crate::ptx::source::Span;

impl<'t> Parser<'t> {
    /// Passes the rest of a statement: up to and including its `;`, or to where the next one plainly starts.
    ///
    /// A brace ends it too, and so does a directive, guard or name at the start of a line once something has been passed:
    /// then it is the `;` that was missing.
    pub(super) fn skip_statement(&mut self) -> Span {
        let start = self.token.span.start;
        let mut passed = false;
        loop {
            match self.token.kind {
                Kind::End | Kind::Punct(b'{' | b'}') => break,
                Kind::Punct(b';') => {
                    self.bump();
                    break;
                }
                Kind::Dot | Kind::Word | Kind::Punct(b'@') if passed && self.starts_line() => break,
                _ => passed = true,
            }
            self.bump();
        }
        self.since(start)
    }

    /// Passes something at module scope that nobody understands: a statement, and the braces behind it.
    pub(super) fn skip_item(&mut self) -> Span {
        let start = self.token.span.start;
        self.skip_statement();
        if self.token.is(b'{') {
            self.skip_braces();
        }
        if self.token.is(b'}') {
            self.bump();
        }
        self.since(start)
    }

    /// Passes `{ ... }` with everything nested in it.
    pub(super) fn skip_braces(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.token.kind {
                Kind::End => return,
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }
}
