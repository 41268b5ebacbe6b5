//! Cases with one thing wrong.

use super::cases::{Draft, Maker, statement};
use super::setting::Setting;
use ptxgen::ptx::types::Type;

impl Maker<'_> {
    /// A modifier too many, missing, or another.
    pub fn modifier_faults(&mut self, draft: &Draft, setting: Setting) {
        let mods: Vec<&str> = draft.picks.iter().flatten().map(|pick| pick.name).collect();
        let stray = *self.rng.pick(self.foreign).unwrap();
        let own: Vec<_> = self.form.slots.iter().flat_map(|slot| &slot.alternatives).collect();
        let again = self.rng.pick(&own).map_or("ftz", |one| one.name);
        let ty = self.rng.pick(Type::ALL).unwrap().name();
        let mut variants: Vec<(&'static str, Vec<&str>)> = Vec::new();
        let at = self.rng.below(mods.len() + 1);
        for (kind, name) in [("foreign modifier", stray), ("second modifier", again)] {
            let mut more = mods.clone();
            more.insert(at, name);
            variants.push((kind, more));
        }
        if !mods.is_empty() {
            let mut swapped = mods.clone();
            swapped[at % mods.len()] = stray;
            variants.push(("foreign modifier", swapped));
            let mut dropped = mods.clone();
            dropped.remove(at % mods.len());
            variants.push(("missing modifier", dropped));
        }
        let types: Vec<_> = (0..mods.len())
            .filter(|at| Type::from_name(mods[*at]).is_some())
            .collect();
        if let Some(at) = self.rng.pick(&types) {
            let mut other = mods.clone();
            other[*at] = ty;
            variants.push(("other type", other));
        }
        for (kind, mods) in variants {
            let opcode = mods
                .iter()
                .fold(self.row.base().to_owned(), |text, name| text + "." + name);
            self.push(kind, setting, statement(&opcode, &draft.operands));
        }
    }

    /// An operand too many, missing, of another class, or in another place.
    pub fn operand_faults(&mut self, draft: &Draft, setting: Setting) {
        const STRANGERS: &[&str] = &[
            "%p1",
            "%rs1",
            "%us1",
            "%h1",
            "%r1",
            "%u1",
            "%f1",
            "%xh1",
            "%rd1",
            "%l1",
            "%fd1",
            "%rq1",
            "%c1",
            "7",
            "-1",
            "99999",
            "0f3F800000",
            "0d3FF0000000000000",
            "1.5",
            "_",
            "%tid.x",
            "gbl",
            "!%p1",
            "!%r1",
            "{%r1, %r2}",
            "{%rs1, %rs2}",
            "[%rd1]",
            "[%r1]",
            "(%r1)",
            "%r1|%p1",
            "[gbl]",
            "[smem]",
            "{%f1, %f2, %f3, %f4}",
            "L1",
        ];
        let opcode = self.opcode(&draft.picks);
        let count = draft.operands.len();
        let put = |maker: &mut Self, kind, operands: &[String]| maker.push(kind, setting, statement(&opcode, operands));
        let mut more = draft.operands.clone();
        more.push((*self.rng.pick(&["%r1", "1", "%rd1", "%p1", "%f1"]).unwrap()).to_owned());
        put(self, "operand too many", &more);
        for at in 0..count {
            let mut fewer = draft.operands.clone();
            fewer.remove(at);
            put(self, "operand missing", &fewer);
            for _ in 0..2 {
                let stranger = *self.rng.pick(STRANGERS).unwrap();
                let usable = ["%h", "%xh", "%rq"]
                    .iter()
                    .all(|bank| !stranger.starts_with(bank) || setting.declares(bank));
                if usable {
                    let mut other = draft.operands.clone();
                    other[at] = stranger.to_owned();
                    put(self, "other operand", &other);
                }
            }
            if let Some(parts) = draft.operands[at]
                .strip_prefix('{')
                .and_then(|text| text.strip_suffix('}'))
            {
                let parts: Vec<_> = parts.split(", ").collect();
                let mut other = draft.operands.clone();
                other[at] = format!("{{{}}}", parts[1..].join(", "));
                if parts.len() > 1 {
                    put(self, "element missing", &other);
                }
                other[at] = format!("{{{}, {}}}", parts.join(", "), parts[0]);
                put(self, "element too many", &other);
            }
        }
        if count > 1 {
            let mut swapped = draft.operands.clone();
            let at = self.rng.below(count - 1);
            swapped.swap(at, at + 1);
            put(self, "operands swapped", &swapped);
        }
    }
}
