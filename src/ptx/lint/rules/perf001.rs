//! PERF001: a kernel that keeps data in local memory.

use super::kernels::{insts_where, kernels};
use crate::ptx::analysis::{Code as Function, MOST_REGISTERS};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::Stmt;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// A kernel that keeps data in local memory.
pub const RULE: Rule = Rule {
    code: Code::new("PERF001", "local-memory"),
    level: Level::Info,
    summary: "A kernel that keeps data in local memory.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels with variables in local memory or accesses to it, and kernels that hold more values at once than a thread has registers, which `ptxas`
will spill there. One finding for a kernel.

Local memory is device memory. Arrays land there when they are indexed with what the compiler does not know, or when their address is taken.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    .local .align 4 .b8 buf[16];
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    st.local.f32 [buf+4], %f1;
    ld.local.f32 %f2, [buf+4];
    st.global.f32 [%rd1], %f2;
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
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mul.f32 %f2, %f1, %f1;
    st.global.f32 [%rd1], %f2;
    ret;
}
```
Unroll the loops that index the array, so that every index is a constant, or put it in shared memory.
";

fn check(context: &Context) -> Vec<Diag> {
    kernels(context)
        .filter_map(|code| local(context, code).or_else(|| spilled(context, code)))
        .collect()
}

fn local(context: &Context, code: Function) -> Option<Diag> {
    let bytes: u64 = code.body.stmts.iter().filter_map(|stmt| local_size(code, stmt)).sum();
    let accesses = insts_where(code, |_, row| {
        row.op.space == Space::Local && row.op.effect.accesses_memory()
    });
    if bytes == 0 && accesses.is_empty() {
        return None;
    }
    let in_loops = accesses
        .iter()
        .filter(|inst| code.loops.innermost(code.cfg.block_of(**inst)).is_some())
        .count();
    let message = format!(
        "`{}` keeps {bytes} bytes a thread in local memory, and goes there {} times in its text ({in_loops} in loops)",
        code.name(),
        accesses.len()
    );
    let span = accesses
        .first()
        .map_or_else(|| context.name_span(code.id), |inst| context.span(code.id, *inst));
    Some(Diag::info(RULE.code, span, message).note("accesses through generic addresses are not counted"))
}

fn local_size(code: Function, stmt: &Stmt) -> Option<u64> {
    let Stmt::Variable(symbol) = stmt else { return None };
    let variable = code.module.variable(*symbol)?;
    if variable.space == Space::Local {
        variable.size()
    } else {
        None
    }
}

fn spilled(context: &Context, code: Function) -> Option<Diag> {
    let residency = context.residency(code)?;
    let bound = code.function().attr("maxnreg").and_then(|args| args.first()).copied();
    let limit = bound.map_or(MOST_REGISTERS, |bound| u32::try_from(bound).unwrap_or(MOST_REGISTERS));
    let words = residency.pressure.words;
    let at = residency.pressure.at.filter(|_| words > limit)?;
    let message = format!(
        "`{}` holds {words} registers' worth of values here; a thread has {limit}",
        code.name()
    );
    Some(
        Diag::info(RULE.code, context.span(code.id, at), message)
            .note("`ptxas` will spill to local memory what does not fit"),
    )
}
