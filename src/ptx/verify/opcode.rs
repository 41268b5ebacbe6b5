//! Opcodes that no form of the table fits.

use super::gates::Environment;
use crate::ptx::diag::{Code, Diag, Level, codes};
use crate::ptx::ir::Opcode;
use crate::ptx::isa::{self, Problem};
use crate::ptx::parse::{Pieces, nearest};
use crate::ptx::source::Span;
use crate::ptx::target::PtxVersion;
use crate::ptx::types::{Space, Type};

/// Families that grow with every release, and the last version whose manual this table has been compared with in full:
/// a word that the table has never heard of may be newer than the table in a newer module.
const GROWING: &[&str] = &[
    "tcgen05",
    "mbarrier",
    "multimem",
    "cp",
    "st",
    "red",
    "cvt",
    "mma",
    "fence",
    "tensormap",
    "clusterlaunchcontrol",
    "applypriority",
];
const COMPLETE_UP_TO: PtxVersion = PtxVersion::new(9, 0);

/// Modifiers of a few instructions that ptxas 13.5 reads in every instruction, and ignores.
const IDLE: &[&str] = &[
    "acc::f16",
    "acc::f32",
    "b4x16_p64",
    "b6x16_p32",
    "b8x16",
    "box_dim",
    "element_stride",
    "elemtype",
    "fill_mode",
    "finite",
    "global_address",
    "global_dim",
    "global_stride",
    "infinite",
    "interleave_layout",
    "normal",
    "notanumber",
    "number",
    "rank",
    "subnormal",
    "swizzle_atomicity",
    "swizzle_mode",
];

/// Modifiers that ptxas 13.5 lets stand twice.
const TWICE: &[&str] = &[
    "NaN",
    "approx",
    "cc",
    "relu",
    "sat",
    "satfinite",
    "shiftamt",
    "sync",
    "uni",
];

/// The finding for an opcode with a [`Problem`].
pub(super) fn report(op: &Opcode, pieces: &Pieces, environment: &Environment) -> Diag {
    if let Some(at) = idle(op) {
        let name = op.mods().nth(at).unwrap_or("");
        let place = pieces.mods.get(at).copied().unwrap_or(pieces.opcode);
        let message = format!("`.{name}` does nothing here, though ptxas lets it stand");
        return Diag::warning(stray_code(op.base(), name), place, message).help("leave it out");
    }
    let diag = match &op.problem {
        None | Some(Problem::UnknownOpcode) => unknown(op, pieces),
        Some(Problem::UnknownModifier(at)) => stray(op, pieces, *at, false),
        Some(Problem::Misplaced(at)) => stray(op, pieces, *at, true),
        Some(Problem::Missing(names)) => missing(op, pieces, names),
    };
    let newer = environment.version.is_some_and(|version| version > COMPLETE_UP_TO);
    let unheard = match op.problem {
        Some(Problem::UnknownModifier(at)) => op
            .mods()
            .nth(at)
            .is_some_and(|name| !isa::has_modifier(name) && Type::from_name(name).is_none()),
        _ => false,
    };
    if newer && unheard && GROWING.contains(&op.base()) {
        let note = format!("the instruction table covers PTX {COMPLETE_UP_TO} in full and later additions in part");
        return Diag {
            level: Level::Warning,
            ..diag
        }
        .note(note);
    }
    diag
}

/// The first modifier without effect, if the opcode is one of the table's without all such.
fn idle(op: &Opcode) -> Option<usize> {
    let mods: Vec<&str> = op.mods().collect();
    let idle = |at: usize| IDLE.contains(&mods[at]) || (TWICE.contains(&mods[at]) && mods[..at].contains(&mods[at]));
    let first = (0..mods.len()).find(|at| idle(*at))?;
    let kept = (0..mods.len())
        .filter(|at| !idle(*at))
        .map(|at| format!(".{}", mods[at]));
    let rest = op.base().to_owned() + &kept.collect::<String>();
    Opcode::resolve(&rest).is_known().then_some(first)
}

fn unknown(op: &Opcode, pieces: &Pieces) -> Diag {
    let base = op.base();
    let word = pieces
        .mods
        .first()
        .map_or(pieces.opcode, |first| Span::new(pieces.opcode.start, first.start));
    let diag = Diag::error(codes::SYN004, word, format!("`{base}` is no PTX instruction"));
    match nearest(base, isa::bases()) {
        Some(near) => diag.help(format!("did you mean `{near}`?")),
        None => diag,
    }
}

