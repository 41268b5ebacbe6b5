//! ASYNC012: an asynchronous copy with a size or shared address that is not aligned as it must be.

use crate::ptx::analysis::{Place, Places, Threads, Unit};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId, Linkage, Operand};
use crate::ptx::lint::bulk::Bulk;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// An asynchronous copy with a size or shared address that is not aligned as it must be.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC012", "async-copy-alignment"),
    level: Level::Error,
    summary: "An asynchronous copy with a size or shared address that is not aligned as it must be.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds bulk copies whose size is no multiple of 16, bulk copies whose shared address is no multiple of 16, tensor copies whose shared
address is no multiple of 128, and `cp.async` whose shared address is no multiple of its size, also where the numbers come through registers.

Where the address is right only if the array happens to be placed well, the finding is a warning.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 128 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.ne.u32 %p1, %r1, 0;
    st.shared.u32 [%r4], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 200;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
DONE:
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
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 128 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.ne.u32 %p1, %r1, 0;
    st.shared.u32 [%r4], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 192;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
DONE:
    ret;
}
```
Pad the size to 16 bytes and align the array to 128.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for bulks in context.bulks() {
        let Some(unit) = context.analysis.unit(bulks.function) else {
            continue;
        };
        for copy in &bulks.copies {
            found.extend(judge(context, unit, copy));
        }
    }
    for unit in context.units() {
        found.extend(small(context, unit));
    }
    found
}

fn judge(context: &Context, unit: &Unit, copy: &Bulk) -> Option<Diag> {
    let span = context.span(unit.id, copy.inst);
    if let Some(size) = copy.size.filter(|size| size % 16 != 0) {
        return Some(
            Diag::error(
                RULE.code,
                span,
                format!("the copy moves {size} bytes, which is no multiple of 16"),
            )
            .help("round the size up to 16 bytes"),
        );
    }
    let unit_size = if copy.tensor { 128 } else { 16 };
    let threads = copy.company.as_ref()?.threads;
    misplaced(context, unit, copy.inst, copy.place.as_ref()?, unit_size, threads)
}

/// `cp.async`: the shared side is aligned to the size.
fn small(context: &Context, unit: &Unit) -> Option<Diag> {
    let is_copy = |row: &Inst| row.op.row.is_some_and(|row| row.name == "cp.async");
    unit.body.insts.iter().find(|row| is_copy(row))?;
    let mut places = Places::new(unit);
    let all = Threads::first(unit.shape.threads().unwrap_or(1));
    (0..)
        .map(InstId)
        .zip(&unit.body.insts)
        .filter(|(_, row)| is_copy(row))
        .find_map(|(inst, row)| {
            let size = row
                .operands
                .get(2)
                .and_then(Operand::as_int)
                .filter(|size| matches!(size, 4 | 8 | 16))?;
            let place = places.operand(inst, row.operands.first()?)?;
            misplaced(context, unit, inst, &place, size, all)
        })
}

fn misplaced(
    context: &Context,
    unit: &Unit,
    inst: InstId,
    place: &Place,
    wanted: i64,
    threads: Threads,
) -> Option<Diag> {
    let variable = unit.module.variable(place.symbol)?;
    let name = unit.module.name(place.symbol);
    let span = context.span(unit.id, inst);
    let alignment = i64::from(variable.alignment());
    let off = threads.iter().find_map(|thread| {
        place
            .at(thread)
            .filter(|at| at % wanted.min(alignment.max(1)) != 0)
            .map(|at| (thread, at))
    });
    if let Some((thread, at)) = off {
        let message = format!("the shared address is {at} bytes into `{name}`: it must be a multiple of {wanted}");
        return Some(
            Diag::error(RULE.code, span, message)
                .label(format!("in thread {thread}"))
                .help(format!("align it to {wanted} bytes")),
        );
    }
    let open = alignment < wanted && place.offset.is_some() && variable.linkage != Linkage::Extern;
    open.then(|| {
        let message = format!("`{name}` is aligned to {alignment} bytes only: the copy needs {wanted}");
        Diag::warning(RULE.code, span, message).help(format!("declare it with `.align {wanted}`"))
    })
}
