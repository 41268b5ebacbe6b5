//! Every kernel, as a user gets it: the text of each spec, what the parser and the assembler say of it, and whether
//! launch and text agree.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use ptxgen::kernels::{self, ArgKind, Emitted, KERNELS, KernelInfo, Value, Values, spec};
use ptxgen::ptx::lint::{self, lint};
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::target::Target;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Values that are worth trying of each parameter; the default otherwise.
fn interesting(param: &str) -> Vec<Value> {
    let ints = |values: &[u64]| values.iter().map(|value| Value::Int(*value)).collect();
    let words = |values: &[&str]| values.iter().map(|word| Value::Word((*word).to_owned())).collect();
    match param {
        "hidden" => ints(&[1, 32, 33, 4096, 65535, 65536]),
        "k" => ints(&[64, 1536, 4096, 32768]),
        "saved" | "save" => words(&["rms", "rstd", "none"]),
        "nibble_order" => words(&["high", "low"]),
        _ => Vec::new(),
    }
}

/// Every combination of interesting values.
fn combinations(kernel: &KernelInfo) -> Vec<Values> {
    let mut all = vec![Values::default()];
    for param in kernel.params {
        let values = interesting(param.name);
        if values.is_empty() {
            continue;
        }
        let with = |one: &Values| {
            let set = |value: &Value| {
                let mut one = one.clone();
                one.set(param, value.clone()).unwrap();
                one
            };
            values.iter().map(set).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn emitted() -> Vec<(String, Emitted)> {
    let mut all = Vec::new();
    for kernel in KERNELS {
        for values in combinations(kernel) {
            let emitted = kernel.emit(&values, kernels::DEFAULT_TARGET, None).unwrap();
            all.push((format!("{} {values:?}", kernel.name), emitted));
        }
    }
    all
}

#[test]
fn every_spec_gives_the_text_it_gave() {
    insta::glob!("../specs", "*.yaml", |path| {
        let request = spec::read(&fs::read_to_string(path).unwrap()).unwrap();
        let target = request.target.unwrap_or(kernels::DEFAULT_TARGET);
        let emitted = request.kernel.emit(&request.values, target, request.ptx).unwrap();
        insta::assert_snapshot!("spec", emitted.text().replace('\t', "    "));
    });
}

#[test]
fn every_kernel_has_a_spec() {
    for kernel in KERNELS {
        let path = format!("{}/specs/{}.yaml", env!("CARGO_MANIFEST_DIR"), kernel.name);
        assert!(Path::new(&path).is_file(), "{path}");
    }
}

#[test]
fn every_text_reads_back_as_the_module_it_was_printed_from() {
    for (what, emitted) in emitted() {
        let parsed = parse(&emitted.text());
        assert!(parsed.diags.is_empty(), "{what}: {:?}", parsed.diags[0]);
        assert!(parsed.module == emitted.module, "{what}");
    }
}

#[test]
fn the_linter_finds_nothing() {
    for (what, emitted) in emitted() {
        let text = emitted.text();
        let report = lint(&parse(&text), &text, &lint::Launch::default());
        assert!(report.findings.is_empty(), "{what}: {:?}", report.findings[0]);
        let skipped = report.kernels.iter().find_map(|kernel| kernel.not_analysed.as_ref());
        assert_eq!(skipped, None, "{what}");
    }
}

#[test]
fn launches_agree_with_the_text() {
    for (what, emitted) in emitted() {
        let module = &emitted.module;
        let names: Vec<_> = module
            .functions
            .iter()
            .map(|function| module.name(function.symbol))
            .collect();
        let launched: Vec<_> = emitted.launches.iter().map(|launch| launch.entry).collect();
        assert_eq!(names, launched, "{what}");
        for (function, launch) in module.functions.iter().zip(&emitted.launches) {
            assert_eq!(function.required_block(), Some(launch.block), "{what}");
            let declared = function.params.iter().map(|param| {
                let ty = module.variable(*param).unwrap().ty;
                (module.name(*param), ty)
            });
            let passed = launch.args.iter().map(|arg| (arg.name, arg.ty()));
            assert!(declared.eq(passed), "{what}: {}", launch.entry);
        }
    }
}

#[test]
fn main_entries_have_the_agreed_parameters() {
    let expected = [
        (
            "rmsnorm",
            "rms_norm",
            "input_ptr gamma_ptr output_ptr rms_ptr num_rows hidden_dim",
        ),
        (
            "rmsnorm-backward",
            "rms_norm_backward",
            "input_ptr gamma_ptr rms_ptr grad_output_ptr grad_input_ptr num_rows hidden_dim",
        ),
        ("nf4-gemv", "nf4_gemv", "y_ptr scales_ptr data_ptr x_ptr k_dim n_dim"),
        (
            "fused-rmsnorm-nf4-gemv",
            "fused_rmsnorm_nf4_gemv",
            "y_ptr scales_ptr data_ptr x_ptr gamma_ptr k_dim n_dim",
        ),
    ];
    for (kernel, entry, params) in expected {
        let launches = KernelInfo::find(kernel).unwrap().launches(&Values::default());
        let names: Vec<_> = launches[0].args.iter().map(|arg| arg.name).collect();
        assert_eq!((launches[0].entry, names.join(" ").as_str()), (entry, params));
    }
}

#[test]
fn no_text_has_what_the_kernels_do_without() {
    for (what, emitted) in emitted() {
        let opcodes = emitted
            .module
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref());
        for inst in opcodes.flat_map(|body| &body.insts) {
            let op = &inst.op.text;
            let divides = ["div", "rem"].contains(&inst.op.base());
            assert!(
                !divides && !op.contains("f64") && !op.starts_with("atom"),
                "{what}: {op}"
            );
        }
    }
}

#[test]
fn an_empty_launch_still_has_a_block_and_a_huge_one_fits_the_grid() {
    let kernel = KernelInfo::find("rmsnorm").unwrap();
    let grid = |rows| {
        let mut values = Values::default();
        values.set(kernel.param("rows").unwrap(), Value::Int(rows)).unwrap();
        let launch = kernel.launches(&values).remove(0);
        let shape = launch.args.iter().find_map(|arg| match &arg.kind {
            ArgKind::Buffer { shape, .. } => Some(shape.clone()),
            ArgKind::Scalar { .. } => None,
        });
        (launch.grid, shape.unwrap())
    };
    assert_eq!(grid(0), ([1, 1, 1], vec![0, 4096]));
    assert_eq!(
        grid(u64::from(u32::MAX)),
        ([0x7fff_ffff, 1, 1], vec![0xffff_ffff, 4096])
    );
}

/// Assembles every text with as many assemblers at a time as there are processors.
fn assemble_all(texts: &[(String, String, Target)]) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((what, text, target)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let arch = target.assembled_as().unwrap().to_string();
            if let Err(message) = common::assemble(text, &arch) {
                panic!("{what} for {target}: {message}");
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
}

#[test]
fn the_assembler_takes_every_kernel_for_every_target() {
    if common::ptxas().is_none() {
        return;
    }
    let mut texts = Vec::new();
    for kernel in KERNELS {
        for target in Target::all().filter(|target| target.assembled_by_13_5()) {
            let emitted = kernel.emit(&Values::default(), target, None).unwrap();
            texts.push((kernel.name.to_owned(), emitted.text(), target));
        }
    }
    assemble_all(&texts);
}

#[test]
fn the_assembler_takes_every_shape() {
    if common::ptxas().is_none() {
        return;
    }
    let mut texts = Vec::new();
    // Each shape for one target, in turn: the other test has all targets.
    let mut targets = [75, 80, 90, 100, 120].map(Target::base).into_iter().cycle();
    for kernel in KERNELS {
        for (values, target) in combinations(kernel).iter().zip(&mut targets) {
            let emitted = kernel.emit(values, target, None).unwrap();
            texts.push((format!("{} {values:?}", kernel.name), emitted.text(), target));
        }
    }
    assemble_all(&texts);
}

#[test]
fn targets_without_the_shuffle_are_refused() {
    let kernel = KernelInfo::find("rmsnorm").unwrap();
    let error = kernel.emit(&Values::default(), Target::base(20), None).unwrap_err();
    insta::assert_snapshot!(error, @"`shfl.sync.bfly.b32` needs sm_30, the target is sm_20");
}