/// A modifier that no form takes, or none beside the others.
fn stray(op: &Opcode, pieces: &Pieces, at: usize, elsewhere: bool) -> Diag {
    let name = op.mods().nth(at).unwrap_or("");
    let span = pieces.mods.get(at).copied().unwrap_or(pieces.opcode);
    let base = op.base();
    let repeated = op.mods().take(at).any(|other| other == name);
    let message = if repeated {
        format!("`.{name}` is one too many for `{base}`")
    } else if elsewhere {
        let others: Vec<_> = op
            .mods()
            .filter(|other| *other != name)
            .map(|other| format!(".{other}"))
            .collect();
        format!("`{base}` does not take `.{name}` beside `{}`", others.concat())
    } else {
        format!("`{base}` does not take `.{name}`")
    };
    let diag = Diag::error(stray_code(base, name), span, message);
    if !elsewhere && let Some(near) = nearest_modifier(base, name) {
        return diag.help(format!("did you mean `.{near}`?"));
    }
    with_syntax(diag, op)
}

/// The code under which a modifier that does not fit is reported.
fn stray_code(base: &str, name: &str) -> Code {
    if Type::from_name(name).is_some() {
        codes::ISA003
    } else if is_rounding(name) {
        codes::ISA006
    } else if is_order(name) {
        codes::ISA011
    } else if let Some(space) = Space::from_name(name) {
        let read_only = matches!((base, space), ("st" | "atom" | "red", Space::Const | Space::Param));
        if read_only { codes::ISA017 } else { codes::ISA012 }
    } else {
        codes::ISA010
    }
}

fn is_rounding(name: &str) -> bool {
    matches!(
        name,
        "rn" | "rz" | "rm" | "rp" | "rni" | "rzi" | "rmi" | "rpi" | "rna" | "rs" | "approx" | "full"
    )
}

fn is_order(name: &str) -> bool {
    matches!(
        name,
        "weak"
            | "volatile"
            | "relaxed"
            | "acquire"
            | "release"
            | "acq_rel"
            | "sc"
            | "mmio"
            | "cta"
            | "cluster"
            | "gpu"
            | "sys"
    )
}

fn nearest_modifier(base: &str, name: &str) -> Option<&'static str> {
    let entries = isa::entries(base).iter();
    let slots = entries.flat_map(|entry| entry.forms()).flat_map(|form| &form.slots);
    nearest(
        name,
        slots.flat_map(|slot| slot.alternatives.iter().map(|one| one.name)),
    )
}

/// A modifier that must be there and is not.
fn missing(op: &Opcode, pieces: &Pieces, names: &[&'static str]) -> Diag {
    let types = names.iter().all(|name| Type::from_name(name).is_some());
    let code = if types {
        codes::ISA003
    } else if names.iter().any(|name| is_rounding(name)) {
        codes::ISA006
    } else if names.iter().any(|name| is_order(name)) {
        codes::ISA011
    } else {
        codes::ISA010
    };
    let what = if types {
        "a type"
    } else if code == codes::ISA006 {
        "a rounding modifier"
    } else {
        "a modifier"
    };
    let shown: Vec<_> = names.iter().take(6).map(|name| format!("`.{name}`")).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    let message = match names {
        [only] => format!("`{}` lacks `.{only}`", op.text),
        _ => format!("`{}` lacks {what}: one of {}{more}", op.text, shown.join(", ")),
    };
    with_syntax(Diag::error(code, pieces.opcode, message), op)
}

/// Shows the forms of the nearest row.
fn with_syntax(diag: Diag, op: &Opcode) -> Diag {
    let Some(row) = op.row else { return diag };
    let forms = isa::entries(op.base())
        .iter()
        .filter(|entry| entry.row.name == row.name);
    let lines: Vec<_> = forms
        .flat_map(|entry| entry.forms())
        .map(|form| form.syntax())
        .collect();
    match lines[..] {
        [only] => diag.help(format!("the form is `{only}`")),
        _ => match row.examples.first() {
            Some(example) => diag.help(format!("`{example}` is one that fits")),
            None => diag,
        },
    }
}
