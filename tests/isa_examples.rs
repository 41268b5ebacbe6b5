//! Every example of the instruction table is read, fits its row, and is legal from the version and target on that the table
//! says; ptxas is asked whether it thinks so too.

mod common;

use ptxgen::ptx::diag::Level;
use ptxgen::ptx::isa::{self, Opcode};
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::target::{PtxVersion, Target};
use ptxgen::ptx::verify::verify;
use ptxgen::ptx::version::RELEASES;
use std::collections::BTreeMap;

#[test]
fn examples_resolve_to_their_rows() {
    for row in isa::rows() {
        for example in row.examples {
            let opcode = example.split([' ', ';']).next().unwrap();
            let found = Opcode::resolve(opcode);
            assert!(found.is_known(), "{example}: {:?}", found.problem);
            assert_eq!(found.row.unwrap().name, row.name, "{example}");
        }
    }
}

#[test]
fn examples_are_legal_somewhere() {
    for (example, place) in least_places() {
        assert!(
            place.is_some(),
            "`{example}` is legal nowhere: {:?}",
            last_findings(example)
        );
    }
}

#[test]
fn ptxas_agrees_with_the_gates() {
    if common::ptxas().is_none() {
        return;
    }
    let mut groups: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for (example, place) in least_places() {
        groups.entry(place.unwrap()).or_default().push(example);
    }
    let mut wrong = Vec::new();
    for ((version, target), examples) in groups {
        let arch = target.assembled_as().unwrap().to_string();
        let text = module(version, target, &examples);
        if let Err(error) = common::assemble(&text, &arch) {
            wrong.push(format!("PTX {version}, {target}:\n{error}\n{}", numbered(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Each example with the least version, and for it the least target, at which the table has it.
fn least_places() -> impl Iterator<Item = (&'static str, Option<(PtxVersion, Target)>)> {
    let examples = isa::rows().flat_map(|row| row.examples);
    examples.map(|example| {
        let place = places().find(|(version, target)| {
            let text = module(*version, *target, &[example]);
            let parsed = parse(&text);
            let errors = parsed
                .diags
                .iter()
                .chain(&verify(&parsed, &text))
                .filter(|d| d.level < Level::Info)
                .count();
            errors == 0
        });
        (*example, place)
    })
}

/// Versions in order, with the targets that each knows. ptxas assembles no code for what came before sm_20.
fn places() -> impl Iterator<Item = (PtxVersion, Target)> {
    let versions = RELEASES.iter().map(|release| release.version);
    versions
        .filter(|version| *version >= PtxVersion::new(3, 1))
        .flat_map(|version| {
            let known =
                move |target: &Target| target.sm >= 20 && target.min_ptx().is_some_and(|least| least <= version);
            Target::all().filter(known).map(move |target| (version, target))
        })
}

fn last_findings(example: &str) -> Vec<String> {
    let text = module(PtxVersion::NEWEST, Target::arch(100), &[example]);
    let parsed = parse(&text);
    let all = parsed.diags.iter().cloned().chain(verify(&parsed, &text));
    all.map(|diag| diag.message).collect()
}

/// A module around the statements, with what the examples' names mean. Only what occurs is declared: old versions
/// do not have all of it.
fn module(version: PtxVersion, target: Target, statements: &[&str]) -> String {
    let body: String = statements
        .iter()
        .map(|statement| format!("{{ {statement} }}\n"))
        .collect();
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    let globals = [
        ("smem", ".shared .align 16 .b8 smem[1024];\n"),
        ("gbl", ".global .align 16 .b8 gbl[1024];\n"),
        ("tx", ".global .texref tx;\n"),
        ("srf", ".global .surfref srf;\n"),
        ("fn0", ".func fn0 () { ret; }\n"),
        ("fr,", ".func (.reg .b32 o) fr (.reg .b32 i) { mov.b32 o, i; ret; }\n"),
    ];
    text.extend(
        globals
            .iter()
            .filter(|(name, _)| body.contains(name))
            .map(|(_, line)| *line),
    );
    text.push_str(".visible .entry k(.param .u64 p0, .param .u32 n)\n{\n");
    let registers = [
        ("%p", ".reg .pred %p<10>;\n"),
        ("%rs", ".reg .b16 %rs<10>;\n"),
        ("%r", ".reg .b32 %r<20>;\n"),
        ("%rd", ".reg .b64 %rd<10>;\n"),
        ("%rq", ".reg .b128 %rq<4>;\n"),
        ("%f", ".reg .f32 %f<20>;\n"),
        ("%fd", ".reg .f64 %fd<10>;\n"),
    ];
    text.extend(
        registers
            .iter()
            .filter(|(name, _)| body.contains(name))
            .map(|(_, line)| *line),
    );
    if body.contains("TS") {
        text.push_str("TS: .branchtargets L1, L2;\n");
    }
    text.push_str(&body);
    text.push_str("L1: ret;\nL2: ret;\n}\n");
    text
}

fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| format!("{:4} {line}\n", at + 1)).collect()
}
