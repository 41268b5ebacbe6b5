//! `ptxgen completions`: scripts by which a shell completes commands and flags.

use super::{Cli, Outcome, output};
use clap::CommandFactory;
use clap_complete::Shell;

const AFTER_HELP: &str = "\
Examples:
  ptxgen completions bash > ~/.local/share/bash-completion/completions/ptxgen
  ptxgen completions zsh > ~/.zfunc/_ptxgen
  ptxgen completions fish > ~/.config/fish/completions/ptxgen.fish

Exit status:
  0  printed
  2  there is no such shell";

/// Print a shell's completion script
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Clean)
}
