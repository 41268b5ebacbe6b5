//! A text cut into what the formatter moves: tokens and comments.

use crate::ptx::parse::byte_order_mark;
use crate::ptx::parse::lexer::{Kind, Lexer};
use crate::ptx::source::Span;

/// A token or a comment.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// `None` for a comment.
    pub kind: Option<Kind>,
    pub span: Span,
    /// Line ends between it and the piece before.
    pub newlines: usize,
}

impl Piece {
    /// Whether it is that character.
    pub fn is(self, punct: u8) -> bool {
        self.kind == Some(Kind::Punct(punct))
    }
}

/// Everything that is not blank, in order. Debug data, which is kept to the letter, is one piece.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut lexer = Lexer::starting_at(text, byte_order_mark(text));
    let mut pieces: Vec<Piece> = Vec::new();
    let mut comments = 0;
    let mut in_section = false;
    loop {
        let mut token = lexer.next();
        let first = pieces.len();
        if token.kind == Kind::Punct(b'@') && text[token.span.start as usize..].starts_with("@@DWARF ") {
            let line = Span::new(token.span.start, lexer.verbatim(&['\n']).end);
            let solid = line.of(text).trim_end().len() as u32;
            token.span.end = line.start + solid;
            token.kind = Kind::Text;
        }
        let passed = lexer.comments[comments..].iter().map(|span| (None, *span));
        let found = (token.kind != Kind::End).then_some((Some(token.kind), token.span));
        for (kind, span) in passed.chain(found) {
            let end = pieces.last().map_or(0, |piece| piece.span.end);
            let blank = Span::new(end, span.start).of(text);
            let newlines = blank.bytes().filter(|byte| *byte == b'\n').count();
            pieces.push(Piece { kind, span, newlines });
        }
        comments = lexer.comments.len();
        let is_brace = token.is(b'{');
        in_section &= is_brace || pieces[first..].iter().all(|piece| piece.newlines == 0);
        if in_section && is_brace {
            let span = lexer.verbatim(&['}']);
            pieces.push(Piece {
                kind: Some(Kind::Text),
                span,
                newlines: 0,
            });
            in_section = false;
        }
        in_section |= token.kind == Kind::Dot && token.span.of(text) == ".section" && opens(&pieces);
        if found.is_none() {
            return pieces;
        }
    }
}

/// Whether the last piece may start a statement: it is not behind something on its line that goes on.
fn opens(pieces: &[Piece]) -> bool {
    let [before @ .., last] = pieces else { return true };
    last.newlines > 0 || before.last().is_none_or(|piece| piece.is(b';') || piece.is(b'}'))
}
