//! Warpgroup matrix instructions (`wgmma`).

use super::Effect::Async;
use super::{Row, Sets, row};

const WGMMA: Sets = &[
    (
        "k8",
        "m64n8k8 m64n16k8 m64n24k8 m64n32k8 m64n40k8 m64n48k8 m64n56k8 m64n64k8 m64n72k8 m64n80k8 m64n88k8 m64n96k8 m64n104k8 m64n112k8 m64n120k8 m64n128k8 m64n136k8 m64n144k8 m64n152k8 m64n160k8 m64n168k8 m64n176k8 m64n184k8 m64n192k8 m64n200k8 m64n208k8 m64n216k8 m64n224k8 m64n232k8 m64n240k8 m64n248k8 m64n256k8",
    ),
    (
        "k16",
        "m64n8k16 m64n16k16 m64n24k16 m64n32k16 m64n40k16 m64n48k16 m64n56k16 m64n64k16 m64n72k16 m64n80k16 m64n88k16 m64n96k16 m64n104k16 m64n112k16 m64n120k16 m64n128k16 m64n136k16 m64n144k16 m64n152k16 m64n160k16 m64n168k16 m64n176k16 m64n184k16 m64n192k16 m64n200k16 m64n208k16 m64n216k16 m64n224k16 m64n232k16 m64n240k16 m64n248k16 m64n256k16",
    ),
    (
        "k32",
        "m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n40k32 m64n48k32 m64n56k32 m64n64k32 m64n72k32 m64n80k32 m64n88k32 m64n96k32 m64n104k32 m64n112k32 m64n120k32 m64n128k32 m64n136k32 m64n144k32 m64n152k32 m64n160k32 m64n168k32 m64n176k32 m64n184k32 m64n192k32 m64n200k32 m64n208k32 m64n216k32 m64n224k32 m64n232k32 m64n240k32 m64n248k32 m64n256k32",
    ),
    (
        "k64",
        "m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n40k64 m64n48k64 m64n56k64 m64n64k64 m64n72k64 m64n80k64 m64n88k64 m64n96k64 m64n104k64 m64n112k64 m64n120k64 m64n128k64 m64n136k64 m64n144k64 m64n152k64 m64n160k64 m64n168k64 m64n176k64 m64n184k64 m64n192k64 m64n200k64 m64n208k64 m64n216k64 m64n224k64 m64n232k64 m64n240k64 m64n248k64 m64n256k64",
    ),
    (
        "i32",
        "m64n8k32 m64n16k32 m64n24k32 m64n32k32 m64n48k32 m64n64k32 m64n80k32 m64n96k32 m64n112k32 m64n128k32 m64n144k32 m64n160k32 m64n176k32 m64n192k32 m64n208k32 m64n224k32 m64n240k32 m64n256k32",
    ),
    (
        "i64",
        "m64n8k64 m64n16k64 m64n24k64 m64n32k64 m64n48k64 m64n64k64 m64n80k64 m64n96k64 m64n112k64 m64n128k64 m64n144k64 m64n160k64 m64n176k64 m64n192k64 m64n208k64 m64n224k64 m64n240k64 m64n256k64",
    ),
    (
        "i256",
        "m64n8k256 m64n16k256 m64n24k256 m64n32k256 m64n48k256 m64n64k256 m64n80k256 m64n96k256 m64n112k256 m64n128k256 m64n144k256 m64n160k256 m64n176k256 m64n192k256 m64n208k256 m64n224k256 m64n240k256 m64n256k256",
    ),
    ("fp8a", "e4m3 e5m2"),
    ("fp8b", "e4m3 e5m2"),
    ("atype", "s8 u8"),
    ("btype", "s8 u8"),
];

