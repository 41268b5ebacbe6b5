//! Vectors of other projects, where they lie beside this one: PTX with inputs and what they must give.

use ptxgen::ptx::diag::Level;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, Arg, Buffer, Launch, Options, Outcome};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Where the vectors are; `None` where there are none.
fn folder(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/vectors")
        .join(name);
    let found = beside.join("manifest.json").is_file();
    if !found {
        eprintln!("no vectors in {}: nothing tested", beside.display());
    }
    found.then_some(beside)
}

fn manifest(folder: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("manifest.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    value["tests"].as_array().unwrap().clone()
}

fn hex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len() / 2).map(|at| &text[2 * at..2 * at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn dims(value: &Value) -> [u32; 3] {
    [0, 1, 2].map(|at| value[at].as_u64().unwrap() as u32)
}

fn buffer(name: &str, bytes: Vec<u8>) -> Arg {
    Arg::Buffer(Buffer {
        name: name.into(),
        bytes: bytes.into(),
        unwritten: false,
    })
}

fn execute(text: &str, entry: &str, launch: &Launch, lenient: bool) -> Result<Outcome, String> {
    let parsed = parse(text);
    match sim::run(&parsed.module, entry, launch) {
        // One of them names a lane in a mask that goes past and exits: a warning, and the result is what counts here.
        Ok(outcome) if lenient || outcome.faults.iter().all(|fault| fault.level != Level::Error) => Ok(outcome),
        Ok(outcome) => Err(format!(
            "{:?}",
            outcome.faults.iter().map(|fault| &fault.message).collect::<Vec<_>>()
        )),
        Err(stopped) => Err(stopped.stop.to_string()),
    }
}

/// A number of that type, for comparison by value.
fn value(bytes: &[u8], ty: &str) -> f64 {
    let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    match ty {
        "f32" => f64::from(f32::from_bits(bits as u32)),
        "f64" => f64::from_bits(bits),
        _ => panic!("{ty}"),
    }
}

/// Why two results are not the same; floats compare by value, with some units in the last place allowed.
fn difference(got: &[u8], want: &[u8], ty: &str, ulps: f64) -> Option<String> {
    let size = match ty {
        "f32" | "f64" => ty[1..].parse::<usize>().unwrap() / 8,
        _ => return (got != want).then(|| format!("{got:02x?}, and {want:02x?} is right")),
    };
    for (got, want) in got.chunks(size).zip(want.chunks(size)) {
        let (x, y) = (value(got, ty), value(want, ty));
        let unit = if ty == "f32" {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        };
        let near = (x - y).abs() <= ulps * unit * y.abs().max(f64::from(f32::MIN_POSITIVE));
        if got != want && x != y && !near && !(x.is_nan() && y.is_nan()) {
            return Some(format!("{x:e}, and {y:e} is right"));
        }
    }
    None
}

/// What is not compared, and why.
const ZLUDA_LEFT_OUT: &[(&str, &str)] = &[
    ("vector8_extract", "illegal PTX"),
    ("vote_ballot_nosync", "a form that is gone from its target"),
];

/// Tests that read what nothing has written, on purpose.
const ZLUDA_UNWRITTEN: &[&str] = &["block"];
/// Tests that race: lanes and warps rely on lockstep.
const ZLUDA_RACING: &[&str] = &["ldmatrix"];
/// Tests that write more than their output has.
const ZLUDA_LARGER: &[&str] = &["mma_m16n8k16_f32_bf16_bf16_f32_2x"];

/// Whether the test holds approximations, which the ISA only bounds.
fn is_approximate(test: &Value) -> bool {
    let forms = test["forms"].as_array().unwrap();
    forms.iter().any(|form| form.as_str().unwrap().contains(".approx"))
}

fn zluda(folder: &std::path::Path, test: &Value) -> Result<(), String> {
    let text = fs::read_to_string(folder.join(test["ptx"].as_str().unwrap())).unwrap();
    let expect = &test["expect"];
    let want = hex(expect["le_hex"].as_str().unwrap());
    let name = test["name"].as_str().unwrap();
    let larger = ZLUDA_LARGER.contains(&name);
    let mut args = Vec::new();
    for arg in test["args"].as_array().unwrap() {
        args.push(match arg.as_str().unwrap() {
            "input" => buffer("input", hex(test["input"]["le_hex"].as_str().unwrap())),
            _ => buffer("output", vec![0; if larger { 2 } else { 1 } * want.len()]),
        });
    }
    // The output comes last; a kernel that takes no input may have a parameter for it.
    let (parsed, entry) = (parse(&text), test["entry"].as_str().unwrap());
    let kernel = parsed.module.function_named(entry).unwrap();
    while args.len() < parsed.module.function(kernel).params.len() {
        args.insert(0, Arg::Bytes(vec![0; 8]));
    }
    let launch = Launch {
        grid: dims(&test["grid"]),
        block: dims(&test["block"]),
        dynamic_shared: test["dynamic_shared"].as_u64().unwrap(),
        args,
        options: Options::default(),
    };
    let outcome = execute(
        &text,
        entry,
        &launch,
        ZLUDA_UNWRITTEN.contains(&name) || ZLUDA_RACING.contains(&name),
    )?;
    let got = &outcome.buffers.last().unwrap().as_ref().unwrap().bytes[..want.len()];
    let ulps = if is_approximate(test) { 4.0 } else { 0.0 };
    match difference(got, &want, expect["type"].as_str().unwrap(), ulps) {
        None => Ok(()),
        Some(difference) => Err(difference),
    }
}

#[test]
fn zluda_vectors() {
    let Some(folder) = folder("zluda") else { return };
    let left_out = |name: &str| ZLUDA_LEFT_OUT.iter().any(|(left, _)| *left == name);
    let mut bad = Vec::new();
    let mut good = 0;
    for test in manifest(&folder).iter().filter(|test| test.get("entry").is_some()) {
        let name = test["name"].as_str().unwrap();
        if left_out(name) {
            continue;
        }
        match zluda(&folder, test) {
            Ok(()) => good += 1,
            Err(why) => bad.push(format!("{name}: {why}")),
        }
    }
    assert!(
        bad.is_empty(),
        "{good} are right, {} are not:\n{}",
        bad.len(),
        bad.join("\n")
    );
    assert!(good >= 170, "only {good}");
}

/// Tests whose reference is not what the instruction does: it says `.rz`, and the reference rounds to nearest.
const OCELOT_WRONG: &[&str] = &[
    "TestCvt-f32-u64",
    "TestCvt-f32-s32",
    "TestCvt-f64-u64",
    "TestCvt-f64-s64",
];
/// A kernel that launches kernels.
const OCELOT_UNSUPPORTED: &[&str] = &["TestCudaNestedParallelism"];

fn ocelot(folder: &std::path::Path, test: &Value) -> Result<(), String> {
    let text = fs::read_to_string(folder.join(test["ptx"].as_str().unwrap())).unwrap();
    let ty = test["out_types"][0].as_str().unwrap();
    // The gross approximations of `.f64` have 20 bits.
    let gross = test["forms"].to_string().contains(".approx.ftz.f64");
    let ulps = if gross {
        2f64.powi(33)
    } else {
        2f64.powi(test["epsilon_ulp_pow2"].as_i64().unwrap() as i32)
    };
    for vector in test["vectors"].as_array().unwrap() {
        let want = hex(vector["out"].as_str().unwrap());
        let args = test["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|arg| match arg.as_str().unwrap() {
                "input" => buffer("input", hex(vector["in"].as_str().unwrap())),
                _ => buffer("output", vec![0; want.len()]),
            });
        let launch = Launch {
            grid: dims(&test["grid"]),
            block: dims(&test["block"]),
            dynamic_shared: 0,
            args: args.collect(),
            options: Options::default(),
        };
        let outcome = execute(&text, test["entry"].as_str().unwrap(), &launch, false)?;
        let got = &outcome.buffers[0].as_ref().unwrap().bytes;
        if let Some(difference) = difference(got, &want, ty, if ulps > 1.0 { ulps } else { 0.0 }) {
            return Err(format!("{difference} for {}", vector["in"]));
        }
    }
    Ok(())
}

#[test]
fn ocelot_vectors() {
    let Some(folder) = folder("ocelot") else { return };
    let mut bad = Vec::new();
    let mut good = 0;
    let left_out = |name: &str| OCELOT_WRONG.contains(&name) || OCELOT_UNSUPPORTED.contains(&name);
    for test in manifest(&folder)
        .iter()
        .filter(|test| !left_out(test["name"].as_str().unwrap()))
    {
        match ocelot(&folder, test) {
            Ok(()) => good += 1,
            Err(why) => bad.push(format!("{}: {why}", test["name"])),
        }
    }
    assert!(
        bad.is_empty(),
        "{good} are right, {} are not:\n{}",
        bad.len(),
        bad.join("\n")
    );
    assert!(good >= 190, "only {good}");
}
