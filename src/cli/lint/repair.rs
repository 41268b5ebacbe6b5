//! Puts repaired texts where they belong, or shows what would change.

use crate::cli::input::STDIN;
use crate::cli::report::{Linted, Run};
use crate::cli::{Outcome, output};
use std::fs;

/// What became of the repaired texts.
pub struct Written {
    /// Failed if one could not be written.
    pub outcome: Outcome,
    /// Whether standard output holds a text.
    pub to_stdout: bool,
}

/// Writes the texts that were repaired. Standard input goes to standard output, repaired or not.
///
/// # Errors
/// When standard output cannot be written.
pub fn write(run: &Run) -> anyhow::Result<Written> {
    let mut written = Written {
        outcome: Outcome::Clean,
        to_stdout: false,
    };
    for file in &run.files {
        if file.path.as_os_str() == STDIN {
            output::print(file.source.text())?;
            written.to_stdout = true;
        } else if let Some(original) = &file.original
            && let Err(why) = replace(file, original)
        {
            output::complain_of(file.source.name(), &why);
            written.outcome = Outcome::Failed;
        }
    }
    Ok(written)
}

fn replace(file: &Linted, original: &str) -> Result<(), String> {
    let bytes = fs::read(&file.path).map_err(|error| format!("not repaired: {error}"))?;
    let mark = b"\xef\xbb\xbf";
    let plain = bytes.strip_prefix(mark).unwrap_or(&bytes);
    // What was read may not be what is there: bytes that are no UTF-8 were replaced, NULs dropped. They must not be lost.
    if plain != original.as_bytes() {
        return Err("not repaired: it holds bytes that are no UTF-8, or has changed since it was read".to_owned());
    }
    let text = match plain.len() < bytes.len() {
        true => format!("\u{feff}{}", file.source.text()),
        false => file.source.text().to_owned(),
    };
    output::write_file(&file.path, &text).map_err(|error| format!("{error:#}"))
}

/// Prints what would change.
///
/// # Errors
/// When standard output cannot be written.
pub fn show(run: &Run) -> anyhow::Result<Outcome> {
    let mut outcome = match run.unreadable.is_empty() {
        true => Outcome::Clean,
        false => Outcome::Failed,
    };
    for file in &run.files {
        if let Some(original) = &file.original {
            output::print(&output::diff(file.source.name(), original, file.source.text()))?;
            outcome = outcome.max(Outcome::Findings);
        }
    }
    Ok(outcome)
}
