//! FLOW004: a shared or local variable that is read and never written.

use crate::ptx::analysis::Objects;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// A shared or local variable that is read and never written.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW004", "never-written-variable"),
    level: Level::Info,
    summary: "A shared or local variable that is read and never written.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds variables in shared or local memory that loads read though nothing in the module can have written them: no store, atomic or copy reaches
them, and nobody gets their address.

Shared and local memory start with whatever was left there; only `.global` and `.const` variables have initial values. A variable counts
as written as soon as something might write it: its address is passed on, or shared memory is stored to through an address of unknown origin.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 tile[128];
    ld.param.u64 %rd1, [out];
    ld.shared.u32 %r1, [tile+4];
    st.global.u32 [%rd1], %r1;
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
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 tile[128];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, 5;
    st.shared.u32 [tile+4], %r2;
    ld.shared.u32 %r1, [tile+4];
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Store to the variable first; check that stores that were meant for it name it.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let objects = Objects::new(module, context.codes());
    let say = |(symbol, function, inst)| {
        let name = module.name(symbol);
        let space = module.variable(symbol).map_or("", |variable| variable.space.name());
        let declared = context
            .parsed
            .spans
            .symbols
            .get(symbol.index())
            .copied()
            .unwrap_or_default();
        // What is in shared memory may have been left there on purpose, by a kernel that ran before or a test of one instruction.
        let level = if space == Space::Local.name() {
            Level::Warning
        } else {
            Level::Info
        };
        Diag::new(
            RULE.code,
            level,
            context.span(function, inst),
            format!("`{name}` is read here, and nothing ever writes it"),
        )
        .related(declared, "it is declared here")
        .note(format!("a variable in .{space} memory has no initial value"))
        .help(format!("store to `{name}` before it is read"))
    };
    objects.never_written().into_iter().map(say).collect()
}
