//! No text makes the compiler panic: random token soup, and real files with random edits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use proptest::prelude::*;
use ptxgen::ptx::lint::{Launch, lint};
use ptxgen::ptx::needs::{self, Needs};
use ptxgen::ptx::parse::{parse, parse_fragment, pieces};
use ptxgen::ptx::print::{Notes, print};
use std::fs;
use std::path::Path;

/// Everything that reads a text, on one text.
fn survive(text: &str) {
    let parsed = parse(text);
    let launch = Launch {
        block: Some([48, 2, 1]),
        grid: None,
    };
    let report = lint(&parsed, text, &launch);
    for diag in &report.findings {
        let related = diag.related.iter().map(|place| place.span);
        for span in std::iter::once(diag.span).chain(related) {
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{diag:?}");
            assert!(
                text.is_char_boundary(span.start as usize) && text.is_char_boundary(span.end as usize),
                "{diag:?}"
            );
        }
    }
    for function in &parsed.spans.functions {
        function.insts.iter().for_each(|span| {
            let found = pieces(text, *span);
            assert!(found.operands.iter().all(|operand| operand.end <= span.end));
        });
    }
    let needs = Needs::of(&parsed.module);
    let all: Vec<_> = needs.all.iter().collect();
    if needs::least(&all).is_none() {
        needs::conflict(&all);
    }
    let fragment = parse_fragment(text, &parsed.module.header);
    lint(&fragment, text, &launch);
    let printed = print(&parsed.module, &Notes::default());
    let again = parse(&printed);
    if parsed.diags.is_empty() {
        assert!(again.module == parsed.module, "{printed}");
    }
}

/// Small real files, every generator once.
fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compiled");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.filter(|text| text.len() < 7000).collect()
}

/// Words of which PTX is made, and a few of which it is not.
const WORDS: &[&str] = &[
    ".version 8.0\n",
    ".target sm_90\n",
    ".entry k",
    ".func",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "@",
    "!",
    "%p1",
    "%r1",
    "%rd1",
    "%tid.x",
    "L",
    "L:",
    "bra",
    "bar.sync",
    "ld.global.v4.f32",
    "mov.b64",
    "call",
    "brx.idx",
    ".reg .b32",
    "%r<9>",
    ".shared .align 4 .b8",
    "x[4]",
    "= ",
    "0",
    "-",
    "+",
    "1.5e-3",
    "0f3F800000",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    ".loc 1 2 3",
    ".branchtargets",
    ".callprototype",
    ".section",
    ".pragma",
    "é",
    "\0",
    "_",
    "|",
    "&",
    "<<",
    "exit",
    "@%p1",
    "setp.eq.s32",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup_is_survived(picks in prop::collection::vec(0..WORDS.len(), 0..120)) {
        let text: String = picks.iter().flat_map(|pick| [WORDS[*pick], " "]).collect();
        survive(&text);
        survive(&format!(".version 8.0\n.target sm_90\n.entry k() {{\n.reg .b32 %r<4>;\n.reg .pred %p<4>;\n{text}"));
    }

    #[test]
    fn real_files_with_edits_are_survived(file in 0..100usize, edits in prop::collection::vec((0.0..1.0f64, 0..40usize, 0..WORDS.len()), 1..6)) {
        let texts = fixtures();
        let mut text = texts[file % texts.len()].clone();
        for (at, cut, word) in edits {
            let mut start = (at * text.len() as f64) as usize;
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + cut).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(start..end, WORDS[word]);
        }
        survive(&text);
    }
}

#[test]
fn every_prefix_of_a_file_is_survived() {
    let text = &fixtures()[0];
    for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        survive(&text[..end]);
    }
}
