//! Asynchronous copies, stores and reductions, tensor maps and cluster launch control.

use super::Effect::{Async, Fence, Pure};
use super::{Row, Sets, row};

const CP: Sets = &[
    ("prefetch", "L2::64B@7.4 L2::128B@7.4 L2::256B@7.4"),
    ("hint", "L2::cache_hint@7.4"),
    ("own", "shared shared::cta"),
    ("object", "shared shared::cta@7.8"),
];

const BULK: Sets = &[
    ("hint", "L2::cache_hint"),
    ("bitop", "and or xor"),
    ("bits", "b32 b64"),
    ("count", "inc dec"),
    ("order", "min max"),
    ("word", "u32 s32"),
    ("sum", "u32 s32 u64"),
    ("gorder", "u32 s32 u64 s64 f16 bf16"),
    ("gsum", "u32 s32 u64 f32 f64"),
    ("half", "f16 bf16"),
];

const TENSOR: Sets = &[
    ("dim", "1d 2d 3d 4d 5d"),
    ("dim3", "3d 4d 5d"),
    ("hint", "L2::cache_hint"),
    (
        "group",
        "cta_group::1@8.6,sm_100a/sm_100f/sm_110f cta_group::2@8.6,sm_100a/sm_100f/sm_110f",
    ),
    ("wmode", "im2col::w im2col::w::128"),
    ("op", "add min max inc dec and or xor"),
];

const REMOTE: Sets = &[
    ("type", "b32 b64 u32 u64 s32 s64 f32 f64"),
    ("every", "b32 b64 u32 u64 s32 s64 f32 f64"),
    ("reach", "gpu sys"),
    ("v24", "v2 v4"),
    ("count", "inc dec"),
    ("order", "min max"),
    ("bitop", "and or xor"),
    ("word", "u32 s32"),
    ("sum", "u32 s32 u64 s64"),
];

const MAP: Sets = &[
    ("field2", "box_dim global_dim element_stride"),
    ("ss", "global shared::cta"),
];

const CANCEL: Sets = &[
    ("all", "multicast::cluster::all@sm_100a/sm_100f/sm_110f/sm_120a/sm_120f"),
    ("axis", "get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z"),
];

