//! Reports of a lint run: for people, one line a finding, JSON, SARIF, and annotations.

mod github;
mod human;
mod json;
mod launches;
mod sarif;
mod statistics;
mod witness;

use super::Outcome;
use super::input::Unreadable;
use super::output::printable;
use crate::ptx::diag::{Applicability, Diag, Level};
use crate::ptx::lint::{Fingerprint, KernelStatus, Launch, Origin, Origins, Report};
use crate::ptx::source::{Source, Span};
use crate::ptx::witness::Search;
use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The lines in question, with the chain of causes, notes and help
    Human,
    /// One line a finding: FILE:LINE:COLUMN: LEVEL[CODE NAME]: MESSAGE
    Short,
    /// One object, schema version 1 (schemas/lint-1.schema.json)
    Json,
    /// SARIF 2.1.0, which code scanning services and editors read
    Sarif,
    /// Annotations, as a GitHub workflow prints them
    Github,
}

/// A module and what was found in it.
#[derive(Debug)]
pub struct Linted {
    /// The argument, or what it led to; `-` for standard input.
    pub path: PathBuf,
    /// The text, as repaired if it was.
    pub source: Source,
    /// What was found, as far as it is not known already.
    pub report: Report,
    /// Which module of its file it is, from 0.
    pub nth: usize,
    /// What each of the findings is known by.
    pub fingerprints: Vec<Fingerprint>,
    /// What became of the search for a witness of each of the findings; empty where none was asked for.
    pub witnesses: Vec<Option<Search>>,
    /// The lines that the text was compiled from, where it tells.
    pub origins: Origins,
    /// What was said of the launch.
    pub launch: Launch,
    /// Where findings that are known are kept.
    pub baseline: Option<PathBuf>,
    /// The text before repairs, if there were any.
    pub original: Option<String>,
    /// How many repairs were made.
    pub repaired: usize,
    /// How many findings are known and left out.
    pub known: usize,
    /// Kernels, by their place in the report, that are known not to be analysed.
    pub waived: Vec<usize>,
}

impl Linted {
    /// The findings, each with what it is known by and what became of the search for a witness.
    fn findings(&self) -> impl Iterator<Item = (&Diag, &Fingerprint, Option<&Search>)> {
        let findings = self.report.findings.iter().zip(&self.fingerprints).enumerate();
        findings.map(|(at, (diag, print))| (diag, print, self.witnesses.get(at).and_then(Option::as_ref)))
    }

