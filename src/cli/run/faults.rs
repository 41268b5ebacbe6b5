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
    let mut diag = Diag::new(fault.code, fault.level, span(subject, fault.site), fault.sentence());
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
