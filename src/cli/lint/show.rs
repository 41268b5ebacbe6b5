//! `--show-config`: what holds for a file, as a configuration that says the same.

use super::Args;
use super::config::NAME;
use super::settings::{Settings, Source};
use crate::cli::{Outcome, output};
use crate::ptx::diag::Level;
use crate::ptx::lint::{Entry, Selection, catalogue};
use std::fmt::Write;
use std::path::PathBuf;

/// Prints the settings of each argument, or of the current folder.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args, source: &mut Source) -> anyhow::Result<Outcome> {
    let here = [PathBuf::from(".")];
    let files = match args.files.as_slice() {
        [] => &here[..],
        files => files,
    };
    let mut out = String::new();
    for path in files {
        // What a folder holds is what is asked about, not the folder's own place.
        let place = match path.is_dir() {
            true => path.join(NAME),
            false => path.clone(),
        };
        match source.of(&place) {
            Ok(settings) => describe(&path.display().to_string(), &settings, &mut out),
            Err(report) => {
                output::note(&report);
                return Ok(Outcome::Failed);
            }
        }
    }
    output::print(&out)?;
    Ok(Outcome::Clean)
}

/// Writing to a string cannot fail.
fn describe(name: &str, settings: &Settings, out: &mut String) {
    let config = match &settings.config.file {
        Some(file) => file.display().to_string(),
        None => "no configuration".to_owned(),
    };
    let (name, config) = (output::printable(name), output::printable(&config));
    let _ = writeln!(out, "# {name}: {config}, and the command line\nlint:");
    let size = |size: [u32; 3]| format!("{},{},{}", size[0], size[1], size[2]);
    for (key, value) in [
        ("block", settings.options.launch.block),
        ("grid", settings.options.launch.grid),
    ] {
        if let Some(value) = value {
            let _ = writeln!(out, "  {key}: {}", size(value));
        }
    }
    let params = &settings.options.launch.params;
    if !params.is_empty() {
        out.push_str("  param:\n");
    }
    for given in params.iter() {
        let _ = writeln!(out, "    {}: {}", quoted(&given.name), given.value as i64);
    }
    if let Some(baseline) = &settings.baseline {
        let _ = writeln!(out, "  baseline: {}", quoted(&baseline.display().to_string()));
    }
    if !settings.config.exclude.is_empty() {
        out.push_str("  exclude:\n");
        for pattern in &settings.config.exclude {
            let _ = writeln!(out, "    - {}", quoted(pattern));
        }
    }
    rules(&settings.options.selection, out);
}

/// Writes the lists of codes: those that report, then those whose level is set.
fn rules(selection: &Selection, out: &mut String) {
    let mut list = |key: &str, wanted: &dyn Fn(&Entry) -> bool| {
        let entries: Vec<_> = catalogue().iter().filter(|entry| wanted(entry)).collect();
        if !entries.is_empty() {
            let _ = writeln!(out, "  {key}:");
        }
        for entry in &entries {
            let _ = writeln!(out, "    - {} # {}", entry.code.id, entry.code.name);
        }
        !entries.is_empty()
    };
    let is_on = |entry: &Entry| selection.is_on(entry.code);
    if !list("select", &is_on) {
        let _ = writeln!(out, "  ignore: ALL");
        return;
    }
    // Selecting others does not turn these off.
    list("ignore", &|entry| entry.group() == "SYN" && !is_on(entry));
    for (key, level) in [("deny", Level::Error), ("warn", Level::Warning)] {
        list(key, &|entry| is_on(entry) && selection.level(entry.code) == Some(level));
    }
}

/// The word as YAML takes it whatever it holds.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "''"))
}
