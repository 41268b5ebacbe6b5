//! FLOW006: code that control never reaches.

use super::wording::some_of;
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::InstId;
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Code that control never reaches.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW006", "unreachable-code"),
    level: Level::Info,
    summary: "Code that control never reaches.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds blocks of instructions that no path from the entry reaches. One finding for a function. Lone jumps and returns do not count: compilers
leave those behind calls that do not return.

The code is dropped by `ptxas`. Often the label that should lead there is misspelt, or a branch has lost its guard.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    bra DONE;
    st.global.u32 [%rd1], %r1;
DONE:
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
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    st.global.u32 [%rd1], %r1;
DONE:
    ret;
}
```
Take the code out, or give the branch before it the guard it lacks.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes().filter(|code| code.cfg.problems.is_empty()) {
        let places: Vec<InstId> = (0..code.cfg.blocks())
            .filter_map(|block| unreached(code, block))
            .collect();
        if let Some(first) = places.first() {
            let diag = Diag::info(RULE.code, context.span(code.id, *first), "no path leads here");
            found.push(some_of(context, code.id, &places[1..], "nor here", diag));
        }
    }
    found
}

/// The first instruction of a block that nothing reaches, where it does anything but leave.
fn unreached(code: Function, block: u32) -> Option<InstId> {
    let mut insts = code.cfg.insts(block).map(InstId);
    let leaves = |inst: InstId| matches!(code.body.insts[inst.index()].op.effect, Effect::Branch | Effect::Exit);
    let reached = code.cfg.is_reachable(block) || insts.clone().all(leaves);
    if reached { None } else { insts.next() }
}
