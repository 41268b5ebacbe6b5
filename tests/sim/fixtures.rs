//! Fixtures: kernels with their launch and what running them must find, in the comments at their top:
//!
//! ```text
//! // grid 1 block 64 shared 0
//! // arg buf:zero=4096
//! // expect RACE001          or: expect clean; any RACE001 RACE002: at least one of them, as the order has it
//! // dump 0 = 1 2 3          the first 32-bit words of a buffer afterwards
//! ```

use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, Arg, Buffer, Fault, Launch, Options, Outcome, Stopped};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// How many orders each fixture runs in.
const ORDERS: u64 = 8;

/// What the comments say.
#[derive(Default)]
struct Plan {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u64,
    args: Vec<Arg>,
    expect: BTreeSet<String>,
    /// Of these at least one and nothing else.
    any: BTreeSet<String>,
    dumps: Vec<(usize, Vec<u32>)>,
}

fn dims(text: &str) -> [u32; 3] {
    let mut dims = [1; 3];
    for (to, from) in dims.iter_mut().zip(text.split(',')) {
        *to = from.parse().unwrap();
    }
    dims
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => text.parse::<i64>().unwrap() as u64,
    }
}

fn arg(text: &str) -> Arg {
    let (kind, value) = text.split_once('=').unwrap();
    let buffer = |bytes: Vec<u8>, unwritten| {
        Arg::Buffer(Buffer {
            name: String::new(),
            bytes: bytes.into(),
            unwritten,
        })
    };
    match kind {
        "buf:zero" => buffer(vec![0; number(value) as usize], false),
        "buf:uninit" => buffer(vec![0; number(value) as usize], true),
        // Words 0, 1, 2, ...
        "buf:iota" => buffer((0..number(value) as u32).flat_map(u32::to_le_bytes).collect(), false),
        "u32" => Arg::Bytes((number(value) as u32).to_le_bytes().to_vec()),
        "u64" => Arg::Bytes(number(value).to_le_bytes().to_vec()),
        "f32" => Arg::Bytes(value.parse::<f32>().unwrap().to_le_bytes().to_vec()),
        other => panic!("{other}"),
    }
}

fn plan(text: &str) -> Plan {
    let mut plan = Plan::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("// ")) {
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            ["grid", grid, "block", block, rest @ ..] => {
                (plan.grid, plan.block) = (dims(grid), dims(block));
                if let ["shared", bytes] = rest {
                    plan.shared = number(bytes);
                }
            }
            ["arg", value] => plan.args.push(arg(value)),
            ["expect", codes @ ..] => {
                plan.expect = codes
                    .iter()
                    .filter(|code| **code != "clean")
                    .map(|code| (*code).to_owned())
                    .collect();
            }
            ["any", codes @ ..] => plan.any = codes.iter().map(|code| (*code).to_owned()).collect(),
            ["dump", at, "=", values @ ..] => {
                let values = values.iter().map(|value| number(value) as u32);
                plan.dumps.push((at.parse().unwrap(), values.collect()));
            }
            _ => {}
        }
    }
    plan
}

fn run(text: &str, plan: &Plan, schedule: u64) -> Result<Outcome, Stopped> {
    in_parts(text, plan, schedule, 1)
}

/// Runs it in so many parts, one after another.
fn in_parts(text: &str, plan: &Plan, schedule: u64, parts: usize) -> Result<Outcome, Stopped> {
    let parsed = parse(text);
    assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
    let module = &parsed.module;
    let mut entries = module.functions.iter().filter(|function| function.body.is_some());
    let kernel = entries
        .next_back()
        .map(|function| module.name(function.symbol))
        .unwrap();
    let launch = Launch {
        grid: plan.grid,
        block: plan.block,
        dynamic_shared: plan.shared,
        args: plan.args.clone(),
        options: Options {
            schedule,
            budget: 1 << 24,
            profile: parts > 1 || plan.grid != [1; 3],
            ..Options::default()
        },
    };
    let program = sim::prepare(module, kernel, plan.shared)?;
    sim::run_in_parts(module, kernel, &program, &launch, parts, &|count, work| {
        (0..count).map(work).collect()
    })
}

