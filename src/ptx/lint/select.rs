//! Which codes report, and at which level: `--select BAR --ignore BAR005 --deny false-uni`.

use super::catalogue::{Entry, catalogue, merged, place};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::parse::nearest;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Codes as people name them: one by its code or name, a group, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// As shown to people: the code, the group, or `ALL`.
    name: &'static str,
    /// How many a selector of its kind names: all, a group, one. The more special ones win.
    breadth: Breadth,
    /// Places in the catalogue; a group's codes stand together there.
    places: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Breadth {
    All,
    Group,
    One,
}

impl Selector {
    /// Whether it names the code.
    pub fn covers(&self, code: Code) -> bool {
        place(code).is_some_and(|place| self.places.contains(&place))
    }

    /// Whether it names a single code, and no group.
    pub fn is_one(&self) -> bool {
        self.breadth == Breadth::One
    }

    /// The codes it names.
    pub fn entries(&self) -> &'static [Entry] {
        catalogue().get(self.places.clone()).unwrap_or_default()
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A word that names no code, name or group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSelector {
    /// The word.
    pub word: String,
    /// What may have been meant.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(merged) = merged(&self.word) {
            return write!(f, "`{}` is found as {}: {}", merged.id, merged.into, merged.why);
        }
        write!(f, "`{}` is no code, name or group of rules", self.word)?;
        match self.nearest {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => write!(f, "; `ptxgen explain` lists them"),
        }
    }
}

impl std::error::Error for UnknownSelector {}

impl FromStr for Selector {
    type Err = UnknownSelector;

    fn from_str(word: &str) -> Result<Self, UnknownSelector> {
        let all = catalogue();
        if word.eq_ignore_ascii_case("all") {
            let (name, breadth, places) = ("ALL", Breadth::All, 0..all.len());
            return Ok(Self { name, breadth, places });
        }
        let named = |entry: &Entry| entry.code.id.eq_ignore_ascii_case(word) || entry.code.name == word;
        if let Some(at) = all.iter().position(named) {
            let (name, breadth, places) = (all[at].code.id, Breadth::One, at..at + 1);
            return Ok(Self { name, breadth, places });
        }
        let is_group = |entry: &Entry| entry.group().eq_ignore_ascii_case(word);
        match all.iter().position(is_group) {
            Some(first) => Ok(Self {
                name: all[first].group(),
                breadth: Breadth::Group,
                places: first..first + all[first..].iter().take_while(|entry| is_group(entry)).count(),
            }),
            None => Err(UnknownSelector {
                word: word.to_owned(),
                nearest: meant(word),
            }),
        }
    }
}

/// The code, name or group nearest to a misspelt one.
fn meant(word: &str) -> Option<&'static str> {
    let words = catalogue().iter().flat_map(|entry| [entry.code.id, entry.code.name]);
    let groups = catalogue().iter().map(Entry::group);
    let upper = word.to_ascii_uppercase();
    nearest(word, words.clone()).or_else(|| nearest(&upper, words.chain(groups)))
}

/// What to do with the codes that a selector names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// These report, and no others.
    Select,
    /// These do not.
    Ignore,
    /// These report, as errors.
    Deny,
    /// These report, as warnings.
    Warn,
    /// These do not.
    Allow,
}

/// Which codes report, and at which level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// By place in the catalogue.
    states: Vec<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    on: bool,
    /// The level of all findings, where it was set.
    level: Option<Level>,
}

impl Default for Selection {
    fn default() -> Self {
        let state = |entry: &Entry| State {
            on: entry.is_default,
            level: None,
        };
        Self {
            states: catalogue().iter().map(state).collect(),
        }
    }
}

impl Selection {
    /// Every code, those that must be asked for as well.
    pub fn all() -> Self {
        let state = |_: &Entry| State { on: true, level: None };
        Self {
            states: catalogue().iter().map(state).collect(),
        }
    }

