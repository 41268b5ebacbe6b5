//! Workflow commands, which GitHub shows as annotations beside the lines.

use super::{Linted, Run};
use crate::ptx::diag::{Diag, Level};
use std::fmt::Write;

/// One line a finding, a kernel that could not be analysed, or a file that could not be read.
pub(super) fn render(run: &Run) -> String {
    let mut out = String::new();
    for file in &run.files {
        for diag in file.told() {
            finding(file, &diag, &mut out);
        }
    }
    for (source, kernel, why) in run.not_analysed() {
        let at = source.position(kernel.span.start);
        let (file, message) = (property(source.name()), data(&format!("`{}`: {why}", kernel.name)));
        let _ = writeln!(
            out,
            "::warning file={file},line={},col={},title=not analysed::{message}",
            at.line, at.column
        );
    }
    for unreadable in &run.unreadable {
        let (file, message) = (property(&unreadable.file), data(&unreadable.message));
        let _ = writeln!(out, "::error file={file},title=not checked::{message}");
    }
    out
}

/// Writing to a string cannot fail.
fn finding(file: &Linted, diag: &Diag, out: &mut String) {
    let source = &file.source;
    let command = match diag.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "notice",
    };
    let (start, end) = (source.position(diag.span.start), source.position(diag.span.end));
    let _ = write!(out, "::{command} file={},line={}", property(source.name()), start.line);
    let _ = write!(out, ",endLine={}", end.line.max(start.line));
    // Columns are read where both lines are the same. Both are included.
    if end.line <= start.line {
        let last = end.column.saturating_sub(1).max(start.column);
        let _ = write!(out, ",col={},endColumn={last}", start.column);
    }
    let title = property(&format!("{} {}", diag.code.id, diag.code.name));
    let _ = writeln!(out, ",title={title}::{}", data(&message(file, diag)));
}

/// The message with causes, notes and help on lines of their own.
fn message(file: &Linted, diag: &Diag) -> String {
    let mut text = diag.message.clone();
    for (related, origin) in diag.related.iter().zip(file.origins_of_causes(diag)) {
        let at = file.source.position(related.span.start);
        let _ = write!(text, "\nline {}: {}", at.line, related.message);
        if let Some(origin) = origin {
            let _ = write!(text, " ({})", origin.own());
        }
    }
    if let Some(origin) = file.origin(diag.span) {
        let _ = write!(text, "\ncompiled from {origin}");
    }
    for note in &diag.notes {
        let _ = write!(text, "\nnote: {note}");
    }
    if let Some(help) = &diag.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

/// The text as a command's message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The text as the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::linted;
    use super::*;
    use crate::cli::input::Unreadable;
    use crate::ptx::diag::Code;
    use crate::ptx::source::Span;

    #[test]
    fn what_a_command_takes_for_its_own_is_escaped() {
        let code = Code::new("TST001", "test-finding");
        let diag = Diag::error(code, Span::new(1, 3), "100%, a::b")
            .related(Span::new(4, 5), "r")
            .help("h");
        let mut run = Run {
            files: vec![linted("abc\nd\n", vec![diag, Diag::info(code, Span::new(0, 5), "m")])],
            unreadable: vec![Unreadable {
                file: "a,b:c.ptx".into(),
                message: "no such file".into(),
            }],
        };
        run.files[0].report.kernels.push(crate::ptx::lint::KernelStatus {
            name: "k".into(),
            span: Span::new(4, 5),
            not_analysed: Some("an indirect call".into()),
        });
        assert_eq!(
            render(&run),
            "::error file=t.ptx,line=1,endLine=1,col=2,endColumn=3,title=TST001 test-finding::100%25, a::b%0Aline 2: r%0Ahelp: h\n\
             ::notice file=t.ptx,line=1,endLine=2,title=TST001 test-finding::m\n\
             ::warning file=t.ptx,line=2,col=1,title=not analysed::`k`: an indirect call\n\
             ::error file=a%2Cb%3Ac.ptx,title=not checked::no such file\n"
        );
    }
}
