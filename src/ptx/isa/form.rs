//! The notation of syntax lines, and what it means once read.
//!
//! A line is `OPCODE OPERANDS @GATE`, as in `"ld{.weak}.ss{.vec}.type d:vec, [a]{, cache-policy:b64}"`.
//!
//! **Opcode.** `.name` is a modifier that must be there, `{.name}` one that may. Where the row's sets (or [`COMMON_SETS`])
//! know the name, any member of the set is meant, otherwise the modifier itself.
//! A set is a string of members with optional gates: `"u32 s32 f16x2@4.2,sm_53"`.
//!
//! **Gate.** `@7.0,sm_80`: least PTX version, then the targets of which one must be met, separated by `/`: `sm_90` is that or newer,
//! `sm_90a` just that, `sm_100f` the family. Either part may be left out: `@sm_90a/sm_100f`, `@8.0`.
//!
//! **Operands.** `name:annotation/annotation`. `[...]` is an address (several parts separated by commas inside), `{, x}` an operand that may be
//! absent, `d{|p}` a destination with an optional second one, `{!}p` a predicate that may be negated, `(...)` a list.
//! An operand called `d`, or prefixed by `=`, is written; one prefixed by `+` is read and written; the others are read.
//! Annotations:
//!
//! | annotation | meaning |
//! |---|---|
//! | none | a value of type `.Xtype` for an operand `X` if the line has such a set, else of the instruction's type (the last type among its modifiers) |
//! | a type, or a set's name | a value of that type |
//! | `wide` | a value of twice the width |
//! | `any` | a register of any type, or a constant |
//! | `loose` | a register may be wider than the type |
//! | `vec` | a brace vector of as many elements as `.v2`, `.v4`, `.v8` says; a scalar without |
//! | `pack` | a scalar, or a brace vector of equal parts that fill the type |
//! | `frag` | a brace vector of any length, or a single register |
//! | `imm` | an integer constant, nothing else |
//! | `reg` | no constant |
//! | `label`, `func`, `sym`, `list` | a branch target, a function, a variable's name, a parenthesised list |

use crate::ptx::target::{PtxVersion, Target};
use crate::ptx::types::Type;

/// Modifier sets that many rows share.
pub const COMMON_SETS: &[(&str, &str)] = &[
    ("vec", "v2 v4 v8@8.8,sm_100"),
    ("rnd", "rn rz rm rp"),
    ("scope", "cta cluster@7.8,sm_90 gpu sys"),
];

/// Least version and targets of which one is needed; the default asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Least PTX version.
    pub ptx: Option<PtxVersion>,
    /// One of these is needed; empty for any target.
    pub targets: Vec<Target>,
}

/// One modifier that a slot takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The modifier without its dot.
    pub name: &'static str,
    /// What it needs.
    pub gate: Gate,
}

/// A place for a modifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The set's name, or the modifier itself.
    pub name: &'static str,
    /// Whether the modifier may be left out.
    pub optional: bool,
    /// The modifiers that fit, one or more.
    pub alternatives: Vec<Alternative>,
}

/// Whether an operand is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read.
    Use,
    /// Written.
    Def,
    /// Read, then written.
    UseDef,
}

/// The shapes an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A register, constant, special register or symbol's address.
    Value,
    /// A register.
    Reg,
    /// An integer constant.
    Imm,
    /// `[...]`.
    Address,
    /// Scalar or `{...}`, as `.v2/.v4/.v8` says.
    Vec,
    /// Scalar, or `{...}` whose parts fill the type.
    Pack,
    /// `{...}` of any length, or a register.
    Frag,
    /// `{...}` with the parts listed in [`OperandSpec::parts`].
    Tuple,
    /// A branch target or a table's name.
    Label,
    /// A function, or a register that holds the address of one.
    Func,
    /// A variable's name.
    Symbol,
    /// `(...)`.
    List,
}

/// How an operand's type is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandType {
    /// The instruction's type: the last type among its modifiers.
    Inst,
    /// The type in that slot.
    Slot(usize),
    /// Always this.
    Fixed(Type),
    /// Twice the width of the instruction's type.
    Wide,
    /// Anything.
    Any,
}

