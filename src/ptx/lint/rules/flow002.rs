//! FLOW002: a register that some path does not write.

use super::undefined::{gathered, name, with_path};
use crate::ptx::analysis::{Code, Unwritten};
use crate::ptx::diag::{Code as RuleCode, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A register that some path does not write.
pub const RULE: Rule = Rule {
    code: RuleCode::new("FLOW002", "maybe-uninitialised-register"),
    level: Level::Warning,
    summary: "A register that is read though some path to it does not write it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds uses of registers that are written on some paths only, or only where a predicate holds.

On the other paths the register holds whatever the hardware register was left with. Paths that cannot be taken do not count:
a write and a use under one predicate, a use behind a flag that is set beside the write, a write in the first round of a loop.
Several such registers of one function are one finding, at the first of them.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 4;
    @%p1 mov.u32 %r2, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 4;
    @%p1 mov.u32 %r2, 1;
    @%p1 st.global.u32 [%rd1], %r2;
    ret;
}
```
Write the register on every path, before the branch or the guarded write, or use it only where it was written.
";

fn check(context: &Context) -> Vec<Diag> {
    gathered(
        context,
        |unwritten, is_predicate| !unwritten.always && !is_predicate,
        say,
    )
}

fn say(context: &Context, code: Code, unwritten: &Unwritten) -> Diag {
    let register = name(code, unwritten.root);
    let message = format!("{register} may be read here without having been written");
    let diag = Diag::warning(RULE.code, context.span(code.id, unwritten.inst), message);
    with_path(context, code, unwritten, diag).help(format!("give {register} a value before paths part"))
}
