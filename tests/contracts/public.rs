//! A product of bf16 matrices by tensor maps and `wgmma`, as nvcc compiled it, from a public collection that is not part of the project:
//! without it, nothing is tested.

use super::{broken, settings};
use ptxgen::kernels::contract::judge::{self, Proof, Settings};
use ptxgen::kernels::contract::{Contract, read};
use ptxgen::ptx::parse::parse;
use std::path::Path;

const FILE: &str =
    "zhang677+PTXBench__packages_mini-ptx-agent_fib_runtime_multiturn_improve_debug_trial_turn3_exp019_gemm_kernel.ptx";

fn prove(contract: &Contract, text: &str) -> Proof {
    let parsed = parse(text);
    assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
    judge::prove(
        contract,
        &[&parsed.module],
        &Settings {
            budget: 100_000_000,
            ..settings()
        },
        &|| {},
    )
}

/// Its waits have the parities 0, 1, 0, 1 where two mbarriers take turns, so that one wait is over before its copies are there.
#[test]
fn a_product_that_waits_for_the_wrong_phases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/public");
    let Ok(text) = std::fs::read_to_string(folder.join(FILE)) else {
        eprintln!("{FILE} is not in {}: nothing tested", folder.display());
        return;
    };
    let contract = read(include_str!("public.yaml")).unwrap();
    let found = broken(&contract, &prove(&contract, &text));
    assert!(
        found.contains(&"GEMM-001".to_owned()) && found.contains(&"no-fault".to_owned()),
        "{found:?}"
    );
    // The parities that the order of the copies asks for.
    let mut mended = text;
    let wait = "mbarrier.try_wait.parity.shared.b64 P, [";
    for parity in ["0", "0", "1", "1"] {
        let at = mended.find(wait).unwrap();
        let end = at + mended[at..].find(';').unwrap();
        let (place, _) = mended[at + wait.len()..end].split_once(']').unwrap();
        mended.replace_range(
            at..end,
            &format!("mbarrier.try_wait.parity.shared::cta.b64 P, [{place}], {parity}"),
        );
    }
    let proof = prove(&contract, &mended);
    assert_eq!(broken(&contract, &proof), [""; 0], "{:?}", proof.verdicts);
}
