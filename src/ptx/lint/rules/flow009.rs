//! FLOW009: conditions that are always the same.

use super::wording::some_of;
use crate::ptx::analysis::{Code as Function, Folder};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Conditions that are always the same.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW009", "constant-condition"),
    level: Level::Info,
    summary: "Conditions that are always the same.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds branches, and comparisons, whose outcome is the same on every path and in every thread: constants are compared, or a register with itself.
One finding for a function.

What lies behind the other outcome is dead. In code written by hand the wrong register or constant stands there.

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
    mov.u32 %r1, 5;
    setp.gt.u32 %p1, %r1, 8;
    @%p1 bra DONE;
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
    setp.gt.u32 %p1, %r1, 8;
    @%p1 bra DONE;
    st.global.u32 [%rd1], %r1;
DONE:
    ret;
}
```
Compare what was meant, or take the branch out.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let places = constant(code);
        let Some((first, holds)) = places.first() else { continue };
        let message = format!("this condition {} holds", if *holds { "always" } else { "never" });
        let more: Vec<InstId> = places[1..].iter().map(|(inst, _)| *inst).collect();
        let diag = Diag::info(RULE.code, context.span(code.id, *first), message);
        found.push(some_of(
            context,
            code.id,
            &more,
            "this one is always the same as well",
            diag,
        ));
    }
    found
}

/// The comparisons whose outcome is always the same, with the outcome.
fn constant(code: Function) -> Vec<(InstId, bool)> {
    let mut folder = Folder::new(code);
    let mut found = Vec::new();
    for (at, row) in (0..).map(InstId).zip(&code.body.insts) {
        // Comparing two numbers is how a constant predicate is made on purpose.
        let on_purpose = row
            .operands
            .iter()
            .skip(1)
            .all(|operand| matches!(operand, Operand::Imm(_)));
        if row.op.base() != "setp" || on_purpose || !code.cfg.is_reachable(code.cfg.block_of(at)) {
            continue;
        }
        let value = code.ssa.defs(at).first().and_then(|def| folder.constant(*def));
        if let Some(holds) = value.map(|value| value & 1 == 1).or_else(|| with_itself(code, at, row)) {
            found.push((at, holds));
        }
    }
    found
}

/// The outcome of comparing a register with itself. A floating-point number may not equal itself.
fn with_itself(code: Function, at: InstId, row: &Inst) -> Option<bool> {
    let [_, Operand::Reg(a), Operand::Reg(b)] = row.operands.as_slice() else {
        return None;
    };
    if a != b || !row.op.ty()?.is_integral() || row.guard.is_some() || code.ssa.use_of(at, *a).is_none() {
        return None;
    }
    row.op.mods().find_map(|name| match name {
        "eq" | "le" | "ge" | "ls" | "hs" => Some(true),
        "ne" | "lt" | "gt" | "lo" | "hi" => Some(false),
        _ => None,
    })
}
