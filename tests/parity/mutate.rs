//! One edit in a real module.

use super::rng::Rng;
use super::seeds::Seed;
use ptxgen::ptx::isa;
use ptxgen::ptx::parse::{Pieces, pieces};
use ptxgen::ptx::source::Span;
use ptxgen::ptx::target::{PtxVersion, Target};
use ptxgen::ptx::types::{Space, Type};
use std::ops::Range;

/// A module with one edit.
pub struct Mutant {
    /// Which kind of edit.
    pub kind: &'static str,
    /// The line as it was, and as it is.
    pub change: String,
    /// The whole text.
    pub text: String,
    /// The GPU that ptxas makes code for.
    pub arch: String,
}

/// A piece of the text and what stands there instead.
type Edit = (Range<usize>, String);

type Editor = fn(&Seed, &mut Rng) -> Option<Edit>;

/// The kinds of edits.
pub const KINDS: &[(&str, Editor)] = &[
    ("modifier", modifier),
    ("type", other_type),
    ("operand", operand),
    ("register class", register_class),
    ("target", target),
    ("version", version),
    ("label", label),
    ("arity", arity),
    ("space", space),
];

/// An edit of that kind somewhere in the seed; `None` where there is nothing to edit or nothing changes.
pub fn mutant(seed: &Seed, kind: usize, rng: &mut Rng) -> Option<Mutant> {
    let (kind, editor) = KINDS[kind];
    let (range, new) = editor(seed, rng)?;
    if seed.text.get(range.clone())? == new {
        return None;
    }
    let mut text = seed.text.clone();
    text.replace_range(range.clone(), &new);
    let arch = match kind {
        "target" => arch_of(&text).unwrap_or_else(|| seed.arch.clone()),
        _ => seed.arch.clone(),
    };
    let change = format!("{} => {}", line(&seed.text, range.start), line(&text, range.start));
    Some(Mutant {
        kind,
        change,
        text,
        arch,
    })
}

fn arch_of(text: &str) -> Option<String> {
    let rest = text.split(".target ").nth(1)?;
    let word = rest.split([',', '\n', ' ', ';']).next()?;
    Some(word.parse::<Target>().ok()?.assembled_as()?.to_string())
}

/// The line at a place, without indentation.
fn line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
    text[start..end].trim()
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// A random instruction of the seed.
fn instruction(seed: &Seed, rng: &mut Rng) -> Option<(usize, Span, Pieces)> {
    let bodies: Vec<_> = (0..seed.parsed.spans.functions.len())
        .filter(|at| !seed.parsed.spans.functions[*at].insts.is_empty())
        .collect();
    let at = *rng.pick(&bodies)?;
    let span = *rng.pick(&seed.parsed.spans.functions[at].insts)?;
    Some((at, span, pieces(&seed.text, span)))
}

fn of(seed: &Seed, span: Span) -> &str {
    seed.text.get(range(span)).unwrap_or("")
}

/// Modifiers that the instruction's own rows know, or now and then any others.
fn some_modifier(opcode: &str, rng: &mut Rng) -> &'static str {
    let base = opcode.split('.').next().unwrap_or("");
    let rows: Vec<_> = if rng.once_in(3) {
        isa::rows().map(isa::Row::base).collect()
    } else {
        vec![base]
    };
    let base = rng.pick(&rows).copied().unwrap_or("");
    let entries = isa::entries(base).iter().flat_map(|entry| entry.forms());
    let names: Vec<_> = entries
        .flat_map(|form| &form.slots)
        .flat_map(|slot| &slot.alternatives)
        .map(|one| one.name)
        .collect();
    rng.pick(&names).copied().unwrap_or("ftz")
}

