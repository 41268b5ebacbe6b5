//! Runs a fuzz target on many texts: `cargo run --release -- TARGET COUNT [SEED]`.
//!
//! The texts follow from the seed, so a failure is run again by its seed alone; it prints the text it failed on.

mod generate;
mod targets;

use generate::Generator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A text that takes longer than this is a finding of its own.
const SLOWEST: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| args.get(at).map_or(Some(default), |text| text.parse().ok());
    let target = targets::TARGETS
        .iter()
        .find(|(name, _)| args.first().is_some_and(|wanted| wanted == name));
    let (Some((name, target)), Some(count), Some(seed)) = (target, number(1, 1_000_000), number(2, 1)) else {
        let names: Vec<_> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "usage: ptxgen-fuzz TARGET [COUNT [SEED]], where TARGET is one of {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    run(name, *target, count, seed)
}

fn run(name: &str, target: targets::Target, count: u64, seed: u64) -> ExitCode {
    let mut generator = Generator::new(seed, seeds());
    let (mut bytes, mut exercised, mut failed) = (0, 0u64, 0u64);
    for _ in 0..count {
        let text = generator.text();
        bytes += text.len() as u64;
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| target(&text))) {
            Ok(yes) => exercised += u64::from(yes),
            Err(_) => {
                failed += 1;
                println!("---- {name} failed on\n{text}\n----");
            }
        }
        if start.elapsed() > SLOWEST {
            failed += 1;
            println!("---- {name} took {:?} for\n{text}\n----", start.elapsed());
        }
        if failed >= 10 {
            break;
        }
    }
    println!(
        "{name}: {count} texts of {} bytes on average, {exercised} exercised it, {failed} failed",
        bytes / count.max(1)
    );
    ExitCode::from(u8::from(failed > 0))
}

/// Small real texts, from the project's fixtures.
fn seeds() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures");
    let mut texts = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path)
                && text.len() < 2500
            {
                texts.push(text);
            }
        }
    }
    texts
}
