//! MEM009: global memory is accessed at a thread's index that nothing compares with a bound.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Body, FuncId, Function, FunctionKind, Inst, InstId, Module, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::{Space, Type};

/// Global memory is accessed at a thread's index that nothing compares with a bound.
pub const RULE: Rule = Rule {
    code: Code::new("MEM009", "no-bounds-guard"),
    level: Level::Info,
    summary: "Global memory is accessed at a thread's index that nothing compares with a bound.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels that take a number as a parameter, access global memory at an index made of `%tid` and `%ctaid`, and nowhere compare
what a thread computes from its index with anything.

The grid is a whole number of CTAs; where the number of elements is none of CTAs, the last CTA has threads without an element. Kernels that are
launched for exact multiples only are right without a guard, so this is information.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 ret;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
}
```
Leave the threads out whose index is past the end: `if (i < n)`.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter(|(_, function)| function.kind == FunctionKind::Entry && takes_number(module, function))
        .filter_map(|(id, function)| one(context, id, function.body.as_ref()?))
        .collect()
}

/// Whether a parameter may be a bound.
fn takes_number(module: &Module, function: &Function) -> bool {
    let variables = function.params.iter().filter_map(|param| module.variable(*param));
    variables
        .into_iter()
        .any(|variable| variable.dims.is_empty() && matches!(variable.ty, Type::U32 | Type::S32 | Type::B32))
}

/// The first access at an index that nothing checks.
fn one(context: &Context, id: FuncId, body: &Body) -> Option<Diag> {
    let reads = |row: &Inst, name: &str| {
        row.operands
            .iter()
            .any(|operand| matches!(operand, Operand::Special(special) if special.name() == name))
    };
    let has = |name: &str| body.insts.iter().any(|row| reads(row, name));
    if !has("%tid.x") || !has("%ctaid.x") || body.insts.iter().any(|row| row.op.effect == Effect::Call) {
        return None;
    }
    // What is computed from the thread's index, in the order of the text; a loop's counter is compared with its bound anyway.
    let mut from_index = vec![false; body.regs.len()];
    let mut access = None;
    for (inst, row) in (0..).map(InstId).zip(&body.insts) {
        let mut uses = reads(row, "%tid.x");
        row.uses(&mut |reg| uses |= from_index[reg.index()]);
        if !uses {
            continue;
        }
        match row.op.effect {
            Effect::Pure if matches!(row.op.base(), "setp" | "set" | "slct" | "min" | "max" | "rem" | "and") => {
                return None;
            }
            Effect::Pure => row.defs(&mut |reg| from_index[reg.index()] = true),
            Effect::Load | Effect::Store if row.op.space == Space::Global => access = access.or(Some(inst)),
            Effect::Load | Effect::Store => {}
            _ => return None,
        }
    }
    let access = access?;
    let message = format!(
        "`{}` accesses global memory at the thread's index, and nothing compares that with a bound",
        body.insts[access.index()].op.text
    );
    Some(
        Diag::info(RULE.code, context.span(id, access), message)
            .note("right where the kernel is launched for whole CTAs of elements only")
            .help("leave threads out whose index is past the end"),
    )
}
