//! `ptxgen explain`, and the pages under `docs/rules` that are made by it.

use crate::run::{err, out, ptxgen, status};
use ptxgen::ptx::lint::{GROUPS, catalogue};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn a_code_is_explained_from_its_documentation() {
    for name in ["BAR019", "bar019", "false-uni"] {
        let output = ptxgen(&["explain", name]);
        assert_eq!(status(&output), 0);
        insta::with_settings!({ snapshot_path => "../snapshots" }, { insta::assert_snapshot!("explain", out(&output)) });
    }
    insta::assert_snapshot!(out(&ptxgen(&["explain", "GATE003"])), @"
    GATE003 needs-arch-target (error)

    An instruction that only an architecture- or family-specific target has.
    ");
    let unknown = ptxgen(&["explain", "BAR0019"]);
    assert_eq!(status(&unknown), 2);
    assert!(err(&unknown).contains("did you mean `BAR001`?"), "{}", err(&unknown));
}

#[test]
fn everything_can_be_listed_and_explained() {
    for args in [
        &["explain"][..],
        &["explain", "--all"],
        &["explain", "--all", "--format", "md"],
    ] {
        let text = out(&ptxgen(args));
        assert!(catalogue().iter().all(|entry| text.contains(entry.code.id)), "{args:?}");
    }
}

/// The pages as they should be, by name.
fn pages() -> BTreeMap<String, String> {
    let has_codes = |group: &&str| catalogue().iter().any(|entry| entry.group() == *group);
    let groups = GROUPS.iter().map(|(group, _)| *group).filter(has_codes);
    let page = |group: &str| out(&ptxgen(&["explain", group, "--format", "md"]));
    let mut pages: BTreeMap<_, _> = groups
        .map(|group| (format!("{}.md", group.to_ascii_lowercase()), page(group)))
        .collect();
    pages.insert("README.md".to_owned(), out(&ptxgen(&["explain", "--format", "md"])));
    pages
}

#[test]
fn the_pages_of_the_rules_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let wanted = pages();
    if std::env::var_os("PTXGEN_BLESS").is_some() {
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &wanted {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    let there: BTreeMap<String, String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read_to_string(entry.path()).unwrap(),
            )
        })
        .collect();
    let stale: Vec<_> = wanted
        .iter()
        .filter(|(name, text)| there.get(*name) != Some(text))
        .collect();
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&there), names(&wanted));
    assert!(
        stale.is_empty(),
        "docs/rules is not what the rules say: run `PTXGEN_BLESS=1 cargo test --test cli` ({:?})",
        stale.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
}

#[test]
fn completions_are_printed() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(out(&ptxgen(&["completions", shell])).contains("ptxgen"), "{shell}");
    }
}

#[test]
fn codes_that_others_took_over_lead_to_them() {
    let explained = out(&ptxgen(&["explain", "warp009"]));
    assert!(explained.starts_with("WARP009 is found as RACE010: "), "{explained}");
    assert!(explained.contains("\nRACE010 "), "{explained}");
    // To select by them would switch more than was asked for.
    let output = ptxgen(&["lint", "--ignore", "BAR010", "tests/fixtures/clean.ptx"]);
    assert_eq!(status(&output), 2);
    assert!(err(&output).contains("`BAR010` is found as BAR001"), "{}", err(&output));
}
