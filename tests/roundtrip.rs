//! Printing and parsing are inverse: print(parse(text)) parses to the same module, for every PTX file at hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::ptx_files;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::print::{Notes, print};
use std::fs;
use std::path::Path;

fn round_trip(path: &Path) {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let first = parse(&text);
    if !first.diags.is_empty() {
        return;
    }
    let printed = print(&first.module, &Notes::default());
    let second = parse(&printed);
    assert!(
        second.diags.is_empty(),
        "{}: {:?}\n{printed}",
        path.display(),
        second.diags[0]
    );
    assert!(
        first.module == second.module,
        "{}: printed text reads differently",
        path.display()
    );
    assert_eq!(print(&second.module, &Notes::default()), printed, "{}", path.display());
}

/// A blank in front of each semicolon takes an instruction off the parser's short path; what it means stays.
fn both_paths(path: &Path) {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let roomy = text.replace(';', " ;");
    let (short, long) = (parse(&text), parse(&roomy));
    assert_eq!(short.diags.len(), long.diags.len(), "{}", path.display());
    let same = print(&short.module, &Notes::default()) == print(&long.module, &Notes::default());
    assert!(same || text.contains(".section"), "{}", path.display());
}

#[test]
fn the_short_path_reads_what_the_grammar_reads() {
    let files = ptx_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    files.iter().for_each(|path| both_paths(path));
}

#[test]
fn fixtures_print_and_parse_back() {
    let files = ptx_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    assert!(files.len() > 20);
    files.iter().for_each(|path| round_trip(path));
}

#[test]
fn the_corpora_print_and_parse_back() {
    let Some(shared) = common::shared() else { return };
    let files = ptx_files(&shared);
    assert!(files.len() > 200);
    files.iter().for_each(|path| round_trip(path));
}
