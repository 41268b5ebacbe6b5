//! Initialisers of textures, samplers and surfaces: `{ filter_mode = nearest, addr_mode_0 = wrap }`.

use super::Parser;
use super::body::nearest;
use super::lexer::Kind;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::InitValue;

/// What may stand on the left.
const FIELDS: &[&str] = &[
    "width",
    "height",
    "depth",
    "channel_data_type",
    "channel_order",
    "normalized_coords",
    "force_unnormalized_coords",
    "filter_mode",
    "addr_mode_0",
    "addr_mode_1",
    "addr_mode_2",
    "array_size",
    "num_mipmap_levels",
    "num_samples",
    "memory_layout",
];

/// What may stand on the right, beside a number.
const VALUES: &[&str] = &[
    "nearest",
    "linear",
    "wrap",
    "mirror",
    "clamp_ogl",
    "clamp_to_edge",
    "clamp_to_border",
];

impl Parser<'_> {
    /// The fields in braces; the brace is at hand.
    pub(super) fn opaque_fields(&mut self) -> Option<InitValue> {
        self.bump();
        let mut fields = Vec::new();
        while !self.token.is(b'}') {
            let start = self.token.span.start;
            self.word_of(FIELDS, "a field such as `filter_mode`")?;
            self.expect(b'=', "behind the field").then_some(())?;
            if self.token.kind == Kind::Number {
                self.integer("a number")?;
            } else {
                self.word_of(VALUES, "a number, or a mode such as `nearest`")?;
            }
            let text = self.text_since(start, "").replacen('=', " = ", 1);
            fields.push(InitValue::Field(text.into()));
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b'}', "behind an initialiser").then_some(())?;
        Some(InitValue::Row(fields.into_boxed_slice()))
    }

    /// Passes one of the words; any other is reported.
    fn word_of(&mut self, known: &'static [&'static str], wanted: &str) -> Option<()> {
        if self.token.kind != Kind::Word {
            self.unexpected(wanted);
            return None;
        }
        let token = self.bump();
        let word = self.slice(token.span);
        if !known.contains(&word) {
            let mut diag = Diag::error(codes::SYN001, token.span, format!("expected {wanted}, found `{word}`"));
            if let Some(near) = nearest(word, known.iter().copied()) {
                diag = diag.help(format!("did you mean `{near}`?"));
            }
            self.report(diag);
        }
        Some(())
    }
}
