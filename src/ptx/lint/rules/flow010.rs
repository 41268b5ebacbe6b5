//! FLOW010: a sum that each round of a loop starts anew.

use super::undefined::name;
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::{Definition, LoopId, ValueId};
use crate::ptx::ir::{Imm, Inst, InstId, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A sum that each round of a loop starts anew.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW010", "stuck-accumulator"),
    level: Level::Warning,
    summary: "A sum that each round of a loop starts anew.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds additions in a loop that add to a register which is zero before the loop and which the loop never updates, and whose result is used
behind the loop only: each round overwrites what the round before it added, and only the last one counts.

The destination of the addition should be the accumulator itself, or be copied to it in each round.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.f32 %f1, 0f00000000;
    mov.u32 %r1, 0;
LOOP:
    ld.global.f32 %f2, [%rd1];
    add.f32 %f3, %f1, %f2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra LOOP;
    st.global.f32 [%rd1], %f3;
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
    .reg .f32 %f<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.f32 %f1, 0f00000000;
    mov.u32 %r1, 0;
LOOP:
    ld.global.f32 %f2, [%rd1];
    add.f32 %f1, %f1, %f2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra LOOP;
    st.global.f32 [%rd1], %f1;
    ret;
}
```
Write the sum back to the register it is added to.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes().filter(|code| !code.loops.is_empty()) {
        for block in code.cfg.rpo() {
            let Some(id) = code.loops.innermost(*block) else {
                continue;
            };
            for inst in code.cfg.insts(*block).map(InstId) {
                found.extend(stuck(context, code, id, inst));
            }
        }
    }
    found
}

fn stuck(context: &Context, code: Function, id: LoopId, inst: InstId) -> Option<Diag> {
    let row = &code.body.insts[inst.index()];
    let (zero, start) = addends(row)
        .iter()
        .find_map(|operand| zero_before(code, id, inst, operand))?;
    let [result] = code.ssa.defs(inst) else { return None };
    if row.guard.is_some() || !is_for_outside(code, id, *result) {
        return None;
    }
    let sum = name(code, zero);
    let message = format!("each round starts anew from {sum}: only the last one counts");
    let diag = Diag::warning(RULE.code, context.span(code.id, inst), message);
    let diag = diag.related(
        context.span(code.id, start),
        format!("{sum} is set to zero here, before the loop, and not in it"),
    );
    Some(diag.help(format!("let the addition write {sum}")))
}

/// The operands to which an instruction adds.
fn addends(row: &Inst) -> &[Operand] {
    let range = match row.op.base() {
        "add" => 1..3,
        "fma" | "mad" => 3..4,
        _ => 0..0,
    };
    row.operands.get(range).unwrap_or(&[])
}

/// The operand's value, if an instruction outside of the loop sets it to zero, and that instruction.
fn zero_before(code: Function, id: LoopId, inst: InstId, operand: &Operand) -> Option<(ValueId, InstId)> {
    let Operand::Reg(reg) = operand else { return None };
    let value = code.ssa.use_of(inst, *reg)?;
    let definition = code.ssa.value(value)?;
    let Definition::Inst(start) = definition.definition else {
        return None;
    };
    let row = &code.body.insts[start.index()];
    let zero = match row.operands.get(1)? {
        Operand::Imm(Imm::F32(0) | Imm::F64(0)) => true,
        operand => operand.as_int() == Some(0),
    };
    let outside = !code.loops.contains(id, definition.block);
    (zero && outside && row.op.base() == "mov" && row.guard.is_none()).then_some((value, start))
}

/// Whether a value that a loop computes is read behind the loop and nowhere in it.
fn is_for_outside(code: Function, id: LoopId, value: ValueId) -> bool {
    let mut outside = false;
    for block in code.cfg.rpo() {
        let inside = code.loops.contains(id, *block);
        let in_phis = code
            .ssa
            .phis(*block)
            .iter()
            .any(|phi| code.ssa.phi_inputs(*phi).contains(&value));
        let mut insts = code.cfg.insts(*block).map(InstId);
        let used =
            in_phis || insts.any(|inst| code.ssa.uses(inst).contains(&value) || code.ssa.before(inst).contains(&value));
        if used && inside {
            return false;
        }
        outside |= used;
    }
    outside
}
