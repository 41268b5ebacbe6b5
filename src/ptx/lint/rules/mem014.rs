//! MEM014: the address of local memory is stored where other threads can read it.

use super::wording::some_of;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Body, FuncId, InstId, Operand, RegId, SymbolId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// The address of local memory is stored where other threads can read it.
pub const RULE: Rule = Rule {
    code: Code::new("MEM014", "local-address-escapes"),
    level: Level::Warning,
    summary: "The address of local memory is stored where other threads can read it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds stores to shared or global memory of an address in local memory.

Local memory is each thread's own: the same address means other memory in another thread, and none at all when the kernel has ended. Whoever
follows the pointer reads something else. A pointer that only the thread itself reads back is right, and better kept in a register.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    .local .align 4 .b8 own[16];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, own;
    cvta.local.u64 %rd3, %rd2;
    st.u32 [%rd3], %r1;
    st.global.u64 [%rd1], %rd3;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    .local .align 4 .b8 own[16];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, own;
    cvta.local.u64 %rd3, %rd2;
    st.u32 [%rd3], %r1;
    ld.local.u32 %r2, [own];
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Pass the value instead of its address, or keep it in shared or global memory.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter_map(|(id, function)| one(context, id, function.body.as_ref()?))
        .collect()
}

/// The first such store of a function, with the others.
fn one(context: &Context, id: FuncId, body: &Body) -> Option<Diag> {
    let module = &context.parsed.module;
    let is_local = |symbol: SymbolId| {
        module
            .variable(symbol)
            .is_some_and(|variable| variable.space == Space::Local)
    };
    // Registers that hold nothing but addresses of local memory, with the variable.
    let mut points: FxHashMap<RegId, Option<SymbolId>> = FxHashMap::default();
    let mut found: Vec<(InstId, SymbolId)> = Vec::new();
    for (inst, row) in (0..).map(InstId).zip(&body.insts) {
        let held = |operand: &Operand| match operand {
            Operand::Symbol(symbol, _) => is_local(*symbol).then_some(*symbol),
            Operand::Reg(reg) | Operand::Sum(reg, _) => points.get(reg).copied().flatten(),
            _ => None,
        };
        if row.op.base() == "st" && matches!(row.op.space, Space::Shared | Space::Global) {
            let values = row.operands.iter().skip(1).flat_map(|operand| match operand {
                Operand::Vector(parts) => parts.iter().collect::<Vec<_>>(),
                operand => vec![operand],
            });
            found.extend(values.filter_map(held).next().map(|symbol| (inst, symbol)));
        }
        let made = match row.op.base() {
            "mov" | "cvta" | "add" | "sub" => row.operands.iter().skip(1).find_map(held),
            _ => None,
        };
        row.defs(&mut |reg| {
            let known = points.entry(reg).or_insert(made);
            if *known != made {
                *known = None;
            }
        });
    }
    let (first, symbol) = *found.first()?;
    let name = module.name(symbol);
    let message =
        format!("the address of `{name}`, which each thread has its own of, is stored where others can read it");
    let mut diag = Diag::warning(RULE.code, context.span(id, first), message);
    if let Some(span) = context.parsed.spans.symbols.get(symbol.index()) {
        diag = diag.related(*span, "declared here, in local memory");
    }
    let more: Vec<InstId> = found.iter().skip(1).map(|(inst, _)| *inst).collect();
    let diag = diag.help("pass the value instead of its address");
    Some(some_of(context, id, &more, "and here", diag))
}
