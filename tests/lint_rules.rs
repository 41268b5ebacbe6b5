//! The lint rules, on small kernels whose findings are marked in their text.
//!
//! `//~ BAR001 error` at the end of a line expects that finding on that line. All findings must be marked whose codes start with
//! a word of `// rules: RACE WARP001`, which stands in the first lines; without it, those of BAR and ISA.
//! `// launch: --block 64,1,1` in the first lines gives the CTA's shape.

#![allow(clippy::unwrap_used)]

use ptxgen::ptx::diag::{Applicability, Diag, Level};
use ptxgen::ptx::lint::{Given, Launch, Options, RULES, Selection, apply_fixes, lint, lint_with};
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::source::Source;
use std::path::Path;

fn is_ours(diag: &Diag) -> bool {
    RULES.iter().any(|rule| rule.code == diag.code)
}

/// Line, code and level of what the rules say.
fn findings(text: &str, launch: &Launch, all_rules: bool) -> Vec<(u32, String)> {
    let parsed = parse(text);
    assert_eq!(parsed.diags, Vec::new(), "the text must parse");
    let source = Source::new("fixture", text).unwrap();
    let selection = if all_rules {
        Selection::all()
    } else {
        Selection::default()
    };
    let options = Options {
        launch: launch.clone(),
        selection,
        ..Options::default()
    };
    let report = lint_with(&parsed, text, &options);
    let said = report.findings.iter().filter(|diag| is_ours(diag));
    let mut said: Vec<_> = said
        .map(|diag| {
            (
                source.position(diag.span.start).line,
                format!("{} {}", diag.code.id, diag.level),
            )
        })
        .collect();
    said.sort();
    said
}

fn launch_of(text: &str) -> Launch {
    let block = text.lines().find_map(|line| line.strip_prefix("// launch: --block "));
    let dims = block.map(|block| {
        block
            .split(',')
            .map(|dim| dim.trim().parse().unwrap())
            .collect::<Vec<u32>>()
    });
    Launch {
        block: dims.map(|dims| [dims[0], dims[1], dims[2]]),
        ..Launch::default()
    }
}

/// The letters of a code: `RACE` of `RACE001 error`.
fn group(finding: &str) -> &str {
    finding
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .next()
        .unwrap()
}

/// What the codes start with that a file must mark.
fn rules_of(text: &str) -> Vec<&str> {
    let named = text.lines().find_map(|line| line.strip_prefix("// rules: "));
    named.unwrap_or("BAR ISA").split(' ').collect()
}

#[test]
fn fixtures_give_what_they_are_marked_with() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lint");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut wrong = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|ext| ext == "ptx"))
    {
        let text = std::fs::read_to_string(file).unwrap();
        let mut expected: Vec<(u32, String)> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            for mark in content.split("//~").skip(1) {
                expected.push((line, mark.trim().to_owned()));
            }
        }
        expected.sort();
        let rules = rules_of(&text);
        let mut said = findings(&text, &launch_of(&text), false);
        said.retain(|(_, said)| rules.iter().any(|rule| said.starts_with(rule)));
        let name = file.file_name().unwrap().to_string_lossy();
        wrong.extend(
            expected
                .iter()
                .filter(|mark| !said.contains(mark))
                .map(|mark| format!("{name}:{}: missing {}", mark.0, mark.1)),
        );
        wrong.extend(
            said.iter()
                .filter(|mark| !expected.contains(mark))
                .map(|mark| format!("{name}:{}: unexpected {}", mark.0, mark.1)),
        );
        if expected.len() != said.len() && expected.iter().all(|mark| said.contains(mark)) {
            wrong.push(format!("{name}: some finding is given twice"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_fail_and_pass_as_their_rules_say() {
    for rule in RULES {
        let examples: Vec<_> = rule.examples().collect();
        let [failing, clean] = examples[..] else {
            panic!("{} needs two examples", rule.code.id);
        };
        // Some rules need to know the grid.
        let launch = Launch {
            grid: (rule.code.id == "RACE006").then_some([2, 1, 1]),
            ..Launch::default()
        };
        let codes = |text: &str| -> Vec<String> {
            let found = findings(text, &launch, rule.is_opt_in());
            // What rules of other groups say of an example, and what is mere information, is no matter here.
            found
                .into_iter()
                .filter(|(_, said)| {
                    said.starts_with(rule.code.id) || group(said) == group(rule.code.id) && !said.ends_with("info")
                })
                .map(|(_, said)| said.split(' ').next().unwrap().to_owned())
                .collect()
        };
        assert_eq!(codes(failing), [rule.code.id], "failing example of {}", rule.code.id);
        assert!(
            !codes(clean).contains(&rule.code.id.to_owned()),
            "clean example of {}: {:?}",
            rule.code.id,
            codes(clean)
        );
    }
}

#[test]
fn repairs_cure_what_they_are_for() {
    let mut repaired = Vec::new();
    for rule in RULES {
        let failing = rule.examples().next().unwrap();
        let options = Options {
            selection: Selection::all(),
            ..Options::default()
        };
        let lint = |text: &str| lint_with(&parse(text), text, &options).findings;
        let of_rule = |findings: &[Diag]| findings.iter().filter(|diag| diag.code == rule.code).count();
        let found = lint(failing);
        let own: Vec<Diag> = found.iter().filter(|diag| diag.code == rule.code).cloned().collect();
        if own.iter().all(|diag| diag.fix.is_none()) {
            continue;
        }
        let (text, made) = apply_fixes(failing, &own, Applicability::Unsafe);
        assert_eq!(made, own.len(), "{}", rule.code.id);
        let left = lint(&text);
        assert_eq!(of_rule(&left), 0, "{}\n{text}", rule.code.id);
        assert!(
            left.iter().all(is_ours),
            "the repair of {} is no legal text: {left:?}",
            rule.code.id
        );
        repaired.push(rule.code.id);
    }
    assert_eq!(repaired, ["BAR002", "BAR011", "BAR019", "LINT001", "MEM011", "WARP006"]);
}

/// What a parameter is said to hold decides barriers under it: who comes to them, and how often.
#[test]
fn parameters_that_are_known() {
    let text = include_str!("fixtures/strided_loop.ptx");
    let codes = |params: &[(&str, u64)]| -> Vec<(&str, Level)> {
        let params = params.iter().map(|(name, value)| Given {
            name: (*name).to_owned(),
            value: *value,
        });
        let launch = Launch {
            block: Some([64, 1, 1]),
            params: params.collect(),
            ..Launch::default()
        };
        let report = lint(&parse(text), text, &launch);
        report.findings.iter().map(|diag| (diag.code.id, diag.level)).collect()
    };
    let open = [("BAR001", Level::Error), ("BAR004", Level::Warning)];
    assert_eq!(codes(&[]), open);
    assert_eq!(codes(&[("another", 128)]), open);
    // As many rounds for each thread, and none that stays away.
    assert_eq!(codes(&[("n", 128)]), []);
    assert_eq!(codes(&[("1", 128)]), []);
    assert_eq!(codes(&[("n", 128), ("1", 100)]), []);
    // One round more for some lanes of a warp; for one of the two warps.
    assert_eq!(codes(&[("n", 100)]), [("BAR004", Level::Error)]);
    assert_eq!(
        codes(&[("n", 32)]),
        [("BAR001", Level::Warning), ("BAR004", Level::Warning)]
    );
}
