//! `--precision`: how much is lost to rounding, and where.

use super::{Subject, faults, profile};
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{self, Precision, Site};
use serde_json::{Value, json};
use std::fmt::Write;

/// An error in few digits.
fn number(error: f64) -> String {
    match error {
        0.0 => "0".to_owned(),
        error => format!("{error:.1e}"),
    }
}

fn line(subject: &Subject, site: Site) -> u32 {
    subject.source.position(faults::span(subject, site).start).line
}

/// The name of a parameter.
fn name(program: &Program, at: usize) -> &str {
    sim::params(program).nth(at).map_or("", |(name, ..)| name)
}

/// What was found, for people.
pub fn text(subject: &Subject, program: &Program, found: &Precision) -> String {
    let mut out = String::new();
    match &found.jump {
        None => out.push_str("precision: at no instruction does the error jump\n"),
        Some(jump) => {
            let more = match found.jumps {
                1 => String::new(),
                jumps => format!("; it does at {jumps} instructions in all"),
            };
            let _ = writeln!(
                out,
                "precision: the error jumps first at line {}: {}\n  in {}, from {} to {}: {:e} is due, and it gives {:e}{more}",
                line(subject, jump.site),
                profile::text(subject, jump.site),
                jump.thread,
                number(jump.before),
                number(jump.after),
                jump.exact,
                jump.got,
            );
        }
    }
    for (at, worst) in &found.buffers {
        let _ = writeln!(
            out,
            "precision: {}: the worst relative error of {} values is {}, of element {}: {:e} is due, and it is {:e}",
            name(program, *at),
            worst.followed,
            number(worst.error),
            worst.element,
            worst.exact,
            worst.got
        );
    }
    out
}

/// The same as JSON. An infinite error is null.
pub fn json(subject: &Subject, program: &Program, found: &Precision) -> Value {
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let jump = found.jump.as_ref().map(|jump| {
        json!({
            "line": line(subject, jump.site),
            "instruction": profile::text(subject, jump.site),
            "thread": jump.thread.to_string(),
            "before": finite(jump.before),
            "after": finite(jump.after),
            "exact": jump.exact,
            "got": jump.got,
        })
    });
    let buffers = found.buffers.iter().map(|(at, worst)| {
        json!({
            "argument": at,
            "name": name(program, *at),
            "followed": worst.followed,
            "error": finite(worst.error),
            "element": worst.element,
            "exact": finite(worst.exact),
            "got": finite(worst.got),
        })
    });
    json!({ "first_jump": jump, "jumps": found.jumps, "buffers": buffers.collect::<Vec<_>>() })
}
