//! BAR009: a count that is no multiple of the warp's size.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::Part;
use crate::ptx::lint::rule::Rule;

/// A count that is no multiple of the warp's size.
pub const RULE: Rule = Rule {
    code: Code::new("BAR009", "barrier-count-not-warps"),
    level: Level::Error,
    summary: "A barrier's thread count is not a multiple of the warp size.",
    explanation: EXPLANATION,
    restates_legality: true,
    check,
};

const EXPLANATION: &str = "\
Finds thread counts of barriers that are not a multiple of 32, also where the count comes through registers.

Arrival is marked warp by warp: each warp adds its whole size. A count in between is not legal and cannot be met.
`ptxas` checks immediates only.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 32;
    add.u32 %r2, %r1, 8;
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
    mov.u32 %r1, 32;
    add.u32 %r2, %r1, 32;
    bar.sync 1, %r2;
    ret;
}
```
Count whole warps.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for numbered in context.numbered() {
        if let Some(count) = numbered.any(numbered.count.as_ref(), |count| count % 32 != 0) {
            let span = context.span(numbered.function, numbered.inst);
            let diag = Diag::error(
                RULE.code,
                span,
                format!("the barrier counts {count} threads, which is not a multiple of 32"),
            )
            .note("arrival is counted in whole warps")
            .help(format!(
                "count {} or {} threads",
                count / 32 * 32,
                count.div_ceil(32) * 32
            ));
            found.push(numbered.told(context, Part::Count, diag));
        }
    }
    found
}
