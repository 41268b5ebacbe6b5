//! Opcodes: an instruction's dotted name, resolved against the table.

use super::{Effect, Entry, Form, Gate, Row, entries, form};
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// A dotted opcode such as `ld.global.v4.f32`, resolved once and shared by every instruction that spells it alike.
#[derive(Debug)]
pub struct Opcode {
    /// The whole name as written, without blanks.
    pub text: Box<str>,
    /// The row; of an opcode that no form fits, the nearest one of that first word; `None` for an unknown word.
    pub row: Option<&'static Row>,
    /// The forms that the modifiers fit, in table order; the operands choose among them. Empty for a misfit.
    pub matches: Vec<Match>,
    /// What executing it does; [`Effect::Other`] where the table does not know.
    pub effect: Effect,
    /// The types among the modifiers, in order. The last is the instruction's type.
    pub types: SmallVec<[Type; 2]>,
    /// The first state space among the modifiers.
    pub space: Space,
    /// Elements of a vector access: 1, 2, 4 or 8.
    pub lanes: u8,
    /// Why no form fits.
    pub problem: Option<Problem>,
    /// Length of the first word.
    base: usize,
}

/// A form that fits an opcode's modifiers, and which alternative each slot takes.
#[derive(Clone, Debug)]
pub struct Match {
    /// The form.
    pub form: &'static Form,
    /// Per slot of the form, the index of the modifier's alternative; `None` where an optional modifier is absent.
    pub picks: SmallVec<[Option<u8>; 8]>,
}

/// Why no form fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No instruction starts with this word.
    UnknownOpcode,
    /// No form takes this modifier at all (index among the modifiers).
    UnknownModifier(usize),
    /// Forms take this modifier, but not beside the others (index among the modifiers).
    Misplaced(usize),
    /// The nearest form needs one of these modifiers.
    Missing(Vec<&'static str>),
}

impl PartialEq for Opcode {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Opcode {}

impl Opcode {
    /// Resolves a dotted opcode. Always answers: what the table does not know is kept, and [`Opcode::problem`] says why.
    pub fn resolve(text: &str) -> Opcode {
        let mods: Vec<&str> = text.split('.').skip(1).collect();
        let base = text.split('.').next().unwrap_or("");
        let entries = entries(base);
        let found = entries.iter().find_map(|entry| {
            let matches = fits(entry, &mods);
            (!matches.is_empty()).then_some((entry.row, matches))
        });
        let (row, matches, problem) = match found {
            Some((row, matches)) => (Some(row), matches, None),
            None => {
                let (row, problem) = diagnose(entries, &mods);
                (row, Vec::new(), Some(problem))
            }
        };
        Opcode {
            text: text.into(),
            effect: row
                .filter(|_| problem.is_none())
                .map_or(Effect::Other, |row| row.effect),
            row,
            matches,
            types: mods.iter().filter_map(|name| Type::from_name(name)).collect(),
            space: mods
                .iter()
                .find_map(|name| Space::from_name(name))
                .unwrap_or(Space::Generic),
            lanes: mods.iter().find_map(|name| lanes(name)).unwrap_or(1),
            problem,
            base: base.len(),
        }
    }

    /// The first word: `ld` of `ld.global.f32`.
    pub fn base(&self) -> &str {
        &self.text[..self.base]
    }

    /// The modifiers, in order, without their dots.
    pub fn mods(&self) -> impl Iterator<Item = &str> {
        self.text.split('.').skip(1)
    }

    /// Whether the modifier (without its dot) is among them.
    pub fn has(&self, modifier: &str) -> bool {
        self.mods().any(|name| name == modifier)
    }

    /// The instruction's type: the last one among its modifiers.
    pub fn ty(&self) -> Option<Type> {
        self.types.last().copied()
    }

    /// Whether the table knows the opcode with these modifiers.
    pub fn is_known(&self) -> bool {
        self.problem.is_none()
    }
}

impl Match {
    /// Everything the form and the chosen modifiers need, each with the modifier it comes from (empty for the form).
    pub fn gates(&self) -> impl Iterator<Item = (&'static str, &'static Gate)> + '_ {
        let chosen = self.form.slots.iter().zip(&self.picks).filter_map(|(slot, pick)| {
            let alternative = &slot.alternatives[usize::from((*pick)?)];
            Some((alternative.name, &alternative.gate))
        });
        std::iter::once(("", &self.form.gate)).chain(chosen)
    }

    /// The modifier in a slot.
    pub fn chosen(&self, slot: usize) -> Option<&'static str> {
        let pick = usize::from((*self.picks.get(slot)?)?);
        Some(self.form.slots.get(slot)?.alternatives.get(pick)?.name)
    }

    /// The type in a slot.
    pub fn slot_type(&self, slot: usize) -> Option<Type> {
        Type::from_name(self.chosen(slot)?)
    }

    /// The modifier in the slot of that name.
    pub fn modifier(&self, slot: &str) -> Option<&'static str> {
        self.chosen(self.form.slots.iter().position(|candidate| candidate.name == slot)?)
    }
}

fn lanes(modifier: &str) -> Option<u8> {
    match modifier {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    }
}

