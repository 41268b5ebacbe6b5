//! The JSON report keeps to its schema.

use super::run::{out, ptxgen, status};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The schema of what a subcommand prints.
pub fn schema(command: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{command}-1.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What in `value` breaks `rule`, one line each: a validator for as much of JSON Schema as our schemas use.
pub fn violations(root: &Value, rule: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = rule["$ref"].as_str() {
        let rule = root
            .pointer(reference.trim_start_matches('#'))
            .expect("a reference leads somewhere");
        return violations(root, rule, value, at);
    }
    let mut problems = Vec::new();
    let mut require = |holds: bool, what: &str| {
        if !holds {
            problems.push(format!("{at}: {what}, got {value}"));
        }
    };
    match &rule["type"] {
        Value::String(kind) => require(is(kind, value), kind),
        Value::Array(kinds) => require(
            kinds.iter().any(|kind| is(kind.as_str().unwrap(), value)),
            "one of the types",
        ),
        _ => {}
    }
    require(rule.get("const").is_none_or(|only| only == value), "the constant");
    require(
        rule["enum"].as_array().is_none_or(|all| all.contains(value)),
        "a member of the enum",
    );
    require(
        rule["minimum"]
            .as_u64()
            .is_none_or(|least| value.as_u64().is_some_and(|n| n >= least)),
        "the minimum",
    );
    for key in rule["required"].as_array().into_iter().flatten() {
        require(
            value.get(key.as_str().unwrap()).is_some(),
            &format!("{key} is required"),
        );
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        problems.extend(violations(root, &rule["items"], item, &format!("{at}[{index}]")));
    }
    for (key, member) in value.as_object().into_iter().flatten() {
        match rule["properties"].get(key) {
            Some(rule) => problems.extend(violations(root, rule, member, &format!("{at}.{key}"))),
            None if rule["additionalProperties"] == false => problems.push(format!("{at}: unknown member {key}")),
            None => {}
        }
    }
    problems
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("a type the validator does not know: {other}"),
    }
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
