//! Streams: colours, closed pipes, full disks.

use super::run::{command, err, out, status};
use std::fs;
use std::io::Read;
use std::process::Stdio;

const FAULTY: &str = "tests/fixtures/broken.ptx";

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&["lint", "--format", "json", "tests/fixtures/clean.ptx"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(status(&output), 2);
    assert!(
        err(&output).contains("cannot write to standard output"),
        "{}",
        err(&output)
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    // More than a pipe holds, so that the program meets the closed end.
    let files = vec![FAULTY; 200];
    for format in ["human", "json"] {
        let args = [&["lint", "--format", format][..], &files].concat();
        let mut child = command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(status(&output), 1, "{format}: {}", err(&output));
        assert!(!err(&output).contains("pipe"), "{}", err(&output));
    }
}

#[test]
fn colours_go_where_they_are_wanted() {
    let colored = |args: &[&str], environment: &[(&str, &str)]| {
        let args = [args, &["lint", FAULTY]].concat();
        out(&command(&args).envs(environment.iter().copied()).output().unwrap()).contains('\u{1b}')
    };
    assert!(!colored(&[], &[]), "a pipe is no terminal");
    assert!(colored(&["--color", "always"], &[]));
    assert!(
        colored(&["--color", "always"], &[("NO_COLOR", "1")]),
        "what is asked for wins"
    );
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}
