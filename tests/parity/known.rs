//! The differences that are known, with their reasons: a class is recognised by what one side says and the other does not.

use super::score::Difference;

/// A class of differences.
pub struct Class {
    /// Its title in the report.
    pub title: &'static str,
    /// Which side rejects.
    side: Side,
    /// Parts of the complaint (after the code of ours), one of which must occur.
    says: &'static [&'static str],
    /// Parts of the changed text or its origin, one of which must occur; empty for any.
    about: &'static [&'static str],
    /// Why the difference is there.
    pub reason: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Ptxgen,
    Ptxas,
}

use Side::{Ptxas, Ptxgen};

const fn class(
    title: &'static str,
    side: Side,
    says: &'static [&'static str],
    about: &'static [&'static str],
    reason: &'static str,
) -> Class {
    Class {
        title,
        side,
        says,
        about,
        reason,
    }
}

impl Class {
    fn holds(&self, one: &Difference) -> bool {
        let complaint = match self.side {
            Ptxgen => one.ours.as_deref(),
            Ptxas => one.theirs.as_deref().filter(|_| one.ours.is_none()),
        };
        let text = format!("{} {}", one.text, one.origin);
        let among = |parts: &[&str], whole: &str| parts.is_empty() || parts.iter().any(|part| whole.contains(part));
        complaint.is_some_and(|complaint| among(self.says, complaint)) && among(self.about, &text)
    }
}

/// The class of a difference, if it is known.
pub fn classify(one: &Difference) -> Option<&'static Class> {
    KNOWN.iter().find(|class| class.holds(one))
}

const KNOWN: &[Class] = &[];
