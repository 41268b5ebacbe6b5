//! Single declarations and instructions with the verdict of ptxas on each (`tests/fixtures/verdicts.txt`): ptxgen says the same, and
//! ptxas, where it is installed, still says it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use ptxgen::ptx::diag::Level;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::verify::verify;

/// One line of the file.
struct Case {
    ptxas_accepts: bool,
    accepted: bool,
    line: String,
    target: String,
    module: String,
}

fn cases() -> Vec<Case> {
    let text = include_str!("fixtures/verdicts.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(case).collect()
}

fn case(line: &str) -> Case {
    let mut words = line.splitn(3, ' ');
    let (verdict, place, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or(""));
    let text = rest.replace("\\n", "\n");
    let (place, setting) = place.split_once('@').unwrap_or((place, "8.3,sm_90"));
    let (version, target) = setting.split_once(',').unwrap();
    let (declaration, head, body) = match place {
        "module" => (&*text, "", ""),
        "head" => ("", &*text, ""),
        "body" => ("", "", &*text),
        "both" => {
            let (declaration, body) = text.split_once(" ;; ").unwrap();
            (declaration, "", body)
        }
        other => panic!("{line}: `{other}` is no place"),
    };
    let module = format!(
        ".version {version}\n.target {target}\n{}",
        module(declaration, head, body)
    );
    Case {
        ptxas_accepts: verdict != "-",
        accepted: verdict == "+",
        line: line.to_owned(),
        target: target.to_owned(),
        module,
    }
}

fn module(declaration: &str, head: &str, body: &str) -> String {
    format!(
        ".address_size 64\n{declaration}\n.visible .entry k(\n\t.param .u64 p0,\n\t.param .u32 n\n)\n{head}\n{{\n\
         \t.reg .pred %p<8>;\n\t.reg .b16 %rs<8>;\n\t.reg .b32 %r<32>;\n\t.reg .f32 %f<32>;\n\t.reg .b64 %rd<16>;\n\t.reg .f64 %fd<8>;\n\
         \t.shared .align 16 .b8 smem[1024];\n\t.local .align 16 .b8 lmem[64];\n\tld.param.u64 %rd1, [p0];\n\tld.param.u32 %r1, [n];\n\
         \tmov.u32 %r2, %tid.x;\n\t{body}\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}}\n"
    )
}

#[test]
fn every_verdict_is_ours() {
    let mut wrong = Vec::new();
    for case in cases() {
        let parsed = parse(&case.module);
        let mut diags = verify(&parsed, &case.module);
        diags.extend(parsed.diags);
        let errors: Vec<_> = diags.iter().filter(|diag| diag.level == Level::Error).collect();
        if errors.is_empty() != case.accepted {
            wrong.push(format!("{}: {errors:?}", case.line));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_verdict_is_that_of_ptxas() {
    if common::ptxas().is_none() {
        return;
    }
    // All of them take a while; a few show whether the release is another.
    let full = std::env::var("PTXGEN_PARITY").is_ok_and(|value| value == "full");
    let step = if full { 1 } else { 17 };
    for case in cases().iter().step_by(step) {
        let verdict = common::assemble(&case.module, &case.target);
        assert_eq!(verdict.is_ok(), case.ptxas_accepts, "{}: {verdict:?}", case.line);
    }
}
