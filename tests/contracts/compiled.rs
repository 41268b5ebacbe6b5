//! Kernels that others wrote or compiled, against contracts: right ones hold, wrong ones break where they are known to.

use super::{broken, settings};
use ptxgen::kernels::contract::judge::{self, Proof};
use ptxgen::kernels::contract::{Contract, read};
use ptxgen::ptx::parse::parse;
use std::fs;
use std::path::{Path, PathBuf};

fn tried(text: &str, contract: &str) -> (Contract, Proof) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/contracts")
        .join(contract);
    let contract = read(&fs::read_to_string(path).unwrap()).unwrap();
    let parsed = parse(text);
    let modules = vec![&parsed.module; contract.shapes.len()];
    let proof = judge::prove(&contract, &modules, &settings(), &|| {});
    assert!(proof.stops.is_empty(), "{:?}", proof.stops);
    (contract, proof)
}

#[test]
fn what_nvcc_makes_of_right_kernels_holds() {
    for (ptx, contract) in [
        ("nvcc_softmax_sm_75", "nvcc_softmax.yaml"),
        ("nvcc_gemm_sm_80", "nvcc_gemm.yaml"),
    ] {
        let path = format!("{}/tests/fixtures/compiled/{ptx}.ptx", env!("CARGO_MANIFEST_DIR"));
        let (contract, proof) = tried(&fs::read_to_string(path).unwrap(), contract);
        assert_eq!(broken(&contract, &proof), [""; 0], "{ptx}: {:?}", proof.verdicts);
    }
}

/// The kernels that the ten known faults come from, where they lie beside the project.
fn origin(name: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/origin");
    let files = fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path());
    let file = files.into_iter().find(|path| path.to_string_lossy().contains(name))?;
    fs::read_to_string(file).ok()
}

#[test]
fn kernels_with_known_faults_break_their_contracts() {
    let cases: [(&str, &str, &[&str]); 3] = [
        (
            "RmsNormBackwardKernel",
            "origin/rmsnorm-backward.yaml",
            &["P-RMS-BACK-001"],
        ),
        (
            "FusedRmsNormNf4GemvKernel",
            "origin/fused-rmsnorm-nf4-gemv.yaml",
            &["F-NF4-RMS-001", "no-fault", "deterministic"],
        ),
        ("LayerNormKernel", "origin/layernorm.yaml", &[]),
    ];
    for (name, contract, expected) in cases {
        let Some(text) = origin(name) else {
            eprintln!("no {name} beside the project: nothing tested");
            continue;
        };
        let (contract, proof) = tried(&text, contract);
        assert_eq!(broken(&contract, &proof), expected, "{name}: {:?}", proof.verdicts);
    }
}
