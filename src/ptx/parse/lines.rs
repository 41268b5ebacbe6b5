//! `.file` and `.loc`, which nothing ends: what follows their last word is the next statement.

use super::Parser;
use super::lexer::Kind;
use crate::ptx::diag::{Diag, Edit, codes};

/// File, line and column.
const PLACE: [Kind; 3] = [Kind::Number; 3];

impl Parser<'_> {
    /// `.loc 1 2 3` or `.loc 1 2 3, function_name $name+4, inlined_at 1 2 3`, the directive at hand. Returns the arguments, blanks
    /// made single; what is no location is left to the legality checks.
    pub(super) fn location(&mut self) -> Box<str> {
        self.bump();
        let start = self.token.span.start;
        let whole = self.words(&PLACE) && (!self.eat(b',') || self.inlined());
        self.arguments(start, whole)
    }

    /// `function_name $name+4, inlined_at 1 2 3`.
    fn inlined(&mut self) -> bool {
        self.keyword("function_name")
            && self.words(&[Kind::Word])
            && (!self.eat(b'+') || self.words(&[Kind::Number]))
            && self.eat(b',')
            && self.keyword("inlined_at")
            && self.words(&PLACE)
    }

    /// `.file 1 "a.cu"`, perhaps with time and size.
    pub(super) fn file(&mut self) -> Box<str> {
        let directive = self.bump().span;
        let start = self.token.span.start;
        let wanted = [
            (Kind::Number, "a file's number"),
            (Kind::Text, "a file's name in quotes"),
        ];
        for (kind, what) in wanted {
            if !self.words(&[kind]) {
                let message = format!("expected {what} in `.file`");
                self.error(codes::SYN001, directive.to(self.token.span), message);
                return self.arguments(start, false);
            }
        }
        let mut whole = true;
        while whole && self.eat(b',') {
            whole = self.words(&[Kind::Number]);
        }
        self.arguments(start, whole)
    }

    /// Passes tokens of these kinds; false at the first that is of another.
    fn words(&mut self, kinds: &[Kind]) -> bool {
        kinds.iter().all(|kind| {
            let fits = self.token.kind == *kind;
            if fits {
                self.bump();
            }
            fits
        })
    }

    fn keyword(&mut self, name: &str) -> bool {
        self.here() == name && self.words(&[Kind::Word])
    }

    /// What has been read since `start`; with the rest of the line, where that is not the whole directive.
    fn arguments(&mut self, start: u32, whole: bool) -> Box<str> {
        if !whole {
            let ends = |kind| matches!(kind, Kind::End | Kind::Punct(b';' | b'{' | b'}'));
            while !ends(self.token.kind) && !self.starts_line() {
                self.bump();
            }
        }
        let text = self.text_since(start, " ");
        let semicolon = self.token.span;
        if self.eat(b';') {
            let message = "`.file` and `.loc` end without `;`";
            let fix = vec![Edit::remove(semicolon)];
            self.report(Diag::error(codes::SYN001, semicolon, message).safe_fix(fix));
        }
        text.into()
    }
}
