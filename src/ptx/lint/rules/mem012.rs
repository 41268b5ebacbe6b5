//! MEM012: an access that a parameter's `.ptr` rules out.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Address, Base, Body, FuncId, Inst, InstId, Module, RegId, SymbolId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// An access that a parameter's `.ptr` rules out.
pub const RULE: Rule = Rule {
    code: Code::new("MEM012", "pointer-contract"),
    level: Level::Warning,
    summary: "An access that a parameter's `.ptr` rules out.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses through a pointer whose parameter says, with `.ptr`, that it points into another state space: a store through a pointer to
`.const`, an access to `.shared` through a pointer to `.global`.

`.ptr` is a promise that the assembler may use; what breaks it reads or writes something else, or faults.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .const .align 4 data)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 data)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
State the space that the pointer has, or access it as stated.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter(|(_, function)| function.params.iter().any(|param| promised(module, *param).is_some()))
        .flat_map(|(id, function)| function.body.iter().flat_map(move |body| broken(context, id, body)))
        .collect()
}

/// The space that a parameter promises to point into.
fn promised(module: &Module, param: SymbolId) -> Option<Space> {
    let variable = module.variable(param)?;
    let pointer = variable
        .attributes
        .iter()
        .find(|attribute| attribute.contains(".ptr"))?;
    let words = || pointer.split_whitespace();
    [Space::Global, Space::Shared, Space::Local, Space::Const]
        .into_iter()
        .find(|space| words().any(|word| word.strip_prefix('.') == Some(space.name())))
}

fn broken(context: &Context, id: FuncId, body: &Body) -> Vec<Diag> {
    let module = &context.parsed.module;
    // Registers that are written once, and point where a parameter does.
    let mut points: FxHashMap<RegId, Option<(SymbolId, Space)>> = FxHashMap::default();
    let mut found: Vec<Diag> = Vec::new();
    for (inst, row) in (0..).map(InstId).zip(&body.insts) {
        if let Some(view) = row.as_mem()
            && let Base::Reg(reg) = view.address.base
            && let Some((param, space)) = points.get(&reg).copied().flatten()
            && view.space != Space::Param
        {
            found.extend(judge(context, id, inst, row, (param, space)));
        }
        let made = match (row.op.base(), row.op.space) {
            ("ld", Space::Param) => row.as_mem().and_then(|view| match view.address {
                Address {
                    base: Base::Symbol(symbol),
                    offset: 0,
                } => Some((*symbol, promised(module, *symbol)?)),
                _ => None,
            }),
            ("add" | "mov" | "cvta", _) => row
                .operands
                .get(1)
                .and_then(|operand| points.get(&operand.as_reg()?).copied().flatten()),
            _ => None,
        };
        row.defs(&mut |reg| {
            points.entry(reg).and_modify(|known| *known = None).or_insert(made);
        });
    }
    found
}

fn judge(context: &Context, id: FuncId, inst: InstId, row: &Inst, (param, space): (SymbolId, Space)) -> Option<Diag> {
    let view = row.as_mem()?;
    let other = view.space != Space::Generic && view.space != space;
    let written = view.writes && space == Space::Const;
    if !other && !written {
        return None;
    }
    let message = format!(
        "`{}` goes through `{}`, which promises to point into .{}",
        row.op.text,
        context.parsed.module.name(param),
        space.name()
    );
    let diag = Diag::warning(RULE.code, context.span(id, inst), message);
    let diag = match context.parsed.spans.symbols.get(param.index()) {
        Some(span) => diag.related(*span, "promised here"),
        None => diag,
    };
    Some(diag.help("state the space that the pointer has, or access it as stated"))
}
