//! Reads syntax lines; [`super::form`] describes the notation.
//!
//! Lines are constants. What is wrong in one shows in the table's own test, which meets every line: here it only trips an assertion.

use super::Sets;
use super::form::{
    Alternative, COMMON_SETS, Count, Form, Gate, OperandKind, OperandSpec, OperandType, Range, Removal, Role, Slot,
};
use crate::ptx::types::Type;

/// Reads a syntax line.
pub(super) fn compile(line: &'static str, sets: Sets) -> Form {
    let (rest, removal) = match line.rsplit_once(" !") {
        Some((rest, end)) => (rest, Some(parse_removal(end))),
        None => (line, None),
    };
    let (rest, gate) = match rest.rsplit_once(" @") {
        Some((rest, gate)) => (rest, parse_gate(gate)),
        None => (rest, Gate::default()),
    };
    let (opcode, operands) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let slots = opcode_slots(opcode, sets);
    let operands = operand_list(operands, &slots);
    Form {
        line,
        slots,
        operands,
        gate,
        removal,
    }
}

/// Reads `7.0,sm_80/sm_90a`.
fn parse_gate(text: &str) -> Gate {
    let mut gate = Gate::default();
    for part in text.split(',') {
        if part.starts_with("sm_") {
            gate.targets = part.split('/').filter_map(|target| target.parse().ok()).collect();
            debug_assert_eq!(gate.targets.len(), part.split('/').count(), "unknown target in {text}");
        } else {
            gate.ptx = part.parse().ok();
            debug_assert!(gate.ptx.is_some(), "unknown version in {text}");
        }
    }
    gate
}

/// Reads `6.4,sm_70`.
fn parse_removal(text: &str) -> Removal {
    let gate = parse_gate(text);
    Removal {
        ptx: gate.ptx,
        target: gate.targets.first().copied(),
    }
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
    let mut known = sets.iter().chain(COMMON_SETS);
    let members = known.find(|set| set.0 == name).map_or(name, |set| set.1);
    let alternatives: Vec<_> = members.split_whitespace().map(alternative).collect();
    let is_type = alternatives.iter().all(|one| Type::from_name(one.name).is_some());
    Slot {
        name,
        optional,
        is_type,
        alternatives,
    }
}

fn alternative(member: &'static str) -> Alternative {
    let (name, gate) = match member.split_once('@') {
        Some((name, gate)) => (name, parse_gate(gate)),
        None => (member, Gate::default()),
    };
    Alternative { name, gate }
}

/// Reads operands separated by commas, `{, x, y}` among them.
fn operand_list(text: &'static str, slots: &[Slot]) -> Vec<OperandSpec> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(group) = rest.strip_prefix("{,") {
            let end = closing(group);
            for mut spec in operand_list(&group[..end], slots) {
                spec.optional = true;
                out.push(spec);
            }
            rest = group[end..].trim_start_matches('}');
        } else {
            let end = operand_end(rest);
            out.push(operand(rest[..end].trim(), slots));
            rest = &rest[end..];
        }
        rest = rest.trim_start().trim_start_matches(',').trim_start();
    }
    out
}

