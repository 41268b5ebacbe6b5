//! SARIF and GitHub's annotations, and reports in files.

use crate::controls::Folder;
use crate::run::{command, err, out, ptxgen, status};
use crate::schema::violations;
use serde_json::Value;
use std::fs;
use std::path::Path;

const FILES: [&str; 6] = [
    "tests/fixtures/broken.ptx",
    "tests/fixtures/divergent.ptx",
    "tests/fixtures/clean.ptx",
    "tests/fixtures/lint/uni.ptx",
    "tests/fixtures/lineinfo.ptx",
    "tests/fixtures/none.ptx",
];

pub fn public_schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sarif/sarif-schema-2.1.0.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn sarif(files: &[&str]) -> Value {
    let output = ptxgen(&[&["lint", "--format", "sarif"], files].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

#[test]
fn sarif_keeps_to_the_public_schema() {
    let schema = public_schema();
    for files in [&FILES[..], &FILES[2..3], &FILES[5..]] {
        assert_eq!(violations(&schema, &schema, &sarif(files), "$"), Vec::<String>::new());
    }
    let mut log = sarif(&FILES[..2]);
    log["runs"][0]["results"][0]["level"] = "fatal".into();
    assert_eq!(
        violations(&schema, &schema, &log, "$").len(),
        1,
        "and the schema is not for show"
    );
}

#[test]
fn sarif_holds_everything_a_finding_has() {
    let log = sarif(&FILES);
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(
            rule["help"]["markdown"]
                .as_str()
                .unwrap()
                .contains(rule["id"].as_str().unwrap())
        );
    }
    let of = |code: &str| results.iter().find(|result| result["ruleId"] == code).unwrap();
    let barrier = of("BAR001");
    assert_eq!(barrier["locations"][0]["physicalLocation"]["region"]["startColumn"], 2);
    assert_eq!(barrier["locations"][0]["logicalLocations"][0]["kind"], "function");
    assert_eq!(barrier["relatedLocations"].as_array().unwrap().len(), 3);
    let fix = &of("BAR019")["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(fix["insertedContent"]["text"], "");
    let prints: Vec<_> = results
        .iter()
        .map(|result| result["partialFingerprints"].to_string())
        .collect();
    assert!(
        prints
            .iter()
            .all(|print| prints.iter().filter(|other| *other == print).count() == 1)
    );
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notifications = invocation["toolExecutionNotifications"].as_array().unwrap();
    let levels: Vec<_> = notifications.iter().map(|one| one["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["warning", "error"], "a kernel not analysed, a file not read");
}

#[test]
fn annotations_name_file_lines_and_columns() {
    let output = ptxgen(&["lint", "--format", "github", FILES[1]]);
    assert_eq!(status(&output), 1);
    let line = out(&output);
    assert!(
        line.starts_with(
            "::error file=tests/fixtures/divergent.ptx,line=39,endLine=39,col=2,endColumn=11,\
             title=BAR001 barrier-under-divergent-branch::`bar.sync` is under a branch"
        ),
        "{line}"
    );
    assert!(
        line.contains("%0Aline 38: threads part here%0Aline 37: `%25p1`"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn a_report_may_go_to_a_file() {
    let folder = Folder::new(&[(
        "k.ptx",
        &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILES[1])).unwrap(),
    )]);
    for format in ["human", "short", "json", "sarif", "github"] {
        let args = [
            "--color", "always", "lint", "--format", format, "--output", "report", "k.ptx",
        ];
        let output = folder.run(&args);
        assert_eq!((status(&output), out(&output).as_str()), (1, ""), "{}", err(&output));
        let report = folder.read("report");
        assert!(report.contains("BAR001") && !report.contains('\u{1b}'), "{format}");
    }
    let output = folder.run(&["lint", "--output", "no/such/report", "k.ptx"]);
    assert_eq!(status(&output), 2);
}

#[test]
fn statistics_are_a_member_of_the_json_report() {
    let output = command(&["lint", "--format", "json", "--statistics", FILES[1]])
        .output()
        .unwrap();
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(report["statistics"][0]["code"], "BAR001");
}
