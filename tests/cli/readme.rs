//! What the README shows is what the program prints.

use super::run::{err, out, ptxgen};
use std::fs;
use std::path::Path;

/// Each `$ ptxgen ...` line of the README's console blocks, with the lines below it.
fn sessions(text: &str) -> Vec<(String, Vec<String>)> {
    let mut sessions: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), sessions.last_mut()) {
                (Some(command), _) => sessions.push((command.to_owned(), Vec::new())),
                (None, Some(session)) => session.1.push(line.to_owned()),
                (None, None) => {}
            },
        }
    }
    sessions
}

/// Whether `shown` are the lines of `printed`, where a line `...` stands for any number of them.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((first, rest)) => printed.first() == Some(&first.as_str()) && matches(rest, &printed[1..]),
    }
}

#[test]
fn commands_in_the_readme_print_what_it_shows() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let mut ran = 0;
    for (command, shown) in sessions(&text) {
        // Pipes and other programs are not for this test.
        let Some(args) = command
            .strip_prefix("ptxgen ")
            .filter(|args| !args.contains(['|', '>', '$']))
        else {
            continue;
        };
        let output = ptxgen(&args.split_whitespace().collect::<Vec<_>>());
        let printed = out(&output) + &err(&output);
        assert!(
            matches(&shown, &printed.lines().collect::<Vec<_>>()),
            "$ {command}\n{printed}"
        );
        ran += 1;
    }
    assert!(ran >= 3, "{ran} commands");
}

#[test]
fn the_comparison_can_fail() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nd"), &["a", "b", "c", "d"]));
    assert!(!matches(&lines("a\n...\nx"), &["a", "b", "c", "d"]));
    assert!(!matches(&lines("a"), &["a", "b"]));
}
