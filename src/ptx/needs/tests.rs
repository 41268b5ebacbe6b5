//! Needs of small modules.

use super::*;
use crate::ptx::parse::parse;

fn least_of(text: &str) -> String {
    let module = parse(text).module;
    let needs = Needs::of(&module);
    let all: Vec<_> = needs.all.iter().collect();
    match least(&all) {
        Some(least) => format!("{} {}", least.version, least.target),
        None => {
            let names: Vec<_> = conflict(&all).into_iter().map(|need| need.what.as_str()).collect();
            format!("none: {}", names.join(", "))
        }
    }
}

#[test]
fn the_least_target_and_version_are_found() {
    for (body, wanted) in [
        (".entry k() { ret; }", "1.0 sm_10"),
        (".entry k() .maxntid 32 { ret; }", "1.3 sm_10"),
        (".entry k() .maxclusterrank 8 { ret; }", "7.8 sm_90"),
        (".entry k() { cp.async.commit_group; ret; }", "7.0 sm_80"),
        (
            ".entry k() { .reg .u32 %r; mov.u32 %r, %clusterid.x; ret; }",
            "7.8 sm_90",
        ),
        (
            ".entry k() { .reg .u32 %r; mov.u32 %r, %lanemask_lt; ret; }",
            "2.0 sm_20",
        ),
        (
            ".entry k() { .reg .u32 %r; .reg .u64 %d; ld.u32 %r, [%d]; ret; }",
            "2.0 sm_20",
        ),
        (".global .attribute(.managed) .b32 g;", "4.0 sm_30"),
        (".entry k() { wgmma.fence.sync.aligned; ret; }", "8.0 sm_90a"),
    ] {
        assert_eq!(least_of(body), wanted, "{body}");
    }
}

#[test]
fn what_no_target_has_together_is_named() {
    let text = ".entry k() { wgmma.fence.sync.aligned; bar.sync 0; \
                tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ret; }";
    assert_eq!(
        least_of(text),
        "none: wgmma.fence.sync.aligned, tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"
    );
}

#[test]
fn what_is_gone_limits_too() {
    let text = ".entry k() { .reg .b32 %r; shfl.up.b32 %r, %r, %r, %r; cp.async.commit_group; ret; }";
    assert!(
        least_of(text).starts_with("none: shfl.up.b32, cp.async"),
        "{}",
        least_of(text)
    );
}

#[test]
fn a_kernel_needs_what_its_callees_need() {
    let text = ".func f() { cp.async.commit_group; ret; } .entry a() { call f; ret; } .entry b() { ret; }";
    let module = parse(text).module;
    let needs = Needs::of(&module);
    let of = |id| least(&needs.reached(&module, FuncId(id))).unwrap().target.to_string();
    assert_eq!((of(1), of(2)), ("sm_80".into(), "sm_10".into()));
}

#[test]
fn the_deciding_parts_are_named() {
    let text = ".entry k() { cp.async.commit_group; barrier.cluster.arrive; barrier.cluster.arrive; ret; }";
    let module = parse(text).module;
    let needs = Needs::of(&module);
    let all: Vec<_> = needs.all.iter().collect();
    let least = least(&all).unwrap();
    for deciders in [
        target_deciders(&all, least.target),
        version_deciders(&all, least.version),
    ] {
        let whats: Vec<_> = deciders.iter().map(|need| need.what.as_str()).collect();
        assert_eq!(whats, ["barrier.cluster.arrive"]);
    }
}