/// One operand of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandSpec {
    /// The manual's name.
    pub name: &'static str,
    /// Read or written.
    pub role: Role,
    /// Shape.
    pub kind: OperandKind,
    /// Type.
    pub ty: OperandType,
    /// Whether a register wider than the type is accepted.
    pub loose: bool,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether `!` may stand in front.
    pub negatable: bool,
    /// The second destination of `d|p`; the flag says whether it may be left out.
    pub pair: Option<(Box<OperandSpec>, bool)>,
    /// The parts of a bracket or brace with several.
    pub parts: Vec<OperandSpec>,
}

/// One syntax line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The line as the table has it.
    pub line: &'static str,
    /// Places for modifiers, in the documented order.
    pub slots: Vec<Slot>,
    /// Operands.
    pub operands: Vec<OperandSpec>,
    /// What the form as a whole needs.
    pub gate: Gate,
}

type Sets = &'static [(&'static str, &'static str)];

/// Reads a syntax line. Lines are constants: a malformed one yields a form that the table's own test rejects.
pub(super) fn compile(line: &'static str, sets: Sets) -> Form {
    let (rest, gate) = match line.rsplit_once(" @") {
        Some((rest, gate)) => (rest, parse_gate(gate)),
        None => (line, Gate::default()),
    };
    let (opcode, operands) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let slots = opcode_slots(opcode, sets);
    let operands = split_operands(operands)
        .into_iter()
        .map(|(text, optional)| operand(text, optional, &slots))
        .collect();
    Form {
        line,
        slots,
        operands,
        gate,
    }
}

/// Reads `7.0,sm_80/sm_90a`.
fn parse_gate(text: &str) -> Gate {
    let mut gate = Gate::default();
    for part in text.split(',') {
        if part.starts_with("sm_") {
            gate.targets = part.split('/').filter_map(|target| target.parse().ok()).collect();
        } else {
            gate.ptx = part.parse().ok();
        }
    }
    gate
}

/// The modifiers behind the opcode's first word.
fn opcode_slots(opcode: &'static str, sets: Sets) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut rest = opcode.trim_start_matches(|c: char| c != '.' && c != '{');
    while !rest.is_empty() {
        let optional = rest.starts_with('{');
        let start = rest.trim_start_matches(['{', '.']);
        let end = start.find(['.', '{', '}']).unwrap_or(start.len());
        slots.push(slot(&start[..end], optional, sets));
        rest = start[end..].trim_start_matches('}');
    }
    slots
}

fn slot(name: &'static str, optional: bool, sets: Sets) -> Slot {
    let members = sets
        .iter()
        .chain(COMMON_SETS)
        .find(|set| set.0 == name)
        .map_or(name, |set| set.1);
    let alternatives = members
        .split_whitespace()
        .map(|member| match member.split_once('@') {
            Some((name, gate)) => Alternative {
                name,
                gate: parse_gate(gate),
            },
            None => Alternative {
                name: member,
                gate: Gate::default(),
            },
        })
        .collect();
    Slot {
        name,
        optional,
        alternatives,
    }
}

/// Splits at top-level commas; `{, x}` marks what follows as optional.
fn split_operands(text: &'static str) -> Vec<(&'static str, bool)> {
    let mut out = Vec::new();
    let mut optional = false;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = operand_end(rest);
        let one = rest[..end].trim().trim_end_matches('}');
        let closes_group = optional && rest[..end].trim_end().ends_with('}') && !one.contains('{');
        let one = if closes_group { one } else { rest[..end].trim() };
        if !one.is_empty() {
            out.push((one, optional));
        }
        rest = rest[end..].trim_start();
        if let Some(group) = rest.strip_prefix("{,") {
            optional = true;
            rest = group.trim_start();
        } else {
            rest = rest.trim_start_matches(',').trim_start();
        }
    }
    out
}

