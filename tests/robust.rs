//! No text makes the compiler panic, and what must hold for every text does: the fuzz targets, on a few texts each.
//! `fuzz/` runs them on millions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;
#[path = "../fuzz/src/generate.rs"]
mod generate;
#[path = "../fuzz/src/targets.rs"]
mod targets;

use generate::Generator;
use std::fs;
use std::path::Path;
use targets::TARGETS;

/// Texts per target; the seed is another for each.
const TEXTS: u64 = 2_000;

/// Small real files.
fn fixtures() -> Vec<String> {
    let files = common::ptx_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    texts.filter(|text| text.len() < 7000).collect()
}

#[test]
fn generated_texts_hold_to_every_target() {
    for (seed, (name, target)) in TARGETS.iter().enumerate() {
        let mut generator = Generator::new(seed as u64, fixtures());
        let exercised = (0..TEXTS).filter(|number| target(&generator.text(*number))).count();
        assert!(exercised > 200, "{name}: only {exercised} texts got as far");
    }
}

#[test]
fn every_prefix_of_a_file_is_survived() {
    let text = &fixtures()[0];
    for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        TARGETS.iter().for_each(|(_, target)| {
            target(&text[..end]);
        });
    }
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let head = ".version 8.0\n.target sm_90\n.entry k() {\n.reg .b32 %r<2>;\n";
    for (open, close) in [
        ("{", "}"),
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("!", ""),
        ("1 ? 1 : ", ""),
    ] {
        let inner = format!("mov.b32 %r1, {}1{};", open.repeat(20_000), close.repeat(20_000));
        let scopes = format!("{}{}", "{\n".repeat(20_000), "}\n".repeat(20_000));
        for body in [inner, scopes] {
            let text = format!("{head}{body}\n}}\n");
            TARGETS.iter().for_each(|(_, target)| {
                target(&text);
            });
        }
    }
}
