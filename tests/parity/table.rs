//! The table against ptxas: instances of every row's forms, right and with one thing wrong.

use super::cases::{self, Amount, Case};
use super::oracle;
use super::score::{Difference, Score};
use super::setting::Setting;
use ptxgen::ptx::diag::Level;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::verify::verify;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Our first error in a module.
pub fn ours(text: &str) -> Option<String> {
    let parsed = parse(text);
    let found = verify(&parsed, text);
    let mut errors = parsed
        .diags
        .iter()
        .chain(&found)
        .filter(|diag| diag.level == Level::Error);
    errors.next().map(|diag| format!("{} {}", diag.code.id, diag.message))
}

/// Runs `work` over the items on two threads.
pub fn spread<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let queue = Mutex::new(items.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((at, item)) = queue.lock().unwrap().next() else {
                        return;
                    };
                    let result = work(item);
                    done.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Compares both verdicts on every case.
pub fn compare(amount: &Amount) -> (Score, Vec<Difference>) {
    let mut groups: BTreeMap<Setting, Vec<Case>> = BTreeMap::new();
    for case in cases::all(amount) {
        groups.entry(case.setting).or_default().push(case);
    }
    let mut batches = Vec::new();
    for (setting, mut cases) in groups {
        while !cases.is_empty() {
            let rest = cases.split_off(cases.len().min(250));
            batches.push((setting, std::mem::replace(&mut cases, rest)));
        }
    }
    let judged = spread(batches, |(setting, cases)| {
        let lines: Vec<_> = cases.iter().map(|case| case.text.as_str()).collect();
        let theirs = oracle::instructions(&setting, &lines);
        let ours: Vec<_> = lines.iter().map(|line| ours(&setting.module(&[line]).0)).collect();
        cases.into_iter().zip(ours.into_iter().zip(theirs)).collect::<Vec<_>>()
    });
    let mut score = Score::default();
    let mut differences = Vec::new();
    for (case, (ours, theirs)) in judged.into_iter().flatten() {
        score.add(ours.is_none(), theirs.is_none());
        if ours.is_none() != theirs.is_none() {
            differences.push(Difference {
                text: case.text,
                origin: format!(
                    "{} ({}), {} {}",
                    case.row, case.kind, case.setting.version, case.setting.target
                ),
                ours,
                theirs,
            });
        }
    }
    (score, differences)
}