/// Where the brace that is already open closes.
fn closing(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '}' if depth == 0 => return at,
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
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

fn operand(text: &'static str, slots: &[Slot]) -> OperandSpec {
    let (role, text) = match text.as_bytes().first() {
        Some(b'=') => (Some(Role::Def), &text[1..]),
        Some(b'+') => (Some(Role::UseDef), &text[1..]),
        _ => (None, text),
    };
    let mut spec = match text.as_bytes().first() {
        Some(b'[') => group(text, OperandKind::Address, slots),
        Some(b'{') if !text.starts_with("{!}") && !text.starts_with("{-}") => group(text, OperandKind::Tuple, slots),
        _ => named(text, slots),
    };
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
    let mut parts = operand_list(inner, slots);
    if kind == OperandKind::Address {
        // What stands in a bracket has the instruction's type only where the line says so.
        for part in parts.iter_mut().filter(|part| part.ty == OperandType::Inst) {
            part.ty = OperandType::Any;
        }
    }
    let name = parts.first().map_or("", |part| part.name);
    OperandSpec {
        parts,
        kind,
        ty: OperandType::Any,
        role: Role::Use,
        ..value(name)
    }
}

/// `{!}name{|name}:annotations`, `{-}name:annotations`.
fn named(text: &'static str, slots: &[Slot]) -> OperandSpec {
    let signed = text.strip_prefix("{!}").or_else(|| text.strip_prefix("{-}"));
    let (negatable, minus) = (text.starts_with("{!}"), text.starts_with("{-}"));
    let text = signed.unwrap_or(text);
    let (first, second) = match text.find(['|', '{']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let mut spec = annotated(first, slots);
    spec.negatable = negatable;
    spec.minus = minus;
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
        exact: false,
        src: false,
        sink: false,
        only_sink: false,
        optional: false,
        tied: None,
        negatable: false,
        minus: false,
        count: None,
        ranges: Vec::new(),
        pair: None,
        parts: Vec::new(),
    }
}

/// `name:annotation/annotation`.
fn annotated(text: &'static str, slots: &[Slot]) -> OperandSpec {
    let (name, annotations) = text.split_once(':').unwrap_or((text, ""));
    let mut spec = value(name);
    let own = |slot: &Slot| slot.name.strip_suffix("type") == Some(name);
    if let Some(at) = slots.iter().position(own) {
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
        "address" => spec.ty = OperandType::Address,
        "loose" => spec.loose = true,
        "exact" => spec.exact = true,
        "src" => spec.src = true,
        "sink" => spec.sink = true,
        "only" => (spec.only_sink, spec.ty) = (true, OperandType::Any),
        "vec" => spec.kind = OperandKind::Vec,
        "pack" => spec.kind = OperandKind::Pack,
        "frag" => spec.kind = OperandKind::Frag,
        "imm" => (spec.kind, spec.ty) = (OperandKind::Imm, OperandType::Any),
        "reg" => spec.kind = OperandKind::Reg,
        "label" => (spec.kind, spec.ty) = (OperandKind::Label, OperandType::Any),
        "func" => (spec.kind, spec.ty) = (OperandKind::Func, OperandType::Any),
        "sym" => (spec.kind, spec.ty) = (OperandKind::Symbol, OperandType::Any),
        "list" => (spec.kind, spec.ty) = (OperandKind::List, OperandType::Any),
        _ => annotate_value(spec, annotation, slots),
    }
}

/// Types, sets, element counts and ranges.
fn annotate_value(spec: &mut OperandSpec, annotation: &str, slots: &[Slot]) {
    let slot = |name: &str| slots.iter().position(|slot| slot.name == name);
    if let Some(name) = annotation.strip_prefix('?') {
        spec.tied = slot(name);
        debug_assert!(spec.tied.is_some(), "no slot {name}");
    } else if let Some(ty) = Type::from_name(annotation) {
        spec.ty = OperandType::Fixed(ty);
    } else if let Some(at) = slot(annotation) {
        spec.ty = OperandType::Slot(at);
    } else if let Some(count) = annotation.strip_prefix('x').and_then(|text| parse_count(text, &slot)) {
        spec.count = Some(count);
    } else if let Some(range) = parse_range(annotation) {
        spec.ranges.push(range);
    } else {
        debug_assert!(false, "unknown annotation {annotation}");
    }
}

/// Reads `4`, `one`, `2num`, `n2` or `dim-2`.
fn parse_count(text: &str, slot: &impl Fn(&str) -> Option<usize>) -> Option<Count> {
    if let Some(divisor) = text.strip_prefix('n').and_then(|digits| digits.parse().ok()) {
        return Some(Count::Shape(divisor));
    }
    if text == "one" {
        return Some(Count::Lone);
    }
    if let Some(less) = text.strip_prefix("dim") {
        return Some(Count::Dimension(less.trim_start_matches('-').parse().unwrap_or(0)));
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text.get(..digits)?.parse().ok()?;
    match text.get(digits..)? {
        "" => Some(Count::Fixed(number)),
        name => Some(Count::Times(number, slot(name)?)),
    }
}

/// Reads `0..3`, `%8` or `4_8_16`.
fn parse_range(text: &str) -> Option<Range> {
    if let Some(multiple) = text.strip_prefix('%') {
        return Some(Range::Multiple(multiple.parse().ok()?));
    }
    if let Some((low, high)) = text.split_once("..") {
        return Some(Range::Within(low.parse().ok()?, high.parse().ok()?));
    }
    let members: Result<Vec<i64>, _> = text.split('_').map(str::parse).collect();
    Some(Range::OneOf(members.ok()?))
}
