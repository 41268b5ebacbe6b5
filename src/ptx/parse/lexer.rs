//! Text to tokens. Never fails: what fits nothing becomes [`Kind::Unknown`].

use super::names::Member;
use crate::ptx::source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum Kind {
    /// A name: letters, digits, `_`, `$`, with a leading `%` where there is one.
    Word,
    /// A dot with the word behind it: `.global`, `.shared::cta`, `.2d`.
    Dot,
    /// Anything that starts like a number; whether it is a good one is decided where its value is needed.
    Number,
    /// `"..."`, quotes included.
    Text,
    /// One character of punctuation, or an operator of two (`<<`, `==`, `&&`) by its first.
    Punct(u8),
    /// A character that PTX has no use for.
    Unknown,
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) struct Token {
    pub kind: Kind,
    pub span: Span,
}

impl Token {
    pub fn is(self, punct: u8) -> bool {
        self.kind == Kind::Punct(punct) && self.span.end - self.span.start == 1
    }
}

/// Something that starts and never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum Unterminated {
    Comment(Span),
    Text(Span),
}

/// A position in a text.
#[derive(Clone, Debug)]
pub(in crate::ptx) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The newest [`Kind::Word`] as a member of a bank of registers.
    pub(in crate::ptx::parse) member: Member,
    /// Comments met so far.
    pub comments: Vec<Span>,
    /// What never ended.
    pub unterminated: Vec<Unterminated>,
}

/// What names are made of.
pub(super) const WORD: u8 = 1;
/// Blanks.
pub(super) const SPACE: u8 = 2;
const DIGIT: u8 = 4;
/// Punctuation that is a token of its own, whatever follows.
const LONE: u8 = 8;
/// What a register's name starts with; an operator elsewhere.
const PERCENT: u8 = 16;

/// What each byte may be part of.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'0'..=b'9' => WORD | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => WORD,
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            b',' | b';' | b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'@' | b'+' | b'-' => LONE,
            b'%' => PERCENT,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// The end of the bytes of a class that start at `at`.
#[inline]
pub(super) fn past(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while at < bytes.len() && is(bytes[at], class) {
        at += 1;
    }
    at
}

/// The first blank from `at` on, eight bytes at a time.
pub(super) fn to_blank(bytes: &[u8], mut at: usize) -> usize {
    const EACH: u64 = u64::MAX / 255;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*eight);
        // The lowest bit set is that of the first byte up to 0x20; see "Bit Twiddling Hacks", "hasless".
        let blank = word.wrapping_sub(EACH * 0x21) & !word & (EACH * 0x80);
        if blank != 0 {
            return at + blank.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| *byte <= b' ').unwrap_or(rest.len())
}

/// The end of the name with `%` in front at `start`, and what member of a bank it is: nearly always, it is one.
#[inline(always)]
pub(super) fn register(bytes: &[u8], start: usize) -> (usize, Member) {
    let name = bytes.get(start + 1..).unwrap_or_default();
    let mut key = u64::from(b'%');
    let mut prefix = 0;
    while prefix < name.len() && CLASS[name[prefix] as usize] == WORD {
        key = key << 8 | u64::from(name[prefix]);
        prefix += 1;
    }
    let mut number = 0u32;
    let mut end = prefix;
    while end < name.len() && name[end].is_ascii_digit() {
        number = number.wrapping_mul(10).wrapping_add(u32::from(name[end] - b'0'));
        end += 1;
    }
    let digits = end - prefix;
    let ends = name.get(end).is_none_or(|byte| !is(*byte, WORD));
    let usual = ends && prefix < 8 && (1..=9).contains(&digits) && (digits == 1 || name[prefix] != b'0');
    if usual {
        (start + 1 + end, Member { key, number })
    } else {
        (past(bytes, start + 1 + end, WORD), Member::NONE)
    }
}

