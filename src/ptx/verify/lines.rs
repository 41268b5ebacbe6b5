//! `.file` and `.loc`: are the numbers there, is no file declared twice, is there what inlined places refer to?

use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Item, Module, Stmt};
use crate::ptx::parse::{Parsed, number};
use crate::ptx::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// File, line and column.
type Place = [u32; 3];

/// Checks every `.file` and every `.loc`.
pub(super) fn check(parsed: &Parsed, out: &mut Vec<Diag>) {
    files(parsed, out);
    let mut labels = None;
    let mut seen = FxHashSet::default();
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        let Some(body) = &function.body else { continue };
        for (stmt, span) in body.stmts.iter().zip(&spans.stmts) {
            let Stmt::Loc(text) = stmt else { continue };
            match Loc::read(text) {
                Ok(loc) => {
                    out.extend(loc.inlined.and_then(|inlined| {
                        let labels = labels.get_or_insert_with(|| debug_labels(&parsed.module));
                        inlined.fault(&seen, labels, *span)
                    }));
                    seen.insert(loc.place);
                }
                Err(message) => out.push(Diag::error(codes::SYN001, *span, message)),
            }
        }
    }
}

fn files(parsed: &Parsed, out: &mut Vec<Diag>) {
    let mut known: FxHashMap<u32, Span> = FxHashMap::default();
    for (item, span) in parsed.module.items.iter().zip(&parsed.spans.items) {
        let Item::File(text) = item else { continue };
        let Some(word) = text.split_whitespace().next() else {
            continue;
        };
        // What is no number at all has been reported.
        let Some(file) = number(word) else { continue };
        let Ok(file) = u32::try_from(file) else {
            let message = format!("the number of a file has 32 bits, and {word} has more");
            out.push(Diag::error(codes::SYN001, *span, message));
            continue;
        };
        match known.get(&file) {
            Some(first) => {
                let message = format!("there are two files with the number {file}");
                out.push(Diag::error(codes::SYN009, *span, message).related(*first, "the first one"));
            }
            None => _ = known.insert(file, *span),
        }
    }
}

/// A `.loc`, read.
struct Loc<'t> {
    place: Place,
    inlined: Option<Inlined<'t>>,
}

/// What stands behind the place where code was inlined.
struct Inlined<'t> {
    /// The label of the function's name.
    name: &'t str,
    /// Where it was called.
    at: Place,
}

impl<'t> Loc<'t> {
    /// `1 2 3` or `1 2 3, function_name $name+4, inlined_at 1 2 3`.
    fn read(text: &'t str) -> Result<Self, &'static str> {
        let mut parts = text.split(',').map(str::trim);
        let place = parts.next().and_then(place);
        let place = place.ok_or("`.loc` takes the numbers of a file, a line and a column")?;
        let behind = [parts.next(), parts.next(), parts.next()];
        let inlined = match behind {
            [None, ..] => None,
            [Some(name), Some(at), None] => Some(Inlined::read(name, at).ok_or(BEHIND)?),
            _ => return Err(BEHIND),
        };
        Ok(Self { place, inlined })
    }
}

/// What may follow a place.
const BEHIND: &str =
    "behind its place, `.loc` takes `, function_name LABEL, inlined_at FILE LINE COLUMN` and nothing else";

impl<'t> Inlined<'t> {
    fn read(name: &'t str, at: &str) -> Option<Self> {
        let name = name.strip_prefix("function_name ")?;
        let (name, offset) = name.split_once('+').unwrap_or((name, "0"));
        number(offset.trim())?;
        let name = name.trim();
        let is_label = !name.contains(' ') && !name.starts_with(|c: char| c.is_ascii_digit());
        Some(Self {
            name: is_label.then_some(name)?,
            at: place(at.strip_prefix("inlined_at ")?)?,
        })
    }

    fn fault(&self, seen: &FxHashSet<Place>, labels: &FxHashSet<&str>, span: Span) -> Option<Diag> {
        let [file, line, column] = self.at;
        let name = self.name;
        if !seen.contains(&self.at) {
            let message = format!("no `.loc` in front of this one names the place {file} {line} {column}");
            let help = "what is inlined refers to a place that an earlier `.loc` names";
            return Some(Diag::error(codes::SYN008, span, message).help(help));
        }
        (!labels.contains(name)).then(|| {
            let message = format!("`{name}` is no label of a `.section`");
            Diag::error(codes::SYN008, span, message)
        })
    }
}

fn place(text: &str) -> Option<Place> {
    let mut words = text.split_whitespace().map(|word| u32::try_from(number(word)?).ok());
    let place = [words.next()??, words.next()??, words.next()??];
    words.next().is_none().then_some(place)
}

/// The labels of all `.section`s.
fn debug_labels(module: &Module) -> FxHashSet<&str> {
    let sections = module.items.iter().filter_map(|item| match item {
        Item::Section(text) => Some(&**text),
        _ => None,
    });
    sections
        .flat_map(|text| text.split(':'))
        .filter_map(last_word)
        .collect()
}

/// The name that ends a text.
fn last_word(text: &str) -> Option<&str> {
    text.trim_end().rsplit(|c: char| c.is_whitespace() || c == '{').next()
}
