//! FLOW001: a register that is read and never written.

use super::undefined::{findings, name, with_count, with_sink};
use crate::ptx::analysis::{Code, Step, Unwritten};
use crate::ptx::diag::{Code as RuleCode, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A register that is read and never written.
pub const RULE: Rule = Rule {
    code: RuleCode::new("FLOW001", "uninitialised-register"),
    level: Level::Error,
    summary: "A register that is read before anything writes it, on every path.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds uses of registers that no path from the entry writes.

A register holds nothing in particular until it is written; `ptxas` gives it whatever a hardware register was left with, and says
nothing. What is computed from it is as undefined as the register is; a finding is given where that matters in the end, because
it is stored, is an address, or decides something. Compilers compute with what nobody looks at later, and that is silent.

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
    mov.u32 %r1, 7;
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
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
    mov.u32 %r1, 7;
    mov.u32 %r2, 1;
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
```
Write the register first, or read the one that was meant.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, |unwritten, _| unwritten.always, say)
}

fn say(context: &Context, code: Code, unwritten: &Unwritten) -> Diag {
    let register = name(code, unwritten.root);
    let message = format!("{register} is read here, and nothing writes it before");
    let mut diag = Diag::error(RULE.code, context.span(code.id, unwritten.inst), message);
    for step in &unwritten.path {
        if let Step::Copied(inst) = step {
            diag = diag.related(context.span(code.id, *inst), "what it holds is copied here");
        }
    }
    let diag = with_sink(context, code, unwritten, diag);
    with_count(unwritten, diag).help(format!("write {register} first, or read the register that was meant"))
}
