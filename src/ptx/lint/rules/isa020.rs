//! ISA020: a count that no CTA can meet.

use crate::ptx::analysis::MOST_THREADS;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::{Numbered, Part};
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
Finds thread counts of barriers that are zero or above 1024, also where the count comes through registers.

No CTA has more than 1024 threads: such a barrier never completes. (A count above the CTA's own size is BAR006.)

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 1024;
    add.u32 %r2, %r1, 32;
    bar.sync 1, %r2;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 992;
    add.u32 %r2, %r1, 32;
    bar.sync 1, %r2;
    ret;
}
```
Count the threads that take part.
";

fn check(context: &Context) -> Vec<Diag> {
    context
        .numbered()
        .iter()
        .filter_map(|numbered| say(context, numbered))
        .collect()
}

fn say(context: &Context, numbered: &Numbered) -> Option<Diag> {
    let most = u64::from(MOST_THREADS);
    let count = numbered.any(numbered.count.as_ref(), |count| count == 0 || count > most)?;
    let span = context.span(numbered.function, numbered.inst);
    let what = match count {
        0 => "the barrier counts no threads".to_owned(),
        _ => format!("the barrier counts {count} threads, more than a CTA can have: it never completes"),
    };
    Some(numbered.told(context, Part::Count, Diag::error(RULE.code, span, what)))
}
