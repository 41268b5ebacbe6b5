//! The ten faults that kernels of this kind were known for, put into ours one at a time: what catches which.

use super::{broken, contract, prove, texts};
use ptxgen::kernels::{DEFAULT_TARGET, KernelInfo, Value, Values};
use ptxgen::ptx::lint::{Options, Selection, lint_with};
use ptxgen::ptx::parse::parse;

/// A fault: the kernel and shape, and edits of its text, all of which must find their place.
struct Mutant {
    what: &'static str,
    kernel: &'static str,
    shape: &'static [(&'static str, u64)],
    edits: &'static [(&'static str, &'static str)],
}

const BACKWARD: &[(&str, u64)] = &[("hidden", 33), ("rows", 3)];
const FUSED: &[(&str, u64)] = &[("k", 1088), ("n", 19), ("grid", 1)];

const MUTANTS: &[Mutant] = &[
    Mutant {
        what: "1 gamma multiplies both terms of dx",
        kernel: "rmsnorm-backward",
        shape: BACKWARD,
        edits: &[(
            "fma.rn.f32 %f26, %f3, %f24, %f25;",
            "mul.rn.f32 %f3, %f3, %f5;\n\tfma.rn.f32 %f26, %f3, %f24, %f25;",
        )],
    },
    Mutant {
        what: "2 eps is added to the rms that holds it",
        kernel: "rmsnorm-backward",
        shape: BACKWARD,
        edits: &[(
            "rcp.rn.f32 %f1, %f0;",
            "fma.rn.f32 %f0, %f0, %f0, 0f358637BD;\n\tsqrt.rn.f32 %f0, %f0;\n\trcp.rn.f32 %f1, %f0;",
        )],
    },
    Mutant {
        what: "3 dgamma is not computed",
        kernel: "rmsnorm-backward",
        shape: BACKWARD,
        edits: &[("st.global.f32 [%rd11], %f0;", "")],
    },
    Mutant {
        what: "4 1 / rms is handed out through a slot that holds data",
        kernel: "fused-rmsnorm-nf4-gemv",
        shape: FUSED,
        edits: &[(
            "setp.lt.u64 %p8,",
            "setp.eq.u32 %p8, %r2, 0;\n\t@%p8 st.shared.f32 [row_sums], %f49;\n\tbar.sync 0;\n\tld.shared.f32 %f49, [row_sums];\n\tsetp.lt.u64 %p8,",
        )],
    },
    Mutant {
        what: "5 no barrier before the next loop writes what this one reads",
        kernel: "fused-rmsnorm-nf4-gemv",
        shape: FUSED,
        edits: &[("// the next batch writes the sums again\n\tbar.sync 0;", "")],
    },
    Mutant {
        what: "6 shared memory at the address 0 instead of a symbol, for sm_90",
        kernel: "fused-rmsnorm-nf4-gemv",
        shape: FUSED,
        edits: &[
            (".version 7.0\n.target sm_80", ".version 7.8\n.target sm_90"),
            ("mov.u32 %r6, square_sums;", "mov.u32 %r6, 0;"),
            ("mov.u32 %r9, square_sums;", "mov.u32 %r9, 0;"),
        ],
    },
    Mutant {
        what: "7 shfl.sync.idx with 32 where 31 is meant",
        kernel: "fused-rmsnorm-nf4-gemv",
        shape: FUSED,
        edits: &[(", 31, -1;", ", 32, -1;")],
    },
    Mutant {
        what: "8 division by a power of two",
        kernel: "fused-rmsnorm-nf4-gemv",
        shape: FUSED,
        edits: &[("shr.u32 %r5, %r2, 5;", "div.u32 %r5, %r2, 32;")],
    },
    Mutant {
        what: "9 byte offsets in 32 bits",
        kernel: "rmsnorm-backward",
        shape: BACKWARD,
        edits: &[
            (".reg .f32 %f<29>;", ".reg .f32 %f<29>;\n\t.reg .b32 %w<2>;"),
            (
                "mad.wide.u32 %rd11, %r5, 132, %rd5;",
                "mul.lo.u32 %w0, %r5, %r1;\n\tshl.b32 %w1, %w0, 2;\n\tcvt.u64.u32 %rd11, %w1;\n\tadd.u64 %rd11, %rd11, %rd5;",
            ),
        ],
    },
];

/// What the linter finds with all rules on.
fn found(text: &str) -> Vec<String> {
    let options = Options {
        selection: Selection::all(),
        ..Options::default()
    };
    let report = lint_with(&parse(text), text, &options);
    let mut codes: Vec<_> = report
        .findings
        .iter()
        .map(|finding| finding.code.id.to_owned())
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

#[test]
fn every_known_fault_is_caught() {
    let mut table = String::new();
    for mutant in MUTANTS {
        let contract = contract(mutant.kernel, mutant.shape);
        let mut text = texts(&contract).remove(0);
        let before = found(&text);
        for (from, to) in mutant.edits {
            assert!(text.contains(from), "{}: {from} is not in\n{text}", mutant.what);
            text = text.replace(from, to);
        }
        let parsed = parse(&text);
        assert!(parsed.diags.is_empty(), "{}: {:?}", mutant.what, parsed.diags);
        let mut by_lint = found(&text);
        by_lint.retain(|code| !before.contains(code));
        let proof = prove(&contract, &[text]);
        let mut by_run: Vec<_> = proof.faults.iter().map(|(_, fault)| fault.code.id).collect();
        by_run.sort_unstable();
        by_run.dedup();
        let by_verify = broken(&contract, &proof);
        assert!(
            !(by_lint.is_empty() && by_verify.is_empty()),
            "nothing catches: {}",
            mutant.what
        );
        let list = |items: Vec<String>| {
            if items.is_empty() {
                "-".to_owned()
            } else {
                items.join(", ")
            }
        };
        let by_run = by_run.into_iter().map(str::to_owned).collect();
        table.push_str(&format!(
            "{}\n    lint: {}\n    run: {}\n    verify: {}\n",
            mutant.what,
            list(by_lint),
            list(by_run),
            list(by_verify)
        ));
    }
    table.push_str(&format!(
        "10 a panic for a dimension that does not fit\n    emit: {}\n",
        refused()
    ));
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("mutants", table);
    });
}

/// What `emit` says of a dimension out of range.
fn refused() -> String {
    let kernel = KernelInfo::find("nf4-gemv").unwrap();
    assert!(kernel.emit(&Values::default(), DEFAULT_TARGET, None).is_ok());
    let error = Values::default()
        .set(kernel.param("k").unwrap(), Value::Int(100))
        .unwrap_err();
    error.to_string()
}
