//! MEM013: a parameter is read wider than it is aligned, or only in part.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Base, Body, FuncId, FunctionKind, InstId, Operand, SymbolId, Variable};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;
use std::collections::BTreeMap;

/// A parameter is read wider than it is aligned, or only in part.
pub const RULE: Rule = Rule {
    code: Code::new("MEM013", "parameter-read-otherwise"),
    level: Level::Warning,
    summary: "A parameter is read wider than it is aligned, or only in part.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds reads of a parameter that is an array or structure which are wider than its `.align` allows for, and parameters of one number of which
only a part is ever read.

A structure that the caller lays out for 4-byte members may lie at any multiple of 4; a vector load from it then faults or reads something
else. A number of which half is read was most likely declared, or loaded, with the wrong type.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 4 .b8 p[16])
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [p];
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 16 .b8 p[16])
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [p];
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
    ret;
}
```
Declare the parameter as it is read, and as the caller passes it.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter(|(_, function)| function.kind == FunctionKind::Entry)
        .flat_map(|(id, function)| function.body.iter().flat_map(move |body| of_kernel(context, id, body)))
        .collect()
}

/// A read of a parameter.
struct Read {
    inst: InstId,
    offset: i64,
    bytes: u32,
}

fn of_kernel(context: &Context, id: FuncId, body: &Body) -> Vec<Diag> {
    let module = &context.parsed.module;
    let mut reads: BTreeMap<SymbolId, Vec<Read>> = BTreeMap::new();
    for (inst, row) in (0..).map(InstId).zip(&body.insts) {
        // Whoever takes the address may read all of it.
        for operand in &row.operands {
            if let Operand::Symbol(symbol, _) = operand {
                reads.entry(*symbol).or_default().clear();
                reads.entry(*symbol).or_default().push(Read {
                    inst,
                    offset: 0,
                    bytes: u32::MAX,
                });
            }
        }
        if let Some(view) = row.as_mem()
            && view.space == Space::Param
            && let Base::Symbol(symbol) = view.address.base
        {
            let bytes = view.ty.bytes() * u32::from(view.lanes);
            reads.entry(symbol).or_default().push(Read {
                inst,
                offset: view.address.offset,
                bytes,
            });
        }
    }
    let is_own = |symbol: &SymbolId| module.function(id).params.contains(symbol);
    let own = reads.into_iter().filter(|(symbol, _)| is_own(symbol));
    own.filter_map(|(symbol, reads)| judge(context, id, body, symbol, module.variable(symbol)?, &reads))
        .collect()
}

fn judge(
    context: &Context,
    id: FuncId,
    body: &Body,
    symbol: SymbolId,
    variable: &Variable,
    reads: &[Read],
) -> Option<Diag> {
    let name = context.parsed.module.name(symbol);
    let align = variable.align.unwrap_or(variable.ty.bytes());
    if !variable.dims.is_empty() {
        // An offset that is no multiple is for MEM003.
        let wide = reads.iter().find(|read| {
            read.bytes != u32::MAX && read.bytes > align && read.offset.rem_euclid(i64::from(read.bytes)) == 0
        })?;
        let message = format!(
            "`{}` reads {} bytes at once from `{name}`, which is only aligned to {align}",
            body.insts[wide.inst.index()].op.text,
            wide.bytes
        );
        return Some(
            told(context, id, wide.inst, symbol, message).help(format!("declare it with `.align {}`", wide.bytes)),
        );
    }
    let size = variable.element_size();
    let most = reads
        .iter()
        .map(|read| read.offset.saturating_add(i64::from(read.bytes)))
        .max()?;
    if most >= i64::from(size) || size < 8 {
        return None;
    }
    let first = reads.first()?;
    let message = format!("only {most} of the {size} bytes of `{name}` are read");
    Some(told(context, id, first.inst, symbol, message).help("load it with the type that it is declared with"))
}

fn told(context: &Context, id: FuncId, inst: InstId, symbol: SymbolId, message: String) -> Diag {
    let diag = Diag::warning(RULE.code, context.span(id, inst), message);
    match context.parsed.spans.symbols.get(symbol.index()) {
        Some(span) => diag.related(*span, "declared here"),
        None => diag,
    }
}
