//! `ptxgen verify` as its users meet it.

use super::json::schema;
use super::run::{err, out, ptxgen, status};
use super::schema::violations;
use serde_json::Value;
use std::fs;

const PTX: &str = "tests/contracts/saxpy.ptx";
const CONTRACT: &str = "tests/contracts/saxpy.yaml";

fn edited(from: &str, to: &str) -> (tempfile::TempDir, String) {
    let text = fs::read_to_string(PTX).unwrap();
    assert!(text.contains(from));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saxpy.ptx");
    fs::write(&path, text.replace(from, to)).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn a_kernel_that_keeps_its_contract_is_clean() {
    let output = ptxgen(&["verify", "--ptx", PTX, "--contract", CONTRACT]);
    assert_eq!((status(&output), err(&output).as_str()), (0, ""));
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("verify_saxpy", out(&output));
    });
}

#[test]
fn the_exit_status_tells_broken_from_not_tried() {
    let (_folder, wrong) = edited("fma.rn.f32", "add.rn.f32 %f2, %f2, %f2; fma.rn.f32");
    let output = ptxgen(&["verify", "--ptx", &wrong, "--contract", CONTRACT]);
    assert_eq!(status(&output), 1);
    assert!(out(&output).contains("BROKEN"), "{}", out(&output));
    let (_folder, endless) = edited("@%p bra done;", "again: bra again;");
    let output = ptxgen(&["verify", "--ptx", &endless, "--contract", CONTRACT, "--budget", "10000"]);
    assert_eq!(status(&output), 2);
    assert!(out(&output).contains("not tried: the budget"), "{}", out(&output));
}

#[test]
fn faults_are_findings_with_their_place() {
    let (_folder, overrun) = edited("@%p bra done;", "");
    let output = ptxgen(&["verify", "--ptx", &overrun, "--contract", CONTRACT, "--format", "short"]);
    assert_eq!(status(&output), 1);
    assert!(out(&output).contains("saxpy.ptx:35:"), "{}", out(&output));
}

#[test]
fn json_keeps_to_its_schema() {
    let (_folder, overrun) = edited("@%p bra done;", "");
    for file in [PTX, &overrun] {
        let output = ptxgen(&["verify", "--ptx", file, "--contract", CONTRACT, "--format", "json"]);
        let report: Value = serde_json::from_str(&out(&output)).unwrap();
        let schema = schema("verify");
        assert_eq!(violations(&schema, &schema, &report, "$"), Vec::<String>::new());
        assert_eq!(report["findings"].as_array().unwrap().is_empty(), file == PTX);
        assert_eq!(report["contracts"][0]["claims"][0]["claim"], "SAXPY-001");
    }
}

/// The results of a log, which keeps to the public schema.
fn results(args: &[&str]) -> (i32, Vec<Value>, Value) {
    let output = ptxgen(&[&["verify", "--format", "sarif"], args].concat());
    let log: Value = serde_json::from_str(&out(&output)).unwrap();
    let schema = super::formats::public_schema();
    assert_eq!(violations(&schema, &schema, &log, "$"), Vec::<String>::new());
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap().clone();
    (status(&output), results, run["invocations"][0].clone())
}

