//! Finding the next place from which to go on after an error.

use super::Parser;
use super::lexer::{Kind, Lexer};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::source::Span;
use rustc_hash::FxHashSet;

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
        let span = self.since(start);
        self.skipped.push(span);
        span
    }

    /// Drops the errors about names that what was skipped may have declared: their cause has been reported.
    pub(super) fn drop_consequences(&mut self) {
        self.drop_operands_of_nothing();
        if self.skipped.is_empty() {
            return;
        }
        let mut lost = FxHashSet::default();
        for span in &self.skipped {
            let mut lexer = Lexer::starting_at(self.slice(*span), 0);
            loop {
                let token = lexer.next();
                match token.kind {
                    Kind::End => break,
                    Kind::Word => {
                        lost.insert(token.span.of(self.slice(*span)));
                    }
                    _ => {}
                }
            }
        }
        let text = self.text;
        let follows = |diag: &Diag| {
            let name = diag.span.of(text);
            let bank = name.trim_end_matches(|c: char| c.is_ascii_digit());
            matches!(diag.code, codes::SYN006 | codes::SYN008) && (lost.contains(name) || lost.contains(bank))
        };
        self.out.diags.retain(|diag| !follows(diag));
    }

    /// Names in an instruction that nobody knows may be labels: its opcode is the cause.
    fn drop_operands_of_nothing(&mut self) {
        if !self.out.diags.iter().any(|diag| diag.code == codes::SYN008) {
            return;
        }
        let functions = self.out.module.functions.iter().zip(&self.out.spans.functions);
        let insts = functions.flat_map(|(function, spans)| {
            let insts = function.body.iter().flat_map(|body| &body.insts);
            insts.zip(&spans.insts)
        });
        let bad = insts.filter(|(inst, _)| inst.op.problem.is_some());
        let bad: Vec<Span> = bad.map(|(_, span)| *span).collect();
        let within = |place: Span| {
            let next = bad.partition_point(|span| span.start <= place.start);
            next > 0 && place.end <= bad[next - 1].end
        };
        self.out
            .diags
            .retain(|diag| diag.code != codes::SYN008 || !within(diag.span));
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