/// The forms of a row that these modifiers fit.
fn fits(entry: &'static Entry, mods: &[&str]) -> Vec<Match> {
    let fit = |form| {
        Some(Match {
            form,
            picks: complete(form, mods)?,
        })
    };
    let named = |form: &&'static Form| begins(entry.row, form, mods);
    entry.forms().iter().filter(named).filter_map(fit).collect()
}

/// Whether the words of a long name (`mbarrier.try_wait`) come first and in order: ptxas takes modifiers in any order, but not these.
fn begins(row: &'static Row, form: &'static Form, mods: &[&str]) -> bool {
    if matches!(row.base(), "add" | "sub" | "mad" | "mma" | "cvt") {
        return true;
    }
    let fixed = |word: &str| {
        let mut slots = form.slots.iter();
        slots.any(|slot| slot.name == word && !slot.optional && slot.alternatives.len() == 1)
    };
    let words = row.name.split('.').skip(1).take_while(|word| fixed(word));
    words.zip(mods).all(|(word, found)| word == *found)
}

/// How far a form takes some modifiers.
struct Assignment {
    /// Per slot, the alternative taken.
    picks: SmallVec<[Option<u8>; 8]>,
    /// The first modifier that found no place.
    stray: Option<usize>,
    /// How many modifiers found a place.
    placed: usize,
}

/// Gives each modifier the first free slot that takes it: the order of modifiers is free, except among types.
fn assign(form: &'static Form, mods: &[&str]) -> Assignment {
    let mut picks: SmallVec<[Option<u8>; 8]> = SmallVec::from_elem(None, form.slots.len());
    let (mut stray, mut placed, mut types_from) = (None, 0, 0);
    for (index, name) in mods.iter().enumerate() {
        let free = form.slots.iter().enumerate().find_map(|(at, slot)| {
            let open = picks[at].is_none() && (!slot.is_type || at >= types_from);
            let taken = slot.alternatives.iter().position(|one| one.name == *name)?;
            open.then_some((at, taken as u8))
        });
        match free {
            Some((at, alternative)) => {
                picks[at] = Some(alternative);
                placed += 1;
                if form.slots[at].is_type {
                    types_from = at + 1;
                }
            }
            None => stray = stray.or(Some(index)),
        }
    }
    Assignment { picks, stray, placed }
}

/// The slots that must be filled and are not.
fn missing<'a>(form: &'a Form, picks: &'a [Option<u8>]) -> impl Iterator<Item = &'a form::Slot> {
    let open = form.slots.iter().zip(picks);
    open.filter(|(slot, pick)| pick.is_none() && !slot.optional)
        .map(|(slot, _)| slot)
}

/// The picks, where every modifier has a place and nothing is missing.
fn complete(form: &'static Form, mods: &[&str]) -> Option<SmallVec<[Option<u8>; 8]>> {
    let found = assign(form, mods);
    let fits = found.stray.is_none() && missing(form, &found.picks).next().is_none();
    fits.then_some(found.picks)
}

/// How near a form comes: modifiers placed, slots lacking (fewer is nearer), first modifier without a place.
type Rank = (usize, Reverse<usize>, usize);

/// Finds the form that comes nearest and says what keeps the modifiers from fitting it.
fn diagnose(entries: &'static [Entry], mods: &[&str]) -> (Option<&'static Row>, Problem) {
    let forms = || {
        entries
            .iter()
            .flat_map(|entry| entry.forms().iter().map(move |form| (entry.row, form)))
    };
    let Some((first, _)) = forms().next() else {
        return (None, Problem::UnknownOpcode);
    };
    let known = |name: &str| {
        forms().any(|(_, form)| {
            form.slots
                .iter()
                .any(|slot| slot.alternatives.iter().any(|a| a.name == name))
        })
    };
    if let Some(unknown) = mods.iter().position(|name| !known(name)) {
        return (
            Some(nearest_row(entries, mods).unwrap_or(first)),
            Problem::UnknownModifier(unknown),
        );
    }
    let mut best: Option<(Rank, &'static Row, Problem)> = None;
    for (row, form) in forms() {
        let found = assign(form, mods);
        // Most modifiers placed, fewest lacking; then the stray that comes last, since the first words name the operation.
        let lacking = Reverse(missing(form, &found.picks).count());
        let rank = (found.placed, lacking, found.stray.unwrap_or(mods.len()));
        if best.as_ref().is_none_or(|(old, ..)| rank > *old) {
            let problem = match (found.stray, missing(form, &found.picks).next()) {
                (None, Some(slot)) => Problem::Missing(slot.alternatives.iter().map(|one| one.name).collect()),
                (stray, _) => Problem::Misplaced(stray.unwrap_or(0)),
            };
            best = Some((rank, row, problem));
        }
    }
    match best {
        Some((_, row, problem)) => (Some(row), problem),
        None => (Some(first), Problem::Misplaced(0)),
    }
}

/// The row with a form that takes most of the modifiers.
fn nearest_row(entries: &'static [Entry], mods: &[&str]) -> Option<&'static Row> {
    let reach = |entry: &'static Entry| entry.forms().iter().map(|form| assign(form, mods).placed).max();
    let mut best = None;
    for entry in entries {
        let got = reach(entry);
        if best.as_ref().is_none_or(|(most, _)| got > *most) {
            best = Some((got, entry.row));
        }
    }
    best.map(|(_, row)| row)
}
