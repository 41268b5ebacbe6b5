//! Operands for a form: for each place, texts that should fit, the usual one first.

use super::setting::Setting;
use ptxgen::ptx::isa::{Alternative, Count, Form, OperandKind, OperandSpec, OperandType, Range, Role, Row};
use ptxgen::ptx::types::{Kind, Type};

/// A form with its modifiers chosen.
pub struct Place<'a> {
    /// The row.
    pub row: &'static Row,
    /// The form.
    pub form: &'static Form,
    /// Per slot, what stands there.
    pub picks: &'a [Option<&'static Alternative>],
}

impl Place<'_> {
    /// The opcode with its modifiers.
    pub fn opcode(&self) -> String {
        let mods = self.picks.iter().flatten().map(|pick| format!(".{}", pick.name));
        self.row.base().to_owned() + &mods.collect::<String>()
    }

    fn has(&self, start: &str) -> bool {
        self.picks.iter().flatten().any(|pick| pick.name.starts_with(start))
    }

    fn slot_type(&self, slot: usize) -> Option<Type> {
        Type::from_name(self.picks.get(slot)?.as_ref()?.name)
    }

    fn inst_type(&self) -> Option<Type> {
        let mut types = self
            .picks
            .iter()
            .flatten()
            .filter_map(|pick| Type::from_name(pick.name));
        types.next_back()
    }

    fn type_of(&self, spec: &OperandSpec) -> Option<Type> {
        match spec.ty {
            OperandType::Inst => self.inst_type(),
            OperandType::Slot(slot) => self.slot_type(slot),
            OperandType::Fixed(ty) => Some(ty),
            OperandType::Wide => match self.inst_type()? {
                Type::U16 | Type::S16 => Some(Type::U32),
                _ => Some(Type::U64),
            },
            OperandType::Address => Some(Type::U64),
            OperandType::Any => None,
        }
    }

    /// Texts for an operand.
    pub fn candidates(&self, spec: &OperandSpec, nth_address: usize, setting: &Setting) -> Vec<String> {
        let first = self.shapes(spec, nth_address, setting);
        let Some((second, may_be_absent)) = &spec.pair else {
            return first;
        };
        let main = first.first().cloned().unwrap_or_default();
        let other = self.shapes(second, nth_address, setting);
        let pairs = other.iter().take(1).map(|other| format!("{main}|{other}"));
        let mut pairs: Vec<_> = pairs.chain([format!("{main}|_"), format!("_|{}", other[0])]).collect();
        if *may_be_absent {
            pairs.splice(0..0, first);
        }
        pairs
    }

    fn shapes(&self, spec: &OperandSpec, nth: usize, setting: &Setting) -> Vec<String> {
        match spec.kind {
            OperandKind::Value | OperandKind::Reg => self.scalars(spec, setting),
            OperandKind::Imm => constants(&spec.ranges)
                .into_iter()
                .map(|value| value.to_string())
                .collect(),
            OperandKind::Address => self.addresses(spec, nth, setting),
            OperandKind::Vec => match self.lanes() {
                1 => self.scalars(spec, setting),
                lanes => self.vectors(spec, lanes, setting),
            },
            OperandKind::Pack => self.packs(spec, setting),
            OperandKind::Frag => self.fragments(spec, setting),
            OperandKind::Tuple => {
                let parts = spec.parts.iter().enumerate();
                let parts = parts.map(|(at, part)| numbered(&self.scalars(part, setting)[0], at + 1));
                vec![format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))]
            }
            OperandKind::Label if spec.name == "targets" => vec!["TS".into()],
            OperandKind::Label => vec!["L1".into()],
            OperandKind::Func => vec!["fn0".into(), "%rd1".into()],
            OperandKind::Symbol => vec!["gbl".into()],
            OperandKind::List => vec!["(%r2)".into(), "(%r1, %r2)".into()],
        }
    }

    fn lanes(&self) -> usize {
        let lanes = |name: &str| name.strip_prefix('v')?.parse().ok();
        self.picks
            .iter()
            .flatten()
            .find_map(|pick| lanes(pick.name))
            .unwrap_or(1)
    }

    fn scalars(&self, spec: &OperandSpec, setting: &Setting) -> Vec<String> {
        if spec.only_sink {
            return vec!["_".into()];
        }
        let ty = self.type_of(spec);
        let mut found: Vec<String> = registers(ty, spec.loose)
            .into_iter()
            .filter(|name| setting.declares(name))
            .map(|name| format!("{name}{}", 1 + spec.name.len() % 3))
            .collect();
        if spec.role == Role::Use && spec.kind == OperandKind::Value {
            found.extend(immediates(ty, &spec.ranges));
            if spec.src {
                found.extend(["%tid.x", "%laneid", "%clock64", "WARP_SZ", "gbl", "gbl+4"].map(str::to_owned));
            }
        }
        if spec.negatable {
            found.push("!%p2".into());
        }
        if spec.minus {
            found.push("-%r2".into());
        }
        if spec.sink {
            found.push("_".into());
        }
        found
    }

    fn vectors(&self, spec: &OperandSpec, count: usize, setting: &Setting) -> Vec<String> {
        let names = registers(self.type_of(spec), spec.loose);
        let names = names.into_iter().filter(|name| setting.declares(name)).take(3);
        let mut found: Vec<_> = names.map(|name| braces(name, count)).collect();
        if spec.role != Role::Use && count > 1 {
            let rest = found[0].split_once(',').map_or("", |split| split.1).to_owned();
            found.push(format!("{{_,{rest}"));
        }
        found
    }

    fn packs(&self, spec: &OperandSpec, setting: &Setting) -> Vec<String> {
        let half = match self.type_of(spec).map_or(32, Type::bits) {
            128 => ["%rd", "%r"],
            64 => ["%r", "%rs"],
            _ => ["%rs", "%c"],
        };
        let mut found = vec![braces(half[0], 2)];
        if half[1] != "%rs" || self.type_of(spec).map(Type::bits) == Some(64) {
            found.push(braces(half[1], 4));
        }
        found.extend(self.scalars(spec, setting).into_iter().take(1));
        found
    }

    fn fragments(&self, spec: &OperandSpec, setting: &Setting) -> Vec<String> {
        match self.elements(spec) {
            Some(count) => self.vectors(spec, count, setting),
            None => {
                let sizes = self.free_sizes(spec);
                sizes
                    .into_iter()
                    .map(|count| self.vectors(spec, count, setting).swap_remove(0))
                    .collect()
            }
        }
    }

    /// How many elements a fragment of any length should have: coordinates follow the geometry.
    fn free_sizes(&self, spec: &OperandSpec) -> Vec<usize> {
        let usual = match spec.name {
            "coords" if self.has("1d") => 1,
            "coords" | "c" | "dx" | "dy" if self.has("2d") => 2,
            "coords" if self.has("4d") => 4,
            "coords" if self.has("5d") => 5,
            "coords" => 3,
            "offsets" if self.has("5d") => 3,
            "offsets" if self.has("4d") => 2,
            "offsets" => 1,
            "lanes" if self.has("cta_group::2") => 8,
            "c" | "dx" | "dy" if self.has("1d") => 1,
            _ => 4,
        };
        let mut sizes = vec![usual, 1, 2, 4, 8, 3];
        sizes.dedup();
        sizes
    }

    fn elements(&self, spec: &OperandSpec) -> Option<usize> {
        match spec.count? {
            Count::Fixed(count) => Some(usize::from(count)),
            Count::Lone => Some(1),
            Count::Times(factor, slot) => {
                let number = usize::from(Count::number(self.picks.get(slot)?.as_ref()?.name)?);
                Some(usize::from(factor) * number)
            }
            Count::Dimension(less) => {
                let dimension = |name: &str| name.strip_suffix('d')?.parse::<usize>().ok();
                let number = self.picks.iter().flatten().find_map(|pick| dimension(pick.name))?;
                number.checked_sub(usize::from(less))
            }
            Count::Shape(divisor) => {
                let shape = self
                    .picks
                    .iter()
                    .flatten()
                    .find_map(|pick| pick.name.strip_prefix("m64n"))?;
                let n: usize = shape.split('k').next()?.parse().ok()?;
                Some(n / usize::from(divisor))
            }
        }
    }

    /// Addresses: the class of register that the row's examples use at that place, then others, then variables.
    fn addresses(&self, spec: &OperandSpec, nth: usize, setting: &Setting) -> Vec<String> {
        if spec.parts.len() > 1 {
            let parts = spec
                .parts
                .iter()
                .filter(|part| !part.optional)
                .map(|part| match part.kind {
                    OperandKind::Frag => self.shapes(part, nth, setting).swap_remove(0),
                    _ => "%rd1".to_owned(),
                });
            let rest = parts.collect::<Vec<_>>().join(", ");
            let named = rest.replacen("%rd1", if self.row.base().starts_with("su") { "srf" } else { "tx" }, 1);
            return match self.row.base() {
                "cp" => vec![format!("[{rest}]")],
                _ => vec![format!("[{named}]"), format!("[{rest}]")],
            };
        }
        let usual = self.usual_address(nth);
        let other = if usual == "%rd1" { "%r1" } else { "%rd1" };
        let mut found = vec![format!("[{usual}]")];
        let homes = [
            ("shared", "smem"),
            ("global", "gbl"),
            ("const", "cst"),
            ("param", "par0"),
            ("local", "loc"),
        ];
        for (space, name) in homes {
            if self.has(space) {
                found.extend([format!("[{name}]"), format!("[{name}+16]")]);
            }
        }
        if self.has("shared") {
            found.push(format!("[{other}]"));
        }
        found.extend([format!("[{usual}+16]"), format!("[{usual}+-8]")]);
        if !self.has("shared") && spec.ty == OperandType::Any {
            found.extend(["[gbl]".to_owned(), format!("[{other}]")]);
        }
        found
    }

    fn usual_address(&self, nth: usize) -> &'static str {
        if self.has("param") {
            return "par0";
        }
        let bracket = |example: &&'static str| example.split('[').nth(nth + 1);
        let mods: Vec<_> = self.picks.iter().flatten().map(|pick| pick.name).collect();
        let likeness = |example: &&&str| mods.iter().filter(|name| example.contains(**name)).count();
        let examples = self.row.examples.iter().filter(|example| bracket(example).is_some());
        let best = examples.max_by_key(likeness).and_then(bracket);
        match best {
            Some(inner) if inner.starts_with("%rd") => "%rd1",
            Some(inner) if inner.starts_with("%r") => "%r1",
            Some(inner) if inner.starts_with("smem") => "%r1",
            Some(inner) if inner.starts_with("tx") => "tx",
            Some(inner) if inner.starts_with("srf") => "srf",
            _ => "%rd1",
        }
    }
}

