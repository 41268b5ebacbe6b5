//! Does the module's version and target have it?

use super::Verdict;
use crate::ptx::diag::{Code, Diag, codes};
use crate::ptx::ir::{Header, Opcode};
use crate::ptx::isa::{Form, Gate, Match, SpecialInfo};
use crate::ptx::parse::Pieces;
use crate::ptx::source::Span;
use crate::ptx::target::{PtxVersion, Suffix, Target};

/// A version that no manual mentions: ptxas takes it for all that came with 6.0.
const UNPUBLISHED: PtxVersion = PtxVersion::new(5, 1);

/// What the module's header says. A part that is missing or unknown gates nothing: it has its own finding.
#[derive(Debug, Default)]
pub(super) struct Environment {
    /// `.version`.
    pub(super) version: Option<PtxVersion>,
    /// The GPU in `.target`.
    pub(super) target: Option<Target>,
    /// Whether `.address_size 64` is stated.
    pub(super) wide_addresses: bool,
}

/// What the module lacks for a form.
#[derive(Debug)]
pub(super) enum Failure {
    /// The gate of a modifier, or of the form where the modifier is empty.
    Gate(&'static str, &'static Gate),
    /// The form is gone.
    Removed(&'static Form),
}

impl Environment {
    /// Reads a header.
    pub(super) fn of(header: &Header) -> Self {
        let version = header.version.as_ref().and_then(|text| text.parse().ok());
        Self {
            version: version.filter(|version: &PtxVersion| version.is_known()),
            target: header.target.first().and_then(|word| word.parse().ok()),
            wide_addresses: header.address_size == Some(64),
        }
    }

    /// What the module lacks for each form of an opcode.
    pub(super) fn verdict(&self, op: &Opcode) -> Verdict {
        Verdict {
            failures: op.matches.iter().map(|found| self.failure(found)).collect(),
            told: false,
            ordered: false,
        }
    }

    fn failure(&self, found: &Match) -> Option<Failure> {
        if found.form.removal.is_some_and(|removal| {
            let version = removal.ptx.is_none_or(|from| self.version.is_some_and(|v| v >= from));
            let target = removal
                .target
                .is_none_or(|from| self.target.is_some_and(|t| t.sm >= from.sm));
            version && target
        }) {
            return Some(Failure::Removed(found.form));
        }
        let mut failed = found.gates().filter(|(_, gate)| !self.meets(gate));
        failed.next().map(|(modifier, gate)| Failure::Gate(modifier, gate))
    }

    fn meets(&self, gate: &Gate) -> bool {
        self.has_version(gate) && self.has_target(gate)
    }

    pub(super) fn has_version(&self, gate: &Gate) -> bool {
        let has =
            |version: PtxVersion, least| version >= least || (version == UNPUBLISHED && least == PtxVersion::new(6, 0));
        gate.ptx
            .is_none_or(|least| self.version.is_none_or(|version| has(version, least)))
    }

    pub(super) fn has_target(&self, gate: &Gate) -> bool {
        let meets = |target: Target| gate.targets.iter().any(|need| target.satisfies(*need));
        gate.targets.is_empty() || self.target.is_none_or(meets)
    }

