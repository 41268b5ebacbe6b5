//! Suppressions: comments in the text that say which findings are meant to be there.
//!
//! ```text
//! // ptxgen: allow(BAR001) reason          the next statement, block or function; the line where code stands before it
//! // ptxgen: allow-file(BAR005, false-uni) the whole text
//! ```

mod comment;
mod reach;

use super::catalogue::group;
use super::rules::{lint001, lint002};
use super::select::{Selection, Selector};
use crate::ptx::diag::{Code, Diag, Edit};
use crate::ptx::parse::Parsed;
use crate::ptx::source::Span;
use comment::{Comment, Item};

/// The suppressions of a text.
pub(super) struct Suppressions {
    all: Vec<Suppression>,
    /// What is wrong with those that could not be read.
    malformed: Vec<Diag>,
}

struct Suppression {
    comment: Comment,
    /// Where findings must start to be covered.
    reach: Span,
    /// What became of each item.
    used: Vec<bool>,
}

/// What is left after suppressing.
pub(super) struct Outcome {
    /// Findings that report.
    pub(super) kept: Vec<Diag>,
    /// How many do not.
    pub(super) suppressed: usize,
}

impl Suppressions {
    /// Finds them among the comments.
    pub(super) fn find(parsed: &Parsed, text: &str) -> Self {
        let mut found = Self {
            all: Vec::new(),
            malformed: Vec::new(),
        };
        for span in &parsed.comments {
            match comment::read(text, *span) {
                None => {}
                Some(Ok(comment)) => {
                    let reach = match comment.whole_file {
                        true => Span::new(0, u32::MAX),
                        false => reach::of(parsed, text, *span),
                    };
                    let used = vec![false; comment.items.len()];
                    found.all.push(Suppression { comment, reach, used });
                }
                Some(Err(wrong)) => {
                    let diag = Diag::warning(lint002::RULE.code, wrong.span, wrong.message);
                    found.malformed.push(diag.help(wrong.help));
                }
            }
        }
        found
    }

    /// Takes out what is allowed and adds what is to be said of the suppressions themselves.
    pub(super) fn apply(mut self, findings: Vec<Diag>, selection: &Selection, text: &str, judge: Judge) -> Outcome {
        let mut outcome = Outcome {
            kept: Vec::with_capacity(findings.len()),
            suppressed: 0,
        };
        let malformed = std::mem::take(&mut self.malformed).into_iter();
        let malformed = malformed.filter_map(|diag| selection.admit(diag));
        self.sift(findings.into_iter().chain(malformed), &mut outcome);
        if judge == Judge::All {
            let unused = self.all.iter().filter_map(|one| one.unused(selection, text));
            let unused: Vec<Diag> = unused.filter_map(|diag| selection.admit(diag)).collect();
            self.sift(unused, &mut outcome);
        }
        outcome
    }

    fn sift(&mut self, findings: impl IntoIterator<Item = Diag>, outcome: &mut Outcome) {
        for diag in findings {
            // Each one that covers it counts as used: none of them is to blame for the others.
            let mut covered = false;
            for one in &mut self.all {
                covered |= one.covers(&diag);
            }
            if covered {
                outcome.suppressed += 1;
            } else {
                outcome.kept.push(diag);
            }
        }
    }
}

/// Whether it can be told that a suppression is unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judge {
    /// It can.
    All,
    /// The text has errors or cannot be followed, which keeps rules from finding what they would.
    None,
}

impl Suppression {
    /// Whether the finding is one of those meant, which is remembered.
    fn covers(&mut self, diag: &Diag) -> bool {
        if !(self.reach.start..self.reach.end).contains(&diag.span.start) {
            return false;
        }
        let mut covered = false;
        for (item, used) in self.comment.items.iter().zip(&mut self.used) {
            if item.selector.covers(diag.code) {
                *used = true;
                covered = true;
            }
        }
        covered
    }

    /// The finding that some of the items allow nothing.
    fn unused(&self, selection: &Selection, text: &str) -> Option<Diag> {
        let items = || self.comment.items.iter().zip(&self.used);
        let is_idle = |(item, used): &(&Item, &bool)| !**used && is_judged(&item.selector, selection);
        let idle: Vec<&Item> = items().filter(is_idle).map(|(item, _)| item).collect();
        let first = idle.first()?;
        let names: Vec<_> = idle.iter().map(|item| format!("`{}`", item.span.of(text))).collect();
        let place = match self.comment.whole_file {
            true => "in this file",
            false => "here",
        };
        let message = format!("nothing of {} is found {place}", names.join(", "));
        let all = idle.len() == self.comment.items.len();
        let diag = match all {
            true => Diag::warning(lint001::RULE.code, self.comment.span, message).help("remove the comment"),
            false => Diag::warning(lint001::RULE.code, first.span, message).help("take it out of the list"),
        };
        let kept: Vec<_> = items()
            .filter(|pair| !is_idle(pair))
            .map(|(item, _)| item.span.of(text))
            .collect();
        let edit = match all {
            true => Edit::remove(comment::with_blanks(text, self.comment.span)),
            false => Edit {
                span: self.comment.list,
                text: kept.join(", "),
            },
        };
        Some(diag.safe_fix(vec![edit]))
    }
}

/// Whether all that the selector names was looked for. What is said of suppressions comes after they are judged.
fn is_judged(selector: &Selector, selection: &Selection) -> bool {
    let looked_for = |code: Code| selection.is_on(code) && group(code) != "LINT";
    selector.entries().iter().all(|entry| looked_for(entry.code))
}

#[cfg(test)]
mod tests;
