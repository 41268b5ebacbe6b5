//! Does the module's version and target have its directives?

use super::gates::{Environment, needed};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::needs::{self, Need};
use crate::ptx::parse::Parsed;

/// Checks the gate of every directive, once a function.
pub(super) fn check(parsed: &Parsed, environment: &Environment, out: &mut Vec<Diag>) {
    for need in needs::directives(&parsed.module) {
        out.extend(finding(&need, parsed, environment));
    }
}

fn finding(need: &Need, parsed: &Parsed, environment: &Environment) -> Option<Diag> {
    let span = need.place.span(&parsed.spans);
    let what = if need.what.starts_with('.') {
        format!("`{}`", need.what)
    } else {
        need.what.clone()
    };
    if !environment.has_target(&need.gate) {
        let wanted = needed(&need.gate.targets);
        let message = format!("{what} needs target {wanted}; this module says {}", environment.target?);
        let diag = Diag::error(codes::GATE001, span, message);
        return Some(match need.gate.ptx.filter(|_| !environment.has_version(&need.gate)) {
            Some(least) => diag.note(format!("it needs PTX {least} as well")),
            None => diag,
        });
    }
    if environment.has_version(&need.gate) {
        return None;
    }
    let least = need.gate.ptx?;
    let message = format!("{what} needs PTX {least}; this module says {}", environment.version?);
    Some(Diag::error(codes::GATE002, span, message).help(format!("write `.version {least}` or newer")))
}
