//! What ASYNC001 to ASYNC003 say alike: reads that come before a copy is complete.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::copies::{Early, Fault};

/// Reports the early reads that `wanted` picks.
pub(super) fn report(context: &Context, code: Code, wanted: impl Fn(&Fault) -> bool) -> Vec<Diag> {
    let mut found: Vec<Diag> = Vec::new();
    for copies in context.copies() {
        let Some(unit) = context.analysis.unit(copies.function) else {
            continue;
        };
        for early in copies.early.iter().filter(|early| wanted(&early.fault)) {
            let diag = say(context, unit, early, code);
            // Several batches that one read comes too early for are one cause.
            if found.iter().all(|known| known.span != diag.span) {
                found.push(diag);
            }
        }
    }
    found
}

fn say(context: &Context, unit: &Unit, early: &Early, code: Code) -> Diag {
    let other = early.clash.filter(|clash| clash.first != clash.second);
    let open = unit.shape.threads().is_none() && other.is_some();
    let level = if open || early.fault == Fault::Never {
        Level::Warning
    } else {
        Level::Error
    };
    let (message, help) = match early.fault {
        Fault::NotAwaited | Fault::Never => (
            "this reads what an asynchronous copy writes, and nothing waits for the copy",
            "add `cp.async.wait_group` and then a barrier before the read",
        ),
        Fault::NotCovered(_) => (
            "this reads what an asynchronous copy writes, and the wait before it leaves the copy in flight",
            "commit the copy before the wait, and let the wait leave fewer groups in flight",
        ),
        Fault::NotShared(_) => (
            "this reads what another thread's asynchronous copy wrote, with no barrier after the wait",
            "move the barrier behind the wait",
        ),
    };
    let mut diag = Diag::new(code, level, context.span(unit.id, early.read), message)
        .related(context.span(unit.id, early.copy), "the copy")
        .help(help);
    if let Some(clash) = early.clash {
        diag = diag.label(format!(
            "thread {} reads byte {} of the array, which thread {} copies",
            clash.second, clash.byte, clash.first
        ));
    }
    if let Fault::NotCovered(wait) | Fault::NotShared(wait) = early.fault {
        diag = diag.related(
            context.span(unit.id, wait),
            "the wait: it covers this thread's own, older groups only",
        );
    }
    if let Some(clash) = other.filter(|_| open) {
        let most = clash.first.max(clash.second);
        diag = diag.note(format!(
            "holds for every one-dimensional CTA of more than {most} threads"
        ));
    }
    diag
}
