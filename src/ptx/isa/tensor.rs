//! Fifth-generation tensor core instructions (`tcgen05`).

use super::Effect::Async;
use super::{Row, Sets, row};

const TCGEN05: Sets = &[
    ("group", "cta_group::1 cta_group::2"),
    ("num", "x1 x2 x4 x8 x16 x32 x64 x128"),
    ("num64", "x1 x2 x4 x8 x16 x32 x64"),
    ("num32", "x1 x2 x4 x8 x16 x32"),
    ("numr", "x2 x4 x8 x16 x32 x64 x128"),
    ("order", "min max"),
    ("word", "u32 s32"),
    ("shape", "128x256b 4x256b 128x128b"),
    ("warps", "warpx2::02_13 warpx2::01_23"),
    ("src", "b6x16_p32 b4x16_p64"),
    (
        "kind",
        "kind::f16 kind::tf32 kind::f8f6f4 kind::i8@sm_100a/sm_101a/sm_110a",
    ),
    ("kf", "kind::f16 kind::tf32"),
    ("scale1", "scale_vec::1X@sm_100a/sm_101a/sm_103a/sm_110a block32@8.8"),
    ("scale2", "scale_vec::2X@sm_100a/sm_101a/sm_103a/sm_110a block32@8.8"),
    (
        "scale4",
        "scale_vec::2X@sm_100a/sm_101a/sm_103a/sm_110a scale_vec::4X@sm_100a/sm_101a/sm_103a/sm_110a block16@8.8 block32@8.8",
    ),
    (
        "collect",
        "collector::a::fill collector::a::use collector::a::lastuse collector::a::discard",
    ),
    (
        "collectb",
        "collector::b0::fill collector::b0::use collector::b0::lastuse collector::b0::discard collector::b1::fill collector::b1::use collector::b1::lastuse collector::b1::discard collector::b2::fill collector::b2::use collector::b2::lastuse collector::b2::discard collector::b3::fill collector::b3::use collector::b3::lastuse collector::b3::discard",
    ),
];

