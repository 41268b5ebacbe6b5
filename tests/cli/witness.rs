//! `lint --witness`: what runs show of findings, in every format, and that the commands it names show it again.

use crate::controls::Folder;
use crate::json::schema;
use crate::run::{err, out, ptxgen, status};
use crate::schema::violations;
use serde_json::Value;
use std::fs;
use std::path::Path;

const REVERSED: &str = "tests/fixtures/witness/reversed.ptx";
const TWO: &str = "tests/fixtures/witness/two_at_a_barrier.ptx";
/// Files whose findings are of many kinds.
const FILES: [&str; 8] = [
    REVERSED,
    TWO,
    "tests/fixtures/lint/race.ptx",
    "tests/fixtures/lint/masks.ptx",
    "tests/fixtures/lint/copies.ptx",
    "tests/fixtures/lint/memory.ptx",
    "tests/fixtures/lint/calls.ptx",
    "tests/fixtures/races/bulk_load_no_back_barrier.ptx",
];

fn report(args: &[&str]) -> Value {
    let output = ptxgen(&[&["lint", "--isolated", "--format", "json"], args].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

fn findings(report: &Value) -> &Vec<Value> {
    report["findings"].as_array().unwrap()
}

#[test]
fn a_witness_names_threads_and_the_command() {
    let output = ptxgen(&["lint", "--witness", "--block", "256", "--grid", "4", REVERSED]);
    assert_eq!(status(&output), 1);
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("witness", out(&output) + &err(&output));
    });
}

#[test]
fn what_was_not_shown_is_said() {
    let output = ptxgen(&["lint", "--witness", TWO]);
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("witness_not_shown", out(&output) + &err(&output));
    });
}

#[test]
fn a_parameter_that_is_given_is_used() {
    let given = report(&["--witness", "--param", "n=123456", TWO]);
    let shown = |finding: &&Value| finding["witness"]["shown"] == true;
    assert_eq!(findings(&given).iter().filter(shown).count(), findings(&given).len());
    let args = &findings(&given)[0]["witness"]["launch"]["args"];
    assert_eq!(args[1]["value"], "u32=123456");
}

/// The commands are what they say: each meets the fault again, at the same line.
#[test]
fn commands_show_the_fault_again() {
    let report = report(&[&["--witness"], &FILES[..]].concat());
    let mut ran = 0;
    for finding in findings(&report) {
        let Some(command) = finding["witness"]["command"].as_str() else {
            continue;
        };
        // Those of one kind in one file are like each other.
        ran += 1;
        if ran % 5 != 1 {
            continue;
        }
        let words: Vec<&str> = command.split(' ').collect();
        let output = ptxgen(&[&words[1..], &["--format", "json"]].concat());
        let again: Value =
            serde_json::from_str(&out(&output)).unwrap_or_else(|_| panic!("{command}\n{}", err(&output)));
        let fault = &finding["witness"]["fault"];
        let met = |met: &Value| met["code"] == fault["code"] && met["line"] == fault["line"];
        assert!(findings(&again).iter().any(met), "{command}: {fault}");
    }
    assert!(ran > 60, "{ran} witnesses");
}

#[test]
fn the_json_report_keeps_to_the_schema() {
    let report = report(&[&["--witness"], &FILES[..]].concat());
    assert_eq!(
        violations(&schema("lint"), &schema("lint"), &report, "$"),
        Vec::<String>::new()
    );
    let count = |shown: bool| {
        let is = |finding: &&Value| finding["witness"]["shown"] == shown;
        findings(&report).iter().filter(is).count()
    };
    assert!(
        count(true) > 60 && count(false) > 0,
        "{} and {}",
        count(true),
        count(false)
    );
}

/// Findings, levels and exit status are the same with and without; a witness is all that is added.
#[test]
fn nothing_else_changes() {
    let mut with = report(&[&["--witness"], &FILES[..]].concat());
    let without = report(&FILES);
    for finding in with["findings"].as_array_mut().unwrap() {
        finding.as_object_mut().unwrap().remove("witness");
    }
    assert_eq!(with, without);
    for file in [TWO, "tests/fixtures/clean.ptx"] {
        assert_eq!(
            status(&ptxgen(&["lint", "--witness", file])),
            status(&ptxgen(&["lint", file]))
        );
    }
}

#[test]
fn the_same_is_tried_each_time() {
    let run = || out(&ptxgen(&["lint", "--witness", "--isolated", TWO, REVERSED]));
    assert_eq!(run(), run());
}

#[test]
fn sarif_has_threads_and_launch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sarif/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let output = ptxgen(&["lint", "--witness", "--format", "sarif", REVERSED, TWO]);
    let log: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(violations(&schema, &schema, &log, "$"), Vec::<String>::new());
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["properties"]["witness"]["launch"]["kernel"], "reversed");
    let related = result["relatedLocations"].as_array().unwrap();
    let told = |location: &&Value| location["message"]["text"].as_str().unwrap().starts_with("witness: ");
    assert_eq!(related.iter().filter(told).count(), 2);
}

#[test]
fn short_lines_and_annotations_tell_it() {
    let short = out(&ptxgen(&["lint", "--witness", "--format", "short", TWO]));
    let shown: Vec<bool> = short.lines().map(|line| line.ends_with(" (shown by a run)")).collect();
    assert!(shown.contains(&true) && shown.contains(&false), "{short}");
    let github = out(&ptxgen(&["lint", "--witness", "--format", "github", REVERSED]));
    assert!(
        github.contains("%0Anote: witness, `reversed` on a grid of 2 CTAs"),
        "{github}"
    );
}

/// What a baseline takes out takes its witness with it.
#[test]
fn witnesses_stay_with_their_findings() {
    let folder = Folder::new(&[]);
    let known = folder.path().join("known.json");
    let known = known.to_str().unwrap();
    let file = FILES[2];
    let all = report(&["--witness", file]);
    ptxgen(&[
        "lint",
        "--isolated",
        "--baseline",
        known,
        "--write-baseline",
        "--select",
        "FLOW,RACE001",
        file,
    ]);
    let left = report(&["--witness", "--baseline", known, file]);
    let is_left = |finding: &&Value| {
        let code = finding["code"].as_str().unwrap();
        code != "RACE001" && !code.starts_with("FLOW")
    };
    let rest: Vec<_> = findings(&all).iter().filter(is_left).collect();
    assert!(!rest.is_empty() && rest.len() < findings(&all).len());
    assert_eq!(findings(&left).iter().collect::<Vec<_>>(), rest);
}
