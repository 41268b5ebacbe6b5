//! The modules that instructions are put into: header, declarations, one instruction a line.

use ptxgen::ptx::isa::{Form, Gate};
use ptxgen::ptx::target::{PtxVersion, Target};

/// Version and target of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// `.version`.
    pub version: PtxVersion,
    /// `.target`.
    pub target: Target,
}

/// The oldest version with `.address_size`: ptxas makes no code for 32-bit addresses any more.
const OLDEST: PtxVersion = PtxVersion::new(2, 3);

/// What an instruction may mention at module level: what to look for in its text, and the declaration.
const GLOBALS: &[(&str, &str)] = &[
    ("gbl", ".global .align 128 .b8 gbl[256];"),
    ("cst", ".const .align 16 .b8 cst[64];"),
    ("smem", ".shared .align 128 .b8 smem[256];"),
    ("tx", ".global .texref tx;"),
    ("srf", ".global .surfref srf;"),
    ("fn0", ".func fn0 () { ret; }"),
    ("fr", ".func (.reg .b32 fx) fr (.reg .b32 fa) { mov.b32 fx, fa; ret; }"),
];

/// What it may mention in the function.
const LOCALS: &[(&str, &str)] = &[
    ("%p", ".reg .pred %p<16>;"),
    ("%c", ".reg .b8 %c<16>;"),
    ("%rs", ".reg .b16 %rs<40>;"),
    ("%us", ".reg .u16 %us<16>;"),
    ("%h", ".reg .f16 %h<16>;"),
    ("%r", ".reg .b32 %r<300>;"),
    ("%u", ".reg .u32 %u<300>;"),
    ("%s", ".reg .s32 %s<300>;"),
    ("%f", ".reg .f32 %f<300>;"),
    ("%xh", ".reg .f16x2 %xh<16>;"),
    ("%rd", ".reg .b64 %rd<40>;"),
    ("%l", ".reg .s64 %l<40>;"),
    ("%fd", ".reg .f64 %fd<40>;"),
    ("%rq", ".reg .b128 %rq<8>;"),
    ("loc", ".local .align 16 .b8 loc[64];"),
    ("L1", "L1:"),
    ("TS", "TS: .branchtargets L1;"),
];

impl Setting {
    /// The module with these instructions, one a line, and the number of lines before them.
    pub fn module(&self, lines: &[&str]) -> (String, usize) {
        let wanted = |(name, _): &&(&str, &str)| lines.iter().any(|line| line.contains(name));
        let mut text = format!(".version {}\n.target {}\n.address_size 64\n", self.version, self.target);
        let mut add = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        GLOBALS.iter().filter(wanted).for_each(|(_, line)| add(line));
        add(".entry kern(.param .b64 par0, .param .align 16 .b8 par1[64])");
        add("{");
        let labels = lines.iter().any(|line| line.contains("TS"));
        let local = |one: &&(&str, &str)| wanted(one) || (labels && one.0 == "L1");
        LOCALS.iter().filter(local).for_each(|(_, line)| add(line));
        let before = text.lines().count();
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("ret;\n}\n");
        (text, before)
    }

    /// Whether half-precision and 128-bit registers can be declared.
    pub fn declares(&self, register: &str) -> bool {
        match register {
            "%h" | "%xh" => self.version >= PtxVersion::new(4, 2) && self.target.sm >= 53,
            "%rq" => self.version >= PtxVersion::new(8, 3) && self.target.sm >= 70,
            _ => true,
        }
    }

    /// Whether the gate is met.
    fn meets(&self, gate: &Gate) -> bool {
        let target = gate.targets.is_empty() || gate.targets.iter().any(|need| self.target.satisfies(*need));
        target && gate.ptx.is_none_or(|least| self.version >= least)
    }

    /// Whether a form with these gates is there.
    fn has(&self, form: &Form, gates: &[&Gate]) -> bool {
        let gone = form.removal.is_some_and(|removal| {
            removal.ptx.is_none_or(|from| self.version >= from)
                && removal.target.is_none_or(|from| self.target.sm >= from.sm)
        });
        !gone && gates.iter().all(|gate| self.meets(gate))
    }
}

/// The least version and target that has all of these.
pub fn least(form: &Form, gates: &[&Gate]) -> Option<Setting> {
    let asked = gates.iter().filter_map(|gate| gate.ptx).max().unwrap_or(OLDEST);
    let settings = Target::all().filter(|target| target.sm >= 20).filter_map(|target| {
        let version = asked.max(OLDEST).max(target.min_ptx()?);
        Some(Setting { version, target })
    });
    settings.into_iter().find(|setting| setting.has(form, gates))
}

/// The newest version, with the last target of the ladder that has all of these.
pub fn newest(form: &Form, gates: &[&Gate]) -> Option<Setting> {
    let version = PtxVersion::NEWEST;
    let settings = Target::all().rev().map(|target| Setting { version, target });
    settings.into_iter().find(|setting| setting.has(form, gates))
}

/// Settings that just miss one of the gates: a step below in version, and targets beside or below those that are asked for.
pub fn just_below(form: &Form, gates: &[&Gate]) -> Vec<Setting> {
    let mut found = Vec::new();
    let Some(least) = least(form, gates) else { return found };
    if let Some(version) = least.version.previous()
        && version >= OLDEST
        && least.target.min_ptx().is_some_and(|min| version >= min)
    {
        found.push(Setting { version, ..least });
    }
    let version = PtxVersion::NEWEST;
    let lower = Target::all().rev().find(|target| target.sm < least.target.sm);
    let plain = Target::base(least.target.sm);
    for target in lower
        .into_iter()
        .chain([plain, Target::arch(120), Target::family_of(100)])
    {
        let setting = Setting { version, target };
        if target.is_known() && !setting.has(form, gates) {
            found.push(setting);
        }
    }
    found.dedup();
    found
}
