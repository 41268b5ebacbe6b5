//! Runs fuzz targets on many texts: `cargo run --release -- TARGET [COUNT [SEED [FIRST]]]`; `all` runs one target after the other.
//!
//! A text follows from the seed and its number. A failure names both, so `TARGET 1 SEED NUMBER` runs it again alone, and shows the text
//! cut down to what still fails.

mod generate;
mod reduce;
mod targets;

use generate::Generator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};

/// A text that takes longer than this is a finding of its own.
const SLOWEST: Duration = Duration::from_secs(2);
/// A text that takes longer than this is taken to hang; the run ends.
const HANGING: Duration = Duration::from_secs(60);
/// A run that fails this often has shown enough.
const MOST_FAILURES: u64 = 10;

/// What the last panic said, and where it was.
static PANIC: Mutex<String> = Mutex::new(String::new());

struct Job {
    count: u64,
    seed: u64,
    first: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| {
        args.get(at)
            .map_or(Some(default), |text| text.replace('_', "").parse().ok())
    };
    let wanted = |name: &str| args.first().is_some_and(|arg| arg == name || arg == "all");
    let targets: Vec<_> = TARGETS.iter().filter(|(name, _)| wanted(name)).collect();
    let numbers = (number(1, 1_000_000), number(2, 1), number(3, 0));
    let (false, (Some(count), Some(seed), Some(first))) = (targets.is_empty(), numbers) else {
        let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "usage: ptxgen-fuzz TARGET [COUNT [SEED [FIRST]]], where TARGET is all or one of {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|info| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
    let job = Job { count, seed, first };
    let failed = targets
        .iter()
        .filter(|(name, target)| run(name, *target, &job) > 0)
        .count();
    ExitCode::from(u8::from(failed > 0))
}

/// Runs a target and tells how many texts failed.
fn run(name: &'static str, target: Target, job: &Job) -> u64 {
    let mut generator = Generator::new(job.seed, real());
    let watch = Watch::start(name, job.seed, job.first);
    let started = Instant::now();
    let (mut bytes, mut exercised, mut failed, mut done) = (0, 0u64, 0u64, 0u64);
    for number in (job.first..).take(job.count as usize) {
        watch.at.store(number, Ordering::Relaxed);
        let text = generator.text(number);
        bytes += text.len() as u64;
        done += 1;
        let start = Instant::now();
        let outcome = outcome(target, &text);
        let slow = start.elapsed() > SLOWEST;
        exercised += u64::from(outcome == Some(true));
        if outcome.is_none() {
            report(name, target, &text, job.seed, number);
        } else if slow {
            println!(
                "---- {name} took {:?}: seed {}, number {number}\n{text}\n----",
                start.elapsed(),
                job.seed
            );
        }
        failed += u64::from(slow || outcome.is_none());
        if failed >= MOST_FAILURES {
            break;
        }
        if done.is_multiple_of(1_000_000) {
            eprintln!("{name}: {done} done, {failed} failed, {:?}", started.elapsed());
        }
    }
    watch.stop();
    println!(
        "{name}: {done} texts from {} of seed {}, {} bytes on average, {exercised} exercised it, {failed} failed; {:.0} s, at most {}",
        job.first,
        job.seed,
        bytes / done.max(1),
        started.elapsed().as_secs_f64(),
        peak()
    );
    failed
}

/// Whether the text exercised the target; nothing if it failed.
fn outcome(target: Target, text: &str) -> Option<bool> {
    catch_unwind(AssertUnwindSafe(|| target(text))).ok()
}

fn report(name: &str, target: Target, text: &str, seed: u64, number: u64) {
    let message = || PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
    println!("---- {name} failed: seed {seed}, number {number}\n{}", message());
    let small = reduce::reduced(text, |text| outcome(target, text).is_none());
    println!("---- on\n{small}\n---- escaped\n{small:?}\n----");
}

/// A thread that ends the run when a text does not come to an end.
struct Watch {
    /// Number of the text at hand; all ones when the run is over.
    at: Arc<AtomicU64>,
}

impl Watch {
    fn start(name: &'static str, seed: u64, first: u64) -> Self {
        let at = Arc::new(AtomicU64::new(first));
        let seen = Arc::clone(&at);
        std::thread::spawn(move || {
            let (mut last, mut since) = (first, Instant::now());
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let now = seen.load(Ordering::Relaxed);
                if now == u64::MAX {
                    return;
                }
                if now != last {
                    (last, since) = (now, Instant::now());
                } else if since.elapsed() > HANGING {
                    let text = Generator::new(seed, real()).text(now);
                    println!("---- {name} hangs: seed {seed}, number {now}\n{text}\n----");
                    std::process::exit(1);
                }
            }
        });
        Self { at }
    }

    fn stop(&self) {
        self.at.store(u64::MAX, Ordering::Relaxed);
    }
}

/// The most memory the process ever held, where the system tells.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown memory".into(), |size| size.trim().to_owned())
}

/// Small real texts, from the project's fixtures.
fn real() -> Vec<String> {
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
                && text.len() < 2000
            {
                texts.push(text);
            }
        }
    }
    texts
}
