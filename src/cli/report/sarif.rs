//! SARIF 2.1.0 (OASIS), the format that code scanning services and editors read.

mod model;

use super::{Linted, Run, launches, witness};
use crate::cli::explain;
use crate::ptx::diag::{Code, Diag, Edit, Level};
use crate::ptx::lint::{Entry, Fingerprint, KernelStatus, catalogue};
use crate::ptx::source::{Source, Span};
use crate::ptx::witness::Search;
use model::*;

/// The whole run as one log.
pub(super) fn render(run: &Run) -> serde_json::Result<String> {
    let rules = used(run);
    let results = run.files.iter().flat_map(|file| results(file, &rules)).collect();
    let failed = run.unreadable.iter().map(|unreadable| Notification {
        level: "error",
        message: text(&unreadable.message),
        locations: vec![Location::of_file(&unreadable.file)],
    });
    let notifications = run.files.iter().flat_map(not_analysed).chain(failed).collect();
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [OneRun {
            tool: Tool {
                driver: Driver {
                    name: env!("CARGO_PKG_NAME"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules.iter().map(|entry| rule(entry)).collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: run.unreadable.is_empty(),
                tool_execution_notifications: notifications,
                properties: Some(launches::objects(run))
                    .filter(|launches| !launches.is_empty())
                    .map(|launches| InvocationProperties { launches }),
            }],
            column_kind: "unicodeCodePoints",
            results,
        }],
    };
    Ok(serde_json::to_string(&log)? + "\n")
}

/// The rules that found something: a log that explained all of them would be mostly that.
fn used(run: &Run) -> Vec<&'static Entry> {
    let is_used = |entry: &&Entry| run.findings().any(|diag| diag.code == entry.code);
    catalogue().iter().filter(is_used).collect()
}

fn rule(entry: &Entry) -> Rule {
    Rule {
        id: entry.code.id,
        name: entry.code.name,
        short_description: text(entry.summary),
        help: Help {
            text: explain::one(entry, explain::Format::Human),
            markdown: explain::one(entry, explain::Format::Md),
        },
        default_configuration: Configuration {
            enabled: entry.is_default,
            level: level(entry.level),
        },
        properties: Properties { tags: [entry.group()] },
    }
}

fn results<'a>(file: &'a Linted, rules: &[&Entry]) -> Vec<ResultObject<'a>> {
    let place = |code: Code| rules.iter().position(|entry| entry.code == code);
    let findings = file.findings();
    findings
        .map(|(diag, print, search)| result(file, (diag, print, search), place(diag.code)))
        .collect()
}

fn result<'a>(
    file: &'a Linted,
    (diag, print, search): (&'a Diag, &'a Fingerprint, Option<&'a Search>),
    rule_index: Option<usize>,
) -> ResultObject<'a> {
    let source = &file.source;
    let causes = diag.related.iter().map(|related| Location {
        message: Some(text(&related.message)),
        ..Location::of(source, related.span)
    });
    let mut related: Vec<Location> = causes
        .chain(compiled_from(file, diag))
        .chain(search.into_iter().flat_map(|search| parties(source, search)))
        .collect();
    for (location, id) in related.iter_mut().zip(1..) {
        location.id = Some(id);
    }
    let mut location = Location::of(source, diag.span);
    location.logical_locations = print.kernel.as_deref().map(|name| [Logical { name, kind: "function" }]);
    let fix = diag.fix.as_ref().map(|fix| {
        [Fix {
            description: text(diag.help.as_deref().unwrap_or(&diag.message)),
            artifact_changes: [Change {
                artifact_location: Artifact::of(source.name()),
                replacements: fix.edits.iter().map(|edit| replacement(source, edit)).collect(),
            }],
        }]
    });
    ResultObject {
        rule_id: diag.code.id,
        rule_index,
        level: level(diag.level),
        message: text(&message(source, diag, search)),
        locations: [location],
        related_locations: related,
        partial_fingerprints: Fingerprints {
            statement: print.to_string(),
        },
        fixes: fix,
        properties: search.map(|search| ResultProperties {
            witness: witness::object(source, search),
        }),
    }
}