/// Where the first operand of `text` ends: at a top-level comma or at the start of an optional group.
fn operand_end(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' if depth == 0 && text[at..].starts_with("{,") => return at,
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn operand(text: &'static str, optional: bool, slots: &[Slot]) -> OperandSpec {
    let (role, text) = match text.as_bytes().first() {
        Some(b'=') => (Some(Role::Def), &text[1..]),
        Some(b'+') => (Some(Role::UseDef), &text[1..]),
        _ => (None, text),
    };
    let mut spec = match text.as_bytes().first() {
        Some(b'[') => group(text, OperandKind::Address, slots),
        Some(b'{') if !text.starts_with("{!}") => group(text, OperandKind::Tuple, slots),
        _ => named(text, slots),
    };
    spec.optional = optional;
    if let Some(role) = role {
        spec.role = role;
        if let Some((second, _)) = &mut spec.pair {
            second.role = role;
        }
    }
    spec
}

/// `[...]` or `{...}` with its parts.
fn group(text: &'static str, kind: OperandKind, slots: &[Slot]) -> OperandSpec {
    let inner = &text[1..text.len().saturating_sub(1).max(1)];
    let parts: Vec<_> = split_operands(inner)
        .into_iter()
        .map(|(part, optional)| operand(part, optional, slots))
        .collect();
    let name = parts.first().map_or("", |part| part.name);
    OperandSpec {
        parts,
        kind,
        ty: OperandType::Any,
        ..value(name)
    }
}

/// `{!}name{|name}:annotations`.
fn named(text: &'static str, slots: &[Slot]) -> OperandSpec {
    let (negatable, text) = match text.strip_prefix("{!}") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (first, second) = match text.find(['|', '{']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let mut spec = annotated(first, slots);
    spec.negatable = negatable;
    spec.pair = second.map(|second| {
        let absent = second.starts_with('{');
        let mut pair = annotated(second.trim_matches(['{', '|', '}']), slots);
        pair.role = spec.role;
        (Box::new(pair), absent)
    });
    spec
}

fn value(name: &'static str) -> OperandSpec {
    OperandSpec {
        name,
        role: if name == "d" { Role::Def } else { Role::Use },
        kind: OperandKind::Value,
        ty: OperandType::Inst,
        loose: false,
        optional: false,
        negatable: false,
        pair: None,
        parts: Vec::new(),
    }
}

/// `name:annotation/annotation`.
fn annotated(text: &'static str, slots: &[Slot]) -> OperandSpec {
    let (name, annotations) = text.split_once(':').unwrap_or((text, ""));
    let mut spec = value(name);
    if let Some(at) = slots
        .iter()
        .position(|slot| slot.name.strip_suffix("type") == Some(name))
    {
        spec.ty = OperandType::Slot(at);
    }
    for annotation in annotations.split('/').filter(|annotation| !annotation.is_empty()) {
        annotate(&mut spec, annotation, slots);
    }
    spec
}

fn annotate(spec: &mut OperandSpec, annotation: &str, slots: &[Slot]) {
    match annotation {
        "wide" => spec.ty = OperandType::Wide,
        "any" => spec.ty = OperandType::Any,
        "loose" => spec.loose = true,
        "vec" => spec.kind = OperandKind::Vec,
        "pack" => spec.kind = OperandKind::Pack,
        "frag" => spec.kind = OperandKind::Frag,
        "imm" => (spec.kind, spec.ty) = (OperandKind::Imm, OperandType::Any),
        "reg" => spec.kind = OperandKind::Reg,
        "label" => (spec.kind, spec.ty) = (OperandKind::Label, OperandType::Any),
        "func" => (spec.kind, spec.ty) = (OperandKind::Func, OperandType::Any),
        "sym" => (spec.kind, spec.ty) = (OperandKind::Symbol, OperandType::Any),
        "list" => (spec.kind, spec.ty) = (OperandKind::List, OperandType::Any),
        _ => {
            if let Some(ty) = Type::from_name(annotation) {
                spec.ty = OperandType::Fixed(ty);
            } else if let Some(at) = slots.iter().position(|slot| slot.name == annotation) {
                spec.ty = OperandType::Slot(at);
            } else {
                debug_assert!(false, "unknown annotation {annotation}");
            }
        }
    }
}
