//! `ptxgen lint`: what is wrong with a PTX text, and why.

use super::launch::LaunchArgs;
use super::report::{Format, Linted, Run};
use super::{Outcome, input, output};
use crate::ptx::{lint, parse};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  ptxgen lint kernel.ptx
  ptxgen lint --block 256 build/*.ptx
  ptxgen emit rmsnorm-backward --hidden 32 | ptxgen lint -
  ptxgen lint --format json kernel.ptx | jq '.findings[].message'

Exit status:
  0  nothing found, or information only
  1  an error, a warning, or a kernel that could not be analysed
  2  a file that cannot be read or is not PTX (the others are linted all
     the same), or wrong arguments

Levels:
  error    illegal, or wrong on an execution that can be named
  warning  likely wrong, or wrong on a path that may not be taken
  info     legal and worth knowing

Findings go to standard output, the summary to standard error.";

/// Report what is illegal, what deadlocks and what races, and why
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// PTX files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How findings are shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,

    #[command(flatten)]
    launch: LaunchArgs,
}

/// Lints the files and prints what was found.
///
/// # Errors
/// When the report cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if input::reads_stdin_twice(&args.files) {
        anyhow::bail!("standard input (`-`) is named more than once");
    }
    let mut run = Run::default();
    for path in &args.files {
        match input::read(path) {
            Ok(source) => {
                let report = lint::lint(&parse::parse(source.text()), source.text(), &args.launch.launch());
                run.files.push(Linted { source, report });
            }
            Err(unreadable) => {
                output::complain_of(&unreadable.file, &unreadable.message);
                run.unreadable.push(unreadable);
            }
        }
    }
    output::print(&run.render(args.format)?)?;
    if args.format != Format::Json && !run.files.is_empty() {
        output::note(&run.summary());
    }
    Ok(run.outcome())
}
