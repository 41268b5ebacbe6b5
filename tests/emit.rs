//! `ptxgen emit` and `ptxgen list` as their users meet them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[allow(dead_code, reason = "other test binaries use the rest")]
#[path = "cli/run.rs"]
mod run;

use run::{command, err, out, ptxgen, ptxgen_reading, status, transcript};
use std::fs;
use std::io::Read;
use std::process::Stdio;

#[test]
fn help_has_examples_and_exit_statuses() {
    insta::assert_snapshot!("emit_help", out(&ptxgen(&["emit", "--help"])));
    insta::assert_snapshot!("list_help", out(&ptxgen(&["list", "--help"])));
}

#[test]
fn the_list_shows_kernels_parameters_and_ranges() {
    insta::assert_snapshot!("list", out(&ptxgen(&["list"])));
    let json = ptxgen(&["list", "--format", "json", "rmsnorm"]);
    let list: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    insta::assert_json_snapshot!("list_json", list);
    let unknown = ptxgen(&["list", "rmsnrm"]);
    assert_eq!(status(&unknown), 2);
    insta::assert_snapshot!(err(&unknown), @"error: there is no kernel `rmsnrm`; there are rmsnorm, rmsnorm-backward, nf4-gemv, fused-rmsnorm-nf4-gemv");
}

#[test]
fn ptx_goes_to_standard_output_and_nothing_to_standard_error() {
    let output = ptxgen(&["emit", "rmsnorm-backward", "--hidden", "32"]);
    assert_eq!((status(&output), err(&output).as_str()), (0, ""));
    let text = out(&output);
    assert!(
        text.contains("\n.target sm_80\n") && text.contains(".visible .entry rms_norm_backward("),
        "{text}"
    );
}

#[test]
fn flags_override_the_spec() {
    let from_spec = out(&ptxgen(&["emit", "--spec", "specs/rmsnorm-odd.yaml"]));
    assert!(
        from_spec.contains("hidden = 33, rows = 7, eps = 1e-5, save = rstd"),
        "{from_spec}"
    );
    assert!(from_spec.contains(".version 7.8\n.target sm_90\n"));
    let args = "emit rmsnorm --spec specs/rmsnorm-odd.yaml --hidden 64 --save none --target sm_120 --ptx 8.8";
    let overridden = out(&ptxgen(&args.split(' ').collect::<Vec<_>>()));
    assert!(
        overridden.contains("hidden = 64, rows = 7, eps = 1e-5, save = none"),
        "{overridden}"
    );
    assert!(overridden.contains(".version 8.8\n.target sm_120\n"));
    let spec = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/specs/rmsnorm-odd.yaml")).unwrap();
    assert_eq!(out(&ptxgen_reading(&["emit", "--spec", "-"], &spec)), from_spec);
}

#[test]
fn what_cannot_be_emitted_is_status_2_and_one_line() {
    let mut lines = String::new();
    for args in [
        "emit softmax",
        "emit rmsnorm --hidden 0",
        "emit rmsnorm --hidden -3",
        "emit rmsnorm --hidden many",
        "emit rmsnorm --eps nan",
        "emit rmsnorm --save all",
        "emit nf4-gemv --k 100",
        "emit nf4-gemv --hidden 32",
        "emit nf4-gemv --spec specs/rmsnorm.yaml",
        "emit --spec specs/missing.yaml",
        "emit rmsnorm --target sm_20",
        "emit rmsnorm --target sm_90 --ptx 7.0",
        "emit rmsnorm --ptx 8.9",
        "emit rmsnorm -o no/such/folder/k.ptx",
        "emit rmsnorm --launch -",
    ] {
        let output = ptxgen(&args.split(' ').collect::<Vec<_>>());
        assert_eq!((status(&output), out(&output).as_str()), (2, ""), "{args}");
        lines += &format!("$ ptxgen {args}\n{}", err(&output));
    }
    insta::assert_snapshot!("refused", lines);
    for args in [
        &["emit"][..],
        &["emit", "rmsnorm", "--target", "sm_91"],
        &["emit", "rmsnorm", "--ptx", "8"],
    ] {
        let output = ptxgen(args);
        assert_eq!((status(&output), out(&output).as_str()), (2, ""), "{args:?}");
    }
}

