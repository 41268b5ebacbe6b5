//! PERF003: lanes of a warp that meet in the same banks of shared memory.

use super::accesses::{Access, accesses, stride};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// Lanes of a warp that meet in the same banks of shared memory.
pub const RULE: Rule = Rule {
    code: Code::new("PERF003", "bank-conflicts"),
    level: Level::Info,
    summary: "Lanes of a warp that meet in the same banks of shared memory.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds accesses to shared memory where lanes of one warp want different words of one bank. The addresses of all lanes are computed from
`%tid`; a base that is alike in all lanes does not matter. One finding for a function, at the worst access.

Shared memory has 32 banks of 4 bytes; what meets in one bank is done one after the other. Accesses of 8 bytes are done by half
warps, those of 16 bytes by quarter warps.

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
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 7;
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    st.shared.f32 [%r3], %f1;
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
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    st.shared.f32 [%r3], %f1;
    ret;
}
```
Pad the rows by one element, or swizzle the column with the row.
";

/// Banks of shared memory.
const BANKS: i64 = 32;

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let of_shared = accesses(context, code, Space::Shared);
        let degrees = of_shared
            .map(|access| (degree(access), access))
            .filter(|(degree, _)| *degree > 1);
        let mut degrees: Vec<(usize, &Access)> = degrees.collect();
        degrees.sort_by_key(|(degree, access)| (std::cmp::Reverse(*degree), access.inst));
        let Some((worst, access)) = degrees.first() else {
            continue;
        };
        let opcode = &code.body.insts[access.inst.index()].op.text;
        let message = format!("`{opcode}` is done in {worst} steps: {worst} lanes want different words of one bank");
        let mut diag = Diag::info(RULE.code, context.span(code.id, access.inst), message);
        if let Some(stride) = stride(access) {
            diag = diag.note(format!("neighbouring lanes are {stride} bytes apart"));
        }
        found.push(access.assume(degrees.len() - 1, "bank conflicts", diag));
    }
    found
}

/// The most words of one bank that the lanes of one step want.
fn degree(access: &Access) -> usize {
    let lanes_a_step = match access.bytes {
        ..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    let lanes: Vec<usize> = access.lanes().collect();
    let steps = (0..32).step_by(lanes_a_step).map(|first| {
        let step = lanes
            .iter()
            .filter(|lane| (first..first + lanes_a_step).contains(*lane));
        let mut words: Vec<i64> = step.flat_map(|lane| access.words(*lane)).collect();
        words.sort_unstable();
        words.dedup();
        let in_bank = |bank: i64| words.iter().filter(|word| word.rem_euclid(BANKS) == bank).count();
        (0..BANKS).map(in_bank).max().unwrap_or(0)
    });
    steps.max().unwrap_or(0)
}