/// `{%r1, %r2}`.
fn braces(name: &str, count: usize) -> String {
    let parts: Vec<_> = (1..=count).map(|at| format!("{name}{at}")).collect();
    format!("{{{}}}", parts.join(", "))
}

/// The register with another number.
fn numbered(register: &str, number: usize) -> String {
    register.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned() + &number.to_string()
}

/// The banks of registers that take a type, the usual one first.
fn registers(ty: Option<Type>, loose: bool) -> Vec<&'static str> {
    let Some(ty) = ty else { return vec!["%r", "%rd", "%f"] };
    let mut found = match (ty.kind(), ty.bits()) {
        (Kind::Pred, _) => vec!["%p"],
        (Kind::Opaque, _) => vec!["%rd"],
        (_, 1..=8) if loose => vec!["%rs"],
        (_, 1..=8) => vec!["%c"],
        (Kind::Float, 16) => vec!["%rs", "%h"],
        (_, 16) => vec!["%rs", "%us", "%h"],
        _ if ty == Type::F32 => vec!["%f", "%r"],
        (Kind::Float, 32) => vec!["%r", "%xh"],
        (_, 32) => vec!["%r", "%u", "%s", "%f"],
        _ if ty == Type::F64 => vec!["%fd", "%rd"],
        (_, 64) => vec!["%rd", "%l", "%fd"],
        _ => vec!["%rq"],
    };
    if loose && ty.bits() < 32 {
        found.extend(["%r", "%rd", "%f"]);
    }
    if loose && ty.bits() == 32 {
        found.extend(["%rd"]);
    }
    found
}