/// What is wrong with one run of a fixture.
fn judge(text: &str, plan: &Plan, schedule: u64) -> Option<String> {
    let outcome = match run(text, plan, schedule) {
        Ok(outcome) => outcome,
        Err(stopped) if plan.expect.contains("LIMIT") => {
            return (!stopped.stop.to_string().contains("budget")).then(|| stopped.stop.to_string());
        }
        Err(stopped) => return Some(stopped.stop.to_string()),
    };
    let found: BTreeSet<String> = outcome.faults.iter().map(|fault| fault.code.id.to_owned()).collect();
    let right = match plan.any.is_empty() {
        true => found == plan.expect,
        false => !found.is_empty() && found.is_subset(&plan.any),
    };
    if !right {
        let messages: Vec<_> = outcome.faults.iter().map(|fault| &fault.message).collect();
        return Some(format!("expected {:?}, found {found:?}: {messages:?}", plan.expect));
    }
    for (at, want) in &plan.dumps {
        let bytes = &outcome.buffers[*at].as_ref().unwrap().bytes;
        let got: Vec<u32> = bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .take(want.len())
            .collect();
        if got != *want {
            return Some(format!("buffer {at} holds {got:x?} and not {want:x?}"));
        }
    }
    None
}

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sim");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn fixtures_are_as_they_say() {
    let files = files();
    let mut bad = Vec::new();
    let mut count = 0;
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let plan = plan(&text);
        if !text.contains("// expect") && !text.contains("// any") {
            continue;
        }
        count += 1;
        let wrong = (0..ORDERS)
            .find_map(|schedule| judge(&text, &plan, schedule).map(|why| format!("order {schedule}: {why}")));
        if let Some(why) = wrong {
            bad.push(format!("{}: {why}", file.file_name().unwrap().to_string_lossy()));
        }
    }
    assert!(bad.is_empty(), "{} of {count}:\n{}", bad.len(), bad.join("\n"));
    assert!(count >= 20, "only {count} fixtures");
}

/// A grid that is run in parts comes to what it comes to in one piece, whatever is wrong with it.
#[test]
fn parts_come_to_the_same() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sim");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let mut plan = plan(&text);
        if plan.grid == [0; 3] {
            continue;
        }
        // Where there was one CTA, several write to the same places now.
        plan.grid[0] = plan.grid[0].max(4);
        let told = |outcome: Result<Outcome, Stopped>| match outcome {
            Ok(outcome) => format!("{outcome:?}"),
            Err(stopped) => format!("{stopped:?}"),
        };
        let whole = told(in_parts(&text, &plan, 0, 1));
        for parts in [2, 3] {
            assert_eq!(told(in_parts(&text, &plan, 0, parts)), whole, "{}", file.display());
        }
        count += 1;
    }
    assert!(count >= 20, "only {count} fixtures");
}

/// The launch that a fixture states.
pub fn launch_of(text: &str) -> ptxgen::ptx::lint::Launch {
    let plan = plan(text);
    ptxgen::ptx::lint::Launch {
        block: Some(plan.block),
        grid: Some(plan.grid),
        ..Default::default()
    }
}

/// Every fixture that says what it expects: its name, its text, and the faults of all orders.
pub fn all() -> Vec<(String, String, Vec<Fault>)> {
    let files = files();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if !text.contains("// expect") && !text.contains("// any") {
            continue;
        }
        let plan = plan(&text);
        let faults = (0..ORDERS).flat_map(|schedule| match run(&text, &plan, schedule) {
            Ok(outcome) => outcome.faults,
            Err(stopped) => stopped.faults,
        });
        let faults = faults.collect();
        found.push((file.file_name().unwrap().to_string_lossy().into_owned(), text, faults));
    }
    found
}
