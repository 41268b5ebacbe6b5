//! The JSON report, schema version 1. Names are fixed: a change of meaning needs a new version number.

use super::statistics::{self, Count};
use super::{Linted, Run, launches, witness};
use crate::ptx::diag::{Applicability, Diag, Fix, Related};
use crate::ptx::lint::{self, Fingerprint, KernelStatus};
use crate::ptx::source::{Position, Source, Span};
use crate::ptx::witness::Search;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    findings: Vec<Finding<'a>>,
    kernels: Vec<Kernel<'a>>,
    errors: Vec<Failure<'a>>,
    /// What was said of launches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    launches: Vec<launches::Object<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Vec<Count>>,
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
    /// The function in which it lies.
    kernel: Option<&'a str>,
    /// The same in later runs, as long as the statement is.
    fingerprint: String,
    fix: Option<Repair<'a>>,
    /// The line that the statement was compiled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    /// What a run has shown of it, with --witness.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<witness::Object<'a>>,
}

#[derive(Serialize)]
struct Origin {
    #[serde(flatten)]
    place: Line,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inlined_at: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    file: String,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

impl From<lint::Place> for Line {
    fn from(place: lint::Place) -> Self {
        Self {
            file: place.file,
            line: place.line,
            column: (place.column > 0).then_some(place.column),
        }
    }
}

impl From<lint::Origin> for Origin {
    fn from(origin: lint::Origin) -> Self {
        Self {
            place: origin.place.into(),
            function: origin.function,
            inlined_at: origin.inlined_at.into_iter().map(From::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct Repair<'a> {
    applicability: &'static str,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    line: u32,
    column: u32,
    end: End,
    text: &'a str,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
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
pub(super) fn render(run: &Run, with_statistics: bool) -> serde_json::Result<String> {
    let findings = |file| {
        let file: &Linted = file;
        file.findings()
            .map(move |(diag, print, search)| finding(file, diag, print, search))
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
        launches: launches::objects(run),
        statistics: with_statistics.then(|| statistics::counts(run)),
    })?;
    text.push('\n');
    Ok(text)
}

fn finding<'a>(file: &'a Linted, diag: &'a Diag, print: &'a Fingerprint, search: Option<&'a Search>) -> Finding<'a> {
    let source = &file.source;
    let cause = |related: &'a Related| Cause {
        place: place(source, related.span),
        message: &related.message,
        origin: file.origin(related.span).map(From::from),
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
        kernel: print.kernel.as_deref(),
        fingerprint: print.to_string(),
        fix: diag.fix.as_ref().map(|fix| repair(source, fix)),
        origin: file.origin(diag.span).map(From::from),
        witness: search.map(|search| witness::object(source, search)),
    }
}

fn repair<'a>(source: &Source, fix: &'a Fix) -> Repair<'a> {
    let edits = fix.edits.iter().map(|edit| {
        let (start, end) = (source.position(edit.span.start), source.position(edit.span.end));
        Replacement {
            line: start.line,
            column: start.column,
            end: End {
                line: end.line,
                column: end.column,
            },
            text: &edit.text,
        }
    });
    Repair {
        applicability: match fix.applicability {
            Applicability::Safe => "safe",
            Applicability::Unsafe => "unsafe",
        },
        edits: edits.collect(),
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
    use crate::ptx::diag::{Code, Edit};

    #[test]
    fn every_part_of_a_finding_is_there() {
        let code = Code::new("TST001", "test-finding");
        let diag = Diag::error(code, Span::new(3, 5), "m")
            .label("l")
            .related(Span::new(0, 1), "because")
            .note("n")
            .help("h")
            .safe_fix(vec![Edit {
                span: Span::new(3, 4),
                text: "x".into(),
            }]);
        let run = Run {
            files: vec![linted("a\r\nbc\n", vec![diag, Diag::info(code, Span::new(0, 0), "i")])],
            ..Run::default()
        };
        let expected = concat!(
            r#"{"schema":1,"findings":[{"code":"TST001","name":"test-finding","level":"error","message":"m","#,
            r#""file":"t.ptx","line":2,"column":1,"end":{"line":2,"column":3},"label":"l","#,
            r#""related":[{"file":"t.ptx","line":1,"column":1,"end":{"line":1,"column":2},"message":"because"}],"#,
            r#""notes":["n"],"help":"h","kernel":null,"fingerprint":"0000000000000abc:0","#,
            r#""fix":{"applicability":"safe","edits":[{"line":2,"column":1,"end":{"line":2,"column":2},"text":"x"}]}},"#,
            r#"{"code":"TST001","name":"test-finding","level":"info","message":"i","#,
            r#""file":"t.ptx","line":1,"column":1,"end":{"line":1,"column":1},"related":[],"notes":[],"help":null,"#,
            r#""kernel":null,"fingerprint":"0000000000000abc:1","fix":null}],"#,
            r#""kernels":[],"errors":[]}"#,
            "\n"
        );
        assert_eq!(render(&run, false).unwrap(), expected);
    }
}
