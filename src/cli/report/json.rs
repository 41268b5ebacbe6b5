//! The JSON report, schema version 1. Names are fixed: a change of meaning needs a new version number.

use super::{Linted, Run};
use crate::ptx::diag::{Diag, Related};
use crate::ptx::lint::KernelStatus;
use crate::ptx::source::{Position, Source, Span};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    findings: Vec<Finding<'a>>,
    kernels: Vec<Kernel<'a>>,
    errors: Vec<Failure<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    code: &'a str,
    name: &'a str,
    level: String,
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    related: Vec<Cause<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
}

/// Lines and columns start at 1, columns count characters, `end` is just past the last one.
#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end: End,
}

#[derive(Serialize)]
struct End {
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Cause<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    message: &'a str,
}

#[derive(Serialize)]
struct Kernel<'a> {
    name: &'a str,
    file: &'a str,
    line: u32,
    analysed: bool,
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct Failure<'a> {
    file: &'a str,
    message: &'a str,
}

/// The whole run as one object on one line.
pub(super) fn render(run: &Run) -> serde_json::Result<String> {
    let findings = |file| {
        let Linted { source, report, .. }: &Linted = file;
        report.findings.iter().map(move |diag| finding(source, diag))
    };
    let kernels = |file| {
        let Linted { source, report, .. }: &Linted = file;
        report.kernels.iter().map(move |status| kernel(source, status))
    };
    let errors = run.unreadable.iter().map(|unreadable| Failure {
        file: &unreadable.file,
        message: &unreadable.message,
    });
    let mut text = serde_json::to_string(&Document {
        schema: 1,
        findings: run.files.iter().flat_map(findings).collect(),
        kernels: run.files.iter().flat_map(kernels).collect(),
        errors: errors.collect(),
    })?;
    text.push('\n');
    Ok(text)
}

fn finding<'a>(source: &'a Source, diag: &'a Diag) -> Finding<'a> {
    let cause = |related: &'a Related| Cause {
        place: place(source, related.span),
        message: &related.message,
    };
    Finding {
        code: diag.code.id,
        name: diag.code.name,
        level: diag.level.to_string(),
        message: &diag.message,
        place: place(source, diag.span),
        label: &diag.label,
        related: diag.related.iter().map(cause).collect(),
        notes: &diag.notes,
        help: diag.help.as_deref(),
    }
}

fn place(source: &Source, span: Span) -> Place<'_> {
    let Position { line, column } = source.position(span.start);
    let end = source.position(span.end.max(span.start));
    Place {
        file: source.name(),
        line,
        column,
        end: End {
            line: end.line,
            column: end.column,
        },
    }
}

fn kernel<'a>(source: &'a Source, status: &'a KernelStatus) -> Kernel<'a> {
    Kernel {
        name: &status.name,
        file: source.name(),
        line: source.position(status.span.start).line,
        analysed: status.not_analysed.is_none(),
        why: status.not_analysed.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::linted;
    use super::*;
    use crate::ptx::diag::Code;

    #[test]
    fn every_part_of_a_finding_is_there() {
        let code = Code::new("TST001", "test-finding");
        let diag = Diag::error(code, Span::new(3, 5), "m")
            .label("l")
            .related(Span::new(0, 1), "because")
            .note("n")
            .help("h");
        let run = Run {
            files: vec![linted("a\r\nbc\n", vec![diag, Diag::info(code, Span::new(0, 0), "i")])],
            ..Run::default()
        };
        let expected = concat!(
            r#"{"schema":1,"findings":[{"code":"TST001","name":"test-finding","level":"error","message":"m","#,
            r#""file":"t.ptx","line":2,"column":1,"end":{"line":2,"column":3},"label":"l","#,
            r#""related":[{"file":"t.ptx","line":1,"column":1,"end":{"line":1,"column":2},"message":"because"}],"#,
            r#""notes":["n"],"help":"h"},"#,
            r#"{"code":"TST001","name":"test-finding","level":"info","message":"i","#,
            r#""file":"t.ptx","line":1,"column":1,"end":{"line":1,"column":1},"related":[],"notes":[],"help":null}],"#,
            r#""kernels":[],"errors":[]}"#,
            "\n"
        );
        assert_eq!(render(&run).unwrap(), expected);
    }
}
