//! Where statements come from: the lines of the source text that `.loc` and `.file` name.

use crate::ptx::ir::{Item, Module, Stmt};
use crate::ptx::parse::Parsed;
use crate::ptx::source::Span;
use rustc_hash::FxHashMap;
use std::fmt;

/// Calls that were inlined into each other deeper than this are cut off.
const DEEPEST: usize = 16;

/// A place in the text that a compiler read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as `.file` names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where the compiler did not say.
    pub column: u32,
}

impl Place {
    /// Whether the file lies in a folder of headers or of installed packages.
    fn is_header(&self) -> bool {
        let mut folders = self.file.split(['/', '\\']).rev().skip(1);
        folders.any(|folder| matches!(folder, "include" | "site-packages" | "dist-packages"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

/// Where a statement comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The place.
    pub place: Place,
    /// The inlined function it belongs to, where the text names one.
    pub function: Option<String>,
    /// The calls that were inlined to bring it here, innermost first.
    pub inlined_at: Vec<Place>,
}

impl Origin {
    /// The places from the innermost to the outermost.
    fn frames(&self) -> impl DoubleEndedIterator<Item = &Place> {
        std::iter::once(&self.place).chain(&self.inlined_at)
    }

    /// The place that is most likely the reader's own text: the innermost one that is not in a toolkit's headers.
    pub fn own(&self) -> &Place {
        let own = self.frames().find(|place| !place.is_header());
        own.or(self.inlined_at.last()).unwrap_or(&self.place)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.own();
        write!(f, "{own}")?;
        let is_own = std::ptr::eq(own, &self.place);
        if !is_own {
            write!(f, ", by way of {}", self.place)?;
        }
        if let Some(function) = &self.function {
            write!(f, " in `{function}`")?;
        }
        for at in self.frames().skip_while(|place| !std::ptr::eq(*place, own)).skip(1) {
            write!(f, ", inlined at {at}")?;
        }
        Ok(())
    }
}

/// The line information of a module.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    files: FxHashMap<u32, String>,
    /// Where each function with line information ends, and its marks by where they stand.
    functions: Vec<(Span, Vec<Mark>)>,
    names: Vec<(String, String)>,
}

/// A `.loc` that names a line.
#[derive(Clone, Debug)]
struct Mark {
    at: u32,
    place: Numbers,
    function: Option<String>,
    inlined: Option<Numbers>,
}

/// File, line and column.
type Numbers = (u32, u32, u32);

impl Origins {
    /// Reads the line information of a module; nothing where it has none.
    pub fn new(parsed: &Parsed) -> Self {
        let mut origins = Self::default();
        for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
            let Some(body) = &function.body else { continue };
            let marks: Vec<Mark> = body
                .stmts
                .iter()
                .zip(&spans.stmts)
                .filter_map(|(stmt, span)| match stmt {
                    Stmt::Loc(text) => mark(span.start, text),
                    _ => None,
                })
                .collect();
            if !marks.is_empty() {
                origins.functions.push((spans.whole, marks));
            }
        }
        if !origins.functions.is_empty() {
            origins.files = files(&parsed.module);
            origins.names = names(&parsed.module);
        }
        origins
    }

    /// Whether the module has none.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Where the statement at that place of the text comes from.
    pub fn of(&self, span: Span) -> Option<Origin> {
        let next = self.functions.partition_point(|(whole, _)| whole.start <= span.start);
        let (whole, marks) = self.functions.get(next.checked_sub(1)?)?;
        if span.start >= whole.end {
            return None;
        }
        let at = marks.partition_point(|mark| mark.at <= span.start).checked_sub(1)?;
        let mark = marks.get(at)?;
        Some(Origin {
            place: self.place(mark.place)?,
            function: mark.function.as_deref().and_then(|label| self.name(label)),
            inlined_at: self.calls(marks.get(..at)?, mark.inlined),
        })
    }

    /// The calls outwards from one: the place of a call is that of an earlier `.loc`, which tells of its own call.
    fn calls(&self, before: &[Mark], first: Option<Numbers>) -> Vec<Place> {
        let mut calls = Vec::new();
        let mut next = first;
        let mut before = before;
        while let Some(at) = next.filter(|_| calls.len() < DEEPEST) {
            calls.extend(self.place(at));
            let Some(outer) = before.iter().rposition(|mark| mark.place == at) else {
                break;
            };
            next = before[outer].inlined;
            before = &before[..outer];
        }
        calls
    }

    fn place(&self, (file, line, column): Numbers) -> Option<Place> {
        Some(Place {
            file: self.files.get(&file)?.clone(),
            line,
            column,
        })
    }

    fn name(&self, label: &str) -> Option<String> {
        let (_, name) = self.names.iter().find(|(known, _)| known == label)?;
        Some(name.clone())
    }
}

/// Reads `1 6 41, function_name $L__info_string4, inlined_at 1 7 2`; line 0 stands for no line.
fn mark(at: u32, text: &str) -> Option<Mark> {
    let mut parts = text.split(',').map(str::trim);
    let place = numbers(parts.next()?)?;
    let mut mark = Mark {
        at,
        place,
        function: None,
        inlined: None,
    };
    for part in parts {
        if let Some(label) = part.strip_prefix("function_name") {
            mark.function = label.split_whitespace().next().map(str::to_owned);
        } else if let Some(call) = part.strip_prefix("inlined_at") {
            mark.inlined = numbers(call);
        }
    }
    (place.1 > 0).then_some(mark)
}

fn numbers(text: &str) -> Option<Numbers> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u32>().ok());
    Some((
        numbers.next()??,
        numbers.next()??,
        numbers.next().flatten().unwrap_or(0),
    ))
}

