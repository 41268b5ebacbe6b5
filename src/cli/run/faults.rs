//! Faults as findings.

use super::Subject;
use crate::ptx::diag::Diag;
use crate::ptx::sim::{Fault, Site, Stop};
use crate::ptx::source::Span;

/// Where an instruction stands in the text.
pub fn span(subject: &Subject, site: Site) -> Span {
    let spans = subject.parsed.spans.functions.get(site.function.index());
    spans.map_or(Span::default(), |spans| {
        spans.insts.get(site.inst.index()).copied().unwrap_or(spans.name)
    })
}

/// The findings that faults are, in the order of the text.
pub fn findings(subject: &Subject, faults: &[Fault]) -> Vec<Diag> {
    let mut findings: Vec<_> = faults.iter().map(|fault| finding(subject, fault)).collect();
    findings.sort_by_key(|finding| (finding.span.start, finding.code.id));
    findings
}

fn finding(subject: &Subject, fault: &Fault) -> Diag {
    let thread = fault.thread.map(|thread| thread.to_string());
    let message = match &thread {
        Some(thread) if !fault.message.contains(thread.as_str()) => format!("{thread} {}", joined(&fault.message)),
        _ => fault.message.clone(),
    };
    let mut diag = Diag::new(fault.code, fault.level, span(subject, fault.site), message);
    for other in &fault.others {
        if let Some(site) = other.site {
            diag = diag.related(span(subject, site), other.message.clone());
        }
    }
    if let Some(address) = fault.address {
        diag = diag.note(format!("the address is {address:#x}"));
    }
    for note in &fault.notes {
        diag = diag.note(note.clone());
    }
    let kernel = &fault.kernel;
    let times = match fault.times {
        1 => String::new(),
        times => format!(", {times} times"),
    };
    diag.note(format!("met while `{kernel}` was run{times}"))
}

/// Messages either go on from the thread ("reads 4 bytes ...") or stand on their own ("the mask ...").
fn joined(message: &str) -> String {
    let verbs = ["reads", "writes", "accesses", "uses", "calls", "branches"];
    match verbs.iter().any(|verb| message.starts_with(verb)) {
        true => message.to_owned(),
        false => format!("meets a fault: {message}"),
    }
}

/// Why there is no result, with the place.
pub fn explain(subject: &Subject, stop: &Stop) -> String {
    let site = match stop {
        Stop::Unsupported { site, .. } | Stop::Interrupted(site) => *site,
        Stop::Limit(limit) => limit.site,
        Stop::Launch(_) => return stop.to_string(),
    };
    let line = subject.source.position(span(subject, site).start);
    match stop {
        Stop::Limit(_) => format!("{stop} at {line}: an endless loop, or raise --budget"),
        _ => format!("{stop} at {line}"),
    }
}
