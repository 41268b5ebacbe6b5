//! FLOW012: functions that call themselves.

use crate::ptx::analysis::circles;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Functions that call themselves.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW012", "recursion"),
    level: Level::Info,
    summary: "Functions that call themselves.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds functions that call themselves, directly or through other functions.

How deep the calls go is known at run time only. The stack of a thread is what the host has set (1024 bytes unless it says otherwise); where it
is not enough, the kernel ends with an error or overwrites memory. `ptxas` cannot compute the size of the stack, and warns.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) f(.param .b32 a)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .param .b32 arg;
    .param .b32 res;
    ld.param.b32 %r1, [a];
    setp.eq.s32 %p1, %r1, 0;
    st.param.b32 [result], %r1;
    @%p1 bra DONE;
    sub.s32 %r2, %r1, 1;
    st.param.b32 [arg], %r2;
    call (res), f, (arg);
    ld.param.b32 %r3, [res];
    st.param.b32 [result], %r3;
DONE:
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) f(.param .b32 a)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
LOOP:
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra DONE;
    sub.s32 %r1, %r1, 1;
    bra LOOP;
DONE:
    st.param.b32 [result], %r1;
    ret;
}
```
Make it a loop, or see to it that the host sets a stack that is deep enough (`cudaLimitStackSize`).
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let mut found = Vec::new();
    for circle in circles(module) {
        let names: Vec<String> = circle
            .functions
            .iter()
            .map(|id| format!("`{}`", module.name(module.function(*id).symbol)))
            .collect();
        let (Some(first), Some(name)) = (circle.functions.first(), names.first()) else {
            continue;
        };
        let message = match names.len() {
            1 => format!("{name} calls itself"),
            _ => format!("{name} calls itself by way of {}", names[1..].join(", ")),
        };
        let diag = Diag::info(RULE.code, context.span(*first, circle.call), message);
        found.push(diag.note("the depth of the stack is not known before run time"));
    }
    found
}
