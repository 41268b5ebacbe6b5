//! `ptxgen fmt`: canonical layout, nothing else changed.

use super::{Outcome, input, listing, output};
use crate::ptx::diag::Diag;
use crate::ptx::source::Source;
use crate::ptx::{format, parse};
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  ptxgen fmt kernel.ptx                 rewrite the file
  ptxgen fmt --check build/*.ptx        name the files that would change
  ptxgen fmt --diff kernel.ptx          show what would change
  cat kernel.ptx | ptxgen fmt - > out.ptx

Exit status:
  0  done; with --check or --diff: nothing would change
  1  with --check or --diff: something would
  2  a file that cannot be read, written or parsed (the others are
     formatted all the same), or wrong arguments

Only blanks change: every token keeps its spelling and every comment its
place. The output goes through once more unchanged.";

/// Bring PTX into canonical layout
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// PTX files, rewritten in place; `-` is standard input, written to standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write nothing; name the files that would change
    #[arg(long)]
    check: bool,

    /// Write nothing; show what would change as a unified diff
    #[arg(long)]
    diff: bool,
}

/// Formats the files.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if input::reads_stdin_twice(&args.files) {
        anyhow::bail!("standard input (`-`) is named more than once");
    }
    let mut worst = Outcome::Clean;
    for path in &args.files {
        worst = worst.max(one(path, args)?);
    }
    Ok(worst)
}

fn one(path: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let formatted = input::read(path).and_then(|source| match formatted(&source) {
        Ok(text) => Ok((source, text)),
        Err(message) => Err(input::Unreadable {
            file: source.name().to_owned(),
            message,
        }),
    });
    let (source, text) = match formatted {
        Ok(both) => both,
        Err(unreadable) => {
            output::complain_of(&unreadable.file, &unreadable.message);
            return Ok(Outcome::Failed);
        }
    };
    let changed = text != source.text();
    if args.diff && changed {
        output::print(&output::diff(source.name(), source.text(), &text))?;
    }
    if args.check && changed {
        output::note(&format!("{} would change", output::printable(source.name())));
    }
    if args.check || args.diff {
        return Ok(if changed { Outcome::Findings } else { Outcome::Clean });
    }
    if path.as_os_str() == input::STDIN {
        output::print(&text)?;
    } else if changed && let Err(error) = output::write_file(path, &text) {
        output::complain(&format!("{error:#}"));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Clean)
}

/// The text in canonical layout.
///
/// # Errors
/// Why a text with errors is left alone.
fn formatted(source: &Source) -> Result<String, String> {
    if listing::is_listing(source.text()) && listing::count(source.text()) != 1 {
        return Err("not formatted: it is a listing of several modules; `cuobjdump -xptx all` extracts each".into());
    }
    let diags = parse::parse(source.text()).diags;
    match diags.iter().min_by_key(|diag| diag.span) {
        None => Ok(format::format(source.text())),
        Some(Diag { span, message, .. }) => {
            let at = source.position(span.start);
            let rest = diags.len() - 1;
            let more = if rest > 0 {
                format!(" ({rest} more errors: see `ptxgen lint`)")
            } else {
                String::new()
            };
            Err(format!("not formatted: {at}: {message}{more}"))
        }
    }
}
