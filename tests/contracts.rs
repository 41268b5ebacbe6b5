//! Contracts: kernels hold them, and kernels with a fault put in do not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "contracts/compiled.rs"]
mod compiled;
#[path = "contracts/files.rs"]
mod files;
#[path = "contracts/foreign.rs"]
mod foreign;
#[path = "contracts/mutants.rs"]
mod mutants;
#[path = "contracts/public.rs"]
mod public;

use ptxgen::kernels::contract::judge::{self, Proof, Settings};
use ptxgen::kernels::contract::{Contract, OWN, plan};
use ptxgen::kernels::{DEFAULT_TARGET, Value};
use ptxgen::ptx::ir::Module;

/// Few orders and one seed: what a test can afford. `PTXGEN_VERIFY=full` tries more.
fn settings() -> Settings {
    let full = std::env::var_os("PTXGEN_VERIFY").is_some_and(|value| value == "full");
    Settings {
        seed: 1,
        schedules: if full { 8 } else { 2 },
        cases: if full { 4 } else { 1 },
        budget: 1 << 32,
        watch: None,
    }
}

/// The contract of a kernel, for one shape where some numbers are given.
fn contract(name: &str, given: &[(&str, u64)]) -> Contract {
    let mut contract = Contract::of(name).unwrap();
    if !given.is_empty() {
        let mut shape = contract.shapes[0].clone();
        for (name, value) in given {
            shape.insert((*name).to_owned(), Value::Int(*value));
        }
        contract.shapes = vec![shape];
    }
    contract
}

/// The texts of a contract's shapes.
fn texts(contract: &Contract) -> Vec<String> {
    let kernel = contract.kernel.unwrap();
    let emit = |shape| {
        let values = plan::values(kernel, shape).unwrap();
        kernel.emit(&values, DEFAULT_TARGET, None).unwrap().text()
    };
    contract.shapes.iter().map(emit).collect()
}

fn prove(contract: &Contract, texts: &[String]) -> Proof {
    let parsed: Vec<_> = texts.iter().map(|text| ptxgen::ptx::parse::parse(text)).collect();
    let modules: Vec<&Module> = parsed.iter().map(|parsed| &parsed.module).collect();
    judge::prove(contract, &modules, &settings(), &|| {})
}

/// The claims that do not hold.
fn broken(contract: &Contract, proof: &Proof) -> Vec<String> {
    let claims = contract.claims.iter().zip(&proof.verdicts);
    let broken = claims.filter(|(_, verdict)| verdict.broken > 0 || verdict.cases == 0);
    broken.map(|(claim, _)| claim.id.clone()).collect()
}

#[test]
fn our_kernels_keep_their_contracts() {
    for (name, _) in OWN {
        let contract = contract(name, &[]);
        let proof = prove(&contract, &texts(&contract));
        assert_eq!(broken(&contract, &proof), [""; 0], "{name}: {:?}", proof.verdicts);
        assert!(proof.stops.is_empty() && proof.faults.is_empty(), "{name}");
        assert!(proof.strays.is_empty(), "{name}: {:?}", proof.strays);
    }
}
