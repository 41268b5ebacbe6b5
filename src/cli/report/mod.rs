//! Reports of a lint run: for people, one line a finding, and JSON.

mod human;
mod json;

use super::Outcome;
use super::input::Unreadable;
use super::output::printable;
use crate::ptx::diag::{Diag, Level};
use crate::ptx::lint::{KernelStatus, Report};
use crate::ptx::source::Source;
use std::fmt::Write;

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The lines in question, with the chain of causes, notes and help
    Human,
    /// One line a finding: FILE:LINE:COLUMN: LEVEL[CODE NAME]: MESSAGE
    Short,
    /// One object, schema version 1 (schemas/lint-1.schema.json)
    Json,
}

/// A module and what was found in it.
#[derive(Debug)]
pub struct Linted {
    /// The text.
    pub source: Source,
    /// What was found.
    pub report: Report,
    /// Which module of its file it is, from 0.
    pub nth: usize,
}

/// A whole run over one file or many.
#[derive(Debug, Default)]
pub struct Run {
    /// Modules that were linted, in the order of the arguments.
    pub files: Vec<Linted>,
    /// Those that could not be.
    pub unreadable: Vec<Unreadable>,
}

impl Run {
    /// The worst that happened. Information alone is clean; a kernel that could not be analysed is not.
    pub fn outcome(&self) -> Outcome {
        let bad = |diag: &Diag| matches!(diag.level, Level::Error | Level::Warning);
        if !self.unreadable.is_empty() {
            Outcome::Failed
        } else if self.findings().any(bad) || self.not_analysed().next().is_some() {
            Outcome::Findings
        } else {
            Outcome::Clean
        }
    }

    /// The report in that format.
    ///
    /// # Errors
    /// When JSON cannot be made of it.
    pub fn render(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Human => human::render(self),
            Format::Short => self.short(),
            Format::Json => json::render(self)?,
        })
    }

    /// The closing lines: what was not analysed and why, then the counts.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        for (source, kernel, why) in self.not_analysed() {
            let (name, file) = (printable(&kernel.name), printable(source.name()));
            let at = source.position(kernel.span.start);
            let _ = writeln!(out, "not analysed: {name} ({file}:{at}): {}", printable(why));
        }
        let _ = write!(out, "{} in {}", self.counts(), self.extent());
        out
    }

    fn findings(&self) -> impl Iterator<Item = &Diag> {
        self.files.iter().flat_map(|file| &file.report.findings)
    }

    fn not_analysed(&self) -> impl Iterator<Item = (&Source, &KernelStatus, &str)> {
        self.files.iter().flat_map(|file| {
            let kernels = file.report.kernels.iter();
            kernels.filter_map(|kernel| Some((&file.source, kernel, kernel.not_analysed.as_deref()?)))
        })
    }

    /// `2 errors, 1 warning`, or `no findings`.
    fn counts(&self) -> String {
        let count = |level| self.findings().filter(|diag| diag.level == level).count();
        let counts = [
            (count(Level::Error), "error", "errors"),
            (count(Level::Warning), "warning", "warnings"),
            (count(Level::Info), "info", "infos"),
        ];
        let present: Vec<_> = counts
            .into_iter()
            .filter(|(n, ..)| *n > 0)
            .map(|(n, one, many)| plural(n, one, many))
            .collect();
        if present.is_empty() {
            "no findings".into()
        } else {
            present.join(", ")
        }
    }

    /// `3 kernels of 1 file`.
    fn extent(&self) -> String {
        let kernels = self.files.iter().map(|file| file.report.kernels.len()).sum();
        let files = self.files.iter().filter(|module| module.nth == 0).count();
        let within = match self.files.len() {
            all if all == files => String::new(),
            all => format!("{} in ", plural(all, "module", "modules")),
        };
        let files = plural(files, "file", "files");
        format!("{} of {within}{files}", plural(kernels, "kernel", "kernels"))
    }

    fn short(&self) -> String {
        let mut out = String::new();
        for Linted { source, report, .. } in &self.files {
            for diag in &report.findings {
                let (file, at) = (printable(source.name()), source.position(diag.span.start));
                let (level, code) = (diag.level, diag.code);
                let message = printable(&diag.message);
                let _ = writeln!(out, "{file}:{at}: {level}[{} {}]: {message}", code.id, code.name);
            }
        }
        out
    }
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::diag::Code;
    use crate::ptx::source::Span;

    const CODE: Code = Code::new("TST001", "test-finding");

    pub(super) fn linted(text: &str, findings: Vec<Diag>) -> Linted {
        Linted {
            source: Source::new("t.ptx", text).unwrap(),
            report: Report {
                findings,
                kernels: Vec::new(),
            },
            nth: 0,
        }
    }

    fn run(levels: &[Level]) -> Run {
        let diag = |level: &Level| Diag::new(CODE, *level, Span::new(2, 3), "x\u{1b}y");
        Run {
            files: vec![linted("ab\ncd\n", levels.iter().map(diag).collect())],
            unreadable: Vec::new(),
        }
    }

    #[test]
    fn information_alone_is_clean() {
        assert_eq!(run(&[]).outcome(), Outcome::Clean);
        assert_eq!(run(&[Level::Info]).outcome(), Outcome::Clean);
        assert_eq!(run(&[Level::Info, Level::Warning]).outcome(), Outcome::Findings);
    }

    #[test]
    fn what_was_not_analysed_or_read_is_not_clean() {
        let mut run = run(&[]);
        run.files[0].report.kernels.push(KernelStatus {
            name: "k".into(),
            span: Span::new(3, 4),
            not_analysed: Some("an indirect call".into()),
        });
        assert_eq!(run.outcome(), Outcome::Findings);
        assert_eq!(
            run.summary(),
            "not analysed: k (t.ptx:2:1): an indirect call\nno findings in 1 kernel of 1 file"
        );
        run.unreadable.push(Unreadable {
            file: "u.ptx".into(),
            message: "no such file".into(),
        });
        assert_eq!(run.outcome(), Outcome::Failed);
    }

    #[test]
    fn the_summary_counts() {
        let summary = run(&[Level::Error, Level::Info, Level::Error, Level::Warning]).summary();
        assert_eq!(summary, "2 errors, 1 warning, 1 info in 0 kernels of 1 file");
    }

    #[test]
    fn short_lines_hold_no_control_characters() {
        let short = run(&[Level::Error]).render(Format::Short).unwrap();
        assert_eq!(short, "t.ptx:1:3: error[TST001 test-finding]: x\u{fffd}y\n");
    }
}