fn modifier(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let (_, _, pieces) = instruction(seed, rng)?;
    let opcode = of(seed, pieces.opcode);
    let end = pieces.opcode.end as usize;
    let at = rng.below(pieces.mods.len());
    let place = pieces.mods.get(at).map(|span| range(*span));
    let new = format!(".{}", some_modifier(opcode, rng));
    match (rng.below(4), place) {
        (0, Some(place)) => Some((place, String::new())),
        (1, Some(place)) => Some((place, new)),
        (2, Some(place)) => {
            let twice = of(seed, pieces.mods[at]).repeat(2);
            Some((place, twice))
        }
        _ => Some((end..end, new)),
    }
}

fn other_type(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let (_, _, pieces) = instruction(seed, rng)?;
    let types: Vec<_> = pieces
        .mods
        .iter()
        .filter(|span| Type::from_name(&of(seed, **span)[1..]).is_some())
        .collect();
    let place = **rng.pick(&types)?;
    let usual = [
        "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "f32", "f64", "pred", "b8",
    ];
    let name = if rng.once_in(4) {
        rng.pick(Type::ALL)?.name()
    } else {
        rng.pick(&usual)?
    };
    Some((range(place), format!(".{name}")))
}

/// The name of a declared register of that function, of another type than `not` if it is given.
fn register(seed: &Seed, function: usize, not: Option<Type>, rng: &mut Rng) -> Option<String> {
    let body = seed.parsed.module.functions[function].body.as_ref()?;
    let fit: Vec<_> = body
        .regs
        .iter()
        .filter(|reg| reg.declared && not != Some(reg.ty))
        .collect();
    Some(rng.pick(&fit)?.name.to_string())
}

fn operand(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    const STRANGERS: &[&str] = &[
        "0",
        "1",
        "-1",
        "17",
        "4096",
        "0xffffffff",
        "0f3F800000",
        "0d3FF0000000000000",
        "1.5",
        "_",
        "%tid.x",
        "%clock64",
        "WARP_SZ",
        "nowhere",
        "%nothing",
    ];
    let (function, _, pieces) = instruction(seed, rng)?;
    let place = *rng.pick(&pieces.operands)?;
    let old = of(seed, place);
    let new = match rng.below(5) {
        0 => register(seed, function, None, rng)?,
        1 => format!("!{old}"),
        2 => format!("[{}]", register(seed, function, None, rng)?),
        3 if old.starts_with('[') => old.replace(']', "+4]"),
        _ => (*rng.pick(STRANGERS)?).to_owned(),
    };
    Some((range(place), new))
}

/// A register replaced by one of another type, or a declaration's type by another.
fn register_class(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let (function, span, _) = instruction(seed, rng)?;
    if rng.once_in(4) {
        let found: Vec<_> = seed.text.match_indices(".reg .").collect();
        let (at, start) = rng.pick(&found)?;
        let start = at + start.len();
        let end = start + seed.text[start..].find([' ', '\t', ','])?;
        let names = ["pred", "b16", "b32", "b64", "f32", "f64", "u32", "s64"];
        return Some((start..end, (*rng.pick(&names)?).to_owned()));
    }
    let body = seed.parsed.module.functions[function].body.as_ref()?;
    let text = of(seed, span);
    let mut places = Vec::new();
    for reg in body.regs.iter().filter(|reg| reg.declared) {
        let name = reg.name.to_string();
        for (at, _) in text.match_indices(&name) {
            let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            if ends(text[at + name.len()..].chars().next()) {
                let start = span.start as usize + at;
                places.push((start..start + name.len(), reg.ty));
            }
        }
    }
    let (place, ty) = rng.pick(&places)?.clone();
    Some((place, register(seed, function, Some(ty), rng)?))
}

/// The header's directive, keyword to last argument, replaced.
fn header(span: Option<Span>, new: String) -> Option<Edit> {
    Some((range(span?), new))
}

fn target(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let known: Vec<_> = Target::all().collect();
    let name = match rng.below(12) {
        0 => (*rng.pick(&["sm_81", "sm_99", "sm_75a", "sm_90f", "sm_200", "gpu_80", "sm_"])?).to_owned(),
        _ => rng.pick(&known)?.to_string(),
    };
    header(seed.parsed.spans.header.target, format!(".target {name}"))
}

