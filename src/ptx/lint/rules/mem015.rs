//! MEM015: a kernel asks for the dynamic shared memory it has, and no variable stands for it.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{FuncId, Inst, InstId, Linkage, Operand, Symbol, SymbolKind};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// A kernel asks for the dynamic shared memory it has, and no variable stands for it.
pub const RULE: Rule = Rule {
    code: Code::new("MEM015", "undeclared-dynamic-shared"),
    level: Level::Warning,
    summary: "A kernel asks for the dynamic shared memory it has, and no variable stands for it.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds reads of `%dynamic_smem_size` in modules that declare no `.extern .shared` array.

Dynamic shared memory lies behind the variables that are declared, and from sm_90 on the first 1024 bytes belong to the system; its address is that of
an `.extern .shared` array and nothing else. Without one it can only be reached by counting bytes (see MEM005).

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %dynamic_smem_size;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 s[];
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %dynamic_smem_size;
    mov.u32 %r2, s;
    st.shared.u32 [%r2], %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Declare it: `.extern .shared .align 16 .b8 name[];`.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let is_dynamic = |symbol: &Symbol| matches!(&symbol.kind, SymbolKind::Variable(variable) if variable.space == Space::Shared && variable.linkage == Linkage::Extern);
    if module.symbols.iter().any(is_dynamic) {
        return Vec::new();
    }
    let asks = |row: &Inst| {
        let specials = row.operands.iter();
        specials
            .into_iter()
            .any(|operand| matches!(operand, Operand::Special(special) if special.name() == "%dynamic_smem_size"))
    };
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter_map(|(id, function)| {
            let rows = (0..).map(InstId).zip(&function.body.as_ref()?.insts);
            let (inst, _) = rows.into_iter().find(|(_, row)| asks(row))?;
            let message = "this asks for the dynamic shared memory, but no `.extern .shared` array stands for it";
            let diag = Diag::warning(RULE.code, context.span(id, inst), message);
            Some(diag.help("declare it: `.extern .shared .align 16 .b8 name[];`"))
        })
        .collect()
}
