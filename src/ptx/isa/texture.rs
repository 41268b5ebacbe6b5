//! Textures and surfaces.

use super::Effect::{Atomic, Load, Pure, Store};
use super::{Row, Sets, row};

const TEX: Sets = &[
    (
        "geom",
        "1d 2d 3d a1d@3.0 a2d@3.0 cube@3.0,sm_20 acube@3.0,sm_30 2dms@3.2,sm_30 a2dms@3.2,sm_30",
    ),
    ("lgeom", "1d 2d 3d a1d@3.0 a2d@3.0 cube@3.0,sm_20 acube@3.0,sm_30"),
    ("dtype", "u32 s32 f32 f16@4.2,sm_53"),
    ("ctype", "s32 f32"),
    ("gtype", "u32 s32 f32"),
    ("comp", "r g b a"),
    ("ggeom", "2d a2d cube@4.3 acube@4.3"),
];

const QUERY: Sets = &[
    (
        "query",
        "width height depth channel_data_type@2.1 channel_order@2.1 normalized_coords force_unnormalized_coords@3.0 filter_mode addr_mode_0 addr_mode_1 addr_mode_2 num_samples@4.1,sm_30 num_mipmap_levels@4.1,sm_30 array_size@4.1,sm_30",
    ),
    ("lquery", "width height depth"),
    (
        "squery",
        "width height depth channel_data_type channel_order array_size@4.1 memory_layout@4.3",
    ),
];

const SURF: Sets = &[
    ("geom", "1d 2d 3d@3.0 a1d@3.0,sm_20 a2d@3.0,sm_20"),
    ("load", "ca cg cs cv"),
    ("store", "wb cg cs wt"),
    ("v24", "v2 v4"),
    ("type", "b8 b16 b32 b64"),
    ("mode", "trap clamp zero"),
    ("order", "min max"),
    ("bitop", "and or"),
    ("sum", "u32 u64 s32"),
    ("ends", "u32 s32 u64@8.1,sm_50 s64@8.1,sm_50"),
    ("pends", "b32 b64@8.1,sm_50"),
    ("rgeom", "1d 2d 3d@3.0"),
];

