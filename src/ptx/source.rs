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

/// Bytes of text that are counted together.
const BLOCK: usize = 1 << 12;

/// Where the lines of a text start, found by counting: per block of bytes, how many newlines stand before it.
///
/// Counting is many times faster than to note each line's start, and few of them are ever asked for.
#[derive(Clone, Debug)]
pub struct Lines {
    before: Vec<u32>,
    all: u32,
}

impl Lines {
    /// Counts the lines of a text, which is to be given to the other methods, too.
    pub fn of(text: &str) -> Self {
        let mut all = 0;
        let counted = text.as_bytes().chunks(BLOCK).map(|block| {
            let before = all;
            all += newlines(block);
            before
        });
        let before = counted.collect();
        Self { before, all }
    }

    /// The line (from 1) on which a byte stands; past the end, the last one.
    pub fn at(&self, text: &str, offset: u32) -> u32 {
        let offset = offset as usize;
        let block = offset / BLOCK;
        let inside = text.as_bytes().get(block * BLOCK..offset);
        match (self.before.get(block), inside) {
            (Some(before), Some(inside)) => before + newlines(inside) + 1,
            _ => self.all + 1,
        }
    }

    /// Where a line (from 1) starts; `None` past the last one.
    pub fn start(&self, text: &str, line: u32) -> Option<u32> {
        let newlines = line.checked_sub(1)?;
        if newlines == 0 {
            return Some(0);
        }
        let block = self
            .before
            .partition_point(|before| *before < newlines)
            .checked_sub(1)?;
        let nth = newlines - self.before[block] - 1;
        let rest = text.as_bytes().get(block * BLOCK..)?;
        let at = memchr::memchr_iter(b'\n', rest).nth(nth as usize)?;
        Some((block * BLOCK + at) as u32 + 1)
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', bytes).count() as u32
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
    lines: OnceCell<Lines>,
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

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }

    /// Line and column of a byte offset; an offset past the end counts as the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.lines().at(&self.text, offset);
        let before = self
            .text
            .get(self.line_start(line)..offset as usize)
            .map_or(0, |text| text.chars().count());
        Position {
            line,
            column: before as u32 + 1,
        }
    }

    /// Byte offset at which a line (from 1) starts; the text's end past the last line.
    pub fn line_start(&self, line: u32) -> usize {
        let start = self.lines().start(&self.text, line);
        start.map_or(self.text.len(), |start| start as usize)
    }

    /// The text of a line (from 1) without its line end; empty past the last line.
    pub fn line(&self, line: u32) -> &str {
        let ends = self.line_start(line)..self.line_start(line.saturating_add(1));
        self.text.get(ends).unwrap_or("").trim_end_matches(['\n', '\r'])
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
        assert_eq!(source.line(0), "");
    }

    #[test]
    fn lines_are_counted_across_blocks() {
        for width in [0, 1, 26, BLOCK - 2, BLOCK - 1, BLOCK, 3 * BLOCK] {
            let line = format!("{}\n", "x".repeat(width));
            let text = line.repeat(2 * BLOCK / line.len() + 3) + "end";
            let lines = Lines::of(&text);
            let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
            let mut count = 0;
            for (number, start) in (1..).zip(starts) {
                assert_eq!(lines.start(&text, number), Some(start), "{width}");
                assert_eq!(lines.at(&text, start), number, "{width}");
                assert_eq!(
                    start
                        .checked_sub(1)
                        .map(|end| lines.at(&text, end) + 1)
                        .unwrap_or(number),
                    number
                );
                count = number;
            }
            assert_eq!(lines.start(&text, count + 1), None);
            assert_eq!(lines.at(&text, u32::MAX), count);
        }
        assert_eq!(Lines::of("").at("", 0), 1);
        assert_eq!(Lines::of("").start("", 1), Some(0));
    }
}
