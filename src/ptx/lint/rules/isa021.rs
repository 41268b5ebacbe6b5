//! ISA021: a barrier number above 15.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::Part;
use crate::ptx::lint::rule::Rule;

/// A barrier number above 15.
pub const RULE: Rule = Rule {
    code: Code::new("ISA021", "barrier-id-range"),
    level: Level::Error,
    summary: "A barrier number above 15, also through registers.",
    explanation: EXPLANATION,
    restates_legality: true,
    check,
};

const EXPLANATION: &str = "\
Finds barriers whose number is above 15, also where the number comes through registers.

A CTA has sixteen barriers. `ptxas` checks immediates only; a number in a register that is too large is undefined behaviour.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 8;
    add.u32 %r2, %r1, 10;
    bar.sync %r2, 64;
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
    mov.u32 %r1, 5;
    add.u32 %r2, %r1, 10;
    bar.sync %r2, 64;
    ret;
}
```
Use numbers 0 to 15, and use them again in later phases.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for numbered in context.numbered() {
        if let Some(id) = numbered.any(numbered.id.as_ref(), |id| id > 15) {
            let span = context.span(numbered.function, numbered.inst);
            let message = format!("barrier {id} does not exist: a CTA has the barriers 0 to 15");
            let diag = Diag::error(RULE.code, span, message).help("use one of 0 to 15");
            found.push(numbered.told(context, Part::Id, diag));
        }
    }
    found
}
