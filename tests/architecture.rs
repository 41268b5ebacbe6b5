//! What the rooms of the house may know of each other, how long a file may be, and words that do not belong here.
//!
//! The rules stand in ARCHITECTURE.md; this test keeps them. Its checker has tests of its own, with samples that break each rule.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "architecture/imports.rs"]
mod imports;
#[path = "architecture/rooms.rs"]
mod rooms;

use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a file under `src` may have; tables and tests may have more.
const MAX_LINES: usize = 600;

/// Files that may be longer, and why.
fn may_be_long(path: &str) -> bool {
    // The instruction table is a table, and tests are lists of cases.
    path.starts_with("src/ptx/isa/") || is_tests(path)
}

/// Words that no file may hold, in pieces so that this file does not hold them either.
const UNWANTED: [(&str, &str, &str); 8] = [
    ("/work", "/", "a path of one particular machine"),
    ("/tmp", "/wt", "a path of one particular machine"),
    ("crates", ".io", "a registry's host name"),
    ("docs", ".rs", "a registry's host name"),
    ("FIX", "ME", "unfinished work"),
    ("TO", "DO:", "unfinished work"),
    ("dbg", "!(", "a debugging aid"),
    ("<<<<", "<<< ", "an unresolved merge"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `dir`, relative to the project's root, build products and hidden folders aside.
fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "target" || name == "shared" {
            continue;
        }
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path.strip_prefix(root()).unwrap().to_path_buf());
        }
    }
}

/// Relative path (with `/`) and text of every text file below `dir`.
fn texts(dir: &str) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    files(&root().join(dir), &mut paths);
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(root().join(path)).ok()?;
        Some((path.to_string_lossy().replace('\\', "/"), text))
    };
    paths.iter().filter_map(read).collect()
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// Whether the file is a module of tests, which may know every room.
fn is_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

#[test]
fn imports_run_downward() {
    let sources = texts("src");
    assert!(sources.len() > 20, "the walk found too little: {}", sources.len());
    let problems: Vec<_> = sources
        .iter()
        .filter(|(path, _)| !is_tests(path))
        .flat_map(|(path, text)| rooms::check(path, text))
        .collect();
    assert_none(&problems);
}

#[test]
fn files_are_short() {
    let too_long = |(path, text): &(String, String)| {
        let lines = text.lines().count();
        (lines > MAX_LINES && !may_be_long(path)).then(|| format!("{path}: {lines} lines, {MAX_LINES} are allowed"))
    };
    assert_none(&texts("src").iter().filter_map(too_long).collect::<Vec<_>>());
}

#[test]
fn nothing_unwanted_is_written_anywhere() {
    let mut problems = Vec::new();
    for (path, text) in texts("") {
        // The lock file names the registry by necessity.
        if path.ends_with("Cargo.lock") {
            continue;
        }
        for (line, content) in text.lines().enumerate() {
            problems.extend(unwanted(content).map(|why| format!("{path}:{}: {why}", line + 1)));
        }
    }
    assert_none(&problems);
}

fn unwanted(line: &str) -> Option<&'static str> {
    let found =
        |(a, b, _): &&(&str, &str, &'static str)| line.find(a).is_some_and(|at| line[at + a.len()..].starts_with(b));
    UNWANTED.iter().find(found).map(|(.., why)| *why)
}

#[test]
fn unwanted_words_are_seen() {
    for (a, b, why) in UNWANTED {
        assert_eq!(unwanted(&format!("x {a}{b}y")), Some(why));
    }
    assert_eq!(unwanted("work, docs and crates"), None);
}

/// Words in backquotes that name a file or folder of the project.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let roots = ["src/", "tests/", "scripts/", "schemas/", "benches/", "specs/", ".ci/"];
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(move |word| roots.iter().any(|root| word.starts_with(root)) && !word.contains(char::is_whitespace))
}

#[test]
fn what_the_documents_name_is_there() {
    let mut problems = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let missing = named_paths(&text).filter(|path| !root().join(path).exists());
        problems.extend(missing.map(|path| format!("{document}: there is no {path}")));
    }
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let listed = |room: &str| {
        architecture
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == room)
    };
    let rooms = rooms::names().filter(|room| {
        ["", ".rs"]
            .iter()
            .any(|end| root().join(format!("src/ptx/{room}{end}")).exists())
    });
    problems.extend(
        rooms
            .filter(|room| !listed(room))
            .map(|room| format!("ARCHITECTURE.md: {room} is not listed")),
    );
    assert_none(&problems);
}
