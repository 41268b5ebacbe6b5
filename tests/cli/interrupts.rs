//! Ctrl-C while `run` and `verify` are at work. Nothing here depends on how fast that is: the signal is sent once the
//! program catches it, and what it is sent to would go on for hours.

use super::json::schema;
use super::run::{command, err, out};
use super::schema::violations;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const ENDLESS: &[&str] = &[
    "run",
    "tests/fixtures/sim/endless.ptx",
    "--grid",
    "1",
    "--block",
    "32",
    "--budget",
    "1000000000000000",
    "--profile",
    "--arg",
    "buf:zero=4",
];

/// Whether the process catches SIGINT.
fn catches(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (2 - 1) != 0
}

/// Whether the process has shared its work out to threads.
fn shares(child: &Child) -> bool {
    std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count() > 1
}

/// Starts the program and interrupts it once it is at work.
fn interrupted(args: &[&str]) -> Output {
    interrupted_once(args, catches)
}

/// Starts the program and interrupts it once it has come so far.
fn interrupted_once(args: &[&str], is_ready: impl Fn(&Child) -> bool) -> Output {
    let mut piped = command(args);
    let mut child = piped.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !is_ready(&child) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn a_run_that_is_interrupted_shows_what_it_knows_and_writes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.bin");
    let option = format!("0={}", file.display());
    let output = interrupted(&[ENDLESS, &["--out", &option]].concat());
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    let told = err(&output);
    assert!(
        told.starts_with("tests/fixtures/sim/endless.ptx: error: interrupted at ")
            && told.ends_with("what is shown is of those, and no file was written\n"),
        "{told}"
    );
    let profile = out(&output);
    let counted = profile.lines().filter(|line| line.contains("bra")).count();
    assert!(profile.contains("warps") && counted > 0, "{profile}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn json_says_that_it_is_partial() {
    let output = interrupted(&[ENDLESS, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    let json: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        violations(&schema("run"), &schema("run"), &json, "$"),
        Vec::<String>::new()
    );
    assert_eq!((&json["partial"], &json["runs"]), (&true.into(), &0.into()));
    assert!(json["thread_instructions"].as_u64().unwrap() > 0);
}

/// Comes to its end only where CTA 0 runs before CTA 1.
const ONE_ORDER: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra SET;
  ld.global.u32 %r2, [%rd1];
LOOP:
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra LOOP;
  ret;
SET:
  mov.u32 %r3, 1;
  st.global.u32 [%rd1], %r3;
  ret;
}
";

#[test]
fn orders_that_are_interrupted_leave_those_that_were_run() {
    let folder = tempfile::tempdir().unwrap();
    let (file, result) = (folder.path().join("k.ptx"), folder.path().join("out.bin"));
    std::fs::write(&file, ONE_ORDER).unwrap();
    let option = format!("0={}", result.display());
    let path = file.to_str().unwrap();
    let run = [
        "run",
        path,
        "--grid",
        "2",
        "--block",
        "1",
        "--budget",
        "1000000000000000",
    ];
    let more = ["--arg", "buf:zero=4", "--schedules", "64", "--out", &option];
    // The plain order is run first, all others side by side.
    let output = interrupted_once(&[&run[..], &more].concat(), shares);
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(out(&output).contains("RACE006"), "{}", out(&output));
    assert!(
        err(&output).contains("of 64 orders, and no file was written"),
        "{}",
        err(&output)
    );
    assert!(!result.exists());
}

#[test]
fn verification_that_is_interrupted_says_how_much_was_tried() {
    let args = ["verify", "nf4-gemv", "--k", "64", "--n", "3", "--schedules", "100000"];
    let output = interrupted(&args);
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    let told = err(&output);
    assert!(
        told.contains("error: interrupted: 0 of ") && told.contains("cases were tried"),
        "{told}"
    );
    assert!(
        out(&output).contains("not tried") && !out(&output).contains("holds "),
        "{}",
        out(&output)
    );
}
