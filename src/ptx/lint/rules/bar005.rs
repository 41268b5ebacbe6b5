//! BAR005: some threads exit before a barrier that the others reach.

use super::wording::{findings, who, with_causes};
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::isa::Extent;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::Numbered;
use crate::ptx::lint::parting::{Parting, Shape};
use crate::ptx::lint::rule::Rule;

/// Some threads exit before a barrier that the others reach.
pub const RULE: Rule = Rule {
    code: Code::new("BAR005", "exit-before-barrier"),
    level: Level::Info,
    summary: "Some threads exit before a barrier that the others reach.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds exits that only some threads of a CTA take while the others go on to a barrier: `if (i >= n) return;` and the like.

A barrier without a count does not wait for threads that have exited, so this is legal, and common; it is worth knowing, because
the threads that left also do not do their part of what the barrier is for. A barrier with a count gets no credit for exits:
if the threads that remain are too few, it never fills, and that is an error.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 100;
    @%p1 exit;
    bar.sync 1, 128;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 100;
    bar.sync 1, 128;
    @%p1 exit;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Let threads without work run on to the last barrier and guard their loads and stores instead.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, |shape| shape == Shape::Leave, say)
}

fn say(context: &Context, unit: &Unit, parting: &Parting) -> Diag {
    let starved = parting.sites.iter().find_map(|site| {
        let numbered = context
            .numbered()
            .iter()
            .find(|numbered| numbered.function == unit.id && numbered.inst == site.inst)?;
        shortfall(parting, numbered)
    });
    let first = context.span(unit.id, parting.sites[0].inst);
    let at = context.span(unit.id, parting.at);
    let message = format!(
        "some {} exit here before a barrier that the others reach",
        who(parting.extent)
    );
    let diag = match &starved {
        None => Diag::info(RULE.code, at, message)
            .related(first, "the next barrier is here")
            .note("a barrier without a count does not wait for threads that have exited"),
        Some((level, numbered, why)) => Diag::new(RULE.code, *level, at, message)
            .related(context.span(unit.id, numbered.inst), "this barrier counts threads")
            .note(why.clone())
            .note("a barrier with a count gets no credit for threads that have exited"),
    };
    let mut diag = with_causes(context, unit, parting, diag);
    diag.related.retain(|related| related.span != at);
    diag.help("let all threads run on to the last barrier, and guard what they do in between")
}

/// Whether the barrier counts on threads that have left.
fn shortfall<'n>(parting: &Parting, numbered: &'n Numbered) -> Option<(Level, &'n Numbered, String)> {
    let count = numbered.count().filter(|_| numbered.counted)?;
    if parting.extent != Extent::Thread {
        return None;
    }
    let left = u64::from(numbered.threads.len());
    match numbered.shape.threads() {
        Some(threads) if left < count && count <= u64::from(threads) => Some((
            Level::Error,
            numbered,
            format!("it counts {count} threads, but only {left} of {threads} can come"),
        )),
        // Who leaves is not known in every thread; the count takes in the whole CTA.
        Some(threads) if !numbered.sure && count == u64::from(threads) => Some((
            Level::Error,
            numbered,
            format!("it counts all {count} threads of the CTA"),
        )),
        None if !numbered.sure || left < u64::from(numbered.shape.most_threads()) => {
            Some((Level::Warning, numbered, format!("it counts {count} threads")))
        }
        _ => None,
    }
}
