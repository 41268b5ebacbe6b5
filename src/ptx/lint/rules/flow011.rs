//! FLOW011: a function that returns without having set its result.

use crate::ptx::analysis::{Call, Code as Function};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::Condition;
use crate::ptx::ir::{Base, Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// A function that returns without having set its result.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW011", "result-not-set"),
    level: Level::Warning,
    summary: "A function that returns without having set its result.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds paths through a `.func` from its entry to a `ret` on which nothing is stored to a result parameter.

The caller then reads whatever was left in the place of the result.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) f(.param .b32 a)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [a];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra DONE;
    st.param.b32 [result], %r1;
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
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [a];
    st.param.b32 [result], 1;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra DONE;
    st.param.b32 [result], %r1;
DONE:
    ret;
}
```
Store to the result on every path to a `ret`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes().filter(|code| code.cfg.problems.is_empty()) {
        for symbol in &code.function().results {
            let variable = code.module.variable(*symbol);
            if variable.is_some_and(|variable| variable.space == Space::Param) {
                found.extend(unset(context, code, *symbol));
            }
        }
    }
    found
}

/// The first return that is reached without a store to the result.
fn unset(context: &Context, code: Function, result: SymbolId) -> Option<Diag> {
    // From each block, the one from which it was reached without a store.
    let mut from: Vec<Option<u32>> = vec![None; code.cfg.blocks() as usize + 1];
    let mut stack = vec![0u32];
    while let Some(block) = stack.pop() {
        let mut insts = code.cfg.insts(block).map(InstId);
        let end = insts.find(|inst| {
            let row = &code.body.insts[inst.index()];
            sets(code, *inst, row, result) || row.op.base() == "ret"
        });
        if let Some(inst) = end.filter(|inst| code.body.insts[inst.index()].op.base() == "ret") {
            return Some(say(context, code, result, inst, &from));
        }
        if end.is_none() {
            for to in code.cfg.succs().next(block) {
                if *to != 0 && *to != code.cfg.exit() && from[*to as usize].is_none() {
                    from[*to as usize] = Some(block);
                    stack.push(*to);
                }
            }
        }
    }
    None
}

/// Whether an instruction may set the result; guarded ones count, their guard is taken to have a reason.
fn sets(code: Function, at: InstId, row: &Inst, result: SymbolId) -> bool {
    match row.op.effect {
        Effect::Store => row
            .operands
            .iter()
            .any(|operand| matches!(operand, Operand::Address(address) if address.base == Base::Symbol(result))),
        Effect::Call => {
            Call::of(code.module, at, row).is_some_and(|call| call.results.contains(&Operand::Symbol(result, 0)))
        }
        // Something that takes the address may store through it.
        _ => row.operands.contains(&Operand::Symbol(result, 0)),
    }
}

fn say(context: &Context, code: Function, result: SymbolId, at: InstId, from: &[Option<u32>]) -> Diag {
    let name = code.module.name(result);
    let message = format!("`{}` may return here without having set `{name}`", code.name());
    let mut diag = Diag::warning(RULE.code, context.span(code.id, at), message);
    let mut block = code.cfg.block_of(at);
    while let Some(above) = from[block as usize] {
        if let (Some(Condition::Guard(_)), Some(last)) = (code.cfg.condition(code.body, above), code.cfg.last(above)) {
            let taken = code.cfg.succs().next(above).first() == Some(&block);
            let message = if taken {
                "if this branch is taken"
            } else {
                "if this branch is not taken"
            };
            diag = diag.related(context.span(code.id, last), message);
        }
        block = above;
    }
    diag.related.reverse();
    diag.related.truncate(8);
    diag.help(format!("store to `{name}` on every path"))
}