fn version(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let known = ptxgen::ptx::version::RELEASES;
    let version = match rng.below(12) {
        0 => *rng.pick(&[
            PtxVersion::new(8, 9),
            PtxVersion::new(2, 4),
            PtxVersion::new(9, 9),
            PtxVersion::new(0, 1),
        ])?,
        _ => rng.pick(known)?.version,
    };
    header(seed.parsed.spans.header.version, format!(".version {version}"))
}

/// A label that is not there, is there twice, or is another.
fn label(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let with_labels: Vec<_> = seed
        .parsed
        .spans
        .functions
        .iter()
        .filter(|spans| !spans.labels.is_empty())
        .collect();
    let spans = rng.pick(&with_labels)?;
    let definition = *rng.pick(&spans.labels)?;
    let name = of(seed, definition);
    let branches: Vec<_> = spans
        .insts
        .iter()
        .filter(|span| of(seed, **span).contains("bra"))
        .collect();
    match rng.below(4) {
        0 => Some((range(definition), "elsewhere".to_owned())),
        1 => {
            let end = definition.end as usize;
            Some((end..end, format!(": {name}")))
        }
        choice => {
            let branch = pieces(&seed.text, **rng.pick(&branches)?);
            let place = *branch.operands.first()?;
            let other = of(seed, *rng.pick(&spans.labels)?);
            Some((
                range(place),
                if choice == 2 {
                    "elsewhere".to_owned()
                } else {
                    other.to_owned()
                },
            ))
        }
    }
}

/// An operand or an element of a vector more or less.
fn arity(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let (function, _, pieces) = instruction(seed, rng)?;
    let at = rng.below(pieces.operands.len());
    let place = *pieces.operands.get(at)?;
    let text = of(seed, place);
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'))
        && rng.once_in(2)
    {
        let first = inner.split(',').next()?.trim();
        let new = match inner.split_once(',') {
            Some((_, rest)) if rng.once_in(2) => format!("{{{}}}", rest.trim()),
            _ => format!("{{{inner}, {first}}}"),
        };
        return Some((range(place), new));
    }
    let end = place.end as usize;
    match (rng.below(2), pieces.operands.get(at + 1)) {
        (0, Some(next)) => Some((place.start as usize..next.start as usize, String::new())),
        (0, None) if at > 0 => Some((pieces.operands[at - 1].end as usize..end, String::new())),
        (0, None) => Some((range(place), String::new())),
        _ => Some((end..end, format!(", {}", register(seed, function, None, rng)?))),
    }
}

/// A state space replaced, left out or put in.
fn space(seed: &Seed, rng: &mut Rng) -> Option<Edit> {
    let names = [
        "global",
        "shared",
        "local",
        "const",
        "param",
        "shared::cta",
        "shared::cluster",
        "param::entry",
        "reg",
    ];
    let new = format!(".{}", rng.pick(&names)?);
    if rng.once_in(5) {
        let declared = [".global .", ".shared .", ".local .", ".const .", ".param ."];
        let word = rng.pick(&declared)?;
        let found: Vec<_> = seed.text.match_indices(word).map(|(at, _)| at).collect();
        let at = *rng.pick(&found)?;
        return Some((at..at + word.len() - 2, new));
    }
    for _ in 0..20 {
        let (_, _, pieces) = instruction(seed, rng)?;
        let spaces = pieces
            .mods
            .iter()
            .filter(|span| Space::from_name(&of(seed, **span)[1..]).is_some());
        if let Some(place) = rng.pick(&spaces.collect::<Vec<_>>()) {
            return Some((range(**place), if rng.once_in(4) { String::new() } else { new }));
        }
        let memory = ["ld", "st", "atom", "red"]
            .iter()
            .any(|word| of(seed, pieces.opcode).starts_with(&format!("{word}.")));
        if memory {
            let at = pieces.mods.first()?.start as usize;
            return Some((at..at, new));
        }
    }
    None
}
