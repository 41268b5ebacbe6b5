//! The JSON report keeps to its schema.

use super::run::{out, ptxgen, status};
use super::schema::violations;
use serde_json::Value;
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
