//! The JSON report keeps to its schema.

use super::run::{out, ptxgen, status};
use super::schema::violations;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The schema of what a subcommand prints.
pub fn schema(command: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{command}-1.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_report_keeps_to_the_schema() {
    let files = ["clean.ptx", "divergent.ptx", "broken.ptx", "none.ptx"].map(|name| format!("tests/fixtures/{name}"));
    let mut args = vec!["lint", "--format", "json"];
    args.extend(files.iter().map(String::as_str));
    let output = ptxgen(&args);
    assert_eq!(status(&output), 2);
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        violations(&schema("lint"), &schema("lint"), &report, "$"),
        Vec::<String>::new()
    );
    assert_eq!(report["errors"][0]["file"], "tests/fixtures/none.ptx");
    assert_eq!(report["kernels"].as_array().unwrap().len(), 3);
    let found = |file: &str| {
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["file"] == file)
    };
    assert_eq!(files.each_ref().map(|file| found(file)), [false, true, true, false]);
}

#[test]
fn what_was_said_of_launches_is_in_the_report() {
    let files = ["tests/fixtures/clean.ptx", "tests/fixtures/divergent.ptx"];
    let said = ["--block", "32,4", "--grid", "7", "--param", "n=-1", "--param", "2=0x10"];
    let report = |more: &[&str]| {
        let output = ptxgen(&[&["lint", "--format", "json", "--isolated"], &files[..], more].concat());
        let report: Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!(
            violations(&schema("lint"), &schema("lint"), &report, "$"),
            Vec::<String>::new()
        );
        report
    };
    assert!(report(&[]).get("launches").is_none(), "nothing was said");
    let expected = json!([{
        "files": files,
        "block": [32, 4, 1],
        "grid": [7, 1, 1],
        "params": [{ "name": "n", "value": -1 }, { "name": "2", "value": 16 }],
    }]);
    assert_eq!(report(&said)["launches"], expected);
    assert_eq!(
        report(&said[..2])["launches"],
        json!([{ "files": files, "block": [32, 4, 1] }])
    );
    let output = ptxgen(&[&["lint", "--format", "sarif", "--isolated"], &files[..], &said].concat());
    let log: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(log["runs"][0]["invocations"][0]["properties"]["launches"], expected);
}

#[test]
fn folders_have_their_own_launches() {
    let folder = tempfile::tempdir().unwrap();
    let clean = fs::read_to_string("tests/fixtures/clean.ptx").unwrap();
    for (name, block) in [("a", "64"), ("b", "128"), ("c", "64")] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("k.ptx"), &clean).unwrap();
        fs::write(
            folder.path().join(name).join("ptxgen.yaml"),
            format!("lint:\n  block: {block}\n"),
        )
        .unwrap();
    }
    let files = ["a", "b", "c"].map(|name| folder.path().join(name).join("k.ptx").display().to_string());
    let files = files.each_ref().map(String::as_str);
    let output = ptxgen(&[&["lint", "--format", "json"], &files[..]].concat());
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        report["launches"],
        json!([
            { "files": [files[0], files[2]], "block": [64, 1, 1] },
            { "files": [files[1]], "block": [128, 1, 1] },
        ])
    );
}

#[test]
fn the_validator_sees_what_breaks_a_schema() {
    let report = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let count = |text: &str| violations(&schema("lint"), &schema("lint"), &report(text), "$").len();
    assert_eq!(count(r#"{"schema":1,"findings":[],"kernels":[],"errors":[]}"#), 0);
    assert_eq!(count(r#"{"schema":2,"findings":[],"kernels":[],"errors":[]}"#), 1);
    assert_eq!(count(r#"{"schema":1,"findings":{},"errors":[],"extra":0}"#), 3);
    let kernel = |line: &str| {
        format!(
            r#"{{"schema":1,"findings":[],"errors":[],"kernels":[{{"name":"k","file":"f","line":{line},"analysed":true,"why":null}}]}}"#
        )
    };
    assert_eq!(count(&kernel("1")), 0);
    assert_eq!(count(&kernel("0")), 1);
    assert_ne!(count(&kernel("\"1\"")), 0);
}
