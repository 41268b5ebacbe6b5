//! The report for people: the lines in question with labels on them.

use super::{Linted, Run};
use crate::cli::output::printable;
use crate::ptx::diag::{self, Applicability, Diag, Fix};
use crate::ptx::source::{Source, Span};
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use std::borrow::Cow;
use std::ops::Range;

/// Labels at most this many lines apart share a snippet, in which the lines between are shown or folded.
const NEAR: u32 = 6;
/// A span over more lines than this is shown by its first line: a whole kernel helps nobody.
const TALL: u32 = 6;
/// Text with a line longer than this many bytes is not shown: the renderer's work grows with it.
const LONG: usize = 1 << 14;

/// All findings, each followed by an empty line.
pub(super) fn render(run: &Run) -> String {
    let renderer = Renderer::styled();
    let mut out = String::new();
    for file in &run.files {
        for diag in file.told() {
            let diag = with_origins(file, &diag);
            out.push_str(&renderer.render(&[group(&file.source, &diag)]));
            out.push_str("\n\n");
        }
    }
    out
}

/// The finding with the lines it was compiled from, where the text tells them.
fn with_origins<'d>(file: &Linted, diag: &'d Diag) -> Cow<'d, Diag> {
    if file.origins.is_empty() {
        return Cow::Borrowed(diag);
    }
    let mut told = diag.clone();
    for (related, origin) in told.related.iter_mut().zip(file.origins_of_causes(diag)) {
        if let Some(origin) = origin {
            related.message = format!("{} ({})", related.message, printable(&origin.own().to_string()));
        }
    }
    if let Some(origin) = file.origin(diag.span) {
        let from = format!("compiled from {}", printable(&origin.to_string()));
        told.notes.insert(0, from);
    }
    Cow::Owned(told)
}

/// One finding for the renderer.
fn group<'a>(source: &'a Source, diag: &'a Diag) -> Group<'a> {
    let level = match diag.level {
        diag::Level::Error => Level::ERROR,
        diag::Level::Warning => Level::WARNING,
        diag::Level::Info => Level::INFO,
    };
    let title = level
        .primary_title(diag.message.as_str())
        .id(format!("{} {}", diag.code.id, diag.code.name));
    let notes = diag.notes.iter().map(|note| Level::NOTE.message(note.as_str()));
    let help = diag.help.iter().map(|help| match &diag.fix {
        Some(Fix {
            applicability: Applicability::Safe,
            ..
        }) => Level::HELP.message(format!("{help} (`--fix` does)")),
        Some(_) => Level::HELP.message(format!("{help} (`--fix --unsafe-fixes` does)")),
        None => Level::HELP.message(help.as_str()),
    });
    Group::with_title(title)
        .elements(
            windows(labels(source, diag))
                .iter()
                .map(|window| element(source, window)),
        )
        .elements(notes)
        .elements(help)
}

/// A piece of text to point at.
struct Label<'a> {
    kind: AnnotationKind,
    /// Byte range, on character boundaries.
    range: Range<usize>,
    /// First and last line, from 1.
    lines: (u32, u32),
    text: &'a str,
}

/// The finding's own place, then its causes in textual order.
fn labels<'a>(source: &Source, diag: &'a Diag) -> Vec<Label<'a>> {
    let mut labels: Vec<_> = diag
        .related
        .iter()
        .map(|related| label(source, AnnotationKind::Context, related.span, &related.message))
        .collect();
    labels.sort_by_key(|label| label.range.start);
    labels.insert(0, label(source, AnnotationKind::Primary, diag.span, &diag.label));
    labels
}

fn label<'a>(source: &Source, kind: AnnotationKind, span: Span, text: &'a str) -> Label<'a> {
    let whole = source.text();
    let start = boundary(whole, span.start);
    let mut end = boundary(whole, span.end).max(start);
    let line_of = |offset: usize| source.position(offset as u32).line;
    let first = line_of(start);
    let mut last = if end > start { line_of(end - 1) } else { first };
    if last - first >= TALL {
        last = first;
        end = source.line_start(first) + source.line(first).len();
    }
    Label {
        kind,
        range: start..end.max(start),
        lines: (first, last),
        text,
    }
}

/// The last character boundary at or before an offset: the renderer panics on others.
fn boundary(text: &str, offset: u32) -> usize {
    let offset = text.len().min(offset as usize);
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Labels that are shown together, and the lines they need.
struct Window<'a> {
    lines: (u32, u32),
    labels: Vec<Label<'a>>,
}

