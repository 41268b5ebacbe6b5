//! The `ptxgen` program: parses the arguments, runs, and maps the outcome to an exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ptxgen::cli::main(std::env::args_os()))
}