/// The files by their numbers.
fn files(module: &Module) -> FxHashMap<u32, String> {
    let texts = module.items.iter().filter_map(|item| match item {
        Item::File(text) => Some(&**text),
        _ => None,
    });
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let inner = bodies.flat_map(|body| &body.stmts).filter_map(|stmt| match stmt {
        Stmt::Raw(text) => text.strip_prefix(".file "),
        _ => None,
    });
    texts
        .chain(inner)
        .filter_map(|text| {
            let (number, rest) = text.trim().split_once(char::is_whitespace)?;
            let name = rest.trim().strip_prefix('"')?.split('"').next()?;
            Some((number.parse().ok()?, name.replace("\\\\", "\\")))
        })
        .collect()
}

/// The strings of the debug sections, by label.
fn names(module: &Module) -> Vec<(String, String)> {
    let sections = module.items.iter().filter_map(|item| match item {
        Item::Section(text) => Some(&**text),
        _ => None,
    });
    let mut names: Vec<(String, Vec<u8>)> = Vec::new();
    for line in sections.flat_map(str::lines).map(str::trim) {
        if let Some((label, _)) = line.split_once(':') {
            names.push((label.to_owned(), Vec::new()));
        }
        let bytes = line.split_once(".b8").map_or("", |(_, bytes)| bytes);
        if let Some((_, name)) = names.last_mut() {
            name.extend(bytes.split(',').filter_map(|byte| byte.trim().parse::<u8>().ok()));
        }
    }
    names
        .into_iter()
        .filter_map(|(label, bytes)| {
            let name = bytes.split(|byte| *byte == 0).next().filter(|name| !name.is_empty())?;
            Some((label, readable(&String::from_utf8_lossy(name))))
        })
        .collect()
}

/// The C++ name without its encoding, where it is a plain one: `_ZN2ns3fooEv` is `ns::foo`.
fn readable(name: &str) -> String {
    plain(name).unwrap_or_else(|| name.to_owned())
}