    /// The findings with what runs have shown of them among their notes.
    fn told(&self) -> impl Iterator<Item = Cow<'_, Diag>> {
        self.findings().map(|(diag, _, search)| match search {
            None => Cow::Borrowed(diag),
            Some(search) => {
                let mut diag = diag.clone();
                diag.notes.extend(witness::notes(&self.source, search));
                Cow::Owned(diag)
            }
        })
    }

    /// Where a statement comes from.
    fn origin(&self, span: Span) -> Option<Origin> {
        self.origins.of(span)
    }

    /// Where the causes come from, beside the finding itself: each line once.
    fn origins_of_causes(&self, diag: &Diag) -> Vec<Option<Origin>> {
        let mut told: Vec<Option<Origin>> = vec![self.origin(diag.span)];
        let mut causes = Vec::with_capacity(diag.related.len());
        for related in &diag.related {
            let origin = self.origin(related.span);
            let is_new = !told.contains(&origin);
            causes.push(origin.clone().filter(|_| is_new));
            told.push(origin);
        }
        causes
    }
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
            Format::Json => json::render(self, false)?,
            Format::Sarif => sarif::render(self)?,
            Format::Github => github::render(self),
        })
    }

    /// How often each code was found; as JSON, beside everything else.
    ///
    /// # Errors
    /// When JSON cannot be made of it.
    pub fn statistics(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Json => json::render(self, true)?,
            _ => statistics::render(self),
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
        let aside = self.aside();
        if !aside.is_empty() {
            let _ = write!(out, "; {}", aside.join(", "));
        }
        out
    }

    /// What the counts leave out, and what can be done: `2 suppressed`, `1 repairable by --fix`.
    fn aside(&self) -> Vec<String> {
        let sum = |count: fn(&Linted) -> usize| self.files.iter().map(count).sum::<usize>();
        let repairable = |applicability| {
            let fits = |diag: &&Diag| diag.fix.as_ref().is_some_and(|fix| fix.applicability == applicability);
            self.findings().filter(fits).count()
        };
        [
            (sum(|file| file.repaired), "repaired"),
            (sum(|file| file.report.suppressed), "suppressed"),
            (sum(|file| file.known), "known"),
            (sum(|file| file.waived.len()), "known not to be analysed"),
            (repairable(Applicability::Safe), "repairable by --fix"),
            (repairable(Applicability::Unsafe), "repairable by --fix --unsafe-fixes"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .chain(self.witnessed())
        .collect()
    }

    /// `2 of 3 shown by runs`: of the findings for which a witness was looked for.
    fn witnessed(&self) -> Option<String> {
        let searched = || self.files.iter().flat_map(|file| &file.witnesses).flatten();
        let shown = searched().filter(|search| matches!(search, Search::Shown(_))).count();
        let all = searched().count();
        (all > 0).then(|| format!("{shown} of {all} shown by runs"))
    }

    fn findings(&self) -> impl Iterator<Item = &Diag> {
        self.files.iter().flat_map(|file| &file.report.findings)
    }

    fn not_analysed(&self) -> impl Iterator<Item = (&Source, &KernelStatus, &str)> {
        self.files.iter().flat_map(|file| {
            let kernels = file.report.kernels.iter().enumerate();
            let new = kernels.filter(|(at, _)| !file.waived.contains(at));
            new.filter_map(|(_, kernel)| Some((&file.source, kernel, kernel.not_analysed.as_deref()?)))
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
        for linted in &self.files {
            let source = &linted.source;
            for (diag, _, search) in linted.findings() {
                let (file, at) = (printable(source.name()), source.position(diag.span.start));
                let (level, code) = (diag.level, diag.code);
                let message = printable(&diag.message);
                let _ = write!(out, "{file}:{at}: {level}[{} {}]: {message}", code.id, code.name);
                if let Some(origin) = linted.origin(diag.span) {
                    let _ = write!(out, " (from {})", printable(&origin.own().to_string()));
                }
                if let Some(Search::Shown(_)) = search {
                    out.push_str(" (shown by a run)");
                }
                out.push('\n');
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
        let print = |at| Fingerprint {
            kernel: None,
            hash: 0xabc,
            occurrence: at,
        };
        Linted {
            path: "t.ptx".into(),
            source: Source::new("t.ptx", text).unwrap(),
            fingerprints: (0..).take(findings.len()).map(print).collect(),
            witnesses: Vec::new(),
            origins: Origins::default(),
            launch: Launch::default(),
            report: Report {
                findings,
                ..Report::default()
            },
            baseline: None,
            original: None,
            repaired: 0,
            known: 0,
            waived: Vec::new(),
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
    fn the_summary_tells_what_it_leaves_out() {
        let mut run = run(&[Level::Error]);
        run.files[0].report.suppressed = 2;
        run.files[0].known = 3;
        let diag = run.files[0].report.findings[0].clone();
        run.files[0].report.findings[0] = diag.safe_fix(Vec::new());
        assert_eq!(
            run.summary(),
            "1 error in 0 kernels of 1 file; 2 suppressed, 3 known, 1 repairable by --fix"
        );
    }

    #[test]
    fn short_lines_hold_no_control_characters() {
        let short = run(&[Level::Error]).render(Format::Short).unwrap();
        assert_eq!(short, "t.ptx:1:3: error[TST001 test-finding]: x\u{fffd}y\n");
    }
}
