//! RACE011: what `wmma.store` has written is read by other lanes before they meet.

use crate::ptx::analysis::Places;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// What `wmma.store` has written is read by other lanes before they meet.
pub const RULE: Rule = Rule {
    code: Code::new("RACE011", "fragment-race"),
    level: Level::Warning,
    summary: "What `wmma.store` has written to shared memory is read with nothing that lets the lanes meet.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loads from a shared array that `wmma.store` has written, with no `bar.warp.sync` or `bar.sync` on the way. Which lane writes which
element of a fragment is not said, so the element that a lane reads was in general written by another lane; and the lanes of a warp do
not run in step. Executing `wmma.store` together does not order its stores before the loads of other lanes.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .b32 %r<8>;
    .reg .f32 %f<12>;
    .reg .b64 %rd<4>;
    .shared .align 32 .b8 tile[1024];
    mov.f32 %f1, 0f00000000;
    mov.u32 %r1, tile;
    wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 2;
    add.u32 %r4, %r1, %r3;
    ld.shared.f32 %f2, [%r4];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .b32 %r<8>;
    .reg .f32 %f<12>;
    .reg .b64 %rd<4>;
    .shared .align 32 .b8 tile[1024];
    mov.f32 %f1, 0f00000000;
    mov.u32 %r1, tile;
    wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};
    bar.warp.sync 0xffffffff;
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 2;
    add.u32 %r4, %r1, %r3;
    ld.shared.f32 %f2, [%r4];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;
}
```
Put `bar.warp.sync` between the store and the loads; `bar.sync` where other warps read, too.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    let stores_any = |row: &Inst| is_store(row);
    for unit in context.units().filter(|unit| unit.body.insts.iter().any(stores_any)) {
        let mut places = Places::new(unit);
        let mut array = |inst: InstId, row: &Inst| -> Option<SymbolId> {
            let is_address = |operand: &&Operand| matches!(operand, Operand::Address(_));
            let place = places.operand(inst, row.operands.iter().find(is_address)?)?;
            Some(place.symbol)
        };
        let insts = || (0..).map(InstId).zip(&unit.body.insts);
        let stores: Vec<(InstId, SymbolId)> = insts()
            .filter(|(_, row)| is_store(row))
            .filter_map(|(inst, row)| Some((inst, array(inst, row)?)))
            .take(64)
            .collect();
        let mut bits = Bits::new();
        for ((inst, _), at) in stores.iter().zip(0u32..) {
            bits.start(*inst, 1 << at);
        }
        for (inst, row) in insts() {
            let meets = row.op.effect == Effect::Barrier || row.op.base() == "bar" || row.op.effect == Effect::Call;
            if meets {
                bits.end(inst, u64::MAX);
            }
        }
        let holding = bits.follow(&unit.cfg);
        let mut told = 0u64;
        for (inst, row) in insts() {
            let reads = row.op.effect == Effect::Load && row.op.base() == "ld" && row.op.space == Space::Shared;
            let open = if reads { holding.before(inst) & !told } else { 0 };
            let symbol = if open == 0 { None } else { array(inst, row) };
            let written = stores
                .iter()
                .zip(0u32..)
                .find(|((_, of), at)| open >> at & 1 == 1 && Some(*of) == symbol);
            if let Some(((store, _), at)) = written {
                told |= 1 << at;
                let message =
                    "lanes read what other lanes write by `wmma.store`, and nothing lets them meet in between";
                found.push(
                    Diag::warning(RULE.code, context.span(unit.id, inst), message)
                        .related(context.span(unit.id, *store), "the fragment is stored here")
                        .help("put `bar.warp.sync 0xffffffff;` between them"),
                );
            }
        }
    }
    found
}

/// Whether it stores a fragment to shared memory.
fn is_store(row: &Inst) -> bool {
    row.op.base() == "wmma" && row.op.has("store") && row.op.space == Space::Shared
}
