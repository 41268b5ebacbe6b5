//! How much faster than ptxas ptxgen reads, judges and lints what nvcc made: `cargo bench --bench ratio`.
//!
//! ptxas is given a virtual architecture, for which it parses and checks and assembles nothing. Both work on the same 4 MB
//! module, in turns, on one thread each; of each the best of the rounds counts. Lint is timed with the rules that run unasked,
//! with all of them, and with all of them as a process of its own, which also starts, reads the file, takes its memory from the
//! system and reports. The last lines tell how time grows with the text. Without a ptxas only those are printed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a bench fails by panicking"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use ptxgen::ptx::lint::{Options, Selection, lint_text};
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::verify::verify;
use std::any::Any;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const MEGABYTES: usize = 4;

/// What nvcc made of functions of `math.h`, over and over under one header, each copy with names of its own.
fn module(bytes: usize) -> String {
    let text = include_str!("../tests/fixtures/compiled/nvcc_math_sm_89_fast.ptx");
    let (header, body) = text.split_once(".address_size 64").expect("a header");
    let names = names(body);
    let mut module = format!("{header}.address_size 64\n");
    for copy in 0.. {
        if module.len() >= bytes {
            break;
        }
        let mut one = body.to_string();
        for name in &names {
            one = one.replace(name.as_str(), &format!("{name}_c{copy}_"));
        }
        module.push_str(&one);
    }
    module
}

/// What the module declares, but not the names that others begin with.
fn names(body: &str) -> Vec<String> {
    let parsed = parse(&format!(".version 8.0\n.target sm_89\n.address_size 64\n{body}"));
    let module = &parsed.module;
    let functions = module.functions.iter().map(|function| module.name(function.symbol));
    let variables = module.symbols.iter().map(|symbol| &*symbol.name);
    let mut names: Vec<String> = functions.chain(variables).map(String::from).collect();
    names.sort();
    let mut shortest: Vec<String> = Vec::new();
    for name in names {
        if !shortest.iter().any(|short| name.starts_with(short.as_str())) {
            shortest.push(name);
        }
    }
    shortest
}

/// Work to be timed; giving back the memory of what it made is not part of it.
type Work<'w> = &'w dyn Fn() -> Box<dyn Any>;

fn timed(work: Work) -> Duration {
    let start = Instant::now();
    let made = black_box(work());
    let time = start.elapsed();
    drop(made);
    time
}

fn assembler(ptxas: &Path, file: &Path) -> Box<dyn Any> {
    let status = Command::new(ptxas)
        .args(["-arch", "compute_89", "-o", "/dev/null"])
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let status = status.expect("ptxas runs");
    assert!(status.success(), "ptxas refuses {}", file.display());
    Box::new(status)
}

fn lint(text: &str, selection: Selection) -> Box<dyn Any> {
    let options = Options {
        selection,
        ..Options::default()
    };
    Box::new(lint_text(text, &options))
}

/// The linter as it is called from a shell, every rule on.
fn process(file: &Path) -> Box<dyn Any> {
    let status = Command::new(env!("CARGO_BIN_EXE_ptxgen"))
        .args(["lint", "--isolated", "--select", "ALL", "--format", "short"])
        .arg(file)
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let status = status.expect("ptxgen runs");
    assert!(status.success(), "ptxgen has errors for {}", file.display());
    Box::new(status)
}

fn judge(text: &str) -> Box<dyn Any> {
    let parsed = parse(text);
    let diags = verify(&parsed, text);
    Box::new((parsed, diags))
}

/// The best of some rounds of each kind of work.
fn best<const N: usize>(kinds: [Work; N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..ROUNDS {
        for (best, work) in best.iter_mut().zip(kinds) {
            *best = (*best).min(timed(work));
        }
    }
    best
}

fn main() {
    let text = module(MEGABYTES << 20);
    let file = tempfile::NamedTempFile::with_suffix(".ptx").expect("a file");
    fs::write(file.path(), &text).expect("the module is written");
    let reading: Work = &|| Box::new(parse(&text));
    let judging: Work = &|| judge(&text);
    let linting: Work = &|| lint(&text, Selection::default());
    let all: Work = &|| lint(&text, Selection::all());
    let whole: Work = &|| process(file.path());
    if let Some(ptxas) = common::ptxas() {
        let rival: Work = &|| assembler(ptxas, file.path());
        let [rival, reading, judging, linting, all, whole] = best([rival, reading, judging, linting, all, whole]);
        println!("{MEGABYTES} MB, ptxas that only parses: {rival:.1?}");
        let times = [
            ("parse", reading),
            ("parse and verify", judging),
            ("lint", linting),
            ("lint, all rules", all),
            ("all, a process", whole),
        ];
        for (what, time) in times {
            println!(
                "{what:17} {time:9.1?}  {:5.1} times faster",
                rival.as_secs_f64() / time.as_secs_f64()
            );
        }
    }
    let large = module(10 * (MEGABYTES << 20));
    let scale = large.len() as f64 / text.len() as f64;
    let [small, big] = best([reading, &|| Box::new(parse(&large))]);
    println!(
        "parse: {scale:.1} times the text, {:.1} times the time",
        big.as_secs_f64() / small.as_secs_f64()
    );
    let [small, big] = best([linting, &|| lint(&large, Selection::default())]);
    println!(
        "lint:  {scale:.1} times the text, {:.1} times the time",
        big.as_secs_f64() / small.as_secs_f64()
    );
}
