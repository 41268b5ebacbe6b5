//! What a module needs is what ptxas says: with that header it is accepted, with anything less it is not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{assemble, ptx_files};
use ptxgen::ptx::ir::{Header, Module, Notes};
use ptxgen::ptx::needs::{self, Least, Needs};
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::print::print;
use ptxgen::ptx::target::{PtxVersion, Target};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn least(module: &Module) -> Option<Least> {
    let needs = Needs::of(module);
    needs::least(&needs.all.iter().collect::<Vec<_>>())
}

/// The module under another version and target.
fn text(module: &Module, version: PtxVersion, target: Target) -> String {
    let options = module.header.target.iter().skip(1).cloned();
    let header = Header {
        version: Some(version.to_string().into()),
        target: std::iter::once(target.to_string().into()).chain(options).collect(),
        address_size: module.header.address_size,
    };
    let module = Module {
        header,
        ..module.clone()
    };
    print(&module, &Notes::default())
}

/// Whether ptxas takes the module with that header. It only reads it, which is when it looks at versions and targets.
fn accepts(module: &Module, version: PtxVersion, target: Target) -> Result<(), String> {
    let gpu = target.assembled_as().unwrap().to_string();
    assemble(&text(module, version, target), &gpu.replace("sm_", "compute_"))
}

/// The targets below one, nearest first, that need no newer version.
fn below(target: Target, version: PtxVersion) -> impl Iterator<Item = Target> {
    let older = move |other: &Target| *other < target && other.min_ptx().is_some_and(|least| least <= version);
    Target::all().rev().filter(older)
}

/// What is wrong with the least version and target of a module, one line each.
fn disagreements(name: &str, module: &Module) -> Vec<String> {
    let Some(Least { version, target }) = least(module) else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    if let Err(message) = accepts(module, version, target) {
        wrong.push(format!("{name}: rejected with {version} and {target}: {message}"));
    }
    // ptxas takes parts of 6.0 under 5.1, a version that the manual does not have.
    let before = version.previous().filter(|before| *before != PtxVersion::new(5, 1));
    if let Some(before) = before.filter(|before| accepts(module, *before, target).is_ok()) {
        wrong.push(format!("{name}: accepted with {before}, not {version}, and {target}"));
    }
    if let Some(older) = below(target, version).find(|older| accepts(module, version, *older).is_ok()) {
        wrong.push(format!("{name}: accepted with {version} and {older}, not {target}"));
    }
    wrong
}

