//! LINT001: a suppression that suppresses nothing.

use crate::ptx::diag::{Code, Level};
use crate::ptx::lint::rule::Rule;

/// A suppression that suppresses nothing. It is found when suppressions are applied (`lint::suppress`), not here.
pub const RULE: Rule = Rule {
    code: Code::new("LINT001", "unused-suppression"),
    level: Level::Warning,
    summary: "A `ptxgen: allow` comment that allows nothing.",
    explanation: EXPLANATION,
    restates_legality: false,
    check: |_| Vec::new(),
};

const EXPLANATION: &str = "\
Finds suppression comments, or single codes in their lists, for which nothing is found where they apply.

A suppression that is left over hides the next fault of its kind at that place. Codes that do not report in the run at hand
(`--ignore`, `--select` of others) are not judged, and neither is a text with syntax errors or with a kernel
that cannot be analysed.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    // ptxgen: allow(BAR001) all threads come here
    bar.sync 0;
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
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 5;
    // ptxgen: allow(false-uni) what the compiler makes of it was looked at
    @%p1 bra.uni DONE;
    membar.cta;
DONE:
    ret;
}
```
Remove the comment, or the code from its list; `--fix` does.
";
