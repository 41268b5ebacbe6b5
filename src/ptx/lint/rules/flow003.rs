//! FLOW003: a predicate that some path does not write.

use super::undefined::{findings, name, with_path};
use crate::ptx::analysis::{Code, Unwritten};
use crate::ptx::diag::{Code as RuleCode, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A predicate that some path does not write.
pub const RULE: Rule = Rule {
    code: RuleCode::new("FLOW003", "maybe-uninitialised-predicate"),
    level: Level::Warning,
    summary: "A predicate that decides something though some path to it does not write it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds predicates that are written on some paths only, or only where another predicate holds, and that decide something later.

On the other paths the predicate is either true or false, by chance: whether the guarded instruction executes, and which way a branch
goes, is then not known. Paths that cannot be taken do not count.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 4;
    @%p1 setp.ne.u32 %p2, %r2, 0;
    @%p2 st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 4;
    setp.ne.and.u32 %p2, %r2, 0, %p1;
    @%p2 st.global.u32 [%rd1], %r1;
    ret;
}
```
Write the predicate on every path, or join the conditions with `setp...and` instead of guarding the comparison.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(
        context,
        |unwritten, is_predicate| !unwritten.always && is_predicate,
        say,
    )
}

fn say(context: &Context, code: Code, unwritten: &Unwritten) -> Diag {
    let register = name(code, unwritten.root);
    let message = format!("{register} may decide here without having been written");
    let diag = Diag::warning(RULE.code, context.span(code.id, unwritten.inst), message);
    with_path(context, code, unwritten, diag).help(format!("give {register} a value before paths part"))
}
