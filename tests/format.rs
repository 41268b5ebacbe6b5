//! The formatter over every PTX file at hand: it changes blanks only, and nothing the second time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::ptx_files;
use ptxgen::ptx::format::format;
use ptxgen::ptx::parse::parse;
use std::fs;
use std::path::Path;

fn blanks_only(path: &Path) {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let first = parse(&text);
    if !first.diags.is_empty() {
        return;
    }
    let formatted = format(&text);
    let second = parse(&formatted);
    let name = path.display();
    assert!(first.module == second.module, "{name}: another meaning\n{formatted}");
    assert_eq!(first.comments.len(), second.comments.len(), "{name}: comments");
    let solid = |text: &str| {
        text.trim_start_matches('\u{feff}')
            .split_whitespace()
            .collect::<String>()
    };
    assert_eq!(solid(&text), solid(&formatted), "{name}: more than blanks");
    assert_eq!(format(&formatted), formatted, "{name}: not idempotent");
}

#[test]
fn fixtures_keep_their_meaning() {
    let files = ptx_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    assert!(files.len() > 20);
    files.iter().for_each(|path| blanks_only(path));
}

#[test]
fn the_corpora_keep_their_meaning() {
    let Some(shared) = common::shared() else { return };
    ptx_files(&shared).iter().for_each(|path| blanks_only(path));
}