/// Forms whose `a` is a descriptor come first: a register there is 64 bits wide, a fragment is a vector.
pub(super) static ROWS: &[Row] = &[
    row(
        "wgmma.group",
        Async,
        &[],
        &[
            "wgmma.fence.sync{.aligned} @8.0,sm_90a",
            "wgmma.commit_group.sync{.aligned} @8.0,sm_90a",
            "wgmma.wait_group.sync{.aligned} n:imm @8.0,sm_90a",
        ],
        &[
            "wgmma.fence.sync.aligned;",
            "wgmma.commit_group.sync.aligned;",
            "wgmma.wait_group.sync.aligned 0;",
        ],
    ),
    row(
        "wgmma.mma_async",
        Async,
        WGMMA,
        &[
            "wgmma.mma_async.sync{.aligned}.k16.f32.f16.f16 +d:frag/f32/xn2, a:u64, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, ta:imm/0..1, tb:imm/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k16.f32.f16.f16 +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, tb:imm/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k16.f16.f16.f16 +d:frag/f16x2/xn4, a:u64, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, ta:imm/0..1, tb:imm/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k16.f16.f16.f16 +d:frag/f16x2/xn4, a:frag/f16x2/x4, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, tb:imm/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k16.f32.bf16.bf16 +d:frag/f32/xn2, a:u64, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, ta:imm/0..1, tb:imm/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k16.f32.bf16.bf16 +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, tb:imm/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k8.f32.tf32.tf32 +d:frag/f32/xn2, a:u64, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k8.f32.tf32.tf32 +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k32.f32.fp8a.fp8b +d:frag/f32/xn2, a:u64, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k32.f32.fp8a.fp8b +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k32.f16.fp8a.fp8b +d:frag/f16x2/xn4, a:u64, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.k32.f16.fp8a.fp8b +d:frag/f16x2/xn4, a:frag/f16x2/x4, b:u64, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i32{.satfinite}.s32.s8.s8 +d:frag/s32/xn2, a:u64, b:u64, {!}scale:pred/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i32{.satfinite}.s32.u8.u8 +d:frag/s32/xn2, a:u64, b:u64, {!}scale:pred/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i32{.satfinite}.s32.atype.btype +d:frag/s32/xn2, a:u64, b:u64, {!}scale:pred/0..1 @8.4,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i32{.satfinite}.s32.s8.s8 +d:frag/s32/xn2, a:frag/b32/x4, b:u64, {!}scale:pred/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i32{.satfinite}.s32.u8.u8 +d:frag/s32/xn2, a:frag/b32/x4, b:u64, {!}scale:pred/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i32{.satfinite}.s32.atype.btype +d:frag/s32/xn2, a:frag/b32/x4, b:u64, {!}scale:pred/0..1 @8.4,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i256.s32.b1.b1.and.popc +d:frag/s32/xn2, a:u64, b:u64, {!}scale:pred/0..1 @8.0,sm_90a",
            "wgmma.mma_async.sync{.aligned}.i256.s32.b1.b1.and.popc +d:frag/s32/xn2, a:frag/b32/x4, b:u64, {!}scale:pred/0..1 @8.0,sm_90a",
        ],
        &[
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 1;",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd2, 1, 1, -1, 0;",
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1;",
        ],
    ),
    row(
        "wgmma.mma_async.sp",
        Async,
        WGMMA,
        &[
            "wgmma.mma_async.sp.sync{.aligned}.k32.f32.f16.f16 +d:frag/f32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, ta:imm/0..1, tb:imm/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k32.f32.f16.f16 +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, tb:imm/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k32.f16.f16.f16 +d:frag/f16x2/xn4, a:u64, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, ta:imm/0..1, tb:imm/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k32.f16.f16.f16 +d:frag/f16x2/xn4, a:frag/f16x2/x4, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, tb:imm/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k32.f32.bf16.bf16 +d:frag/f32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, ta:imm/0..1, tb:imm/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k32.f32.bf16.bf16 +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1, tb:imm/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k16.f32.tf32.tf32 +d:frag/f32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k16.f32.tf32.tf32 +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, meta:b32/reg, sel:imm/0..1, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k64.f32.fp8a.fp8b +d:frag/f32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k64.f32.fp8a.fp8b +d:frag/f32/xn2, a:frag/f16x2/x4, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k64.f16.fp8a.fp8b +d:frag/f16x2/xn4, a:u64, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.k64.f16.fp8a.fp8b +d:frag/f16x2/xn4, a:frag/f16x2/x4, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1, ia:imm/-1_1, ib:imm/-1_1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.i64{.satfinite}.s32.s8.s8 +d:frag/s32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.i64{.satfinite}.s32.u8.u8 +d:frag/s32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.i64{.satfinite}.s32.atype.btype +d:frag/s32/xn2, a:u64, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1 @8.4,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.i64{.satfinite}.s32.s8.s8 +d:frag/s32/xn2, a:frag/b32/x4, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.i64{.satfinite}.s32.u8.u8 +d:frag/s32/xn2, a:frag/b32/x4, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1 @8.2,sm_90a",
            "wgmma.mma_async.sp.sync{.aligned}.i64{.satfinite}.s32.atype.btype +d:frag/s32/xn2, a:frag/b32/x4, b:u64, meta:b32/reg, sel:imm/0..0, {!}scale:pred/0..1 @8.4,sm_90a",
        ],
        &[
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0;",
        ],
    ),
];
