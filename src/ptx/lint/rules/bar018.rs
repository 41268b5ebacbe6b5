//! BAR018: an indirect call whose barriers are not known.

use crate::ptx::analysis::{Call, Callee, Unit};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::FunctionKind;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// An indirect call whose barriers are not known.
pub const RULE: Rule = Rule {
    code: Code::new("BAR018", "indirect-call-not-followed"),
    level: Level::Info,
    summary: "An indirect call whose barriers are not known.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Names indirect calls in kernels of modules with barriers in their functions: what they call was not followed, so whether barriers in it are met by all is not known.

Nothing is wrong with the call; it says where the analysis ends.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.func work()
{
    bar.sync 0;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, work;
    proto: .callprototype _ ();
    call %rd2, proto;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90
.address_size 64
.func work()
{
    bar.sync 0;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    call work;
    ret;
}
```
Call the function by name where it can be.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    let has_barriers = |unit: &Unit| unit.function().kind == FunctionKind::Func && !unit.barriers.is_empty();
    if !context.units().any(has_barriers) {
        return found;
    }
    for unit in context.units() {
        let mut calls = Call::all(unit.module, unit.body).filter(|call| call.callee == Callee::Indirect);
        if let Some(call) = calls.next() {
            let message = "what this calls is not known: barriers behind it were not analysed";
            found.push(Diag::info(RULE.code, context.span(unit.id, call.inst), message));
        }
    }
    found
}
