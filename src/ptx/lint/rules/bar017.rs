//! BAR017: global memory is read before `griddepcontrol.wait`.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// Global memory is read before `griddepcontrol.wait`.
pub const RULE: Rule = Rule {
    code: Code::new("BAR017", "dependent-read-before-wait"),
    level: Level::Info,
    summary: "Global memory is read before `griddepcontrol.wait`.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loads from global memory that can run before the kernel's `griddepcontrol.wait`.

With a programmatic dependent launch the kernel starts while the one before it still runs; what that one writes is there only after the wait.
Loads of data that it does not write may come first, so this is information.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    griddepcontrol.wait;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    griddepcontrol.wait;
    ld.global.u32 %r2, [%rd3];
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Move the wait in front of the first load of what the previous kernel writes.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let rows = || (0..).map(InstId).zip(&unit.body.insts);
        let waits: Vec<InstId> = rows()
            .filter(|(_, row)| &*row.op.text == "griddepcontrol.wait")
            .map(|(inst, _)| inst)
            .collect();
        let Some(wait) = waits.first() else { continue };
        let mut bits = Bits::new();
        bits.enter(1);
        waits.iter().for_each(|wait| bits.end(*wait, 1));
        let holding = bits.follow(&unit.cfg);
        let loads = |row: &Inst| row.op.effect == Effect::Load && row.op.space == Space::Global && !row.op.has("nc");
        if let Some((inst, _)) = rows()
            .filter(|(_, row)| loads(row))
            .find(|(inst, _)| holding.before(*inst) != 0)
        {
            let message =
                "this load may run before `griddepcontrol.wait`: what the previous kernel writes is not there yet";
            let diag = Diag::info(RULE.code, context.span(unit.id, inst), message)
                .related(context.span(unit.id, *wait), "the wait")
                .note("right for data that the previous kernel does not write");
            found.push(diag);
        }
    }
    found
}
