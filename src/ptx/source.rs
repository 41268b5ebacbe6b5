//! Source text and positions in it.

use std::cell::OnceCell;
use std::fmt;

/// A half-open range of byte offsets into one source text.
///
/// Offsets are 32 bits wide: [`Source::new`] refuses texts of 4 GiB and more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The text the span covers; empty where it does not lie in `text` on character boundaries.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// A position as people count it: both numbers start at 1, columns count Unicode characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Byte offsets at which the lines of a text start.
pub fn line_starts(text: &str) -> Vec<u32> {
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1);
    std::iter::once(0).chain(newlines).collect()
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One text with the name it is reported under.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    lines: OnceCell<Vec<u32>>,
}

impl Source {
    /// Wraps `text`; `name` is what findings show as the file (`<stdin>` for standard input).
    ///
    /// # Errors
    /// Returns the text's size where 32-bit offsets cannot address it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Result<Self, usize> {
        let text = text.into();
        if u32::try_from(text.len()).is_err() {
            return Err(text.len());
        }
        Ok(Self {
            name: name.into(),
            text,
            lines: OnceCell::new(),
        })
    }

    /// The name findings show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Byte offsets at which the lines start; found once, on first use.
    pub fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| line_starts(&self.text))
    }

    /// Line and column of a byte offset; an offset past the end counts as the end.
    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let offset = offset.min(self.text.len() as u32);
        let line = starts.partition_point(|start| *start <= offset).max(1);
        let before = self
            .text
            .get(starts[line - 1] as usize..offset as usize)
            .map_or(0, |text| text.chars().count());
        Position {
            line: line as u32,
            column: before as u32 + 1,
        }
    }

    /// The text of a line (from 1) without its line end; empty past the last line.
    pub fn line(&self, line: u32) -> &str {
        let starts = self.line_starts();
        let Some(start) = (line as usize).checked_sub(1).and_then(|index| starts.get(index)) else {
            return "";
        };
        let end = starts.get(line as usize).map_or(self.text.len(), |next| *next as usize);
        self.text
            .get(*start as usize..end)
            .unwrap_or("")
            .trim_end_matches(['\n', '\r'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_one_and_by_characters() {
        let source = Source::new("t", "ab\nü%x\r\n\nz").unwrap();
        let at = |offset| source.position(offset).to_string();
        assert_eq!(at(0), "1:1");
        assert_eq!(at(2), "1:3");
        assert_eq!(at(3), "2:1");
        assert_eq!(at(5), "2:2");
        assert_eq!(at(9), "3:1");
        assert_eq!(at(99), "4:2");
        assert_eq!(source.line(2), "ü%x");
        assert_eq!(source.line(9), "");
    }
}