    /// Applies what one source says (a config file, a command line) over what the sources before it said.
    ///
    /// Within a source a code wins over its group and a group over `ALL`; between equals the later one wins. A source
    /// that selects anything starts from nothing, syntax errors aside: of a text that was not understood, silence
    /// would say too much.
    pub fn apply(&mut self, source: &[(Directive, Selector)]) {
        if source.iter().any(|(directive, _)| *directive == Directive::Select) {
            for (state, entry) in self.states.iter_mut().zip(catalogue()) {
                state.on = entry.group() == "SYN";
            }
        }
        let mut sorted: Vec<_> = source.iter().collect();
        sorted.sort_by_key(|(_, selector)| selector.breadth);
        for (directive, selector) in sorted {
            for state in self.states.get_mut(selector.places.clone()).into_iter().flatten() {
                state.on = !matches!(directive, Directive::Ignore | Directive::Allow);
                state.level = match directive {
                    Directive::Deny => Some(Level::Error),
                    Directive::Warn => Some(Level::Warning),
                    _ => state.level,
                };
            }
        }
    }

    /// Whether the code reports. One that the catalogue does not have does.
    pub fn is_on(&self, code: Code) -> bool {
        self.state(code).is_none_or(|state| state.on)
    }

    /// The finding with the level that was set for its code, if the code reports.
    pub fn admit(&self, mut diag: Diag) -> Option<Diag> {
        if let Some(state) = self.state(diag.code) {
            diag.level = state.level.unwrap_or(diag.level);
            return state.on.then_some(diag);
        }
        Some(diag)
    }

    /// The level that was set for all findings of the code.
    pub fn level(&self, code: Code) -> Option<Level> {
        self.state(code)?.level
    }

    fn state(&self, code: Code) -> Option<&State> {
        self.states.get(place(code)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::diag::codes;

    fn selection(source: &[(Directive, &str)]) -> Selection {
        let source: Vec<_> = source
            .iter()
            .map(|(directive, word)| (*directive, word.parse().unwrap()))
            .collect();
        let mut selection = Selection::default();
        selection.apply(&source);
        selection
    }

    fn code(word: &str) -> Code {
        word.parse::<Selector>().unwrap().entries()[0].code
    }

    #[test]
    fn codes_names_and_groups_are_known_in_any_case() {
        for word in ["BAR001", "bar001", "barrier-under-divergent-branch"] {
            assert_eq!(word.parse::<Selector>().unwrap().to_string(), "BAR001");
        }
        let group: Selector = "bar".parse().unwrap();
        assert_eq!(group.to_string(), "BAR");
        assert!(group.covers(code("BAR019")) && !group.covers(codes::ISA001));
        let all: Selector = "ALL".parse().unwrap();
        assert_eq!(all.entries().len(), catalogue().len());
    }

    #[test]
    fn unknown_words_name_the_nearest() {
        let error = |word: &str| word.parse::<Selector>().unwrap_err().to_string();
        assert_eq!(
            error("fals-uni"),
            "`fals-uni` is no code, name or group of rules; did you mean `false-uni`?"
        );
        assert!(error("bar01").contains("did you mean `BAR00"));
        assert!(error("BARR").contains("did you mean `BAR`"));
        assert!(error("nothing-like-it").contains("`ptxgen explain` lists them"));
    }

    #[test]
    fn the_more_special_word_wins_whatever_the_order() {
        for source in [
            [(Directive::Allow, "BAR"), (Directive::Deny, "BAR001")],
            [(Directive::Deny, "BAR001"), (Directive::Allow, "BAR")],
        ] {
            let selection = selection(&source);
            assert!(selection.is_on(code("BAR001")) && !selection.is_on(code("BAR002")));
            assert_eq!(selection.level(code("BAR001")), Some(Level::Error));
        }
    }

    #[test]
    fn of_equals_the_later_wins() {
        assert!(selection(&[(Directive::Ignore, "BAR001"), (Directive::Warn, "BAR001")]).is_on(code("BAR001")));
        assert!(!selection(&[(Directive::Warn, "BAR001"), (Directive::Ignore, "BAR001")]).is_on(code("BAR001")));
    }

    #[test]
    fn selecting_starts_from_nothing_but_keeps_syntax() {
        let selection = selection(&[(Directive::Select, "BAR001")]);
        assert!(selection.is_on(code("BAR001")) && selection.is_on(codes::SYN001));
        assert!(!selection.is_on(code("BAR002")) && !selection.is_on(codes::ISA001));
    }

    #[test]
    fn a_later_source_goes_over_an_earlier_one() {
        let mut selection = selection(&[(Directive::Allow, "BAR001")]);
        selection.apply(&[(Directive::Warn, "BAR".parse().unwrap())]);
        assert!(selection.is_on(code("BAR001")));
    }

    #[test]
    fn foreign_codes_report() {
        assert!(Selection::default().is_on(Code::new("TST001", "test-finding")));
    }
}
