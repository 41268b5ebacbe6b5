//! `ptxgen lint`: what is wrong with a PTX text, and why.

mod baseline;
mod check;
mod config;
mod controls;
mod files;
mod progress;
mod repair;
mod settings;
mod show;

use super::fragment::HeaderArgs;
use super::launch::LaunchArgs;
use super::report::{Format, Run};
use super::{Outcome, input, output};
use baseline::Baselines;
use controls::RuleFlags;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  ptxgen lint kernel.ptx
  ptxgen lint build/ 'out/**/*.ptx'
  ptxgen lint --select BAR,ISA --ignore BAR005 --deny false-uni kernel.ptx
  ptxgen lint --block 256 --format short build/
  ptxgen lint --block 32,8 --grid 64 --param n=4096 kernel.ptx
  ptxgen emit rmsnorm-backward --hidden 32 | ptxgen lint -
  ptxgen lint --format json kernel.ptx | jq '.findings[].message'
  ptxgen lint --format sarif --output lint.sarif build/
  ptxgen lint --baseline known.json --write-baseline build/
  ptxgen lint --diff kernel.ptx
  ptxgen lint --witness --block 256 --grid 8 kernel.ptx
  cuobjdump -ptx program | ptxgen lint -
  ptxgen lint --relocatable part.ptx       what `ptxas -c` would say
  echo 'shfl.up.b32 %r1, %r2, 1, 0;' | ptxgen lint --target sm_80 -

Exit status:
  0  nothing found, or information only
  1  an error, a warning, or a kernel that could not be analysed;
     with --diff: a file that would change
  2  a file that cannot be read or is not PTX (the others are linted all
     the same), or wrong arguments

Levels:
  error    illegal, or wrong on an execution that can be named
  warning  likely wrong, or wrong on a path that may not be taken
  info     legal and worth knowing

`ptxgen explain` lists the codes and explains each.

With --witness, findings of races, barriers, masks, memory and asynchronous work
are tried in the simulator: each says what a run met, and how to run it again, or
that none was found. A witness is a proof for its launch; that there is none proves
nothing, so levels and the exit status are the same as without.

Comments in the text say which findings are meant to be there:
  // ptxgen: allow(BAR001) reason        the next statement, block or function,
                                         or the line where code stands before it
  // ptxgen: allow-file(BAR005) reason   the whole file

ptxgen.yaml, in the folder of a file or above it, says what holds for all:
  lint:
    ignore: [BAR005]
    deny: [false-uni, ISA020]
    block: 256
    exclude: [third_party/]
    baseline: known.json

Findings go to standard output, the summary to standard error.";

/// Report what is illegal, what deadlocks and what races, and why
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// PTX files, folders (all *.ptx below them that .gitignore does not name) or patterns; `-` is standard input
    #[arg(required_unless_present = "show_config", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How findings are shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,

    /// Where they go [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show how often each code was found, not where
    #[arg(long)]
    statistics: bool,

    /// What standard input is called, in findings and for the search of the configuration
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,

    /// Look into files that .gitignore names and hidden ones, too
    #[arg(long)]
    no_ignore: bool,

    /// The modules are to be linked: what is declared `.extern` may be defined elsewhere
    #[arg(long)]
    relocatable: bool,

    /// Run kernels with findings in the simulator, and show the threads that meet them; what is not given of the launch is made up
    #[arg(long)]
    witness: bool,

    #[command(flatten)]
    header: HeaderArgs,

    #[command(flatten)]
    launch: LaunchArgs,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    baseline: BaselineArgs,

    #[command(flatten)]
    repair: RepairArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Configuration")]
struct ConfigArgs {
    /// The configuration [default: the nearest ptxgen.yaml, in the folder of a file or above it]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    isolated: bool,

    /// Show what holds for the files, or for the current folder, and lint nothing
    #[arg(long)]
    show_config: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Known findings")]
struct BaselineArgs {
    /// Report only what this file does not hold
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write what is found into the baseline, for later runs to be silent about
    #[arg(long)]
    write_baseline: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Repairs")]
struct RepairArgs {
    /// Make the repairs that are sure, then report what is left; standard input goes to standard output, repaired
    #[arg(long, group = "repairs", conflicts_with = "write_baseline")]
    fix: bool,

    /// Show what --fix would change as a unified diff, and write nothing
    #[arg(long, group = "repairs", conflicts_with_all = ["fix", "write_baseline", "statistics"])]
    diff: bool,

    /// Also make those that may change what the program does
    #[arg(long, requires = "repairs")]
    unsafe_fixes: bool,
}

/// Lints the files and prints what was found.
///
/// # Errors
/// When the arguments contradict each other, or the report cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if input::reads_stdin_twice(&args.files) {
        anyhow::bail!("standard input (`-`) is named more than once");
    }
    if args.statistics && matches!(args.format, Format::Sarif | Format::Github) {
        anyhow::bail!("--statistics goes with the formats human, short and json");
    }
    // What is wrong with a config file or a baseline is shown with its place.
    match work(args) {
        Ok(outcome) => outcome,
        Err(report) => {
            output::note(&report);
            Ok(Outcome::Failed)
        }
    }
}

/// The outer error is a report on a config file or baseline, ready to be shown.
fn work(args: &Args) -> Result<anyhow::Result<Outcome>, String> {
    let mut settings = settings::Source::new(args)?;
    if args.config.show_config {
        return Ok(show::run(args, &mut settings));
    }
    let found = files::expand(&args.files, !args.no_ignore, &mut settings.configs)?;
    let mut jobs = Vec::with_capacity(found.files.len());
    for path in found.files {
        let settings = settings.of(&path)?;
        jobs.push(check::Job { path, settings });
    }
    let mut run = check::all(&jobs, args);
    for nothing in found.nothing {
        output::complain_of(&nothing.file, &nothing.message);
        run.unreadable.push(nothing);
    }
    let mut baselines = Baselines::new(&run, args.baseline.write_baseline)?;
    if args.baseline.write_baseline {
        return Ok(baselines.write(&run));
    }
    baselines.take_out(&mut run);
    Ok(finish(args, &run))
}

/// Writes repairs and reports.
fn finish(args: &Args, run: &Run) -> anyhow::Result<Outcome> {
    if args.repair.diff {
        return repair::show(run);
    }
    let mut outcome = run.outcome();
    let mut text_on_stdout = false;
    if args.repair.fix {
        let written = repair::write(run)?;
        outcome = outcome.max(written.outcome);
        text_on_stdout = written.to_stdout;
    }
    let report = match args.statistics {
        true => run.statistics(args.format)?,
        false => run.render(args.format)?,
    };
    match &args.output {
        Some(path) => output::write_file(path, &output::plain(&report))?,
        // The repaired text has standard output to itself.
        None if text_on_stdout => output::note(report.trim_end()),
        None => output::print(&report)?,
    }
    if !matches!(args.format, Format::Json | Format::Sarif) && !run.files.is_empty() {
        output::note(&run.summary());
    }
    Ok(outcome)
}