    /// Why the module does not have a special register.
    pub(super) fn special(&self, info: &SpecialInfo) -> Option<(Code, String)> {
        let least: Option<PtxVersion> = info.ptx.parse().ok();
        if let (Some(least), Some(version)) = (least, self.version)
            && version < least
        {
            let message = format!("`{}` needs PTX {least}; this module says {version}", info.name);
            return Some((codes::GATE002, message));
        }
        let target = self.target.filter(|target| target.sm < info.sm)?;
        let message = format!(
            "`{}` needs target sm_{} or newer; this module says {target}",
            info.name, info.sm
        );
        Some((codes::GATE001, message))
    }
}

impl Failure {
    /// The finding, at the modifier it comes from or at the opcode.
    pub(super) fn report(&self, op: &Opcode, pieces: &Pieces, environment: &Environment) -> Diag {
        match self {
            Failure::Gate(modifier, gate) => gate_finding(modifier, gate, op, pieces, environment),
            Failure::Removed(form) => removal_finding(form, op, pieces, environment),
        }
    }
}

fn gate_finding(modifier: &str, gate: &Gate, op: &Opcode, pieces: &Pieces, environment: &Environment) -> Diag {
    let (subject, span) = match op.mods().position(|name| name == modifier) {
        Some(at) => (format!("`.{modifier}`"), pieces.mods.get(at).copied()),
        None => (format!("`{}`", op.text), None),
    };
    let span = span.unwrap_or(pieces.opcode);
    let version = environment.version.filter(|_| !environment.has_version(gate));
    let target = environment.target.filter(|_| !environment.has_target(gate));
    let needed_version = gate.ptx.filter(|_| version.is_some());
    match (target, needed_version, version) {
        (Some(target), least, _) => {
            let diag = target_finding(&subject, gate, target, span);
            match least {
                Some(least) => diag.note(format!("it needs PTX {least} as well")),
                None => diag,
            }
        }
        (None, Some(least), Some(version)) => {
            let message = format!("{subject} needs PTX {least}; this module says {version}");
            Diag::error(codes::GATE002, span, message).help(format!("write `.version {least}` or newer"))
        }
        _ => Diag::error(codes::GATE002, span, format!("{subject} is not in this PTX version")),
    }
}

fn target_finding(subject: &str, gate: &Gate, target: Target, span: Span) -> Diag {
    let specific = gate.targets.iter().all(|need| need.suffix != Suffix::None);
    let code = if specific { codes::GATE003 } else { codes::GATE001 };
    let message = format!(
        "{subject} needs target {}; this module says {target}",
        needed(&gate.targets)
    );
    let diag = Diag::error(code, span, message);
    let same = gate.targets.iter().find(|need| need.sm == target.sm);
    match same.or(gate.targets.first()) {
        Some(need) if specific => diag.help(format!(
            "write `.target {need}`; code for it runs on {} only",
            if need.suffix == Suffix::Family {
                "that family"
            } else {
                "that GPU"
            }
        )),
        Some(need) => diag.help(format!("write `.target {need}` or newer")),
        None => diag,
    }
}

/// `sm_90 or newer`, `sm_90a`, `sm_100a, sm_100f or sm_110f`.
pub(super) fn needed(targets: &[Target]) -> String {
    let name = |target: &Target| match target.suffix {
        Suffix::None => format!("{target} or newer"),
        _ => target.to_string(),
    };
    match targets.split_last() {
        None => String::new(),
        Some((last, [])) => name(last),
        Some((last, rest)) => {
            let rest: Vec<_> = rest.iter().map(name).collect();
            format!("{} or {}", rest.join(", "), name(last))
        }
    }
}

fn removal_finding(form: &Form, op: &Opcode, pieces: &Pieces, environment: &Environment) -> Diag {
    let mut since = Vec::new();
    if let Some(removal) = form.removal {
        since.extend(removal.ptx.map(|ptx| format!("PTX {ptx}")));
        since.extend(removal.target.map(|target| target.to_string()));
    }
    let since = since.join(" and ");
    let message = format!("`{}` in this form is gone since {since}", op.text);
    let diag = Diag::error(codes::GATE006, pieces.opcode, message);
    match (op.base(), environment.version) {
        ("shfl" | "vote", _) => {
            let base = op.base();
            diag.help(format!(
                "write `{base}.sync`, with a mask of the lanes that take part as last operand"
            ))
        }
        ("wmma", _) if op.has("satfinite") => diag.help("leave out `.satfinite`"),
        ("wmma", _) => diag.help("write `.aligned` behind `.sync`"),
        _ => diag.help("say how to round: `.rn`, or `.approx` where a few units in the last place may be lost"),
    }
}
