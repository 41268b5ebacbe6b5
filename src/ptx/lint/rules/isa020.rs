//! ISA020: a count that no CTA can meet.

use crate::ptx::analysis::MOST_THREADS;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::Numbered;
use crate::ptx::lint::rule::Rule;

/// A count that no CTA can meet.
pub const RULE: Rule = Rule {
    code: Code::new("ISA020", "barrier-count-range"),
    level: Level::Error,
    summary: "A barrier counts no threads, or more than the CTA can have.",
    explanation: EXPLANATION,
    restates_legality: true,
    check,
};

const EXPLANATION: &str = "\
Finds thread counts of barriers that are zero, above 1024, or above the number of threads of the CTA where that is known
(`.reqntid`, `.maxntid`, or the launch), also where the count comes through registers.

A barrier that counts more threads than there are never completes.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 64, 1, 1
{
    bar.sync 1, 128;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 64, 1, 1
{
    bar.sync 1, 64;
    ret;
}
```
Count the threads that take part.
";

fn check(context: &Context) -> Vec<Diag> {
    context.numbered().iter().filter_map(|numbered| say(context, numbered)).collect()
}

fn say(context: &Context, numbered: &Numbered) -> Option<Diag> {
    let most = u64::from(numbered.shape.most_threads());
    let count = numbered.any(numbered.count.as_ref(), |count| count == 0 || count > most)?;
    let span = context.span(numbered.function, numbered.inst);
    let what = if count == 0 {
        "the barrier counts no threads".to_owned()
    } else if count > u64::from(MOST_THREADS) {
        format!("the barrier counts {count} threads, more than a CTA can have")
    } else {
        format!("the barrier counts {count} threads, but the CTA has {most}: it never completes")
    };
    let diag = Diag::error(RULE.code, span, what);
    Some(match numbered.shape.threads() {
        None if count != 0 && count <= u64::from(MOST_THREADS) => diag.note(format!("`.maxntid` allows at most {most} threads")),
        _ => diag,
    })
}
