//! `emit` and `list`: from the registry to text.

use super::run::{err, out, ptxgen, ptxgen_reading, status};
use ptxgen::kernels::KERNELS;
use std::fs;

#[test]
fn every_kernel_is_emitted_and_lints_clean() {
    for kernel in KERNELS {
        let emitted = ptxgen(&["emit", kernel.name]);
        assert_eq!((status(&emitted), err(&emitted).as_str()), (0, ""), "{}", kernel.name);
        let linted = ptxgen_reading(&["lint", "--format", "short", "-"], &emitted.stdout);
        assert_eq!(
            (status(&linted), out(&linted).as_str()),
            (0, ""),
            "{}: {}",
            kernel.name,
            err(&linted)
        );
    }
}

#[test]
fn a_file_gets_what_standard_output_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    let output = ptxgen(&[
        "emit",
        "rmsnorm-backward",
        "--hidden",
        "32",
        "-o",
        path.to_str().unwrap(),
    ]);
    assert_eq!(
        (status(&output), out(&output).as_str(), err(&output).as_str()),
        (0, "", "")
    );
    let printed = out(&ptxgen(&["emit", "rmsnorm-backward", "--hidden", "32"]));
    assert_eq!(fs::read_to_string(&path).unwrap(), printed);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn a_refused_kernel_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, "precious").unwrap();
    let output = ptxgen(&["emit", "rmsnorm", "--hidden", "0", "-o", path.to_str().unwrap()]);
    assert_eq!(status(&output), 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn errors_name_what_is_wrong_and_what_is_allowed() {
    let mut lines = String::new();
    for args in [
        &["emit", "rmsnrom"][..],
        &["emit", "rmsnorm", "--hidden", "0"],
        &["emit", "rmsnorm", "--hidden", "many"],
        &["emit", "rmsnorm", "--nibble-order", "low"],
        &["emit", "--spec", "specs/none.yaml"],
        &["emit", "rmsnorm", "--spec", "specs/nf4-gemv.yaml"],
        &["emit", "rmsnorm", "-o", "no/such/folder/k.ptx"],
        &["list", "nothing"],
    ] {
        let output = ptxgen(args);
        assert_eq!((status(&output), out(&output).as_str()), (2, ""), "{args:?}");
        lines += &err(&output);
    }
    insta::with_settings!({ snapshot_path => "../snapshots" }, { insta::assert_snapshot!("emit_errors", lines) });
}

#[test]
fn list_names_every_kernel() {
    let (people, programs) = (out(&ptxgen(&["list"])), out(&ptxgen(&["list", "--format", "json"])));
    let json: serde_json::Value = serde_json::from_str(&programs).unwrap();
    let names: Vec<_> = json["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| kernel["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, KERNELS.iter().map(|kernel| kernel.name).collect::<Vec<_>>());
    assert!(names.iter().all(|name| people.contains(name)));
}
