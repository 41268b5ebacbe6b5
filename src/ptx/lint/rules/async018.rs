//! ASYNC018: what `tcgen05.ld` loads is used before `tcgen05.wait::ld`, or a multiplication is never committed.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{FunctionKind, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::copies::{Touch, tensor};
use crate::ptx::lint::rule::Rule;

/// What `tcgen05.ld` loads is used before `tcgen05.wait::ld`, or a multiplication is never committed.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC018", "tensor-load-not-awaited"),
    level: Level::Error,
    summary: "What `tcgen05.ld` loads is used before `tcgen05.wait::ld`, or a multiplication is never committed.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds registers that `tcgen05.ld` fills and that are used before a `tcgen05.wait::ld`, and kernels that multiply with `tcgen05.mma` and
read the result without any `tcgen05.commit`.

Loads from tensor memory are asynchronous: the registers are filled when the wait returns. Multiplications are complete when the mbarrier
of a later `tcgen05.commit` completes its phase.

Fails:
```ptx
.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b32 slot;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, slot;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 64;
    bar.sync 0;
    ld.shared.u32 %r3, [slot];
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
    st.global.u32 [%rd3], %r4;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;
    ret;
}
```
Clean:
```ptx
.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b32 slot;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, slot;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 64;
    bar.sync 0;
    ld.shared.u32 %r3, [slot];
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
    tcgen05.wait::ld.sync.aligned;
    st.global.u32 [%rd3], %r4;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;
    ret;
}
```
Put `tcgen05.wait::ld.sync.aligned` between the load and the first use.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        if let Some(late) = tensor(unit).into_iter().find(|late| late.touch == Touch::Read) {
            let name = unit.body.regs.get(late.reg.index()).map_or("", |reg| reg.name.as_str());
            let message = format!("`{name}` is used before `tcgen05.wait::ld`: it may not be loaded yet");
            let diag = Diag::error(RULE.code, context.span(unit.id, late.user), message)
                .related(context.span(unit.id, late.work), "the load from tensor memory")
                .help("add `tcgen05.wait::ld.sync.aligned` before the first use");
            found.push(diag);
        }
        found.extend(uncommitted(context, unit));
    }
    found
}

fn uncommitted(context: &Context, unit: &Unit) -> Option<Diag> {
    let first = |name: &str| unit.body.insts.iter().position(|row| row.op.text.starts_with(name));
    let work = first("tcgen05.mma")?;
    let alone =
        unit.function().kind == FunctionKind::Entry && !unit.body.insts.iter().any(|row| row.op.effect == Effect::Call);
    (alone && first("tcgen05.ld").is_some() && first("tcgen05.commit").is_none()).then(|| {
        let message = "the result of this multiplication is read, and no `tcgen05.commit` tells when it is complete";
        Diag::error(RULE.code, context.span(unit.id, InstId(work as u32)), message)
            .help("commit to an mbarrier with `tcgen05.commit` and wait for its phase before `tcgen05.ld`")
    })
}
