//! Kernels with races and right ones beside them, compiled from `fixtures/races/kernels.cu`: the right ones stay silent, and
//! the faulty ones are found with the launch given and, most of them, without. Some are there once more, as clang makes them or as
//! debug builds have them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ptxgen::ptx::diag::{Diag, Level};
use ptxgen::ptx::lint::{Given, Launch, lint};
use ptxgen::ptx::parse::parse;
use std::fs;
use std::path::Path;

/// What is not found, with the launch or without: bins of a warp that data picks, read by another warp too early.
const MISSED: [&str; 1] = ["smp_hist256_nosync_end"];

struct Case {
    name: String,
    races: bool,
    launch: Launch,
    text: String,
}

fn size(words: &[&str], flag: &str) -> [u32; 3] {
    let at = words.iter().position(|word| *word == flag).unwrap();
    let mut size = [1; 3];
    for (place, part) in size.iter_mut().zip(words[at + 1].split(',')) {
        *place = part.parse().unwrap();
    }
    size
}

/// The kernels, each with what its first line says: `// race: --block 64 --grid 2`.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/races");
    let mut cases: Vec<Case> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let words: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
            let launch = Launch {
                block: Some(size(&words, "--block")),
                grid: Some(size(&words, "--grid")),
                ..Launch::default()
            };
            Case {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                races: words[1] == "race:",
                launch,
                text: text.clone(),
            }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn findings(case: &Case, launch: &Launch) -> Vec<Diag> {
    lint(&parse(&case.text), &case.text, launch).findings
}

/// Whether a finding says that threads are not ordered.
fn tells_of_race(diag: &Diag) -> bool {
    let groups = ["RACE", "ASYNC", "BAR", "WARP"];
    groups.iter().any(|group| diag.code.id.starts_with(group)) && !["RACE013", "BAR005"].contains(&diag.code.id)
}

fn check(blind: bool) {
    let mut problems = Vec::new();
    for case in cases() {
        let launch = if blind { Launch::default() } else { case.launch.clone() };
        let found = findings(&case, &launch);
        let said: Vec<String> = found
            .iter()
            .map(|diag| format!("{} {}", diag.code.id, diag.level))
            .collect();
        let loud = found.iter().any(|diag| {
            let costs = ["PERF", "NUM"].iter().any(|group| diag.code.id.starts_with(group));
            diag.level < Level::Info && !costs
        });
        if !case.races && loud {
            problems.push(format!("{} is right, and gives {said:?}", case.name));
        }
        let found = found.iter().any(tells_of_race);
        if case.races && found == MISSED.contains(&case.name.as_str()) {
            problems.push(format!("{} races; found: {found}; {said:?}", case.name));
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn with_the_launch() {
    check(false);
}

#[test]
fn without_the_launch() {
    check(true);
}

#[test]
fn there_are_enough_of_both() {
    let cases = cases();
    let faulty = cases.iter().filter(|case| case.races).count();
    assert!(
        faulty >= 60 && cases.len() - faulty >= 60,
        "{faulty} of {}",
        cases.len()
    );
}

/// Most are more than information, with the launch and without.
#[test]
fn most_are_told_as_faults() {
    let cases = cases();
    let faulty: Vec<&Case> = cases.iter().filter(|case| case.races).collect();
    let told = |launch: &dyn Fn(&Case) -> Launch| {
        let loud = |case: &&&Case| {
            let found = findings(case, &launch(case));
            found.iter().any(|diag| diag.level < Level::Info && tells_of_race(diag))
        };
        faulty.iter().filter(loud).count()
    };
    let with = told(&|case| case.launch.clone());
    assert!(with * 100 >= faulty.len() * 90, "{with} of {}", faulty.len());
    let without = told(&|_| Launch::default());
    assert!(without * 100 >= faulty.len() * 80, "{without} of {}", faulty.len());
}

/// What a parameter holds decides whether threads meet.
#[test]
fn parameters_are_taken_as_given() {
    let text = cases().into_iter().find(|case| case.name == "offset_rw").unwrap().text;
    let parsed = parse(&text);
    let races = |offset: u64| {
        let launch = Launch {
            block: Some([64, 1, 1]),
            grid: Some([1, 1, 1]),
            params: [Given {
                name: "1".to_owned(),
                value: offset,
            }]
            .into(),
        };
        let findings = lint(&parsed, &text, &launch).findings;
        findings
            .iter()
            .any(|diag| diag.level < Level::Info && tells_of_race(diag))
    };
    assert!(races(1) && races(63));
    assert!(!races(0) && !races(64));
}