pub(super) static ROWS: &[Row] = &[
    row(
        "tex",
        Load,
        TEX,
        &[
            "tex.geom.v4.dtype.ctype d:frag/x4, [t, c:frag]{, e:frag/u32}{, f:f32}",
            "tex.geom.v4.dtype.ctype d:frag/x4|p:pred, [t, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.geom.v4.dtype.ctype d:frag/x4, [t, s, c:frag]{, e:frag/u32}{, f:f32} @1.5",
            "tex.geom.v4.dtype.ctype d:frag/x4|p:pred, [t, s, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.geom.v2.f16x2.ctype d:frag/f16x2/x2, [t, c:frag]{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.geom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.geom.v2.f16x2.ctype d:frag/f16x2/x2, [t, s, c:frag]{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.geom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, s, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.base.lgeom.v4.dtype.ctype d:frag/x4, [t, c:frag]{, e:frag/u32}{, f:f32} @3.1,sm_20",
            "tex.base.lgeom.v4.dtype.ctype d:frag/x4|p:pred, [t, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.base.lgeom.v4.dtype.ctype d:frag/x4, [t, s, c:frag]{, e:frag/u32}{, f:f32} @3.1,sm_20",
            "tex.base.lgeom.v4.dtype.ctype d:frag/x4|p:pred, [t, s, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.level.lgeom.v4.dtype.ctype d:frag/x4, [t, c:frag], lod{, e:frag/u32}{, f:f32} @3.1,sm_20",
            "tex.level.lgeom.v4.dtype.ctype d:frag/x4|p:pred, [t, c:frag], lod{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.level.lgeom.v4.dtype.ctype d:frag/x4, [t, s, c:frag], lod{, e:frag/u32}{, f:f32} @3.1,sm_20",
            "tex.level.lgeom.v4.dtype.ctype d:frag/x4|p:pred, [t, s, c:frag], lod{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.grad.lgeom.v4.dtype.ctype d:frag/x4, [t, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @3.1,sm_20",
            "tex.grad.lgeom.v4.dtype.ctype d:frag/x4|p:pred, [t, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.grad.lgeom.v4.dtype.ctype d:frag/x4, [t, s, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @3.1,sm_20",
            "tex.grad.lgeom.v4.dtype.ctype d:frag/x4|p:pred, [t, s, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.base.lgeom.v2.f16x2.ctype d:frag/f16x2/x2, [t, c:frag]{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.base.lgeom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.base.lgeom.v2.f16x2.ctype d:frag/f16x2/x2, [t, s, c:frag]{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.base.lgeom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, s, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.level.lgeom.v2.f16x2.ctype d:frag/f16x2/x2, [t, c:frag], lod{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.level.lgeom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, c:frag], lod{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.level.lgeom.v2.f16x2.ctype d:frag/f16x2/x2, [t, s, c:frag], lod{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.level.lgeom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, s, c:frag], lod{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.grad.lgeom.v2.f16x2.ctype d:frag/f16x2/x2, [t, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.grad.lgeom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tex.grad.lgeom.v2.f16x2.ctype d:frag/f16x2/x2, [t, s, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @4.2,sm_53",
            "tex.grad.lgeom.v2.f16x2.ctype d:frag/f16x2/x2|p:pred, [t, s, c:frag], dx:frag, dy:frag{, e:frag/u32}{, f:f32} @7.1,sm_60",
        ],
        &[
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tx, {%r1}];",
            "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1, %f2}];",
            "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tx, {%f1, %f2}], %f5;",
            "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tx, {%f1, %f2}], {%f5, %f6}, {%f7, %f8};",
            "tex.2d.v2.f16x2.f32 {%r1, %r2}, [tx, {%f1, %f2}];",
            "tex.a2d.v4.s32.f32 {%r1, %r2, %r3, %r4}|%p1, [tx, {%r1, %f2, %f3, %f4}];",
        ],
    ),
    row(
        "tld4",
        Load,
        TEX,
        &[
            "tld4.comp.ggeom.v4.gtype.f32 d:frag/gtype/x4, [t, c:frag]{, e:frag/u32}{, f:f32} @2.2,sm_20",
            "tld4.comp.ggeom.v4.gtype.f32 d:frag/gtype/x4|p:pred, [t, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
            "tld4.comp.ggeom.v4.gtype.f32 d:frag/gtype/x4, [t, s, c:frag]{, e:frag/u32}{, f:f32} @2.2,sm_20",
            "tld4.comp.ggeom.v4.gtype.f32 d:frag/gtype/x4|p:pred, [t, s, c:frag]{, e:frag/u32}{, f:f32} @7.1,sm_60",
        ],
        &["tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tx, {%f1, %f2}];"],
    ),
    row(
        "txq",
        Pure,
        QUERY,
        &[
            "txq.query.b32 d, [t] @1.5",
            "txq.level.lquery.b32 d, [t], lod:u32 @4.3,sm_30",
        ],
        &["txq.width.b32 %r1, [tx];", "txq.level.width.b32 %r1, [tx], %r2;"],
    ),
    row(
        "suq",
        Pure,
        QUERY,
        &["suq.squery.b32 d, [t] @1.5"],
        &["suq.width.b32 %r1, [srf];"],
    ),
    row(
        "suld",
        Load,
        SURF,
        &["suld.b.geom{.load}{.v24}.type.mode d:vec/loose, [s, c:frag/u32] @1.5"],
        &[
            "suld.b.1d.b32.trap %r1, [srf, {%r2}];",
            "suld.b.2d.v4.b32.clamp {%r1, %r2, %r3, %r4}, [srf, {%r5, %r6}];",
        ],
    ),
    row(
        "sust",
        Store,
        SURF,
        &[
            "sust.b.geom{.store}{.v24}.type.mode [s, c:frag/u32], r:vec/loose @1.5",
            "sust.p.geom{.store}{.v24}.b32.mode [s, c:frag/u32], r:vec @1.5",
        ],
        &[
            "sust.b.1d.b32.trap [srf, {%r2}], %r1;",
            "sust.p.2d.v4.b32.trap [srf, {%r2, %r3}], {%r4, %r5, %r6, %r7};",
        ],
    ),
    row(
        "sured",
        Atomic,
        SURF,
        &[
            "sured.b.add.rgeom.sum.mode [s, c:frag/u32], r:loose @2.0,sm_20",
            "sured.b.order.rgeom.ends.mode [s, c:frag/u32], r:loose @2.0,sm_20",
            "sured.b.bitop.rgeom.b32.mode [s, c:frag/u32], r:loose @2.0,sm_20",
            "sured.p.add.rgeom.b32.mode [s, c:frag/u32], r:loose @2.0,sm_20",
            "sured.p.order.rgeom.pends.mode [s, c:frag/u32], r:loose @2.0,sm_20",
            "sured.p.bitop.rgeom.b32.mode [s, c:frag/u32], r:loose @2.0,sm_20",
        ],
        &[
            "sured.b.add.1d.u32.trap [srf, {%r1}], %r2;",
            "sured.b.min.2d.s32.clamp [srf, {%r1, %r2}], %r3;",
        ],
    ),
];