/// Specs with one thing wrong each.
const BAD_SPECS: &[&str] = &[
    "",
    "kernel:\n",
    "kernel: [rmsnorm]\n",
    "kernel: softmax\n",
    "target: sm_90\n",
    "kernel: rmsnorm\ntargt: sm_90\n",
    "kernel:\n  rmsnorm:\n    hidden: 64\n  nf4-gemv:\n    k: 64\n",
    "kernel:\n  rmsnorm: 64\n",
    "kernel:\n  rmsnorm:\n    hiden: 64\n",
    "kernel:\n  rmsnorm:\n    hidden: 70000\n",
    "kernel: { nf4-gemv: { k: 100 } }\n",
    "kernel:\n  rmsnorm:\n\thidden: 64\n",
    "kernel:\n  rmsnorm:\n    hidden: -1\n",
    "kernel:\n  rmsnorm:\n    hidden: 64.5\n",
    "kernel:\n  rmsnorm:\n    hidden: sixty # \u{fc}\n",
    "kernel:\n  rmsnorm:\n    hidden: [64]\n",
    "kernel:\n  rmsnorm:\n    hidden: 64\n    rows: 2\n    hidden: 65\n",
    "kernel:\n  rmsnorm:\n    eps: .nan\n",
    "kernel:\n  rmsnorm:\n    save: yes\n",
    "kernel: rmsnorm\ntarget: sm_91\n",
    "kernel: rmsnorm\ntarget: 90\n",
    "kernel: rmsnorm\nptx: 8.10\n",
    "kernel: rmsnorm\nptx: 8\n",
    "kernel: rmsnorm\nptx: [8, 0]\n",
    "kernel: { rmsnorm: { hidden: 64 }\n",
    "kernel: rmsnorm\n---\nkernel: rmsnorm\n",
    "kernel: *rmsnorm\n",
];

#[test]
fn errors_in_specs_are_shown_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spec.yaml");
    let mut reports = String::new();
    for spec in BAD_SPECS {
        fs::write(&path, spec).unwrap();
        let mut command = command(&["emit", "--spec", "spec.yaml"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert_eq!((status(&output), out(&output).as_str()), (2, ""), "{spec:?}");
        reports += &err(&output);
        reports += "\n";
    }
    insta::assert_snapshot!("bad_specs", reports.replace('\t', "<TAB>"));
}

#[test]
fn versions_are_read_as_they_are_written() {
    for (ptx, version) in [("8.0", "8.0"), ("\"8.0\"", "8.0"), ("'7.4'", "7.4"), ("8.8", "8.8")] {
        let spec = format!("kernel: {{ rmsnorm: }}\nptx: {ptx}\n");
        let text = out(&ptxgen_reading(&["emit", "--spec", "-"], spec.as_bytes()));
        assert!(text.contains(&format!(".version {version}\n")), "{ptx}");
    }
}

#[test]
fn the_launch_file_says_how_to_launch_every_entry() {
    let folder = tempfile::tempdir().unwrap();
    let args = "emit rmsnorm-backward --hidden 33 --rows 5 --saved none -o k.ptx --launch launch.json";
    let mut command = command(&args.split(' ').collect::<Vec<_>>());
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(transcript(&output), "status: 0\n--- stdout\n--- stderr\n");
    let text = fs::read_to_string(folder.path().join("k.ptx")).unwrap();
    assert!(text.ends_with("ret;\n}\n"));
    let launch = fs::read_to_string(folder.path().join("launch.json")).unwrap();
    let launch: serde_json::Value = serde_json::from_str(&launch).unwrap();
    insta::assert_json_snapshot!("launch", launch);
    let to_stdout = ptxgen(&["emit", "rmsnorm", "-o", "/dev/null", "--launch", "-"]);
    let launch: serde_json::Value = serde_json::from_str(&out(&to_stdout)).unwrap();
    assert_eq!(launch["entries"][0]["name"], "rms_norm");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut command = command(&["emit", "nf4-gemv"]);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((status(&output), err(&output).as_str()), (0, ""));
}