pub(super) static ROWS: &[Row] = &[
    row(
        "tcgen05.alloc",
        Async,
        TCGEN05,
        &[
            "tcgen05.alloc.group.sync.aligned{.shared::cta}.b32 [to], columns:u32/32..512/%32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.dealloc.group.sync.aligned.b32 address:u32, columns:u32/32..512/%32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.relinquish_alloc_permit.group.sync.aligned @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &[
            "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;",
            "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
        ],
    ),
    row(
        "tcgen05.ld",
        Async,
        TCGEN05,
        &[
            "tcgen05.ld.sync.aligned.32x32b.num{.pack::16b}.b32 d:frag/b32/x1num, [a:u32] @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.ld.sync.aligned.16x64b.num{.pack::16b}.b32 d:frag/b32/x1num, [a:u32] @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.ld.sync.aligned.16x128b.num64{.pack::16b}.b32 d:frag/b32/x2num64, [a:u32] @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.ld.sync.aligned.16x256b.num32{.pack::16b}.b32 d:frag/b32/x4num32, [a:u32] @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32 d:frag/b32/x1num, [a:u32], half:imm @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &[
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];",
            "tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r1, %r2, %r3, %r4}, [%r5];",
            "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r3], 4;",
        ],
    ),
    row(
        "tcgen05.ld.red",
        Async,
        TCGEN05,
        &[
            "tcgen05.ld.red.sync.aligned.32x32b.numr.order{.abs}{.NaN}.f32 d:frag/f32/x1numr, =red:f32, [a:u32] @8.8,sm_103a/sm_103f/sm_110f",
            "tcgen05.ld.red.sync.aligned.32x32b.numr.order.word d:frag/word/x1numr, =red:b32, [a:u32] @8.8,sm_103a/sm_103f/sm_110f",
            "tcgen05.ld.red.sync.aligned.16x32bx2.numr.order{.abs}{.NaN}.f32 d:frag/f32/x1numr, =red:f32, [a:u32], half:imm @8.8,sm_103a/sm_103f/sm_110f",
            "tcgen05.ld.red.sync.aligned.16x32bx2.numr.order.word d:frag/word/x1numr, =red:b32, [a:u32], half:imm @8.8,sm_103a/sm_103f/sm_110f",
        ],
        &["tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%f1, %f2}, %f3, [%r1];"],
    ),
    row(
        "tcgen05.st",
        Async,
        TCGEN05,
        &[
            "tcgen05.st.sync.aligned.32x32b.num{.unpack::16b}.b32 [a:u32], r:frag/b32/x1num @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.st.sync.aligned.16x64b.num{.unpack::16b}.b32 [a:u32], r:frag/b32/x1num @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.st.sync.aligned.16x128b.num64{.unpack::16b}.b32 [a:u32], r:frag/b32/x2num64 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.st.sync.aligned.16x256b.num32{.unpack::16b}.b32 [a:u32], r:frag/b32/x4num32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [a:u32], half:imm, r:frag/b32/x1num @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &[
            "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3], {%r1, %r2};",
            "tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r3], 4, {%r1};",
        ],
    ),
    row(
        "tcgen05.wait",
        Async,
        &[("what", "wait::ld wait::st")],
        &["tcgen05.what.sync.aligned @8.6,sm_100a/sm_100f/sm_110f"],
        &["tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"],
    ),
    row(
        "tcgen05.cp",
        Async,
        TCGEN05,
        &[
            "tcgen05.cp.group.shape [to:u32], from:u64 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.cp.group.shape.b8x16.src [to:u32], from:u64 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.cp.group.64x128b.warps [to:u32], from:u64 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.cp.group.64x128b.warps.b8x16.src [to:u32], from:u64 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.cp.group.32x128b.warpx4 [to:u32], from:u64 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.cp.group.32x128b.warpx4.b8x16.src [to:u32], from:u64 @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &[
            "tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;",
            "tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b6x16_p32 [%r1], %rd1;",
        ],
    ),
    row(
        "tcgen05.shift",
        Async,
        TCGEN05,
        &["tcgen05.shift.group.down [a:u32] @8.6,sm_100a/sm_101a/sm_103a/sm_110a"],
        &["tcgen05.shift.cta_group::1.down [%r1];"],
    ),
    row(
        "tcgen05.mma",
        Async,
        TCGEN05,
        &[
            "tcgen05.mma.group.kind{.collect} [to:b32/exact], a:u64, b:u64, idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kf{.collect} [to:b32/exact], a:u64, b:u64, idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32, scale:imm/0..15{, more:imm} @8.6,sm_100a/sm_100f",
            "tcgen05.mma.group.kind::mxf8f6f4.block_scale{.scale1}{.collect} [to:b32/exact], a:u64, b:u64, idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kind::mxf4.block_scale{.scale2}{.collect} [to:b32/exact], a:u64, b:u64, idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kind::mxf4nvf4.block_scale.scale4{.collect} [to:b32/exact], a:u64, b:u64, idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.7,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kind{.ashift}{.collect} [to:b32/exact], [a:b32/exact], b:u64, idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kf{.ashift}{.collect} [to:b32/exact], [a:b32/exact], b:u64, idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32, scale:imm/0..15{, more:imm} @8.6,sm_100a/sm_100f",
            "tcgen05.mma.group.kind::mxf8f6f4.block_scale{.scale1}{.collect} [to:b32/exact], [a:b32/exact], b:u64, idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kind::mxf4.block_scale{.scale2}{.collect} [to:b32/exact], [a:b32/exact], b:u64, idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.group.kind::mxf4nvf4.block_scale.scale4{.collect} [to:b32/exact], [a:b32/exact], b:u64, idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.7,sm_100a/sm_100f/sm_110f",
        ],
        &[
            "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
            "tcgen05.mma.cta_group::1.kind::tf32.collector::a::fill [%r1], [%r3], %rd2, %r2, {%r4, %r5, %r6, %r7}, %p1, 0;",
            "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
        ],
    ),
    row(
        "tcgen05.mma.sp",
        Async,
        TCGEN05,
        &[
            "tcgen05.mma.sp.group.kind{.collect} [to:b32/exact], a:u64, b:u64, [meta:b32/exact], idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.sp.group.kf{.collect} [to:b32/exact], a:u64, b:u64, [meta:b32/exact], idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32, scale:imm/0..15{, more:imm} @8.6,sm_100a/sm_100f",
            "tcgen05.mma.sp.group.kind::mxf8f6f4.block_scale{.scale1}{.collect} [to:b32/exact], a:u64, b:u64, [meta:b32/exact], idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.sp.group.kind::mxf4.block_scale{.scale2}{.collect} [to:b32/exact], a:u64, b:u64, [meta:b32/exact], idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_101a/sm_103a/sm_110a",
            "tcgen05.mma.sp.group.kind::mxf4nvf4.block_scale.scale4{.collect} [to:b32/exact], a:u64, b:u64, [meta:b32/exact], idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.7,sm_100a/sm_101a/sm_103a/sm_110a",
            "tcgen05.mma.sp.group.kind{.ashift}{.collect} [to:b32/exact], [a:b32/exact], b:u64, [meta:b32/exact], idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.sp.group.kf{.ashift}{.collect} [to:b32/exact], [a:b32/exact], b:u64, [meta:b32/exact], idesc:u32{, lanes:frag/b32}, {!}input:pred/0..32, scale:imm/0..15{, more:imm} @8.6,sm_100a/sm_100f",
            "tcgen05.mma.sp.group.kind::mxf8f6f4.block_scale{.scale1}{.collect} [to:b32/exact], [a:b32/exact], b:u64, [meta:b32/exact], idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.sp.group.kind::mxf4.block_scale{.scale2}{.collect} [to:b32/exact], [a:b32/exact], b:u64, [meta:b32/exact], idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.6,sm_100a/sm_101a/sm_103a/sm_110a",
            "tcgen05.mma.sp.group.kind::mxf4nvf4.block_scale.scale4{.collect} [to:b32/exact], [a:b32/exact], b:u64, [meta:b32/exact], idesc:u32, [sa:b32/exact], [sb:b32/exact], {!}input:pred/0..32 @8.7,sm_100a/sm_101a/sm_103a/sm_110a",
        ],
        &["tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r7], %r2, %p1;"],
    ),
    row(
        "tcgen05.mma.ws",
        Async,
        TCGEN05,
        &[
            "tcgen05.mma.ws.cta_group::1.kind{.collectb} [to:b32/exact], a:u64, b:u64, idesc:u32, {!}input:pred/0..32{, mask:u64} @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.ws.cta_group::1.kind{.collectb} [to:b32/exact], [a:b32/exact], b:u64, idesc:u32, {!}input:pred/0..32{, mask:u64} @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.ws.sp.cta_group::1.kind{.collectb} [to:b32/exact], a:u64, b:u64, [meta:b32/exact], idesc:u32, {!}input:pred/0..32{, mask:u64} @8.6,sm_100a/sm_100f/sm_110f",
            "tcgen05.mma.ws.sp.cta_group::1.kind{.collectb} [to:b32/exact], [a:b32/exact], b:u64, [meta:b32/exact], idesc:u32, {!}input:pred/0..32{, mask:u64} @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &["tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill [%r1], [%r3], %rd2, %r2, %p1, %rd3;"],
    ),
    row(
        "tcgen05.commit",
        Async,
        TCGEN05,
        &[
            "tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64 [bar]{, mask:u16/?multicast::cluster} @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &[
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];",
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1], %rs1;",
        ],
    ),
    row(
        "tcgen05.fence",
        Async,
        &[("side", "fence::before_thread_sync fence::after_thread_sync")],
        &["tcgen05.side @8.6,sm_100a/sm_100f/sm_110f"],
        &[
            "tcgen05.fence::before_thread_sync;",
            "tcgen05.fence::after_thread_sync;",
        ],
    ),
];
