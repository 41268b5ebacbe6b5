//! Findings name the lines that the text was compiled from.

use super::json::schema;
use super::run::{out, ptxgen};
use super::schema::violations;
use serde_json::{Value, json};

const FILE: &str = "tests/fixtures/lineinfo.ptx";
const PLACE: &str = "src/fetch.cuh:4:5 in `fetch`, inlined at src/scale.cu:12:9";

fn report(format: &str) -> String {
    out(&ptxgen(&["lint", "--format", format, FILE]))
}

#[test]
fn people_see_them_once_a_line() {
    let human = report("human");
    assert!(human.contains(&format!("compiled from {PLACE}")), "{human}");
    assert!(human.contains("threads part here (src/scale.cu:11:9)"), "{human}");
    // The comparison comes from the line of the branch, which is told already.
    assert_eq!(human.matches("scale.cu:11:9").count(), 1, "{human}");
    assert!(report("short").ends_with("(from src/fetch.cuh:4:5)\n"));
    let annotation = report("github");
    assert!(
        annotation.contains(&format!("%0Acompiled from {PLACE}")),
        "{annotation}"
    );
}

#[test]
fn json_holds_them_beside_the_place_in_the_text() {
    let report: Value = serde_json::from_str(&report("json")).unwrap();
    assert_eq!(
        violations(&schema("lint"), &schema("lint"), &report, "$"),
        Vec::<String>::new()
    );
    let finding = &report["findings"][0];
    assert_eq!(
        finding["origin"],
        json!({
            "file": "src/fetch.cuh", "line": 4, "column": 5, "function": "fetch",
            "inlined_at": [{ "file": "src/scale.cu", "line": 12, "column": 9 }],
        })
    );
    assert_eq!(finding["related"][0]["origin"]["line"], 11);
    assert_eq!(finding["file"], FILE);
}

#[test]
fn sarif_links_them() {
    let log: Value = serde_json::from_str(&report("sarif")).unwrap();
    let related = log["runs"][0]["results"][0]["relatedLocations"].as_array().unwrap();
    let ids: Vec<u64> = related.iter().map(|place| place["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
    let place = |message: &str| {
        let found = related
            .iter()
            .find(|place| place["message"]["text"] == message)
            .unwrap();
        let physical = &found["physicalLocation"];
        (
            physical["artifactLocation"]["uri"].clone(),
            physical["region"]["startLine"].clone(),
        )
    };
    assert_eq!(place("compiled from here"), (json!("src/fetch.cuh"), json!(4)));
    assert_eq!(place("inlined here"), (json!("src/scale.cu"), json!(12)));
}

#[test]
fn a_text_without_line_information_has_none() {
    let report = out(&ptxgen(&["lint", "--format", "json", "tests/fixtures/divergent.ptx"]));
    assert!(!report.contains("\"origin\""), "{report}");
}