pub(super) static ROWS: &[Row] = &[
    row(
        "cp.async",
        Async,
        CP,
        &[
            "cp.async.ca.own.global{.hint}{.prefetch} [to], [from], size:imm/4_8_16, {!}skip:pred{, policy:b64/?hint} @7.5,sm_80",
            "cp.async.ca.own.global{.hint}{.prefetch} [to], [from], size:imm/4..4{, used:u32/0..4}{, policy:b64/?hint} @7.0,sm_80",
            "cp.async.ca.own.global{.hint}{.prefetch} [to], [from], size:imm/8..8{, used:u32/0..8}{, policy:b64/?hint} @7.0,sm_80",
            "cp.async.ca.own.global{.hint}{.prefetch} [to], [from], size:imm/16..16{, used:u32/0..16}{, policy:b64/?hint} @7.0,sm_80",
            "cp.async.cg.own.global{.hint}{.prefetch} [to], [from], size:imm/16..16, {!}skip:pred{, policy:b64/?hint} @7.5,sm_80",
            "cp.async.cg.own.global{.hint}{.prefetch} [to], [from], size:imm/16..16{, used:u32/0..16}{, policy:b64/?hint} @7.0,sm_80",
        ],
        &[
            "cp.async.ca.shared.global [%r1], [%rd1], 4;",
            "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;",
            "cp.async.cg.shared::cta.global.L2::128B [%r1], [%rd1], 16;",
            "cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 8, 4, %rd2;",
        ],
    ),
    row(
        "cp.async.commit_group",
        Async,
        &[],
        &["cp.async.commit_group @7.0,sm_80"],
        &["cp.async.commit_group;"],
    ),
    row(
        "cp.async.wait",
        Async,
        &[],
        &["cp.async.wait_group n:imm @7.0,sm_80", "cp.async.wait_all @7.0,sm_80"],
        &["cp.async.wait_group 0;", "cp.async.wait_all;"],
    ),
    row(
        "cp.async.mbarrier.arrive",
        Async,
        CP,
        &["cp.async.mbarrier.arrive{.noinc}{.object}.b64 [a] @7.0,sm_80"],
        &["cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1];"],
    ),
    row(
        "cp.async.bulk",
        Async,
        BULK,
        &[
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.hint} [to], [from], size:u32/%16, [bar]{, policy:u64/?hint} @8.6,sm_90",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.hint} [to], [from], size:u32/%16, [bar]{, mask:u16/?multicast::cluster}{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [from], size:u32/%16, [bar] @8.0,sm_90",
            "cp.async.bulk.global.shared::cta.bulk_group{.hint} [to], [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.global.shared::cta.bulk_group{.hint}.cp_mask [to], [from], size:u32/%16{, policy:u64/?hint}, bytes:u16 @8.6,sm_100",
            "cp.async.bulk.prefetch.L2.global{.hint} [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
        ],
        &[
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 64, [%r3], %rs1;",
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%rd1], %r2, [%r3], %rd2;",
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;",
            "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [%r1], 128, %rd2, %rs1;",
            "cp.async.bulk.prefetch.L2.global [%rd1], 128;",
        ],
    ),
    row(
        "cp.async.bulk.group",
        Async,
        &[],
        &[
            "cp.async.bulk.commit_group @8.0,sm_90",
            "cp.async.bulk.wait_group{.read} n:imm @8.0,sm_90",
        ],
        &["cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 0;"],
    ),
    row(
        "cp.async.bulk.tensor",
        Async,
        TENSOR,
        &[
            "cp.async.bulk.tensor.dim.shared::cta.global{.tile}.mbarrier::complete_tx::bytes{.group}{.hint} [to], [map, coords:frag/u32/xdim], [bar]{, policy:u64/?hint} @8.6,sm_90",
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes{.group}{.hint} [to], [map, coords:frag/u32/x5], [bar]{, policy:u64/?hint} @8.6,sm_100",
            "cp.async.bulk.tensor.dim3.shared::cta.global.im2col.mbarrier::complete_tx::bytes{.group}{.hint} [to], [map, coords:frag/u32/xdim], [bar], offsets:frag/u16/xdim-2{, policy:u64/?hint} @8.6,sm_90",
            "cp.async.bulk.tensor.dim3.shared::cta.global.wmode.mbarrier::complete_tx::bytes{.group}{.hint} [to], [map, coords:frag/u32/xdim], [bar], offsets:frag/u16/x2{, policy:u64/?hint} @8.6,sm_100",
            "cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes{.multicast::cluster}{.group}{.hint} [to], [map, coords:frag/u32/xdim], [bar]{, mask:u16/?multicast::cluster}{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes{.multicast::cluster}{.group}{.hint} [to], [map, coords:frag/u32/x5], [bar]{, mask:u16/?multicast::cluster}{, policy:u64/?hint} @8.6,sm_100a/sm_100f/sm_110f",
            "cp.async.bulk.tensor.dim3.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{.multicast::cluster}{.group}{.hint} [to], [map, coords:frag/u32/xdim], [bar], offsets:frag/u16/xdim-2{, mask:u16/?multicast::cluster}{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.tensor.dim3.shared::cluster.global.wmode.mbarrier::complete_tx::bytes{.multicast::cluster}{.group}{.hint} [to], [map, coords:frag/u32/xdim], [bar], offsets:frag/u16/x2{, mask:u16/?multicast::cluster}{, policy:u64/?hint} @8.6,sm_100a/sm_100f/sm_110f",
            "cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.hint} [map, coords:frag/u32/xdim], [from]{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.hint} [map, coords:frag/u32/x5], [from]{, policy:u64/?hint} @8.6,sm_100a/sm_100f/sm_110f",
            "cp.async.bulk.tensor.dim3.global.shared::cta.im2col_no_offs.bulk_group{.hint} [map, coords:frag/u32/xdim], [from]{, policy:u64/?hint} @8.0,sm_90",
        ],
        &[
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], [%rd1, {%r2, %r3}], [%r4], %rs1, %rd2;",
            "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3, %r5, %r6}], [%r4], {%rs1, %rs2};",
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::1 [%r1], [%rd1, {%r2, %r3}], [%r4];",
            "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%rd1, {%r1, %r2, %r3}], [%r4];",
        ],
    ),
    row(
        "cp.async.bulk.prefetch.tensor",
        Async,
        TENSOR,
        &[
            "cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.hint} [map, coords:frag/u32/xdim]{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{.hint} [map, coords:frag/u32/x5]{, policy:u64/?hint} @8.6,sm_100a/sm_100f/sm_110f",
            "cp.async.bulk.prefetch.tensor.dim3.L2.global.im2col{.hint} [map, coords:frag/u32/xdim], offsets:frag/u16/xdim-2{, policy:u64/?hint} @8.0,sm_90",
            "cp.async.bulk.prefetch.tensor.dim3.L2.global.wmode{.hint} [map, coords:frag/u32/xdim], offsets:frag/u16/x2{, policy:u64/?hint} @8.6,sm_100a/sm_100f/sm_110f",
        ],
        &["cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r2}];"],
    ),
    row(
        "cp.reduce.async.bulk",
        Async,
        BULK,
        &[
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.bitop.b32 [to], [from], size:u32/%16, [bar] @8.0,sm_90",
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.count.u32 [to], [from], size:u32/%16, [bar] @8.0,sm_90",
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.order.word [to], [from], size:u32/%16, [bar] @8.0,sm_90",
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.sum [to], [from], size:u32/%16, [bar] @8.0,sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.bitop.bits [to], [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.count.u32 [to], [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.order.gorder [to], [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.add.gsum [to], [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.add.noftz.half [to], [from], size:u32/%16{, policy:u64/?hint} @8.0,sm_90",
        ],
        &[
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [%r1], [%r2], 64, [%r3];",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], %r2;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 [%rd1], [%r1], %r2, %rd2;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 [%rd1], [%r1], %r2;",
        ],
    ),
    row(
        "cp.reduce.async.bulk.tensor",
        Async,
        TENSOR,
        &[
            "cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.tile}.bulk_group{.hint} [map, coords:frag/u32/xdim], [from]{, policy:u64/?hint} @8.0,sm_90",
            "cp.reduce.async.bulk.tensor.dim3.global.shared::cta.op.im2col_no_offs.bulk_group{.hint} [map, coords:frag/u32/xdim], [from]{, policy:u64/?hint} @8.0,sm_90",
        ],
        &["cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1, %r2}], [%r3];"],
    ),
    row(
        "multimem.cp.async.bulk",
        Async,
        BULK,
        &[
            "multimem.cp.async.bulk.global.shared::cta.bulk_group [to], [from], size:u32/%16 @9.1,sm_90",
            "multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [to], [from], size:u32/%16, bytes:b16 @9.1,sm_100",
        ],
        &[
            "multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;",
            "multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 128, %rs1;",
        ],
    ),
    row(
        "multimem.cp.reduce.async.bulk",
        Async,
        BULK,
        &[
            "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.bitop.bits [to], [from], size:u32/%16 @9.1,sm_90",
            "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.count.u32 [to], [from], size:u32/%16 @9.1,sm_90",
            "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.order.gorder [to], [from], size:u32/%16 @9.1,sm_90",
            "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.gsum [to], [from], size:u32/%16 @9.1,sm_90",
            "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.half [to], [from], size:u32/%16 @9.1,sm_90",
        ],
        &["multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], %r2;"],
    ),
    row(
        "st.async",
        Async,
        REMOTE,
        &[
            "st.async{.weak}{.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes{.v24}.type [a], b:vec, [bar] @8.1,sm_90",
            "st.async.release.reach{.global}.every [a], b:loose @8.7,sm_100",
            "st.async.mmio.release.sys{.global}.every [a], b:loose @8.7,sm_100",
        ],
        &[
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%r1], {%f1, %f2}, [%r3];",
            "st.async.release.sys.global.u32 [%rd1], %r1;",
        ],
    ),
    row(
        "red.async",
        Async,
        REMOTE,
        &[
            "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.count.u32 [a], b, [bar] @8.1,sm_90",
            "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.order.word [a], b, [bar] @8.1,sm_90",
            "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.bitop.b32 [a], b, [bar] @8.1,sm_90",
            "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.sum [a], b, [bar] @8.1,sm_90",
            "red.async.release.reach{.global}.add.sum [a], b @8.7,sm_100",
            "red.async.mmio.release.sys{.global}.add.sum [a], b @8.7,sm_100",
        ],
        &[
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
            "red.async.release.gpu.global.add.u32 [%rd1], %r1;",
        ],
    ),
    row(
        "tensormap.replace",
        Async,
        MAP,
        &[
            "tensormap.replace.tile.global_address{.ss}.b1024.b64 [a], value:b64 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.rank{.ss}.b1024.b32 [a], value:b32 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.elemtype{.ss}.b1024.b32 [a], value:imm/0..12 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.elemtype{.ss}.b1024.b32 [a], value:imm/0..15 @8.7,sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.interleave_layout{.ss}.b1024.b32 [a], value:imm/0..2 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.swizzle_mode{.ss}.b1024.b32 [a], value:imm/0..3 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.swizzle_mode{.ss}.b1024.b32 [a], value:imm/0..4 @8.8,sm_103a",
            "tensormap.replace.tile.fill_mode{.ss}.b1024.b32 [a], value:imm/0..1 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.swizzle_atomicity{.ss}.b1024.b32 [a], value:imm/0..3 @8.6,sm_100a/sm_100f/sm_110f/sm_120a/sm_120f",
            "tensormap.replace.tile.field2{.ss}.b1024.b32 [a], dim:imm/0..4, value:b32 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
            "tensormap.replace.tile.global_stride{.ss}.b1024.b64 [a], dim:imm/0..4, value:b64 @8.3,sm_90a/sm_100a/sm_120a/sm_100f/sm_110f/sm_120f",
        ],
        &[
            "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;",
            "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 0, %r2;",
            "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 3;",
        ],
    ),
    row(
        "tensormap.cp_fenceproxy",
        Fence,
        MAP,
        &[
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], size:imm/128..128 @8.3,sm_90",
        ],
        &["tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;"],
    ),
    row(
        "clusterlaunchcontrol.try_cancel",
        Async,
        CANCEL,
        &[
            "clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes{.all}.b128 [a], [bar] @8.6,sm_100",
        ],
        &["clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];"],
    ),
    row(
        "clusterlaunchcontrol.query_cancel",
        Pure,
        CANCEL,
        &[
            "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 =p:pred, a:b128 @8.6,sm_100",
            "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d:frag/b32/x4, a:b128 @8.6,sm_100",
            "clusterlaunchcontrol.query_cancel.axis.b32.b128 d:b32, a:b128 @8.6,sm_100",
        ],
        &[
            "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1;",
            "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, _}, %rq1;",
            "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %rq1;",
        ],
    ),
];