#[test]
fn fixtures_need_what_ptxas_says() {
    if common::ptxas().is_none() {
        return;
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = ["targets", "compiled"]
        .map(|folder| ptx_files(&fixtures.join(folder)))
        .concat();
    assert!(files.len() > 20);
    let wrong: Vec<_> = files
        .iter()
        .filter(|path| !path.ends_with("unknown.ptx"))
        .flat_map(|path| {
            let module = parse(&fs::read_to_string(path).unwrap()).module;
            disagreements(&path.display().to_string(), &module)
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Directives and the like, each with the least version and target.
const DIRECTIVES: &[(&str, &str)] = &[
    ("1.3 sm_10", ".entry k() .maxntid 32 { ret; }"),
    ("1.3 sm_10", ".entry k() .maxnreg 32 { ret; }"),
    ("2.1 sm_10", ".entry k() .reqntid 32 { ret; }"),
    ("2.0 sm_10", ".entry k() .maxntid 32 .minnctapersm 2 { ret; }"),
    ("2.0 sm_10", ".entry k() { .pragma \"nounroll\"; ret; }"),
    ("6.4 sm_30", ".func f() .noreturn { exit; }"),
    ("7.8 sm_90", ".entry k() .explicitcluster { ret; }"),
    ("7.8 sm_90", ".entry k() .maxclusterrank 8 { ret; }"),
    (
        "9.0 sm_90",
        ".entry k() .reqntid 32 .reqnctapercluster 2 .blocksareclusters { ret; }",
    ),
    ("9.0 sm_80", ".func f() .abi_preserve 4 { ret; }"),
    (
        "6.3 sm_30",
        ".visible .func f() { ret; } .visible .func g(); .alias g, f;",
    ),
    ("4.0 sm_30", ".global .attribute(.managed) .b32 g;"),
    ("8.0 sm_90", ".global .attribute(.unified(19, 95)) .b32 g;"),
    ("3.1 sm_10", ".weak .func f() { ret; }"),
    ("5.0 sm_10", ".common .global .b32 g;"),
    ("2.3 sm_10", ".address_size 64 .entry k() { ret; }"),
    ("2.0 sm_20", ".func f(.param .b32 a) { ret; }"),
    ("1.0 sm_10", ".func (.reg .b32 r) f(.reg .b32 a) { mov.b32 r, a; ret; }"),
    (
        "2.1 sm_20",
        ".entry k() { .reg .b64 %rd; mov.b64 %rd, 0; p: .callprototype _ (); call %rd, p; ret; }",
    ),
    ("6.4 sm_30", ".entry k() { p: .callprototype _ () .noreturn; ret; }"),
    ("2.2 sm_10", ".entry k(.param .u64 .ptr .global .align 4 p) { ret; }"),
    ("3.1 sm_10", ".global .b32 g; .global .u64 h = generic(g);"),
    ("7.1 sm_10", ".global .b32 g; .global .u8 h[1] = {0xFF(g)};"),
    ("2.1 sm_10", ".global .b32 g; .global .u64 h = g;"),
    ("2.1 sm_20", ".func f() { ret; } .global .u64 h = f;"),
    ("3.1 sm_35", ".entry f() { ret; } .global .u64 h = f;"),
    ("8.3 sm_70", ".entry k() { .reg .b128 %h; ret; }"),
    ("4.2 sm_53", ".entry k() { .reg .f16x2 %h; ret; }"),
    ("1.5 sm_10", ".global .texref t;"),
    ("1.4 sm_10", ".entry k(.param .u64 p) { ret; }"),
    (
        "7.0 sm_80",
        ".entry k() { .reg .b32 r; .reg .b64 d; cp.async.ca.shared.global [r], [d], 4, r; ret; }",
    ),
    (
        "7.5 sm_80",
        ".entry k() { .reg .b32 r; .reg .pred p; .reg .b64 d; cp.async.ca.shared.global [r], [d], 4, p; ret; }",
    ),
    ("1.0 sm_10", ".entry k() { .reg .f64 d; mad.rn.f64 d, d, d, d; ret; }"),
    ("1.5 sm_10", ".entry k(.param .align 8 .b8 p[264]) { ret; }"),
    ("8.1 sm_70", ".entry k(.param .align 8 .b8 p[4360]) { ret; }"),
    (
        "2.0 sm_20",
        ".entry k() { .reg .b32 %r; .reg .b64 %d; ld.u32 %r, [%d]; ret; }",
    ),
    (
        "2.1 sm_10",
        ".func f() { ret; } .entry k() { .reg .b64 %d; mov.u64 %d, f; ret; }",
    ),
    (
        "3.1 sm_35",
        ".entry f() { ret; } .entry k() { .reg .b64 %d; mov.u64 %d, f; ret; }",
    ),
    (
        "8.8 sm_100",
        ".entry k() { .reg .b64 %d; st.global.v4.b64 [%d], {%d, %d, %d, %d}; ret; }",
    ),
    (
        "7.8 sm_90",
        ".entry k() { .reg .b32 %r; ld.shared::cluster.b32 %r, [%r]; ret; }",
    ),
];

#[test]
fn directives_need_what_ptxas_says() {
    let mut wrong = Vec::new();
    for (wanted, body) in DIRECTIVES {
        let parsed = parse(&format!(".version 9.5\n.target sm_100\n{body}\n"));
        assert!(parsed.diags.is_empty(), "{body}: {:?}", parsed.diags);
        let Least { version, target } = least(&parsed.module).unwrap();
        if format!("{version} {target}") != *wanted {
            wrong.push(format!("{body}: {version} {target}, not {wanted}"));
        }
        // Unified functions and variables are for relocatable code alone.
        if common::ptxas().is_some() && !body.contains(".unified") {
            wrong.extend(disagreements(body, &parsed.module));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn special_registers_need_what_ptxas_says() {
    if common::ptxas().is_none() {
        return;
    }
    let mut wrong = Vec::new();
    let mut gates = HashSet::new();
    for special in ptxgen::ptx::isa::SPECIALS {
        let (name, ty) = (special.name, special.ty.name());
        // One of each gate and kind is enough.
        let kind: String = name.chars().take_while(|c| !c.is_ascii_digit() && *c != '.').collect();
        if special.ty.bits() == 1 || !gates.insert((special.ptx, special.sm, kind)) {
            continue;
        }
        let vector = matches!(name, "%tid" | "%ntid" | "%ctaid" | "%nctaid")
            || matches!(
                name,
                "%clusterid" | "%nclusterid" | "%cluster_ctaid" | "%cluster_nctaid"
            );
        let (lanes, register) = if vector { (".v4", ".reg .v4") } else { ("", ".reg") };
        let body = format!(".entry k() {{ {register} .{ty} %x; mov{lanes}.{ty} %x, {name}; ret; }}");
        let parsed = parse(&format!(".version 9.5\n.target sm_100\n{body}\n"));
        wrong.extend(disagreements(&body, &parsed.module));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