#[test]
fn a_broken_claim_is_a_result_where_the_contract_makes_it() {
    let (code, none, invocation) = results(&["--ptx", PTX, "--contract", CONTRACT]);
    assert_eq!(
        (code, none.len(), &invocation["executionSuccessful"]),
        (0, 0, &true.into())
    );
    let (_folder, wrong) = edited("fma.rn.f32", "add.rn.f32 %f2, %f2, %f2; fma.rn.f32");
    let (code, broken, invocation) = results(&["--ptx", &wrong, "--contract", CONTRACT]);
    assert_eq!((code, &invocation["executionSuccessful"]), (1, &true.into()));
    let contract = fs::read_to_string(CONTRACT).unwrap();
    let line = contract.lines().position(|line| line.contains("SAXPY-001")).unwrap() + 1;
    let result = broken
        .iter()
        .find(|result| result["message"]["text"].as_str().unwrap().contains("`SAXPY-001`"));
    let result = result.unwrap();
    assert_eq!(result["ruleId"], "RUN004");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], CONTRACT);
    assert_eq!(place["region"]["startLine"], line);
    assert!(
        result["message"]["text"].as_str().unwrap().contains("\nfirst: "),
        "{result}"
    );
    let output = ptxgen(&["verify", "--format", "github", "--ptx", &wrong, "--contract", CONTRACT]);
    let expected = format!("::error file={CONTRACT},line={line},endLine={line},col=");
    assert!(out(&output).contains(&expected), "{}", out(&output));
    assert!(
        out(&output).contains(",title=RUN004 broken-claim::"),
        "{}",
        out(&output)
    );
}

#[test]
fn a_fault_is_a_result_in_the_text_and_what_is_not_tried_is_no_success() {
    let (_folder, overrun) = edited("@%p bra done;", "");
    let (code, found, _) = results(&["--ptx", &overrun, "--contract", CONTRACT]);
    assert_eq!(code, 1);
    let faults = found.iter().filter(|result| result["ruleId"] == "MEM002");
    let places: Vec<&Value> = faults
        .map(|result| &result["locations"][0]["physicalLocation"])
        .collect();
    let uri = |place: &Value| place["artifactLocation"]["uri"].as_str().unwrap().to_owned();
    assert!(
        places.iter().all(|place| uri(place).ends_with("saxpy.ptx")),
        "{places:?}"
    );
    assert!(
        places.iter().any(|place| place["region"]["startLine"] == 35),
        "{places:?}"
    );
    let (_folder, endless) = edited("@%p bra done;", "again: bra again;");
    let args = ["--ptx", &endless, "--contract", CONTRACT, "--budget", "10000"];
    let (code, _, invocation) = results(&args);
    assert_eq!((code, &invocation["executionSuccessful"]), (2, &false.into()));
    let notes = invocation["toolExecutionNotifications"].to_string();
    assert!(
        notes.contains("the budget of 10000") && notes.contains("`SAXPY-001` was not tried"),
        "{notes}"
    );
    let output = ptxgen(&[&["verify", "--format", "github"], &args[..]].concat());
    assert!(
        out(&output).contains("title=not checked::`SAXPY-001` was not tried"),
        "{}",
        out(&output)
    );
}

#[test]
fn specs_and_flags_say_which_shape() {
    let output = ptxgen(&[
        "verify", "rmsnorm", "--hidden", "8", "--rows", "2", "--save", "rms", "--eps", "1e-5",
    ]);
    assert_eq!(status(&output), 0, "{}", out(&output));
    assert!(out(&output).contains("hidden 8, rows 2, save rms"), "{}", out(&output));
    let output = ptxgen(&["verify", "--spec", "specs/rmsnorm-odd.yaml"]);
    assert_eq!(status(&output), 0, "{}", out(&output));
    assert!(
        out(&output).contains("hidden 33, rows 7, save rstd"),
        "{}",
        out(&output)
    );
    let output = ptxgen(&["verify", "rmsnorm", "--k", "64"]);
    assert_eq!(status(&output), 2);
    assert!(err(&output).contains("has no --k"), "{}", err(&output));
}

#[test]
fn a_contract_that_cannot_be_read_shows_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.yaml");
    fs::write(&path, "contract: c\nreference: softmaxx\n").unwrap();
    let output = ptxgen(&["verify", "--ptx", PTX, "--contract", &path.display().to_string()]);
    assert_eq!(status(&output), 2);
    assert!(
        err(&output).contains("c.yaml:2:12: error: there is no reference `softmaxx`"),
        "{}",
        err(&output)
    );
}
