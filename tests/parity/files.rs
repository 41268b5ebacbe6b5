//! Real files against ptxas, with one edit each.

use super::mutate::{KINDS, Mutant, mutant};
use super::oracle;
use super::rng::Rng;
use super::score::{Difference, Score};
use super::seeds::{self, Seed};
use super::table::{ours, spread};
use std::collections::HashSet;

/// Agreement by kind of edit, and the differences.
pub struct Outcome {
    /// How many seeds there were.
    pub seeds: usize,
    /// The score of each kind of edit.
    pub kinds: Vec<(&'static str, Score)>,
    /// Where the two sides disagree.
    pub differences: Vec<Difference>,
}

impl Outcome {
    /// All kinds together.
    pub fn total(&self) -> Score {
        self.kinds.iter().fold(Score::default(), |sum, (_, one)| sum.plus(one))
    }
}

/// Makes `count` mutants, every kind and every seed in turn, and judges them.
pub fn compare(count: usize, beside: bool) -> Outcome {
    let seeds = seeds::all(beside);
    let mutants = make(&seeds, count);
    let mut batches: Vec<Vec<(usize, Mutant)>> = Vec::new();
    for one in mutants {
        match batches.last_mut() {
            Some(batch) if batch.len() < 50 => batch.push(one),
            _ => batches.push(vec![one]),
        }
    }
    let judged = spread(batches, |batch| {
        let dir = tempfile::tempdir().unwrap();
        let judge = |(seed, mutant): (usize, Mutant)| {
            let theirs = oracle::module(&mutant.text, &mutant.arch, dir.path()).ok()?;
            let ours = ours(&mutant.text);
            Some((seed, mutant, ours, theirs))
        };
        batch.into_iter().filter_map(judge).collect::<Vec<_>>()
    });
    let mut outcome = Outcome {
        seeds: seeds.len(),
        kinds: KINDS.iter().map(|(kind, _)| (*kind, Score::default())).collect(),
        differences: Vec::new(),
    };
    for (seed, mutant, ours, theirs) in judged.into_iter().flatten() {
        let kind = outcome.kinds.iter_mut().find(|(kind, _)| *kind == mutant.kind);
        kind.unwrap().1.add(ours.is_none(), theirs.is_none());
        if ours.is_none() != theirs.is_none() {
            outcome.differences.push(Difference {
                text: mutant.change,
                origin: format!("{} ({})", seeds[seed].name, mutant.kind),
                ours,
                theirs,
            });
        }
    }
    outcome
}

/// Mutants, no two with the same text; each with the index of its seed.
fn make(seeds: &[Seed], count: usize) -> Vec<(usize, Mutant)> {
    let mut rng = Rng::new(1);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut tries = 0;
    while found.len() < count && tries < count * 4 && !seeds.is_empty() {
        let at = rng.below(seeds.len());
        let made = mutant(&seeds[at], tries % KINDS.len(), &mut rng);
        tries += 1;
        if let Some(mutant) = made
            && seen.insert(mutant.text.clone())
        {
            found.push((at, mutant));
        }
    }
    found
}
