//! The ladder of targets says what ptxas says.

mod common;

use ptxgen::ptx::target::{PtxVersion, Target, TargetOption};
use ptxgen::ptx::version::RELEASES;

/// Assembles an empty kernel for `target` (as `.target` spells it) with `-arch` `gpu`.
fn ask(version: PtxVersion, target: &str, gpu: Target) -> Result<(), String> {
    ask_kernel(version, target, gpu, ".entry k() { ret; }")
}

/// Assembles `kernel`.
fn ask_kernel(version: PtxVersion, target: &str, gpu: Target, kernel: &str) -> Result<(), String> {
    let module = format!(".version {version}\n.target {target}\n{kernel}\n");
    common::assemble(&module, &gpu.to_string())
}

/// The `-arch` to assemble a known target with.
fn gpu_for(target: Target) -> Target {
    target.assembled_as().unwrap_or(target)
}

#[test]
fn versions_are_those_that_ptxas_knows() {
    if common::ptxas().is_none() {
        return;
    }
    let gpu = Target::base(75);
    for version in (1..=10).flat_map(|major| (0..=9).map(move |minor| PtxVersion::new(major, minor))) {
        let answer = ask(version, "sm_10", gpu);
        assert_eq!(answer.is_ok(), version.is_known(), "{version}: {answer:?}");
    }
    assert_eq!(RELEASES.last().unwrap().version, PtxVersion::NEWEST);
}

#[test]
fn targets_need_the_version_that_the_ladder_says() {
    if common::ptxas().is_none() {
        return;
    }
    for target in Target::all() {
        let (name, gpu) = (target.to_string(), gpu_for(target));
        let least = target.min_ptx().unwrap();
        assert_eq!(ask(least, &name, gpu), Ok(()), "{name} with {least}");
        let Some(before) = least.previous() else {
            continue;
        };
        let message = ask(before, &name, gpu).unwrap_err();
        let wanted = format!("PTX .version {before} does not support .target {name}");
        assert!(message.contains(&wanted), "{message}");
    }
}

#[test]
fn targets_are_those_that_ptxas_reads() {
    if common::ptxas().is_none() {
        return;
    }
    let spelled = (10..=130).flat_map(|sm| ["", "a", "f"].map(|suffix| format!("sm_{sm}{suffix}")));
    for name in spelled {
        let answer = ask(PtxVersion::NEWEST, &name, Target::arch(121));
        let unknown = answer.is_err_and(|message| message.contains("Unsupported .target"));
        assert_eq!(name.parse::<Target>().is_ok(), !unknown, "{name}");
    }
}

#[test]
fn modules_run_where_the_ladder_says() {
    if common::ptxas().is_none() {
        return;
    }
    let modules = Target::all().filter(|target| target.sm >= 90 || target.sm == 75);
    for module in modules {
        for gpu in Target::all().filter(|gpu| gpu.sm >= 89 && gpu.assembled_by_13_5()) {
            let answer = ask(PtxVersion::NEWEST, &module.to_string(), gpu);
            let runs = module.runs_on(gpu);
            assert_eq!(answer.is_ok(), runs, "{module} on {gpu}: {answer:?}");
        }
    }
}

/// Kernels that are legal exactly under targets that satisfy one of these.
const NEEDS: &[(&str, &str)] = &[
    (
        "sm_90a sm_100f sm_110f sm_120f",
        ".entry k() .maxntid 128 { setmaxnreg.inc.sync.aligned.u32 64; ret; }",
    ),
    ("sm_90a", ".entry k() { wgmma.fence.sync.aligned; ret; }"),
    (
        "sm_100f sm_110f",
        ".entry k() { tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ret; }",
    ),
    (
        "sm_103f sm_110f",
        ".entry k() { .reg .b32 %r<1>; .reg .f32 %f<3>; \
         tcgen05.ld.red.sync.aligned.32x32b.x2.f32.min {%f0, %f1}, %f2, [%r0]; ret; }",
    ),
    (
        "sm_100a sm_103a sm_107a sm_110a",
        ".entry k() { .reg .b32 %r<1>; tcgen05.shift.cta_group::1.down [%r0]; ret; }",
    ),
    (
        "sm_100a sm_103a sm_107a",
        ".entry k() { .reg .b32 %r<2>; .reg .f32 %f<2>; \
         cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1; ret; }",
    ),
    ("sm_90", ".entry k() { barrier.cluster.arrive; ret; }"),
    ("sm_80", ".entry k() { cp.async.commit_group; ret; }"),
];

#[test]
fn needs_are_met_where_ptxas_says() {
    if common::ptxas().is_none() {
        return;
    }
    for (needs, kernel) in NEEDS {
        let needs: Vec<Target> = needs.split(' ').map(|name| name.parse().unwrap()).collect();
        for target in Target::all().filter(|target| target.sm >= 75) {
            let gpu = gpu_for(target);
            let answer = ask_kernel(PtxVersion::NEWEST, &target.to_string(), gpu, kernel);
            let met = needs.iter().any(|need| target.satisfies(*need));
            assert_eq!(answer.is_ok(), met, "{needs:?} under {target}: {answer:?}");
        }
    }
}

#[test]
fn options_need_the_version_and_target_that_the_ladder_says() {
    if common::ptxas().is_none() {
        return;
    }
    for option in TargetOption::ALL {
        for release in RELEASES {
            let answer = ask(release.version, &format!("sm_10, {option}"), Target::base(75));
            let message = answer.err().unwrap_or_default();
            let refused = message.contains("requires PTX ISA .version");
            assert_eq!(release.version < option.min_ptx(), refused, "{option}: {message}");
        }
        for target in Target::all() {
            let answer = ask(PtxVersion::NEWEST, &format!("{target}, {option}"), gpu_for(target));
            let message = answer.err().unwrap_or_default();
            let refused = message.contains("is not supported with SM");
            assert_eq!(!option.allowed_with(target), refused, "{option}: {message}");
        }
    }
}
