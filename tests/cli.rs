//! The program as its users meet it: arguments, streams, exit statuses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "cli/controls.rs"]
mod controls;
#[path = "cli/dialects.rs"]
mod dialects;
#[path = "cli/emit.rs"]
mod emit;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/fmt.rs"]
mod fmt;
#[path = "cli/formats.rs"]
mod formats;
#[cfg(target_os = "linux")]
#[path = "cli/interrupts.rs"]
mod interrupts;
#[path = "cli/json.rs"]
mod json;
#[path = "cli/origins.rs"]
mod origins;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/repair.rs"]
mod repair;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/schema.rs"]
mod schema;
#[path = "cli/simulate.rs"]
mod simulate;
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/targets.rs"]
mod targets;
#[path = "cli/verify.rs"]
mod verify;
#[path = "cli/witness.rs"]
mod witness;

use run::{command, err, out, ptxgen, ptxgen_reading, status, transcript};
use std::fs;
use std::path::Path;
use std::process::Output;

#[test]
fn help_and_version_succeed_on_standard_output() {
    for args in [
        &["--help"][..],
        &["help"],
        &["--version"],
        &["lint", "--help"],
        &["help", "lint"],
    ] {
        let output = ptxgen(args);
        assert_eq!((status(&output), err(&output).as_str()), (0, ""), "{args:?}");
    }
    insta::assert_snapshot!("help", out(&ptxgen(&["--help"])));
    for name in ["emit", "list", "lint", "targets", "explain", "run", "verify"] {
        insta::assert_snapshot!(format!("help_{name}"), out(&ptxgen(&[name, "--help"])));
    }
}

#[test]
fn every_subcommand_shows_examples_and_exit_statuses() {
    let help = out(&ptxgen(&["--help"]));
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let names: Vec<_> = commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() >= 3, "{help}");
    for name in names {
        let help = out(&ptxgen(&[name, "--help"]));
        assert!(
            help.contains("Examples:") && help.contains("Exit status:"),
            "{name}: {help}"
        );
    }
}

#[test]
fn wrong_arguments_are_status_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["lint"],
        &["lint", "--format", "xml", "tests/fixtures/clean.ptx"],
        &["lint", "--block", "0", "tests/fixtures/clean.ptx"],
        &["lint", "--block", "32,33", "tests/fixtures/clean.ptx"],
        &["lint", "--grid", "1,65536", "tests/fixtures/clean.ptx"],
        &["lint", "-", "-"],
    ] {
        let output = ptxgen(args);
        assert_eq!(status(&output), 2, "{args:?}");
        assert_eq!(out(&output), "", "{args:?}");
        assert_ne!(err(&output), "", "{args:?}");
    }
    insta::assert_snapshot!(err(&ptxgen(&["lint", "--block", "1025", "x.ptx"])), @"
    error: invalid value '1025' for '--block <X[,Y[,Z]]>': X is `1025`; it must be a number from 1 to 1024

    For more information, try '--help'.
    ");
}

/// Lints bytes as the file `in.ptx`.
fn lint_bytes(bytes: &[u8]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.ptx"), bytes).unwrap();
    command(&["lint", "in.ptx"])
        .current_dir(folder.path())
        .output()
        .unwrap()
}

#[test]
fn what_is_no_ptx_is_one_helpful_line_and_status_2() {
    let inputs: [&[u8]; 7] = [
        b"",
        b"<?xml version=\"1.0\"?>\n<a/>\n",
        b"#include <stdio.h>\nint main(void) { return 0; }\n",
        b"\x7fELF\x02\x01\x01\0\0",
        b"\xff\xfe.\0v\0",
        b".version 8.0\n\0\0.target sm_80\n",
        b"hello, world\n",
    ];
    let mut lines = String::new();
    for input in inputs {
        let output = lint_bytes(input);
        assert_eq!((status(&output), out(&output).as_str()), (2, ""));
        assert_eq!(err(&output).lines().count(), 1);
        lines += &err(&output);
    }
    insta::assert_snapshot!(lines, @"
    in.ptx: error: is empty
    in.ptx: error: looks like markup (XML or HTML), not PTX
    in.ptx: error: looks like C, C++ or CUDA source, not PTX; `nvcc -ptx` compiles it to PTX
    in.ptx: error: is an ELF file, not PTX text; if it is a cubin or a program, `cuobjdump -ptx` extracts the PTX in it
    in.ptx: error: is UTF-16 text; convert it to UTF-8
    in.ptx: error: is binary (a NUL byte at offset 13), not PTX text
    in.ptx: error: no PTX in it: a module starts with `.version` and `.target`
    ");
}

#[test]
fn files_that_cannot_be_read_do_not_stop_the_others() {
    let output = ptxgen(&[
        "lint",
        "tests/fixtures/none.ptx",
        "tests/fixtures/clean.ptx",
        "tests/cli",
    ]);
    insta::assert_snapshot!(transcript(&output));
}

#[test]
fn standard_input_is_read() {
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/clean.ptx")).unwrap();
    let output = ptxgen_reading(&["lint", "-"], &text);
    insta::assert_snapshot!(transcript(&output));
    let output = ptxgen_reading(&["lint", "-"], b"");
    assert_eq!(
        (status(&output), err(&output).as_str()),
        (2, "<stdin>: error: is empty\n")
    );
}

#[test]
fn places_are_right_behind_marks_tabs_wide_letters_and_windows_line_ends() {
    // Latin-1 in a comment, a byte-order mark, tabs and CRLF: the label is character 14 of line 6.
    let text = b"\xef\xbb\xbf.version 7.0\r\n.target sm_80 // \xe9\r\n.address_size 64\r\n.entry k()\r\n{\r\n\
                 \t/* \xc3\xbc */\tbra $x;\r\n}\r\n\0";
    let output = lint_bytes(text);
    assert_eq!(status(&output), 1);
    insta::assert_snapshot!(out(&output), @"
    error[SYN007 undefined-label]: `$x` is no label of this function
     --> in.ptx:6:14
      |
    6 |     /* ü */    bra $x;
      |                    ^^
    ");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.ptx"), text).unwrap();
    let short = command(&["lint", "--format", "short", "in.ptx"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    insta::assert_snapshot!(out(&short), @"in.ptx:6:14: error[SYN007 undefined-label]: `$x` is no label of this function");
}

#[test]
fn broken_text_is_reported_with_reasons() {
    insta::assert_snapshot!("broken", transcript(&ptxgen(&["lint", "tests/fixtures/broken.ptx"])));
    let json = ptxgen(&["lint", "--format", "json", "tests/fixtures/broken.ptx"]);
    let report: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    insta::assert_json_snapshot!("broken_json", report);
}
