//! The instruction table: what PTX's instructions are, one row each.
//!
//! A row holds the manual's own syntax lines as strings; [`form`] reads them. Parser, printer, builder, legality checks,
//! analyses and simulator all read the row, so an instruction is added in one place: its family's file.

pub mod form;
mod notation;
mod opcode;
mod special;

mod arith;
mod asynchronous;
mod compare;
mod control;
mod convert;
mod logic;
mod matrix;
mod memory;
mod sync;
mod tensor;
mod texture;
mod video;
mod warp;
mod warpgroup;

pub use form::{Alternative, Count, Form, Gate, OperandKind, OperandSpec, OperandType, Range, Removal, Role, Slot};
pub use opcode::{Match, Opcode, Problem};
pub use special::{Extent, SPECIALS, Special, SpecialInfo};

use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What executing an instruction does beside writing its destination registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing: the result depends on the operands alone.
    Pure,
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Reads and writes memory in one step, with or without a result (`atom`, `red`).
    Atomic,
    /// Waits for, or signals to, other threads of the CTA or cluster (`bar`, `barrier`, `barrier.cluster`).
    Barrier,
    /// Works on an mbarrier object.
    Mbarrier,
    /// Exchanges values among the lanes of a warp, or waits for them (`shfl`, `vote`, `bar.warp.sync`).
    Warp,
    /// Goes elsewhere (`bra`, `brx`).
    Branch,
    /// Calls a function.
    Call,
    /// Ends the thread or the function (`exit`, `ret`, `trap`).
    Exit,
    /// Orders memory accesses.
    Fence,
    /// Starts or awaits asynchronous work (`cp.async`, `wgmma`, `tcgen05`, ...).
    Async,
    /// Anything else that must neither move nor vanish; also what an unknown instruction is taken for.
    Other,
}

/// Named sets of modifiers: each name with its members, separated by blanks.
pub(crate) type Sets = &'static [(&'static str, &'static str)];

impl Effect {
    /// Whether the instruction reads or writes memory at an address it is given.
    pub fn accesses_memory(self) -> bool {
        matches!(self, Effect::Load | Effect::Store | Effect::Atomic)
    }
}

/// One instruction of the table.
#[derive(Debug)]
pub struct Row {
    /// The opcode without type and options: `add`, `cp.async.bulk`, `bar.warp.sync`.
    pub name: &'static str,
    /// What executing it does.
    pub effect: Effect,
    /// Named sets of modifiers that the forms refer to. See [`form`] for the notation.
    pub sets: Sets,
    /// The manual's syntax lines. See [`form`] for the notation.
    pub forms: &'static [&'static str],
    /// Legal uses: each is parsed and verified by a test, and shown to ptxas where there is one.
    pub examples: &'static [&'static str],
}

impl Row {
    /// The first word of the opcode: `cp` of `cp.async`.
    pub fn base(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }
}

/// A row, written briefly: the families' files consist of these.
const fn row(
    name: &'static str,
    effect: Effect,
    sets: Sets,
    forms: &'static [&'static str],
    examples: &'static [&'static str],
) -> Row {
    Row {
        name,
        effect,
        sets,
        forms,
        examples,
    }
}

static FAMILIES: &[&[Row]] = &[
    arith::ROWS,
    logic::ROWS,
    compare::ROWS,
    convert::ROWS,
    memory::ROWS,
    sync::ROWS,
    warp::ROWS,
    control::ROWS,
    matrix::ROWS,
    warpgroup::ROWS,
    tensor::ROWS,
    asynchronous::ROWS,
    texture::ROWS,
    video::ROWS,
];

/// Every row, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// A row and its forms, read when they are first asked for: a run meets only a few of the rows.
#[derive(Debug)]
pub struct Entry {
    /// The row.
    pub row: &'static Row,
    forms: OnceLock<Vec<Form>>,
}

impl Entry {
    /// The forms of the row.
    pub fn forms(&self) -> &[Form] {
        let compile = |line: &&'static str| notation::compile(line, self.row.sets);
        self.forms.get_or_init(|| self.row.forms.iter().map(compile).collect())
    }
}

/// The rows whose opcode starts with that word: `bar` has several.
pub fn entries(base: &str) -> &'static [Entry] {
    static INDEX: OnceLock<FxHashMap<&'static str, Vec<Entry>>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for row in rows() {
            let forms = OnceLock::new();
            index.entry(row.base()).or_default().push(Entry { row, forms });
        }
        index
    });
    index.get(base).map_or(&[], Vec::as_slice)
}

/// Whether any form of any row takes that modifier, given without its dot. Reads the whole table: findings ask, nothing else.
pub fn has_modifier(name: &str) -> bool {
    let entries = rows().flat_map(|row| entries(row.base()));
    let mut slots = entries.flat_map(|entry| entry.forms()).flat_map(|form| &form.slots);
    slots.any(|slot| slot.alternatives.iter().any(|one| one.name == name))
}

/// The first words of all opcodes, in table order; some occur more than once.
pub fn bases() -> impl Iterator<Item = &'static str> {
    rows().map(Row::base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Malformed lines trip assertions while they are read.
    #[test]
    fn every_line_reads() {
        for row in rows() {
            for line in row.forms {
                let form = notation::compile(line, row.sets);
                assert!(form.line.starts_with(row.base()), "{line}");
                assert!(
                    form.slots.iter().all(|slot| !slot.alternatives.is_empty()),
                    "empty set in {line}"
                );
            }
            assert!(!row.forms.is_empty() && !row.examples.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn members_of_a_set_are_unique() {
        for row in rows() {
            let mut names = HashSet::new();
            for (name, members) in row.sets {
                assert!(names.insert(name), "set {name} twice in {}", row.name);
                let mut seen = HashSet::new();
                for member in members.split_whitespace() {
                    let member = member.split('@').next().unwrap_or(member);
                    assert!(seen.insert(member), "{member} twice in {name} of {}", row.name);
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names = HashSet::new();
        for row in rows() {
            assert!(names.insert(row.name), "{} twice", row.name);
        }
    }

    #[test]
    fn types_keep_their_order() {
        assert!(Opcode::resolve("cvt.f32.f16").is_known());
        assert!(!Opcode::resolve("cvt.f16.f32").is_known());
        assert!(Opcode::resolve("ld.v4.f32.global").is_known());
    }
}
