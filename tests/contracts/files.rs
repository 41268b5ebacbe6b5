//! Contract files: what they say agrees with the kernels, and what is wrong with one is said.

use super::contract;
use ptxgen::kernels::contract::plan::{Plan, values};
use ptxgen::kernels::contract::{Check, OWN, Property, read};
use ptxgen::kernels::{KERNELS, KernelInfo};

#[test]
fn every_kernel_has_a_contract_that_names_its_promises() {
    for kernel in KERNELS {
        let contract = contract(kernel.name, &[]);
        for promised in kernel.contracts {
            let is_named = contract.claims.iter().any(|claim| claim.id.starts_with(promised.id));
            assert!(is_named, "{}: {}", kernel.name, promised.id);
        }
        for property in Property::ALL {
            let is_checked = |check: &Check| matches!(check, Check::Holds(named) if named == property);
            assert!(contract.claims.iter().any(|claim| is_checked(&claim.check)));
        }
    }
    assert_eq!(OWN.len(), KERNELS.len());
}

#[test]
fn contracts_name_every_buffer_of_the_launches_and_no_other() {
    for (name, _) in OWN {
        let contract = contract(name, &[]);
        let kernel = KernelInfo::find(name).unwrap();
        let mut seen = Vec::new();
        for shape in &contract.shapes {
            let plan = Plan::of_kernel(kernel, &values(kernel, shape).unwrap(), &contract.buffers);
            seen.extend(plan.buffers.into_iter().map(|buffer| buffer.name));
        }
        for buffer in &contract.buffers {
            assert!(seen.contains(&buffer.name), "{name}: {}", buffer.name);
        }
        for buffer in seen {
            assert!(
                contract.buffers.iter().any(|spec| spec.name == buffer),
                "{name}: {buffer}"
            );
        }
    }
}

const SAXPY: &str = include_str!("saxpy.yaml");

#[test]
fn what_is_wrong_with_a_contract_is_said_with_its_place() {
    assert!(read(SAXPY).is_ok());
    let edits = [
        ("inputs:", "input:"),
        ("reference: elementwise", "reference: elementwisely"),
        ("expression: a * x + y", "expression: a * (x + y"),
        ("type: f32", "type: f33"),
        ("role: out", "role: output"),
        ("tolerance: 1e-6", "tolerance: one"),
        ("tolerance: 1e-6", "tolerance: n - 1000"),
        ("holds: deterministic", "holds: determinism"),
        ("[normal", "[usual"),
        ("entry: saxpy", "entries: saxpy"),
        ("relative_to: max-or-1", "relative_to: maximum"),
    ];
    let mut all = String::new();
    for (from, to) in edits {
        assert!(SAXPY.contains(from), "{from}");
        let text = SAXPY.replacen(from, to, 1);
        let what = match read(&text) {
            Ok(_) => "read".to_owned(),
            Err(error) => error.to_string(),
        };
        all.push_str(&format!("{to}\n    {what}\n"));
    }
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("contract_errors", all);
    });
}

#[test]
fn no_contract_makes_the_reader_panic() {
    for (at, _) in SAXPY.char_indices() {
        let _ = read(&SAXPY[..at]);
        let mut cut = SAXPY.to_owned();
        cut.remove(at);
        let _ = read(&cut);
    }
}
