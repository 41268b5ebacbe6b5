//! Small kernels whose truth is known, where they lie beside the project: the faulty ones must be reported, the safe ones must
//! run clean in any order.

use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, Arg, Buffer, Launch, Options};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Orders that a safe kernel runs in. CI may ask for more.
fn orders() -> u64 {
    std::env::var("PTXGEN_ORDERS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(64)
}

fn folder(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/cases")
        .join(name);
    if !beside.is_dir() {
        eprintln!("no cases in {}: nothing tested", beside.display());
    }
    beside.is_dir().then_some(beside)
}

fn dims(text: &str) -> [u32; 3] {
    let mut dims = [1; 3];
    for (to, from) in dims.iter_mut().zip(text.split(',')) {
        *to = from.parse().unwrap();
    }
    dims
}

/// What running a kernel finds: addresses are those of buffers of zeros, numbers are 64.
fn found(text: &str, grid: [u32; 3], block: [u32; 3], schedule: u64) -> Result<BTreeSet<String>, String> {
    let parsed = parse(text);
    let kernel = parsed
        .module
        .functions
        .iter()
        .rfind(|function| function.body.is_some())
        .unwrap();
    let args = kernel.params.iter().map(|symbol| {
        let size = parsed
            .module
            .variable(*symbol)
            .and_then(|variable| variable.size())
            .unwrap();
        match size {
            8 => Arg::Buffer(Buffer {
                bytes: vec![0; 1 << 16].into(),
                ..Buffer::default()
            }),
            size => Arg::Bytes(64u64.to_le_bytes().into_iter().take(size as usize).collect()),
        }
    });
    let launch = Launch {
        grid,
        block,
        dynamic_shared: 0,
        args: args.collect(),
        options: Options {
            schedule,
            budget: 1 << 25,
            ..Options::default()
        },
    };
    match sim::run(&parsed.module, parsed.module.name(kernel.symbol), &launch) {
        Ok(outcome) => Ok(outcome.faults.iter().map(|fault| fault.code.id.to_owned()).collect()),
        Err(stopped) => Err(stopped.stop.to_string()),
    }
}

#[test]
fn patterns() {
    let Some(folder) = folder("patterns") else { return };
    let cases: Value = serde_json::from_str(&fs::read_to_string(folder.join("../patterns.json")).unwrap()).unwrap();
    let mut bad = Vec::new();
    for case in cases.as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let of = |name: &str| dims(case[name].as_str().unwrap());
        let safe = matches!(case["truth"].as_str().unwrap(), "safe" | "early-exit");
        let orders = if safe { orders() } else { 1 };
        for schedule in 0..orders {
            let found = found(&text, of("grid"), of("block"), schedule);
            let right = match &found {
                Ok(codes) => codes.is_empty() == safe,
                Err(_) => false,
            };
            if !right {
                bad.push(format!("{file} ({}), order {schedule}: {found:?}", case["truth"]));
                break;
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn micro() {
    let Some(folder) = folder("micro") else { return };
    let mut bad = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|ending| ending == "ptx"))
    {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(file).unwrap();
        let safe = name.starts_with('s');
        for schedule in 0..if safe { orders() } else { 1 } {
            let found = found(&text, [1, 1, 1], [64, 1, 1], schedule);
            if !found.as_ref().is_ok_and(|codes| codes.is_empty() == safe) {
                bad.push(format!("{name}, order {schedule}: {found:?}"));
                break;
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Faults that running a kernel does not show.
const NOT_DYNAMIC: &[(&str, &str)] = &[("15", "proxy fences are not modelled")];

#[test]
fn faulty_and_clean() {
    let (Some(faulty), Some(clean)) = (folder("faulty"), folder("clean")) else {
        return;
    };
    let cases: Value = serde_json::from_str(&fs::read_to_string(faulty.join("../expected.json")).unwrap()).unwrap();
    let mut bad = Vec::new();
    for case in cases.as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        // From 51 on they are illegal.
        if file >= "51" || NOT_DYNAMIC.iter().any(|(number, _)| file.starts_with(number)) {
            continue;
        }
        let text = fs::read_to_string(faulty.join(file)).unwrap();
        let expected = case["codes"].to_string();
        match run(&text, 0) {
            Ok(codes) if codes.iter().any(|code| expected.contains(code.as_str())) => {}
            other => bad.push(format!("{file}: {other:?}, and one of {expected} is right")),
        }
        let text = fs::read_to_string(clean.join(file)).unwrap();
        for schedule in 0..orders() {
            match run(&text, schedule) {
                Ok(codes) if !codes.iter().any(|code| expected.contains(code.as_str())) => {}
                other => {
                    bad.push(format!("{file}, repaired, order {schedule}: {other:?}"));
                    break;
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// As the kernel says it is launched, or in one CTA of two warps.
fn run(text: &str, schedule: u64) -> Result<BTreeSet<String>, String> {
    let parsed = parse(text);
    let kernel = parsed
        .module
        .functions
        .iter()
        .rfind(|function| function.body.is_some())
        .unwrap();
    found(text, [1, 1, 1], kernel.required_block().unwrap_or([64, 1, 1]), schedule)
}