impl<'t> Lexer<'t> {
    /// A lexer that starts at a byte offset.
    pub fn starting_at(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            member: Member::NONE,
            comments: Vec::new(),
            unterminated: Vec::new(),
        }
    }

    /// Goes on at a byte offset further on, between tokens.
    pub fn go_on_at(&mut self, at: usize) {
        self.at = at;
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Whether the next thing, blanks apart, is `:` and not `::`.
    pub fn before_colon(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest.iter().take_while(|byte| is(**byte, SPACE)).count();
        rest.get(blanks) == Some(&b':') && rest.get(blanks + 1) != Some(&b':')
    }

    /// Whether the next byte ends an operand.
    pub fn before_end_of_operand(&self) -> bool {
        matches!(self.byte(0), b';' | b',' | b']' | b'}')
    }

    /// Whether the next thing, blanks apart, is a digit or a parenthesis.
    pub fn before_number(&self) -> bool {
        let rest = self.text.as_bytes()[self.at..].iter();
        let next = rest.copied().find(|byte| !is(*byte, SPACE));
        next.is_some_and(|byte| is(byte, DIGIT) || byte == b'(')
    }

    /// The name that comes next, blanks apart; nothing where something else does.
    pub fn next_name(&self) -> &'t str {
        let bytes = self.text.as_bytes();
        let start = past(bytes, self.at, SPACE);
        let first = bytes.get(start).copied().unwrap_or(0);
        if is(first, DIGIT) {
            return "";
        }
        let end = past(bytes, start + usize::from(first == b'%'), WORD);
        &self.text[start..end]
    }

    /// The next token.
    pub fn next(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let mut at = past(bytes, self.at, SPACE);
        if bytes.get(at) == Some(&b'/') {
            at = self.skip_blanks();
        }
        let start = at;
        let first = bytes.get(at).copied().unwrap_or(0);
        // By far the most tokens are names and commas.
        let kind = match CLASS[first as usize] {
            LONE => {
                at += 1;
                Kind::Punct(first)
            }
            WORD => {
                at = past(bytes, at + 1, WORD);
                self.member = Member::NONE;
                Kind::Word
            }
            PERCENT if bytes.get(at + 1).is_some_and(|byte| is(*byte, WORD)) => {
                (at, self.member) = register(bytes, at);
                Kind::Word
            }
            _ => {
                self.at = at;
                let kind = self.other(first);
                at = self.at;
                kind
            }
        };
        self.at = at;
        Token {
            kind,
            span: Span::new(start as u32, at as u32),
        }
    }

    #[inline(never)]
    fn other(&mut self, first: u8) -> Kind {
        match first {
            0 if self.at >= self.text.len() => Kind::End,
            b'.' if is(self.byte(1), WORD) => self.dot(),
            byte if is(byte, DIGIT) => self.number(),
            b'"' => self.string(),
            byte @ (b'<' | b'>' | b'&' | b'|' | b'=') if self.byte(1) == byte => self.punct(byte, 2),
            byte @ (b'<' | b'>' | b'!') if self.byte(1) == b'=' => self.punct(byte, 2),
            byte if byte.is_ascii_punctuation() => self.punct(byte, 1),
            _ => self.unknown(),
        }
    }

    /// Passes bytes of a class; at the end of the text there are none.
    fn pass(&mut self, class: u8) {
        self.at = past(self.text.as_bytes(), self.at, class);
    }

    /// Passes blanks and comments; returns where they end.
    #[inline(never)]
    fn skip_blanks(&mut self) -> usize {
        loop {
            self.pass(SPACE);
            match (self.byte(0), self.byte(1)) {
                (b'/', b'/') => self.comment(|rest| rest.iter().position(|byte| *byte == b'\n')),
                (b'/', b'*') => self.comment(|rest| {
                    let end = rest[2..].windows(2).position(|pair| pair == b"*/")?;
                    Some(end + 4)
                }),
                _ => return self.at,
            }
        }
    }

    /// Passes a comment whose length `end` finds in the rest of the text.
    fn comment(&mut self, end: impl Fn(&[u8]) -> Option<usize>) {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let found = end(rest);
        self.at = start + found.unwrap_or(rest.len());
        let trimmed = self.text[start..self.at].trim_end().len();
        let span = Span::new(start as u32, (start + trimmed) as u32);
        if found.is_none() && rest.starts_with(b"/*") {
            self.unterminated.push(Unterminated::Comment(span));
        }
        self.comments.push(span);
    }

    /// The first character has been looked at.
    fn word(&mut self) -> Kind {
        self.at += 1;
        self.pass(WORD);
        Kind::Word
    }

    /// Passes the dotted parts that stand right behind the word passed last: `.global.v2.f32` of `ld.global.v2.f32`.
    /// Returns where they end.
    pub fn pass_dotted(&mut self) -> u32 {
        while self.byte(0) == b'.' && is(self.byte(1), WORD) {
            self.dot();
        }
        self.at as u32
    }

    /// `.word` and `.word::word`.
    fn dot(&mut self) -> Kind {
        self.word();
        while self.byte(0) == b':' && self.byte(1) == b':' && is(self.byte(2), WORD) {
            self.at += 1;
            self.word();
        }
        Kind::Dot
    }

    /// Letters belong to a number (`0xFF`, `0f3F800000`, `7U`); a dot does before a digit or at the number's end;
    /// a sign does behind the exponent's `e` of a decimal.
    fn number(&mut self) -> Kind {
        let radix = self.byte(0) == b'0' && self.byte(1).is_ascii_alphabetic();
        loop {
            self.pass(WORD);
            // There is a byte before: a number starts with a digit.
            let before = self.text.as_bytes()[self.at - 1];
            let digit = is(self.byte(1), DIGIT);
            let part = match self.byte(0) {
                b'.' => digit || !is(self.byte(1), WORD),
                b'+' | b'-' => matches!(before, b'e' | b'E') && digit,
                _ => false,
            };
            if !part || radix {
                return Kind::Number;
            }
            self.at += 1;
        }
    }

    fn string(&mut self) -> Kind {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        while self.at < self.text.len() {
            let byte = self.byte(0);
            self.at += 1;
            match byte {
                b'"' if !escaped => return Kind::Text,
                b'\n' => break,
                _ => escaped = byte == b'\\' && !escaped,
            }
        }
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.unterminated
            .push(Unterminated::Text(Span::new(start as u32, self.at as u32)));
        Kind::Text
    }

    fn punct(&mut self, byte: u8, len: usize) -> Kind {
        self.at += len;
        Kind::Punct(byte)
    }

    fn unknown(&mut self) -> Kind {
        self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        Kind::Unknown
    }

    /// Passes everything up to the first of `stops`; for bodies that are kept to the letter. Returns what was passed.
    pub fn verbatim(&mut self, stops: &[char]) -> Span {
        let start = self.at;
        let rest = &self.text[start..];
        self.at = start + rest.find(stops).unwrap_or(rest.len());
        Span::new(start as u32, self.at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::starting_at(text, 0);
        std::iter::from_fn(|| {
            let token = lexer.next();
            (token.kind != Kind::End).then(|| (token.kind, token.span.of(text)))
        })
        .collect()
    }

    #[test]
    fn words_dots_and_numbers() {
        use Kind::{Dot, Number, Punct, Word};
        assert_eq!(
            kinds("ld.shared::cta.v4 %r1,0x1F;"),
            [
                (Word, "ld"),
                (Dot, ".shared::cta"),
                (Dot, ".v4"),
                (Word, "%r1"),
                (Punct(b','), ","),
                (Number, "0x1F"),
                (Punct(b';'), ";")
            ]
        );
        assert_eq!(
            kinds("1.5e-3 7U 0f3F800000"),
            [(Number, "1.5e-3"), (Number, "7U"), (Number, "0f3F800000")]
        );
        assert_eq!(kinds("8.0\n.target"), [(Number, "8.0"), (Dot, ".target")]);
        assert_eq!(kinds("1<<2"), [(Number, "1"), (Punct(b'<'), "<<"), (Number, "2")]);
    }

    #[test]
    fn comments_are_kept_apart_and_strange_characters_survive() {
        let mut lexer = Lexer::starting_at("// a\r\n/* b\n */ é \"x", 0);
        assert_eq!(lexer.next().kind, Kind::Unknown);
        assert_eq!(lexer.next().kind, Kind::Text);
        assert_eq!(lexer.next().kind, Kind::End);
        assert_eq!(lexer.comments.len(), 2);
        assert_eq!(lexer.unterminated.len(), 1);
        let mut open = Lexer::starting_at("/* never", 0);
        assert_eq!(open.next().kind, Kind::End);
        assert!(matches!(open.unterminated[..], [Unterminated::Comment(_)]));
    }
}
