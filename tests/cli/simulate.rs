//! `ptxgen run`.

use super::json::schema;
use super::run::{err, out, ptxgen, status};
use super::schema::violations;
use serde_json::Value;
use std::fs;

const ADD: &str = "tests/fixtures/sim/vector_add.ptx";

/// The arguments of a run of the vector addition over that many elements, with more behind them.
fn add(output_bytes: &str, more: &[&str]) -> std::process::Output {
    let mut args = vec!["run", ADD, "--grid", "4", "--block", "256"];
    for arg in ["buf:rand=f32:1000:1", "buf:rand=f32:1000:2", output_bytes, "u32=1000"] {
        args.extend(["--arg", arg]);
    }
    args.extend(more);
    ptxgen(&args)
}

#[test]
fn a_kernel_runs_and_its_buffers_can_be_seen_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, npy) = (folder.path().join("c.bin"), folder.path().join("c.npy"));
    let outs = [format!("2={}", raw.display()), format!("c:f32={}", npy.display())];
    let output = add(
        "buf:uninit=4000",
        &["--dump", "c:f32:2", "--out", &outs[0], "--out", &outs[1]],
    );
    assert_eq!(
        (status(&output), out(&output).as_str()),
        (0, "2 c: 0.3155026 0.9898629\n")
    );
    assert_eq!(err(&output), "vector_add: no findings; 22264 thread instructions\n");
    let (raw, npy_bytes) = (fs::read(raw).unwrap(), fs::read(&npy).unwrap());
    assert_eq!(raw.len(), 4000);
    assert!(npy_bytes.starts_with(b"\x93NUMPY") && npy_bytes.ends_with(&raw));
    // What was written can be read.
    let again = format!("buf:file={}", npy.display());
    let args = [
        "run",
        ADD,
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        &again,
        "--arg",
        &again,
        "--arg",
        "buf:zero=128",
    ];
    let output = ptxgen(&[&args[..], &["--arg", "u32=32", "--dump", "2:f32:1"]].concat());
    assert_eq!(out(&output), "2 c: 0.6310052\n");
}

#[test]
fn a_fault_is_a_finding_in_every_format() {
    let small = "buf:zero=3996";
    let short = add(small, &["--format", "short"]);
    assert_eq!(status(&short), 1);
    let line = "tests/fixtures/sim/vector_add.ptx:30:3: error[MEM002 thread-out-of-bounds]: thread (231,0,0) of CTA (3,0,0) writes 4 bytes";
    assert!(out(&short).starts_with(line), "{}", out(&short));
    let human = add(small, &[]);
    assert!(out(&human).contains("st.global.f32 [%rd10], %f3;\n"), "{}", out(&human));
    let github = add(small, &["--format", "github"]);
    assert!(out(&github).starts_with("::error file="), "{}", out(&github));
    let sarif: Value = serde_json::from_str(&out(&add(small, &["--format", "sarif"]))).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "MEM002");
    let json: Value = serde_json::from_str(&out(&add(
        small,
        &["--format", "json", "--profile", "--dump", "2:f32:1"],
    )))
    .unwrap();
    assert_eq!(
        violations(&schema("run"), &schema("run"), &json, "$"),
        Vec::<String>::new()
    );
    assert_eq!(json["findings"][0]["code"], "MEM002");
    assert_eq!(json["findings"][0]["kernel"], "vector_add");
}

#[test]
fn wrong_arguments_say_what_is_right() {
    let fails = |args: &[&str], part: &str| {
        let output = ptxgen(&[&["run", ADD][..], args].concat());
        assert_eq!(status(&output), 2, "{args:?}");
        assert!(err(&output).contains(part), "{args:?}: {}", err(&output));
    };
    let launch = ["--grid", "1", "--block", "32"];
    fails(
        &launch,
        "takes 4 arguments, and 0 are given: u64 a, u64 b, u64 c, u32 n",
    );
    fails(&["--grid", "1"], "--block is missing");
    fails(
        &["--grid", "1", "--block", "32", "--entry", "nix"],
        "there is no kernel `nix`; the file has: vector_add",
    );
    let with = |arg: &'static str, part: &str| {
        let buffers = [
            "--arg",
            "buf:zero=4",
            "--arg",
            "buf:zero=4",
            "--arg",
            "buf:zero=4",
            "--arg",
            arg,
        ];
        fails(&[&launch[..], &buffers].concat(), part);
    };
    with("u64=1", "parameter `n` is u32 (4 bytes)");
    with("u32=-1", "it holds 0 to 4294967295");
    with("buf:ones=4", "there are buf:zero");
    with("u32=1x", "no integer");
    fails(&["--grid", "0", "--block", "32"], "must be a number from 1");
}

