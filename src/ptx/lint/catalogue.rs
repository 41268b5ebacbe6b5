//! Every code that a report may hold, with what is known of it: parsing, legality, rules.

use super::rule::{RULES, Rule};
use crate::ptx::diag::{Code, Level, codes};
use std::sync::OnceLock;

/// The groups, in the order in which people meet them, with what each is about.
pub const GROUPS: &[(&str, &str)] = &[
    ("SYN", "Syntax and names"),
    ("ISA", "Legality of instructions"),
    ("GATE", "Targets and versions"),
    ("DIA", "Dialects"),
    ("BAR", "Barriers and convergence"),
    ("WARP", "Warps and their masks"),
    ("RACE", "Races"),
    ("MEM", "Memory, alignment and state spaces"),
    ("FLOW", "Control flow, uninitialised and dead values"),
    ("ASYNC", "Asynchronous copies and matrix operations"),
    ("RUN", "Executing a kernel"),
    ("NUM", "Numerics"),
    ("PERF", "Performance"),
    ("LINT", "The linter's own comments"),
];

/// A code of the field's catalogue whose faults are found under another.
#[derive(Debug, PartialEq, Eq)]
pub struct Merged {
    /// The code that people may look for.
    pub id: &'static str,
    /// The one that reports.
    pub into: &'static str,
    /// What it was to find, and why there.
    pub why: &'static str,
}

/// Codes whose faults are found under others: one cause is one finding.
pub const MERGED: &[Merged] = &[
    Merged {
        id: "BAR008",
        into: "BAR002",
        why: "aligned barriers in the arms of a branch between roles: the same branch, with whole warps apart, as a warning",
    },
    Merged {
        id: "BAR010",
        into: "BAR001",
        why: "a barrier in a function that is called under divergence: reported at the call, as if the barrier stood there",
    },
    Merged {
        id: "WARP009",
        into: "RACE010",
        why: "lanes that exchange values through shared memory without `bar.warp.sync`: a race within a warp",
    },
    Merged {
        id: "PERF012",
        into: "BAR011",
        why: "a barrier in a loop that orders nothing: a redundant barrier, wherever it stands",
    },
];

/// What is known of a code that was merged into another.
pub fn merged(word: &str) -> Option<&'static Merged> {
    MERGED.iter().find(|merged| merged.id.eq_ignore_ascii_case(word))
}

/// A code and its documentation.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// The level of most of its findings.
    pub level: Level,
    /// One line.
    pub summary: &'static str,
    /// Markdown, as in [`Rule::explanation`]; empty for what the parser and legality report.
    pub explanation: &'static str,
    /// Whether it reports without being asked to.
    pub is_default: bool,
}

impl Entry {
    /// The code's group: `BAR` of `BAR001`.
    pub fn group(&self) -> &'static str {
        group(self.code)
    }

    fn of_rule(rule: &Rule) -> Self {
        Self {
            code: rule.code,
            level: rule.level,
            summary: rule.summary,
            explanation: rule.explanation,
            is_default: !rule.is_opt_in(),
        }
    }

    fn of_check((code, summary): &(Code, &'static str)) -> Self {
        Self {
            code: *code,
            level: Level::Error,
            summary,
            explanation: "",
            is_default: true,
        }
    }
}

/// The letters of a code.
pub fn group(code: Code) -> &'static str {
    code.id.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Every code, by group, then by number.
pub fn catalogue() -> &'static [Entry] {
    static ALL: OnceLock<Vec<Entry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let rules = RULES.iter().map(Entry::of_rule);
        let is_rule = |code: Code| RULES.iter().any(|rule| rule.code.id == code.id);
        let checks = codes::ALL.iter().filter(|(code, _)| !is_rule(*code));
        let mut all: Vec<Entry> = rules.chain(checks.map(Entry::of_check)).collect();
        all.sort_by_key(|entry| (rank(entry.group()), entry.code.id));
        all
    })
}

fn rank(group: &str) -> usize {
    let place = GROUPS.iter().position(|(name, _)| *name == group);
    place.unwrap_or(GROUPS.len())
}

/// The place of a code in the catalogue.
pub(super) fn place(code: Code) -> Option<usize> {
    let all = catalogue();
    let key = (rank(group(code)), code.id);
    all.binary_search_by_key(&key, |entry| (rank(entry.group()), entry.code.id))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_every_group_is_described() {
        let all = catalogue();
        for (at, entry) in all.iter().enumerate() {
            assert_eq!(place(entry.code), Some(at), "{}", entry.code.id);
            assert!(
                rank(entry.group()) < GROUPS.len(),
                "{}: describe its group",
                entry.code.id
            );
            let same = |other: &&Entry| other.code.id == entry.code.id || other.code.name == entry.code.name;
            assert_eq!(all.iter().filter(same).count(), 1, "{}", entry.code.id);
        }
        for merged in MERGED {
            let has = |id: &str| all.iter().any(|entry| entry.code.id == id);
            assert!(has(merged.into) && !has(merged.id), "{}", merged.id);
        }
    }
}
