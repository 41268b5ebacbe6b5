//! Running the program.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const PTXGEN: &str = env!("CARGO_BIN_EXE_ptxgen");

/// The program, run from the project's root in an environment that says nothing about colours.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(PTXGEN);
    command
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program without input.
pub fn ptxgen(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// Runs the program with that on its standard input.
pub fn ptxgen_reading(args: &[&str], input: &[u8]) -> Output {
    let mut command = command(args);
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // A program that does not read its input closes the pipe; that is its right.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The exit status.
pub fn status(output: &Output) -> i32 {
    output.status.code().expect("ended by a signal")
}

/// What went to standard output.
pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What went to standard error.
pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Status and both streams, for snapshots.
pub fn transcript(output: &Output) -> String {
    format!(
        "status: {}\n--- stdout\n{}--- stderr\n{}",
        status(output),
        out(output),
        err(output)
    )
}
