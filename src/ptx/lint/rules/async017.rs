//! ASYNC017: tensor memory is allocated and not given back, or in a size that does not exist.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{FunctionKind, InstId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Tensor memory is allocated and not given back, or in a size that does not exist.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC017", "tensor-memory-allocation"),
    level: Level::Error,
    summary: "Tensor memory is allocated and not given back, or in a size that does not exist.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels that allocate tensor memory (`tcgen05.alloc`) and never free it, allocations after the permit was given up, and column counts
that are no power of two from 32 to 512, also through registers.

All tensor memory must be freed before the kernel ends; what is left over is lost to the next CTA on the processor.

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
    tcgen05.wait::ld.sync.aligned;
    st.global.u32 [%rd3], %r4;
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
Free what you allocate, with the same number of columns, in the warp that allocated it.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        let named = |name: &'static str| {
            let rows = (0..).map(InstId).zip(&unit.body.insts);
            rows.filter(move |(_, row)| row.op.text.starts_with(name))
                .map(|(inst, _)| inst)
                .collect::<Vec<InstId>>()
        };
        let allocations = named("tcgen05.alloc");
        let Some(first) = allocations.first().copied() else {
            continue;
        };
        let alone = unit.function().kind == FunctionKind::Entry
            && !unit.body.insts.iter().any(|row| row.op.effect == Effect::Call);
        if alone && named("tcgen05.dealloc").is_empty() {
            let message = "tensor memory is allocated and never freed";
            found.push(
                Diag::error(RULE.code, context.span(unit.id, first), message)
                    .help("free it with `tcgen05.dealloc` before the kernel ends"),
            );
        }
        found.extend(allocations.iter().filter_map(|inst| columns(context, unit, *inst)));
        let mut bits = Bits::new();
        named("tcgen05.relinquish_alloc_permit")
            .iter()
            .for_each(|inst| bits.start(*inst, 1));
        let holding = bits.follow(&unit.cfg);
        if let Some(inst) = allocations.iter().find(|inst| holding.before(**inst) != 0) {
            let message = "tensor memory is allocated after the permit to allocate was given up";
            found.push(
                Diag::error(RULE.code, context.span(unit.id, *inst), message)
                    .help("allocate before `tcgen05.relinquish_alloc_permit`"),
            );
        }
    }
    found
}

fn columns(context: &Context, unit: &Unit, inst: InstId) -> Option<Diag> {
    let operand = unit.body.insts[inst.index()].operands.get(1)?;
    let columns = unit.evaluator().operand(inst, operand)?.constant()? & 0xffff_ffff;
    (!columns.is_power_of_two() || !(32..=512).contains(&columns)).then(|| {
        let message = format!(
            "{columns} columns of tensor memory cannot be allocated: the number must be a power of two from 32 to 512"
        );
        Diag::error(RULE.code, context.span(unit.id, inst), message)
    })
}
