//! FLOW005: instructions whose results nobody reads.

use super::wording::some_of;
use crate::ptx::analysis::unused;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Instructions whose results nobody reads.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW005", "unused-result"),
    level: Level::Info,
    summary: "Instructions whose results nobody reads.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds instructions without any effect but their results, none of which is read: arithmetic, copies, plain loads. One finding for a function.

`ptxas` drops them. In code that was written or generated on purpose they tell that something else was meant, a wrong register most often.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 1;
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
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Use the result, or take the instruction out.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let unused = unused(code);
        if let Some(first) = unused.first() {
            let opcode = &code.body.insts[first.index()].op.text;
            let diag = Diag::info(
                RULE.code,
                context.span(code.id, *first),
                format!("nobody reads the result of `{opcode}`"),
            );
            found.push(some_of(context, code.id, &unused[1..], "nor of this", diag));
        }
    }
    found
}