/// The lines that the statement was compiled from: its own, and those of the calls that were inlined.
fn compiled_from<'a>(file: &Linted, diag: &Diag) -> Vec<Location<'a>> {
    let Some(origin) = file.origin(diag.span) else {
        return Vec::new();
    };
    let own = (&origin.place, "compiled from here");
    let calls = origin.inlined_at.iter().map(|call| (call, "inlined here"));
    std::iter::once(own)
        .chain(calls)
        .map(|(place, what)| {
            let mut location = Location::of_file(&place.file);
            location.physical_location.region = Some(Region::line(place.line, place.column));
            location.message = Some(text(what));
            location
        })
        .collect()
}

/// Where the threads of a witness are.
fn parties<'a>(source: &'a Source, search: &Search) -> Vec<Location<'a>> {
    let Search::Shown(witness) = search else {
        return Vec::new();
    };
    let own = (witness.span, &witness.message);
    let others = witness
        .others
        .iter()
        .filter_map(|other| Some((other.span?, &other.message)));
    std::iter::once(own)
        .chain(others)
        .map(|(span, message)| Location {
            message: Some(text(&format!("witness: {message}"))),
            ..Location::of(source, span)
        })
        .collect()
}

fn replacement<'a>(source: &Source, edit: &'a Edit) -> Replacement<'a> {
    Replacement {
        deleted_region: region(source, edit.span),
        inserted_content: Content { text: &edit.text },
    }
}

/// The finding's sentences. Many readers show the message alone.
fn message(source: &Source, diag: &Diag, search: Option<&Search>) -> String {
    let mut message = diag.message.clone();
    let shown = search.map(|search| witness::notes(source, search)).unwrap_or_default();
    for more in diag.notes.iter().chain(&shown).chain(&diag.help) {
        message.push('\n');
        message.push_str(more);
    }
    message
}

fn not_analysed(file: &Linted) -> impl Iterator<Item = Notification<'_>> {
    let say = |kernel: &KernelStatus| {
        let why = kernel.not_analysed.as_deref()?;
        Some(Notification {
            level: "warning",
            message: text(&format!("kernel `{}` was not analysed: {why}", kernel.name)),
            locations: vec![Location::of(&file.source, kernel.span)],
        })
    };
    file.report.kernels.iter().filter_map(say)
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    }
}

fn text(text: &str) -> Text {
    Text { text: text.to_owned() }
}

fn region(source: &Source, span: Span) -> Region {
    let (start, end) = (source.position(span.start), source.position(span.end.max(span.start)));
    Region {
        start_line: start.line,
        start_column: Some(start.column),
        end_line: Some(end.line),
        end_column: Some(end.column),
    }
}

impl Region {
    /// A line of a file that is not at hand; column 0 is none.
    fn line(line: u32, column: u32) -> Self {
        Self {
            start_line: line,
            start_column: (column > 0).then_some(column),
            end_line: None,
            end_column: None,
        }
    }
}

impl Location<'_> {
    fn of(source: &Source, span: Span) -> Self {
        let mut location = Self::of_file(source.name());
        location.physical_location.region = Some(region(source, span));
        location
    }

    fn of_file(name: &str) -> Self {
        Location {
            id: None,
            physical_location: Physical {
                artifact_location: Artifact::of(name),
                region: None,
            },
            logical_locations: None,
            message: None,
        }
    }
}

impl Artifact {
    /// The name as a URI: relative as it was given, or with a scheme if it is absolute.
    fn of(name: &str) -> Self {
        let path = name.replace('\\', "/");
        let mut uri = String::with_capacity(path.len());
        if path.starts_with('/') {
            uri.push_str("file://");
        } else if path.as_bytes().get(1) == Some(&b':') {
            uri.push_str("file:///");
        }
        for byte in path.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    uri.push(char::from(byte))
                }
                b':' if uri.starts_with("file:///") => uri.push(':'),
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        Self { uri }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_uris() {
        let uri = |name| Artifact::of(name).uri;
        assert_eq!(uri("a/b.ptx"), "a/b.ptx");
        assert_eq!(uri("a b/100%\u{fc}.ptx"), "a%20b/100%25%C3%BC.ptx");
        assert_eq!(uri("/a/b.ptx"), "file:///a/b.ptx");
        assert_eq!(uri("C:\\a\\b.ptx"), "file:///C:/a/b.ptx");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
