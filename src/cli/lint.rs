//! `ptxgen lint`: what is wrong with a PTX text, and why.

use super::fragment::HeaderArgs;
use super::launch::LaunchArgs;
use super::report::{Format, Linted, Run};
use super::{Outcome, input, output};
use crate::ptx::lint;
use crate::ptx::source::Source;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  ptxgen lint kernel.ptx
  ptxgen lint --block 256 build/*.ptx
  ptxgen emit rmsnorm-backward --hidden 32 | ptxgen lint -
  ptxgen lint --format json kernel.ptx | jq '.findings[].message'
  cuobjdump -ptx program | ptxgen lint -
  ptxgen lint --relocatable part.ptx       what `ptxas -c` would say
  echo 'shfl.up.b32 %r1, %r2, 1, 0;' | ptxgen lint --target sm_80 -

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

    /// The modules are to be linked: what is declared `.extern` may be defined elsewhere
    #[arg(long)]
    relocatable: bool,

    #[command(flatten)]
    header: HeaderArgs,

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
        match args.header.read(path) {
            Ok(sources) => {
                let linted = sources.into_iter().enumerate();
                run.files.extend(linted.map(|(nth, source)| one(args, source, nth)));
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

/// Lints the `nth` module of a file.
fn one(args: &Args, source: Source, nth: usize) -> Linted {
    let parsed = args.header.parse(source.text());
    let mut report = lint::lint(&parsed, source.text(), &args.launch.launch());
    if args.relocatable {
        report = report.relocatable(&parsed);
    }
    Linted { source, report, nth }
}
