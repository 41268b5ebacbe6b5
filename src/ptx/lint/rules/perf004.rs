//! PERF004: lanes of a warp that spread over more sectors of memory than they need.

use super::accesses::{Access, accesses, stride};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// Lanes of a warp that spread over more sectors of memory than they need.
pub const RULE: Rule = Rule {
    code: Code::new("PERF004", "uncoalesced-access"),
    level: Level::Info,
    summary: "Lanes of a warp that spread over more sectors of memory than they need.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses to global memory for which a warp needs at least twice as many sectors of 32 bytes as its data fills. The addresses of all
lanes are computed from `%tid`; a base that is alike in all lanes is taken to be aligned. One finding for a function, at the worst access.

Memory is moved in whole sectors: what is moved beside the data is lost, unless other accesses find it in the cache.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 64;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
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
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
    ret;
}
```
Let neighbouring lanes access neighbouring elements: swap the loops, or stage a tile in shared memory.
";

/// Bytes of a sector.
const SECTOR: i64 = 32;

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let of_global = accesses(context, code, Space::Global);
        let costs = of_global.map(|access| (sectors(access), needed(access), access));
        let mut costs: Vec<(usize, usize, &Access)> =
            costs.filter(|(sectors, needed, _)| *sectors >= 2 * needed).collect();
        costs.sort_by_key(|(sectors, needed, access)| (std::cmp::Reverse(sectors * 32 / needed), access.inst));
        let Some((sectors, needed, access)) = costs.first() else {
            continue;
        };
        let opcode = &code.body.insts[access.inst.index()].op.text;
        let message = format!("a warp's `{opcode}` moves {sectors} sectors of 32 bytes for data that fills {needed}");
        let mut diag = Diag::info(RULE.code, context.span(code.id, access.inst), message);
        if let Some(stride) = stride(access) {
            diag = diag.note(format!(
                "neighbouring lanes are {stride} bytes apart, and each accesses {}",
                access.bytes
            ));
        }
        found.push(access.assume(costs.len() - 1, "uncoalesced accesses", diag));
    }
    found
}

/// The sectors that a warp's lanes touch.
fn sectors(access: &Access) -> usize {
    let touched = access
        .lanes()
        .flat_map(|lane| access.words(lane))
        .map(|word| (word * 4).div_euclid(SECTOR));
    let mut touched: Vec<i64> = touched.collect();
    touched.sort_unstable();
    touched.dedup();
    touched.len()
}

/// The sectors that the data would fill, side by side. Lanes with one address need their data once.
fn needed(access: &Access) -> usize {
    let mut starts: Vec<i64> = access.lanes().map(|lane| access.at(lane)).collect();
    starts.sort_unstable();
    starts.dedup();
    (starts.len() * access.bytes as usize).div_ceil(SECTOR as usize).max(1)
}
