//! Printing and formatting keep the machine code: the original, the printed and the formatted text assemble to the same SASS.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::ptx_files;
use object::{Object, ObjectSection};
use ptxgen::ptx::format::format;
use ptxgen::ptx::parse::{Parsed, parse};
use ptxgen::ptx::print::{Notes, print};
use ptxgen::ptx::target::Target;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The machine code of each function, by section name; `None` where ptxas rejects the text.
fn sass(text: &str, arch: &str) -> Option<BTreeMap<String, Vec<u8>>> {
    let cubin = common::cubin(text, arch).ok()?;
    let file = object::File::parse(&*cubin).unwrap();
    let code = file
        .sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".text")));
    Some(
        code.map(|section| (section.name().unwrap().to_owned(), section.data().unwrap().to_vec()))
            .collect(),
    )
}

/// The architecture with which ptxas assembles the module.
fn arch(parsed: &Parsed) -> Option<String> {
    let words = &parsed.module.header.target;
    let target: Target = words.iter().rev().find_map(|word| word.parse().ok())?;
    Some(target.assembled_as()?.to_string())
}

/// The files' names whose code changed, and how many were compared.
fn compare(files: &[PathBuf]) -> (Vec<String>, usize) {
    let mut changed = Vec::new();
    let mut compared = 0;
    for path in files {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let parsed = parse(&text);
        let Some(arch) = arch(&parsed) else { continue };
        let Some(code) = sass(&text, &arch) else { continue };
        compared += 1;
        let printed = print(&parsed.module, &Notes::default());
        for (how, text) in [("printed", printed), ("formatted", format(&text))] {
            if sass(&text, &arch).as_ref() != Some(&code) {
                changed.push(format!("{how}: {}", path.display()));
            }
        }
    }
    (changed, compared)
}

#[test]
fn fixtures_keep_their_code() {
    if common::ptxas().is_none() {
        return;
    }
    let (changed, compared) = compare(&ptx_files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"),
    ));
    assert_eq!(changed, [""; 0]);
    assert!(compared > 20, "{compared}");
}

#[test]
fn the_corpora_keep_their_code() {
    let (Some(_), Some(shared)) = (common::ptxas(), common::shared()) else {
        return;
    };
    let (changed, compared) = compare(&ptx_files(&shared));
    assert_eq!(changed, [""; 0]);
    assert!(compared > 200, "{compared}");
}
