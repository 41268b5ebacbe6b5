//! Agreement, and the disagreements by class.

use std::collections::BTreeMap;

/// How often the two sides agreed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// ptxas accepts; we do too.
    pub both_accept: usize,
    /// ptxas accepts; we do not.
    pub falsely_rejected: usize,
    /// ptxas rejects; we do too.
    pub both_reject: usize,
    /// ptxas rejects; we do not.
    pub falsely_accepted: usize,
}

impl Score {
    /// Enters one pair of verdicts.
    pub fn add(&mut self, ours: bool, theirs: bool) {
        *match (ours, theirs) {
            (true, true) => &mut self.both_accept,
            (false, true) => &mut self.falsely_rejected,
            (false, false) => &mut self.both_reject,
            (true, false) => &mut self.falsely_accepted,
        } += 1;
    }

    /// Both together.
    pub fn plus(&self, other: &Score) -> Score {
        Score {
            both_accept: self.both_accept + other.both_accept,
            falsely_rejected: self.falsely_rejected + other.falsely_rejected,
            both_reject: self.both_reject + other.both_reject,
            falsely_accepted: self.falsely_accepted + other.falsely_accepted,
        }
    }

    /// All pairs.
    pub fn total(&self) -> usize {
        self.both_accept + self.falsely_rejected + self.both_reject + self.falsely_accepted
    }

    /// Percent of what ptxas accepts that we accept.
    pub fn accepted(&self) -> f64 {
        percent(self.both_accept, self.both_accept + self.falsely_rejected)
    }

    /// Percent of what ptxas rejects that we reject.
    pub fn rejected(&self) -> f64 {
        percent(self.both_reject, self.both_reject + self.falsely_accepted)
    }

    /// Percent on which both agree.
    pub fn agreement(&self) -> f64 {
        percent(self.both_accept + self.both_reject, self.total())
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        100.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

/// One disagreement.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What was judged, short enough to show.
    pub text: String,
    /// Row or file, and how the case was made.
    pub origin: String,
    /// Our complaint: code and message. `None` where we accept.
    pub ours: Option<String>,
    /// ptxas's complaint.
    pub theirs: Option<String>,
}

impl Difference {
    /// The complaint that one side has and the other lacks, without names and numbers.
    pub fn class(&self) -> String {
        match (&self.ours, &self.theirs) {
            (Some(ours), _) => format!("only ptxgen rejects: {}", general(ours)),
            (None, Some(theirs)) => format!("only ptxas rejects: {}", general(theirs)),
            (None, None) => "none".to_owned(),
        }
    }
}

/// A message with quoted parts and numbers taken out.
fn general(message: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for c in message.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => {
                quote = None;
                out.push(c);
            }
            (Some(_), _) => {}
            (None, '\'' | '`') => {
                quote = Some(c);
                out.push(c);
            }
            (None, c) if c.is_ascii_digit() && out.ends_with('#') => {}
            (None, c) if c.is_ascii_digit() => out.push('#'),
            (None, c) => out.push(c),
        }
    }
    out
}

/// Differences by class, the largest first.
pub fn classes(differences: &[Difference]) -> Vec<(String, Vec<&Difference>)> {
    let mut found: BTreeMap<String, Vec<&Difference>> = BTreeMap::new();
    for one in differences {
        found.entry(one.class()).or_default().push(one);
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    found
}
