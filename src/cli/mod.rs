//! The command line: arguments in, products to standard output, everything else to standard error.
//!
//! A subcommand is one file with `Args` and `run`, one line in `Command` and one in `Command::run`.

mod completions;
mod emit;
mod explain;
mod fmt;
mod fragment;
mod input;
mod interrupt;
mod launch;
mod lint;
mod list;
mod listing;
mod output;
mod params;
mod report;
mod run;
mod sniff;
mod targets;
mod verify;

use clap::{ColorChoice, Parser, Subcommand};
use std::ffi::OsString;

/// What a run that did not fail as a whole came to. Later ones are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Done, and nothing to complain about.
    Clean,
    /// Done, and there is something to look at.
    Findings,
    /// Some of the work could not be done; what and why has been said already.
    Failed,
    /// Ended by Ctrl-C before it was done.
    Interrupted,
}

impl Outcome {
    /// The exit status that tells it to the caller.
    pub fn status(self) -> u8 {
        match self {
            Outcome::Clean => 0,
            Outcome::Findings => 1,
            Outcome::Failed => 2,
            // As shells say of a program that this signal has ended: 128 and the signal's number.
            Outcome::Interrupted => 130,
        }
    }
}

const AFTER_HELP: &str = "\
Examples:
  ptxgen list
  ptxgen emit rmsnorm-backward --hidden 32 -o kernel.ptx
  ptxgen lint kernel.ptx
  ptxgen targets kernel.ptx

Exit status:
  0  clean
  1  findings
  2  could not do it: wrong arguments, a file that cannot be read or written

What a command produces goes to standard output, everything else to standard error.
`ptxgen help COMMAND` shows a command's options, with more examples.";

/// A PTX compiler and inspector that needs no GPU: emits kernels, lints any PTX.
#[derive(Debug, Parser)]
#[command(name = "ptxgen", version, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    /// When to colour what people read; NO_COLOR is honoured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Emit(emit::Args),
    List(list::Args),
    Lint(lint::Args),
    Fmt(fmt::Args),
    Explain(explain::Args),
    Completions(completions::Args),
    Targets(targets::Args),
    Run(Box<run::Args>),
    Verify(Box<verify::Args>),
}

impl Command {
    fn run(&self) -> anyhow::Result<Outcome> {
        match self {
            Command::Emit(args) => emit::run(args),
            Command::List(args) => list::run(args),
            Command::Lint(args) => lint::run(args),
            Command::Fmt(args) => fmt::run(args),
            Command::Explain(args) => explain::run(args),
            Command::Completions(args) => completions::run(args),
            Command::Targets(args) => targets::run(args),
            Command::Run(args) => run::run(args),
            Command::Verify(args) => verify::run(args),
        }
    }
}

/// Runs the program with these arguments, its own name first, and returns its exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to tell if this cannot be written.
            let _ = error.print();
            return u8::from(error.exit_code() != 0) * Outcome::Failed.status();
        }
    };
    set_color(cli.color);
    match cli.command.run() {
        Ok(outcome) => outcome.status(),
        Err(error) => {
            output::complain(&format!("{error:#}"));
            Outcome::Failed.status()
        }
    }
}

/// Tells every stream of this process when to colour.
fn set_color(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn worse_outcomes_are_greater() {
        assert!(Outcome::Clean < Outcome::Findings && Outcome::Findings < Outcome::Failed);
        assert!(Outcome::Failed < Outcome::Interrupted);
    }
}