#[test]
fn what_is_not_supported_and_what_is_illegal_are_not_run() {
    let output = ptxgen(&["run", "tests/fixtures/broken.ptx", "--grid", "1", "--block", "1"]);
    assert_eq!(status(&output), 2);
    assert!(err(&output).contains("nothing was run"), "{}", err(&output));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.ptx");
    let text = ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{ .reg .b32 %r1; mov.b32 %r1, 0;\n tcgen05.shift.cta_group::1.down [%r1];\n ret;\n}\n";
    fs::write(&path, text).unwrap();
    let output = ptxgen(&["run", path.to_str().unwrap(), "--grid", "1", "--block", "128"]);
    assert_eq!(status(&output), 2);
    assert!(
        err(&output).contains("unsupported: `tcgen05.shift.cta_group::1.down`") && err(&output).contains("at 6:2"),
        "{}",
        err(&output)
    );
    let endless = "tests/fixtures/sim/endless.ptx";
    let output = ptxgen(&[
        "run",
        endless,
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        "buf:zero=4",
        "--budget",
        "100000",
    ]);
    assert_eq!(status(&output), 2);
    assert!(
        err(&output).contains("the budget of 100000 thread instructions is used up"),
        "{}",
        err(&output)
    );
}

#[test]
fn orders_are_compared() {
    let args = [
        "run",
        "tests/fixtures/sim/race_global.ptx",
        "--grid",
        "2",
        "--block",
        "1",
        "--arg",
        "buf:zero=4",
    ];
    let output = ptxgen(&[&args[..], &["--schedules", "8", "--format", "short"]].concat());
    assert_eq!(status(&output), 1);
    assert!(
        out(&output).contains("RUN003 order-dependent-result"),
        "{}",
        out(&output)
    );
    assert_eq!(out(&add("buf:zero=4000", &["--schedules", "4"])), "");
}

#[test]
fn traces_and_profiles_show_each_instruction() {
    let output = add("buf:zero=4000", &["--profile"]);
    let line = out(&output)
        .lines()
        .find(|line| line.contains("ld.global.f32 %f1"))
        .unwrap()
        .to_owned();
    let words: Vec<_> = line.split_whitespace().take(5).collect();
    assert_eq!(words, ["27", "32", "1000", "31.2", "3.9"], "{line}");
    let output = add("buf:zero=4000", &["--trace"]);
    assert!(out(&output).starts_with("cta 0,0,0 warp 0 lanes ffffffff line 10: ld.param.u64 %rd1, [a]\n"));
}

#[test]
fn precision_names_the_instruction_that_loses_it() {
    let args = [
        "run",
        "tests/fixtures/sim/precision.ptx",
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        "buf:rand=f32:32:1",
        "--arg",
        "buf:zero=128",
        "--arg",
        "buf:zero=128",
        "--precision",
    ];
    let output = ptxgen(&args);
    assert_eq!(status(&output), 0, "{}", err(&output));
    // x is between -1 and 1, and an f32 has no room for it beside 2^24.
    let lost = "precision: the error jumps first at line 22: sub.f32 %f3, %f3, 0f4B800000\n";
    assert!(out(&output).starts_with(lost), "{}", out(&output));
    let json: Value = serde_json::from_str(&out(&ptxgen(&[&args[..], &["--format", "json"]].concat()))).unwrap();
    assert_eq!(
        violations(&schema("run"), &schema("run"), &json, "$"),
        Vec::<String>::new()
    );
    let found = &json["precision"];
    assert_eq!((&found["jumps"], &found["first_jump"]["line"]), (&1.into(), &22.into()));
    // The other way goes through shared memory, a move and a shuffle, and loses nothing.
    let errors = [0, 1].map(|at| found["buffers"][at]["error"].as_f64().unwrap());
    assert!(errors[0] >= 0.5 && errors[1] > 0.0 && errors[1] < 3e-7, "{errors:?}");
    assert_eq!(found["buffers"][1]["followed"], 32);
    let plain = ptxgen(&args[..args.len() - 1]);
    assert_eq!(out(&plain), "");
}

/// A tensor map is made as the host would make it; what is outside of the tensor is zero.
#[test]
fn a_tensor_map_is_an_argument() {
    let words: String = (0..64u32)
        .flat_map(u32::to_le_bytes)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let map = format!("tensormap:u32:16x4:32x8:swizzle128=buf:hex={words}");
    let run = |map: &str| {
        ptxgen(&[
            "run",
            "tests/fixtures/tensor.ptx",
            "--grid",
            "1",
            "--arg",
            map,
            "--arg",
            "buf:uninit=32",
            "--dump",
            "1:u32",
        ])
    };
    let output = run(&map);
    assert_eq!(status(&output), 0, "{}", err(&output));
    let shown = out(&output);
    for number in ["24", "40", "56"] {
        assert!(shown.contains(number), "{shown}");
    }
    let output = run("tensormap:u32:16x4:16x8:swizzle128=buf:zero=256");
    assert_eq!(status(&output), 2);
    assert!(err(&output).contains("128 bytes"), "{}", err(&output));
}