fn plain(name: &str) -> Option<String> {
    let rest = name.strip_prefix("_Z")?;
    let (mut rest, nested) = match rest.strip_prefix('N') {
        Some(rest) => (rest.trim_start_matches(['K', 'V', 'r']), true),
        None => (rest.strip_prefix('L').unwrap_or(rest), false),
    };
    let mut parts: Vec<&str> = Vec::new();
    while rest.starts_with(|first: char| first.is_ascii_digit()) {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let end = digits.checked_add(rest.get(..digits)?.parse().ok()?)?;
        parts.push(rest.get(digits..end)?);
        rest = rest.get(end..)?;
        if !nested {
            break;
        }
    }
    // Names of their own for what is local to a file.
    parts.retain(|part| !part.starts_with("_INTERNAL") && !part.starts_with("_GLOBAL__N"));
    (!parts.is_empty()).then(|| parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse::parse;

    const TEXT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\
        .reg .b32 %r<4>;\n.loc 1 3 7\nmov.u32 %r1, %tid.x;\n.loc 1 0 9\nmov.u32 %r2, 1;\n\
        .loc 2 9 5, function_name $L__s0, inlined_at 1 4 2\nadd.u32 %r2, %r2, %r1;\n\
        .loc 2 20 1, function_name $L__s1, inlined_at 2 9 5\nadd.u32 %r3, %r2, %r1;\nret;\n}\n\
        .file 1 \"dir/a.cu\"\n.file 2 \"C:\\\\b.h\", 1, 2\n\
        .section .debug_str\n{\n$L__s0:\n.b8 95,90,51,102,111,111,118\n.b8 0\n$L__s1:\n.b8 109,0\n}\n";

    fn of(part: &str) -> Option<String> {
        let parsed = parse(TEXT);
        assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
        let at = TEXT.find(part).unwrap() as u32;
        let origin = Origins::new(&parsed).of(Span::new(at, at + 1));
        origin.map(|origin| origin.to_string())
    }

    #[test]
    fn a_statement_comes_from_the_line_before_it() {
        assert_eq!(of("mov.u32 %r1").as_deref(), Some("dir/a.cu:3:7"));
    }

    #[test]
    fn line_zero_is_no_line() {
        assert_eq!(of("mov.u32 %r2").as_deref(), Some("dir/a.cu:3:7"));
    }

    #[test]
    fn calls_are_followed_outwards() {
        assert_eq!(
            of("add.u32 %r2").as_deref(),
            Some("C:\\b.h:9:5 in `foo`, inlined at dir/a.cu:4:2")
        );
        assert_eq!(
            of("add.u32 %r3").as_deref(),
            Some("C:\\b.h:20:1 in `m`, inlined at C:\\b.h:9:5, inlined at dir/a.cu:4:2")
        );
    }

    #[test]
    fn headers_of_a_toolkit_are_not_the_readers_own_text() {
        let place = |file: &str, line| Place {
            file: file.to_owned(),
            line,
            column: 0,
        };
        let origin = |inlined_at| Origin {
            place: place("/cuda/bin/../include/crt/a.hpp", 9),
            function: Some("f".to_owned()),
            inlined_at,
        };
        let through = origin(vec![place("/cuda/include/b.h", 2), place("k.cu", 5), place("k.cu", 7)]);
        assert_eq!(
            through.to_string(),
            "k.cu:5, by way of /cuda/bin/../include/crt/a.hpp:9 in `f`, inlined at k.cu:7"
        );
        assert_eq!(origin(Vec::new()).own().line, 9);
    }

    #[test]
    fn what_is_outside_of_functions_has_none() {
        assert_eq!(of(".version"), None);
        assert_eq!(of(".file 1"), None);
        assert!(Origins::new(&parse(".version 8.0\n.target sm_80\n.entry k() { ret; }\n")).is_empty());
    }

    #[test]
    fn names_lose_their_encoding() {
        assert_eq!(readable("_Z3foov"), "foo");
        assert_eq!(readable("_ZN2ns3barEPf"), "ns::bar");
        assert_eq!(readable("_ZN12_INTERNAL_ab3fooEv"), "foo");
        assert_eq!(readable("sum"), "sum");
        assert_eq!(readable("_Z99x"), "_Z99x");
    }
}
