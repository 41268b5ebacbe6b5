//! Lints files, many at a time, and makes repairs in their texts.

use super::settings::Settings;
use super::{Args, progress};
use crate::cli::fragment::HeaderArgs;
use crate::cli::input::{Modules, Unreadable};
use crate::cli::output;
use crate::cli::report::{Linted, Run};
use crate::ptx::diag::Applicability;
use crate::ptx::lint::{self, Origins, Report};
use crate::ptx::parse::Parsed;
use crate::ptx::source::Source;
use crate::ptx::witness;
use rayon::prelude::*;
use std::path::PathBuf;

/// A repair may make room for another; more rounds than this are none.
const ROUNDS: usize = 16;

/// A file to lint.
pub struct Job {
    /// The file, or `-`.
    pub path: PathBuf,
    /// What holds for it.
    pub settings: Settings,
}

/// Lints the files. The outcome is in their order, however many threads work on it; what cannot be read has been
/// complained of.
pub fn all(jobs: &[Job], args: &Args) -> Run {
    let repairs = match (args.repair.fix || args.repair.diff, args.repair.unsafe_fixes) {
        (false, _) => None,
        (true, false) => Some(Applicability::Safe),
        (true, true) => Some(Applicability::Unsafe),
    };
    let outcomes: Vec<_> = match jobs {
        // One file needs no threads, which take longer to start than most files to lint.
        [job] => vec![one(job, args, repairs, true)],
        jobs => {
            let bar = progress::bar(jobs.len());
            let count = |outcome| {
                bar.inc(1);
                outcome
            };
            let outcomes = jobs
                .par_iter()
                .map(|job| count(one(job, args, repairs, false)))
                .collect();
            bar.finish_and_clear();
            outcomes
        }
    };
    let mut run = Run::default();
    for outcome in outcomes {
        match outcome {
            Ok(modules) => run.files.extend(modules),
            Err(unreadable) => {
                output::complain_of(&unreadable.file, &unreadable.message);
                run.unreadable.push(unreadable);
            }
        }
    }
    run
}

/// The modules of a file: one, except in a listing. `alone`: there is no other file.
fn one(job: &Job, args: &Args, repairs: Option<Applicability>, alone: bool) -> Result<Vec<Linted>, Unreadable> {
    let Modules { sources, is_listing } = args.header.read_as(&job.path, job.settings.stdin_name.as_deref())?;
    if is_listing && repairs.is_some() {
        // The modules of a listing do not make it up again.
        return Err(Unreadable {
            file: sources.first().map_or("", Source::name).to_owned(),
            message: "is a listing, and not repaired; `cuobjdump -xptx all` extracts each module".to_owned(),
        });
    }
    let modules = sources.into_iter().enumerate();
    let lint = |(nth, source)| {
        let version = repaired(job, &args.header, &source, repairs, args.witness);
        let (linted, parsed) = version.linted(job, source, nth, args.witness);
        if alone {
            // The process ends soon, and the system takes its memory back faster than each name by itself is given back.
            std::mem::forget(parsed);
        }
        linted
    };
    Ok(modules.map(lint).collect())
}

/// Lints a module, making repairs until there are none left to make. `whole`: all bodies are needed later.
fn repaired(job: &Job, header: &HeaderArgs, source: &Source, repairs: Option<Applicability>, whole: bool) -> Version {
    let lint = |text: &str| {
        let options = &job.settings.options;
        if !header.is_given() && !whole {
            return lint::lint_text(text, options);
        }
        let parsed = header.parse(text);
        let report = lint::lint_with(&parsed, text, options);
        (parsed, report)
    };
    let (parsed, report) = lint(source.text());
    let mut current = Version {
        text: None,
        parsed,
        report,
        repaired: 0,
    };
    let Some(most) = repairs else { return current };
    for _ in 0..ROUNDS {
        let text = current.text.as_deref().unwrap_or(source.text());
        let (text, made) = lint::apply_fixes(text, &current.report.findings, most);
        if made == 0 {
            break;
        }
        let (parsed, report) = lint(&text);
        // A repair that breaks the text is none.
        if parsed.diags.len() > current.parsed.diags.len() {
            break;
        }
        current = Version {
            text: Some(text),
            parsed,
            report,
            repaired: current.repaired + made,
        };
    }
    current
}

/// A text as repaired so far.
struct Version {
    /// `None` for the text as it was read.
    text: Option<String>,
    parsed: Parsed,
    report: Report,
    repaired: usize,
}

impl Version {
    fn linted(self, job: &Job, source: Source, nth: usize, witness: bool) -> (Linted, Parsed) {
        let text = self.text.as_deref().unwrap_or(source.text());
        let fingerprints = lint::fingerprints(&self.parsed, text, &self.report.findings);
        let witnesses = match witness {
            true => witness::search(&self.parsed, &self.report.findings, &job.settings.options.launch),
            false => Vec::new(),
        };
        let origins = match self.report.findings.is_empty() {
            true => Origins::default(),
            false => Origins::new(&self.parsed),
        };
        let (source, original) = match self.text {
            None => (source, None),
            // A repaired text is about as long as the original, which was not too long.
            Some(text) => match Source::new(source.name(), text) {
                Ok(repaired) => (repaired, Some(source.text().to_owned())),
                Err(_) => (source, None),
            },
        };
        let linted = Linted {
            path: job.path.clone(),
            nth,
            source,
            report: self.report,
            fingerprints,
            witnesses,
            origins,
            launch: job.settings.options.launch.clone(),
            baseline: job.settings.baseline.clone(),
            original,
            repaired: self.repaired,
            known: 0,
            waived: Vec::new(),
        };
        (linted, self.parsed)
    }
}
