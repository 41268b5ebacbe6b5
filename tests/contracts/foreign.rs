//! Somebody's kernel against a contract of theirs.

use super::{broken, settings};
use ptxgen::kernels::contract::judge::{self, Proof, Settings};
use ptxgen::kernels::contract::{Contract, read};
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::Stop;

const TEXT: &str = include_str!("saxpy.ptx");
const CONTRACT: &str = include_str!("saxpy.yaml");

fn prove(contract: &Contract, text: &str) -> Proof {
    let parsed = parse(text);
    assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
    let modules = vec![&parsed.module; contract.shapes.len()];
    let settings = Settings {
        budget: 100_000,
        ..settings()
    };
    judge::prove(contract, &modules, &settings, &|| {})
}

/// What breaks after an edit.
fn edited(from: &str, to: &str) -> Vec<String> {
    assert!(TEXT.contains(from), "{from}");
    let contract = read(CONTRACT).unwrap();
    broken(&contract, &prove(&contract, &TEXT.replace(from, to)))
}

#[test]
fn a_kernel_keeps_its_contract_and_its_mutants_do_not() {
    let contract = read(CONTRACT).unwrap();
    let proof = prove(&contract, TEXT);
    assert_eq!(broken(&contract, &proof), [""; 0], "{:?}", proof.verdicts);
    assert_eq!(proof.cases, 14);
    assert_eq!(
        edited("fma.rn.f32", "add.rn.f32 %f2, %f2, %f2; fma.rn.f32"),
        ["SAXPY-001"]
    );
    assert_eq!(edited("@%p bra done;", ""), ["no-fault"]);
    let out_over_in = edited("add.u64 %rd7, %rd3, %rd4", "add.u64 %rd7, %rd1, %rd4");
    assert_eq!(out_over_in, ["SAXPY-001", "written-once", "only-outputs"]);
    let twice = edited(
        "st.global.f32 [%rd7], %f3;",
        "st.global.f32 [%rd7], %f3; st.global.f32 [%rd7], %f3;",
    );
    assert_eq!(twice, ["written-once"]);
}

#[test]
fn stores_that_go_elsewhere_are_told_from_those_that_are_not_followed() {
    let contract = read(CONTRACT).unwrap();
    let strays = |text: &str| {
        let proof = prove(&contract, text);
        let strays: Vec<_> = proof
            .strays
            .iter()
            .map(|stray| (stray.certain, stray.why.clone()))
            .collect();
        (strays, broken(&contract, &proof))
    };
    assert_eq!(strays(TEXT), (vec![], vec![]));
    let through_memory = TEXT.replace(
        "ld.param.u64 %rd3, [out];",
        ".local .b64 slot; ld.param.u64 %rd3, [out]; st.local.u64 [slot], %rd3; ld.local.u64 %rd3, [slot];",
    );
    let (found, broken) = strays(&through_memory);
    assert_eq!(found, vec![(false, "its address was read from memory".to_owned()); 2]);
    assert_eq!(broken, [""; 0]);
    let (found, _) = strays(&TEXT.replace("add.u64 %rd7, %rd3, %rd4;", "add.u64 %rd7, %rd1, %rd4;"));
    assert_eq!(found, vec![(true, "its address is made of `x`".to_owned()); 2]);
}

#[test]
fn what_cannot_be_tried_is_no_pass() {
    let contract = read(CONTRACT).unwrap();
    let stops = |text: &str| prove(&contract, text).stops;
    let endless = stops(&TEXT.replace("@%p bra done;", "again: bra again;"));
    assert!(matches!(endless[0].2.stop, Stop::Limit(_)));
    let unsupported = stops(&TEXT.replace(
        "ld.global.f32 %f1, [%rd5];",
        "tex.1d.v4.f32.s32 {%f1,%f1,%f1,%f1}, [%rd5, {%r4}];",
    ));
    assert!(matches!(unsupported[0].2.stop, Stop::Unsupported { .. }));
    let proof = prove(
        &contract,
        &TEXT.replace(".param .f32 a\n", ".param .f32 a, .param .u32 b\n"),
    );
    assert!(matches!(proof.stops[0].2.stop, Stop::Launch(_)));
    assert!(proof.verdicts.iter().all(|verdict| verdict.cases == 0));
}

#[test]
fn a_contract_that_does_not_fit_its_reference_is_no_pass() {
    let softmax = "contract: s\nreference: softmax\nshapes: [{ rows: 2, columns: 3 }]\n\
        buffers:\n  x: { role: in, type: f32, shape: [rows, 4] }\n  out: { role: out, type: f32, shape: [rows, columns], is: y }\n\
        launches: [{ entry: saxpy, grid: [1], block: [32], args: [x, x, out, 1, 1] }]\n\
        claims: [{ claim: S, output: y, tolerance: 1e-6 }]\n";
    let contract = read(softmax).unwrap();
    let stop = prove(&contract, TEXT).stops.remove(0).2.stop.to_string();
    assert_eq!(
        stop,
        "buffer `x` has 8 elements; `x` of `softmax` has rows * columns = 6"
    );
}

/// Inputs and outputs by tensor maps; a fence that is missing is a fault.
#[test]
fn tensor_maps_are_arguments() {
    let contract = read(include_str!("tiles.yaml")).unwrap();
    let text = include_str!("tiles.ptx");
    let proof = prove(&contract, text);
    assert_eq!(broken(&contract, &proof), [""; 0], "{:?}", proof.verdicts);
    let unfenced = text.replace("fence.proxy.async.shared::cta;", "");
    assert_eq!(broken(&contract, &prove(&contract, &unfenced)), ["no-fault"]);
    let elsewhere = text.replace("[%rd2, {%r4, %r5}], [%r1]", "[%rd2, {%r5, %r4}], [%r1]");
    let found = broken(&contract, &prove(&contract, &elsewhere));
    assert!(found.contains(&"TILES-001".to_owned()), "{found:?}");
}

#[test]
fn what_is_wrong_with_tensor_maps_is_said() {
    let yaml = include_str!("tiles.yaml");
    let error = |from: &str, to: &str| read(&yaml.replace(from, to)).unwrap_err().to_string();
    assert!(error("over: x,", "over: y,").contains("no buffer `y`"));
    assert!(error("swizzle: 128 }", "swizzle: 48 }").contains("128"));
    let parsed = parse(include_str!("tiles.ptx"));
    let narrow = read(&yaml.replace("box: [8, 32]", "box: [8, 16]")).unwrap();
    let modules = vec![&parsed.module; narrow.shapes.len()];
    let proof = judge::prove(&narrow, &modules, &settings(), &|| {});
    assert!(format!("{proof:?}").contains("64 bytes"), "{proof:?}");
}