/// Sorts labels into windows of nearby lines; the first label's window comes first.
fn windows(labels: Vec<Label<'_>>) -> Vec<Window<'_>> {
    let mut windows: Vec<Window<'_>> = Vec::new();
    for label in labels {
        let near =
            |window: &&mut Window<'_>| label.lines.0 <= window.lines.1 + NEAR && window.lines.0 <= label.lines.1 + NEAR;
        match windows.iter_mut().find(near) {
            Some(window) => {
                window.lines = (window.lines.0.min(label.lines.0), window.lines.1.max(label.lines.1));
                window.labels.push(label);
            }
            None => windows.push(Window {
                lines: label.lines,
                labels: vec![label],
            }),
        }
    }
    windows
}

/// The window's lines with its labels; the place alone where a line is too long to show.
fn element<'a>(source: &'a Source, window: &Window<'a>) -> Element<'a> {
    let (first, last) = window.lines;
    if (first..=last).any(|line| source.line(line).len() > LONG) {
        let at = source.position(window.labels.first().map_or(0, |label| label.range.start as u32));
        let origin = Origin::path(source.name()).line(at.line as usize);
        return Element::Origin(origin.char_column(at.column as usize));
    }
    let start = source.line_start(first);
    // A line end that a label covers stays; the renderer takes a label one past the end.
    let end = source.line_start(last) + source.line(last).len();
    let labels = window.labels.iter().map(|label| {
        let within = |offset: usize| offset.clamp(start, end) - start;
        let annotation = label.kind.span(within(label.range.start)..within(label.range.end));
        annotation.label((!label.text.is_empty()).then_some(label.text))
    });
    Snippet::source(source.text().get(start..end).unwrap_or(""))
        .line_start(first as usize)
        .path(source.name())
        .annotations(labels)
        .into()
}

#[cfg(test)]
mod tests {
    use super::super::tests::linted;
    use super::*;
    use crate::ptx::diag::Code;

    const CODE: Code = Code::new("TST001", "test-finding");

    fn plain(text: &str, diag: Diag) -> String {
        let linted = linted(text, Vec::new());
        Renderer::plain().render(&[group(&linted.source, &diag)])
    }

    fn span(text: &str, part: &str) -> Span {
        let start = text.find(part).unwrap();
        Span::new(start as u32, (start + part.len()) as u32)
    }

    #[test]
    fn near_labels_share_a_snippet_and_far_ones_do_not() {
        let text = format!("one\r\n\ttwo thr\u{fc}e four\r\nfive\r\n{}six\r\n", "\r\n".repeat(20));
        let diag = Diag::error(CODE, span(&text, "four"), "a message")
            .label("here")
            .related(span(&text, "one"), "near")
            .related(span(&text, "six"), "far")
            .note("a note")
            .help("some help");
        insta::assert_snapshot!(plain(&text, diag), @r"
        error[TST001 test-finding]: a message
          --> t.ptx:2:12
           |
         1 | one
           | --- near
         2 |     two thrüe four
           |               ^^^^ here
           |
          ::: t.ptx:24:1
           |
        24 | six
           | --- far
           |
           = note: a note
           = help: some help
        ");
    }

    #[test]
    fn columns_count_characters_behind_tabs_and_wide_letters() {
        let text = "a\n\t\u{fc}\u{fc}\tx\n";
        assert!(plain(text, Diag::error(CODE, span(text, "x"), "m")).contains("t.ptx:2:5"));
    }

    #[test]
    fn odd_spans_do_not_panic() {
        let text = "ab\u{fc}d\r\n\n";
        for (start, end) in [(0, 0), (3, 3), (3, 4), (5, 7), (8, 8), (90, 99), (4, 2), (0, 8)] {
            plain(
                text,
                Diag::error(CODE, Span::new(start, end), "m").related(Span::new(end, start), "r"),
            );
        }
        assert!(plain("", Diag::error(CODE, Span::new(0, 0), "m")).contains("t.ptx:1:1"));
    }

    #[test]
    fn a_tall_span_is_shown_by_its_first_line() {
        let text = "kernel {\n".to_string() + &"body\n".repeat(50) + "}\n";
        let report = plain(&text, Diag::error(CODE, Span::new(0, text.len() as u32), "m"));
        assert!(report.contains("kernel {") && !report.contains("body"), "{report}");
    }

    #[test]
    fn a_very_long_line_is_only_named() {
        let text = format!("x\n{}y", " ".repeat(LONG + 1));
        let report = plain(&text, Diag::error(CODE, span(&text, "y"), "m").label("here"));
        assert!(
            report.contains(&format!("t.ptx:2:{}", LONG + 2)) && report.len() < 200,
            "{report}"
        );
    }
}
