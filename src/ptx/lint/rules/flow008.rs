//! FLOW008: a function that runs off its end.

use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::is_noreturn;
use crate::ptx::ir::InstId;
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A function that runs off its end.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW008", "missing-return"),
    level: Level::Warning,
    summary: "A function that runs off its end.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels and functions whose last instruction can be passed: behind it there is neither `ret` nor `exit` nor a jump.

`ptxas` puts a return there and says nothing. Most often a `ret` was guarded by mistake, or the end of the text is missing.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
End the function with `ret;`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes().filter(|code| code.cfg.problems.is_empty()) {
        if let Some(inst) = passed(code) {
            let message = format!("`{}` runs off its end behind this instruction", code.name());
            // A label at the end says that the end was meant to be reached.
            let meant = code
                .body
                .labels
                .iter()
                .any(|label| label.at.is_some_and(|at| at.index() == code.body.insts.len()));
            let level = if meant { Level::Info } else { Level::Warning };
            found.push(Diag::new(RULE.code, level, context.span(code.id, inst), message).help("end it with `ret;`"));
        }
    }
    found
}

/// The first instruction from which control goes to the end of the body without a return.
fn passed(code: Function) -> Option<InstId> {
    // A guarded return goes to the exit too; where it does not execute, control runs on, save behind the last instruction of all.
    let falls = |inst: InstId| {
        let row = &code.body.insts[inst.index()];
        let returns = row.op.effect == Effect::Exit || row.op.effect == Effect::Call && is_noreturn(code.module, row);
        !returns || row.guard.is_some() && inst.index() + 1 == code.body.insts.len()
    };
    let preds = code
        .cfg
        .preds()
        .next(code.cfg.exit())
        .iter()
        .filter(|block| code.cfg.is_reachable(**block));
    let mut lasts = preds.filter_map(|block| code.cfg.last(*block));
    lasts.find(|last| falls(*last))
}