/// Constants of a type that keep within the ranges.
fn immediates(ty: Option<Type>, ranges: &[Range]) -> Vec<String> {
    let integers = || constants(ranges).into_iter().map(|value| value.to_string()).collect();
    match ty {
        Some(Type::F32) => vec!["0f3F800000".into(), "1.5".into()],
        Some(Type::F64) => vec!["0d3FF0000000000000".into(), "2.5".into()],
        Some(ty) if ty.kind() == Kind::Float => vec![],
        Some(ty) if ty.kind() == Kind::Opaque => vec![],
        Some(ty) if ty.bits() > 64 => vec![],
        _ => integers(),
    }
}

/// Integers within the ranges.
fn constants(ranges: &[Range]) -> Vec<i64> {
    let fits = |value: &i64| {
        ranges.iter().all(|range| match range {
            Range::Within(low, high) => (*low..=*high).contains(value),
            Range::Multiple(of) => value % of == 0,
            Range::OneOf(members) => members.contains(value),
        })
    };
    let mut found: Vec<i64> = [1, 0, 2, 4, 8, 16, 64, 128].into_iter().filter(fits).collect();
    for range in ranges {
        match range {
            Range::Within(low, high) => found.extend([*low, *high].iter().filter(|value| fits(value))),
            Range::Multiple(of) => found.extend([of * 4].iter().filter(|value| fits(value))),
            Range::OneOf(members) => found.extend(members.iter().filter(|value| fits(value))),
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|value| seen.insert(*value));
    found
}
