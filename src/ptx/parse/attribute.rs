//! `.attribute(...)` of variables and functions.

use super::Parser;
use super::lexer::Kind;
use crate::ptx::diag::{Diag, codes};

impl Parser<'_> {
    /// The list behind `.attribute`. It is kept as text, in one spelling.
    pub(super) fn attribute(&mut self) -> Box<str> {
        let mut list = Vec::new();
        if self.expect(b'(', "behind `.attribute`") {
            loop {
                let Some(attribute) = self.one_attribute() else {
                    self.skip_list();
                    break;
                };
                list.push(attribute);
                if !self.eat(b',') {
                    self.expect(b')', "behind the attributes");
                    break;
                }
            }
        }
        format!(".attribute({})", list.join(", ")).into()
    }

    fn one_attribute(&mut self) -> Option<String> {
        let token = self.token;
        match self.here() {
            ".managed" => {
                self.bump();
                Some(".managed".to_owned())
            }
            ".unified" => {
                self.bump();
                self.expect(b'(', "and two halves of an identifier behind `.unified`")
                    .then_some(())?;
                let first = self.half()?;
                self.expect(b',', "between the halves of the identifier")
                    .then_some(())?;
                let second = self.half()?;
                self.expect(b')', "behind the identifier").then_some(())?;
                Some(format!(".unified({first}, {second})"))
            }
            other => {
                if token.kind == Kind::Dot {
                    let message = format!("`{other}` is no attribute");
                    let known = "there are `.managed` and `.unified(low, high)`";
                    self.report(Diag::error(codes::SYN005, token.span, message).help(known));
                } else {
                    self.unexpected("`.managed` or `.unified(low, high)`");
                }
                None
            }
        }
    }

    /// 64 bits of an identifier, as written.
    fn half(&mut self) -> Option<String> {
        let start = self.token.span.start;
        self.plain_integer("64 bits of an identifier")?;
        Some(self.text_since(start, ""))
    }

    /// Goes behind the parenthesis that closes the list at hand, or to the end of the statement.
    fn skip_list(&mut self) {
        let mut open = 1usize;
        while open > 0 && !matches!(self.token.kind, Kind::End | Kind::Punct(b';' | b'{' | b'}')) {
            open += usize::from(self.token.is(b'('));
            open -= usize::from(self.token.is(b')'));
            self.bump();
        }
    }
}
