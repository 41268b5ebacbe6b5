//! Loads, stores, atomics and cache control.

use super::Effect::{Atomic, Load, Other, Store};
use super::{Row, Sets, row};

const ACCESS: Sets = &[
    (
        "ss",
        "const global local param param::entry@8.3 param::func@8.3 shared shared::cta@7.8 shared::cluster@7.8,sm_90",
    ),
    ("ordered", "global shared shared::cta@7.8 shared::cluster@7.8,sm_90"),
    (
        "writable",
        "global local param param::func@8.3 shared shared::cta@7.8 shared::cluster@7.8,sm_90",
    ),
    ("plain", "global local shared shared::cta@7.8 shared::cluster@7.8,sm_90"),
    (
        "load",
        "ca@2.0,sm_20 cg@2.0,sm_20 cs@2.0,sm_20 lu@2.0,sm_20 cv@2.0,sm_20",
    ),
    ("nccop", "ca@2.0,sm_20 cg@2.0,sm_20 cs@2.0,sm_20"),
    ("store", "wb@2.0,sm_20 cg@2.0,sm_20 cs@2.0,sm_20 wt@2.0,sm_20"),
    (
        "L1",
        "L1::evict_normal@7.4,sm_70 L1::evict_unchanged@7.4,sm_70 L1::evict_first@7.4,sm_70 L1::evict_last@7.4,sm_70 L1::no_allocate@7.4,sm_70",
    ),
    (
        "L2",
        "L2::evict_normal@8.8,sm_100 L2::evict_first@8.8,sm_100 L2::evict_last@8.8,sm_100",
    ),
    ("hint", "L2::cache_hint@7.4,sm_80"),
    ("prefetch", "L2::64B@7.4,sm_75 L2::128B@7.4,sm_75 L2::256B@7.4,sm_80"),
    ("weak", "weak@6.0"),
    (
        "type",
        "b8 b16 b32 b64 b128@8.3,sm_70 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64",
    ),
];

const ATOMS: Sets = &[
    (
        "sem",
        "relaxed@6.0,sm_70 acquire@6.0,sm_70 release@6.0,sm_70 acq_rel@6.0,sm_70",
    ),
    ("redsem", "relaxed@6.0,sm_70 release@6.0,sm_70"),
    ("reach", "cta@5.0,sm_60 cluster@7.8,sm_90 gpu@5.0,sm_60 sys@5.0,sm_60"),
    ("ss", "global shared@1.2 shared::cta@7.8 shared::cluster@7.8,sm_90"),
    ("hint", "L2::cache_hint@7.4,sm_80"),
    ("bitop", "and or xor"),
    ("bits", "b32 b64"),
    ("count", "inc dec"),
    ("order", "min max"),
    ("addend", "u32 s32 u64 f32@2.0,sm_20 f64@5.0,sm_60"),
    ("word", "u32 s32 u64 s64@3.1,sm_32"),
    ("half", "f16@6.3,sm_70 f16x2@6.2,sm_60 bf16@7.8,sm_90 bf16x2@7.8,sm_90"),
    ("vop", "add min max"),
    ("narrow", "f16 bf16"),
    ("packed", "f16x2 bf16x2"),
    ("v24", "v2 v4"),
    ("v248", "v2 v4 v8"),
];

const POLICY: Sets = &[
    (
        "primary",
        "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged",
    ),
    ("secondary", "L2::evict_first L2::evict_unchanged"),
];

const MULTIMEM: Sets = &[
    ("ldsem", "relaxed acquire weak"),
    ("stsem", "relaxed release weak"),
    ("redsem", "relaxed release"),
    ("iop", "min max add"),
    ("bitop", "and or xor"),
    ("bits", "b32 b64"),
    ("word", "u32 u64 s32 s64"),
    ("sword", "b32 b64 u32 u64 s32 s64"),
    ("acc", "acc::f32 acc::f16@8.6,sm_100a/sm_101a/sm_100f/sm_110f"),
    ("v", "v2 v4 v8"),
    (
        "ftype",
        "f16 f16x2 bf16 bf16x2 f32 f64 e5m2@8.6,sm_100a/sm_101a/sm_100f/sm_110f e5m2x2@8.6,sm_100a/sm_101a/sm_100f/sm_110f e5m2x4@8.6,sm_100a/sm_101a/sm_100f/sm_110f e4m3@8.6,sm_100a/sm_101a/sm_100f/sm_110f e4m3x2@8.6,sm_100a/sm_101a/sm_100f/sm_110f e4m3x4@8.6,sm_100a/sm_101a/sm_100f/sm_110f",
    ),
];

pub(super) static ROWS: &[Row] = &[
    row(
        "ld",
        Load,
        ACCESS,
        &[
            "ld{.weak}{.ss}{.load}{.hint}{.prefetch}{.vec}.type d:vec/loose, [a]{, policy:b64}",
            "ld{.weak}{.ss}{.L1}{.L2}{.hint}{.prefetch}{.vec}.type d:vec/loose, [a]{, policy:b64}",
            "ld{.weak}.global{.nccop}.nc{.hint}{.prefetch}{.vec}.type d:vec/loose, [a]{, policy:b64} @3.1,sm_32",
            "ld{.weak}.global.nc{.L1}{.L2}{.hint}{.prefetch}{.vec}.type d:vec/loose, [a]{, policy:b64} @7.4,sm_70",
            "ld.volatile{.plain}{.prefetch}{.vec}.type d:vec/loose, [a]",
            "ld.relaxed.scope{.ordered}{.L1}{.L2}{.hint}{.prefetch}{.vec}.type d:vec/loose, [a]{, policy:b64} @6.0,sm_70",
            "ld.acquire.scope{.ordered}{.L1}{.L2}{.hint}{.prefetch}{.vec}.type d:vec/loose, [a]{, policy:b64} @6.0,sm_70",
            "ld.mmio.relaxed.sys{.global}.type d:loose, [a] @8.2,sm_70",
            "ld.mmio.acquire.sys{.global}.type d:loose, [a] @8.4,sm_70",
        ],
        &[
            "ld.global.f32 %f1, [%rd1+8];",
            "ld.param.u64 %rd1, [p0];",
            "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [smem];",
            "ld.global.u8 %rs1, [%rd1];",
            "ld.global.nc.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
            "ld.global.ca.nc.f32 %f1, [%rd1];",
            "ld.volatile.shared.u32 %r1, [%r2];",
            "ld.acquire.gpu.global.u32 %r1, [%rd1];",
            "ld.relaxed.cta.b64 %rd1, [%rd2];",
            "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
            "ld.global.L2::evict_last.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd5];",
        ],
    ),
    row(
        "ldu",
        Load,
        ACCESS,
        &["ldu{.global}{.vec}.type d:vec/loose, [a] @2.0,sm_20"],
        &["ldu.global.f32 %f1, [%rd1];"],
    ),
    row(
        "st",
        Store,
        ACCESS,
        &[
            "st{.weak}{.writable}{.store}{.hint}{.vec}.type [a], b:vec/loose{, policy:b64}",
            "st{.weak}{.writable}{.L1}{.L2}{.hint}{.vec}.type [a], b:vec/loose{, policy:b64}",
            "st.volatile{.plain}{.vec}.type [a], b:vec/loose",
            "st.relaxed.scope{.ordered}{.L1}{.L2}{.hint}{.vec}.type [a], b:vec/loose{, policy:b64} @6.0,sm_70",
            "st.release.scope{.ordered}{.L1}{.L2}{.hint}{.vec}.type [a], b:vec/loose{, policy:b64} @6.0,sm_70",
            "st.mmio.relaxed.sys{.global}.type [a], b:loose @8.2,sm_70",
            "st.mmio.release.sys{.global}.type [a], b:loose @8.4,sm_70",
        ],
        &[
            "st.global.f32 [%rd1], %f1;",
            "st.shared.v2.b32 [smem+8], {%r1, %r2};",
            "st.global.u8 [%rd1], 0;",
            "st.global.cs.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
            "st.volatile.global.u32 [%rd1], %r1;",
            "st.release.gpu.global.u32 [%rd1], %r1;",
            "st.global.L2::cache_hint.f32 [%rd1], %f1, %rd2;",
        ],
    ),
    row(
        "st.bulk",
        Store,
        &[("ss", "shared::cta")],
        &["st.bulk{.weak}{.ss} [a], size:u64, zero:0..0 @8.6,sm_100"],
        &["st.bulk.weak.shared::cta [%rd1], %rd2, 0;"],
    ),
    row(
        "atom",
        Atomic,
        ATOMS,
        &[
            "atom{.sem}{.reach}{.ss}.bitop{.hint}.bits d:sink, [a], b{, policy:b64} @1.1,sm_11",
            "atom{.sem}{.reach}{.ss}.exch{.hint}.bits d:sink, [a], b{, policy:b64} @1.1,sm_11",
            "atom{.sem}{.reach}{.ss}.cas{.hint}.bits d:sink, [a], b, c{, policy:b64} @1.1,sm_11",
            "atom{.sem}{.reach}{.ss}.cas{.hint}.b16 d:sink, [a], b, c{, policy:b64} @6.3,sm_70",
            "atom{.sem}{.reach}{.ss}.cas{.hint}.b128 d:sink, [a], b, c{, policy:b64} @8.3,sm_90",
            "atom{.sem}{.reach}{.ss}.exch{.hint}.b128 d:sink, [a], b{, policy:b64} @8.3,sm_90",
            "atom{.sem}{.reach}{.ss}.add{.hint}.addend d:sink, [a], b{, policy:b64} @1.1,sm_11",
            "atom{.sem}{.reach}{.ss}.count{.hint}.u32 d:sink, [a], b{, policy:b64} @1.1,sm_11",
            "atom{.sem}{.reach}{.ss}.order{.hint}.word d:sink, [a], b{, policy:b64} @1.1,sm_11",
            "atom{.sem}{.reach}{.ss}.add.noftz{.hint}.half d:sink, [a], b{, policy:b64}",
            "atom{.sem}{.reach}{.global}.add{.hint}.v24.f32 d:vec, [a], b:vec{, policy:b64} @8.1,sm_90",
            "atom{.sem}{.reach}{.global}.vop.noftz{.hint}.v248.narrow d:vec, [a], b:vec{, policy:b64} @8.1,sm_90",
            "atom{.sem}{.reach}{.global}.vop.noftz{.hint}.v24.packed d:vec, [a], b:vec{, policy:b64} @8.1,sm_90",
        ],
        &[
            "atom.global.add.u32 %r1, [%rd1], 1;",
            "atom.shared.cas.b32 %r1, [smem], %r2, %r3;",
            "atom.acq_rel.gpu.global.exch.b64 %rd1, [%rd2], %rd3;",
            "atom.add.noftz.f16x2 %r1, [%rd1], %r2;",
            "atom.global.add.f64 %fd1, [%rd1], %fd2;",
            "atom.global.min.s64 %rd1, [%rd2], %rd3;",
            "atom.global.inc.u32 %r1, [%rd1], 255;",
            "atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f4};",
        ],
    ),
    row(
        "red",
        Atomic,
        ATOMS,
        &[
            "red{.redsem}{.reach}{.ss}.bitop{.hint}.bits [a], b{, policy:b64} @1.2,sm_11",
            "red{.redsem}{.reach}{.ss}.add{.hint}.addend [a], b{, policy:b64} @1.2,sm_11",
            "red{.redsem}{.reach}{.ss}.count{.hint}.u32 [a], b{, policy:b64} @1.2,sm_11",
            "red{.redsem}{.reach}{.ss}.order{.hint}.word [a], b{, policy:b64} @1.2,sm_11",
            "red{.redsem}{.reach}{.ss}.add.noftz{.hint}.half [a], b{, policy:b64}",
            "red{.redsem}{.reach}{.global}.add{.hint}.v24.f32 [a], b:vec{, policy:b64} @8.1,sm_90",
            "red{.redsem}{.reach}{.global}.vop.noftz{.hint}.v248.narrow [a], b:vec{, policy:b64} @8.1,sm_90",
            "red{.redsem}{.reach}{.global}.vop.noftz{.hint}.v24.packed [a], b:vec{, policy:b64} @8.1,sm_90",
        ],
        &[
            "red.global.add.f32 [%rd1], %f1;",
            "red.relaxed.gpu.global.add.u32 [%rd1], 1;",
            "red.shared.or.b32 [%r1], %r2;",
            "red.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
        ],
    ),
    row(
        "multimem.ld_reduce",
        Load,
        MULTIMEM,
        &[
            "multimem.ld_reduce{.ldsem}{.scope}{.global}.iop.word d, [a] @8.1,sm_90",
            "multimem.ld_reduce{.ldsem}{.scope}{.global}.bitop.bits d, [a] @8.1,sm_90",
            "multimem.ld_reduce{.ldsem}{.scope}{.global}.iop{.acc}{.v}.ftype d:vec/loose, [a] @8.1,sm_90",
        ],
        &[
            "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
            "multimem.ld_reduce.add.u32 %r1, [%rd1];",
        ],
    ),
    row(
        "multimem.st",
        Store,
        MULTIMEM,
        &[
            "multimem.st{.stsem}{.scope}{.global}.sword [a], b @8.1,sm_90",
            "multimem.st{.stsem}{.scope}{.global}{.v}.ftype [a], b:vec/loose @8.1,sm_90",
        ],
        &["multimem.st.relaxed.sys.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};"],
    ),
    row(
        "multimem.red",
        Atomic,
        MULTIMEM,
        &[
            "multimem.red{.redsem}{.scope}{.global}.iop.word [a], b @8.1,sm_90",
            "multimem.red{.redsem}{.scope}{.global}.bitop.bits [a], b @8.1,sm_90",
            "multimem.red{.redsem}{.scope}{.global}.iop{.v}.ftype [a], b:vec @8.1,sm_90",
        ],
        &["multimem.red.release.gpu.global.add.f32 [%rd1], %f1;"],
    ),
    row(
        "prefetch",
        Other,
        &[
            ("ss", "global local"),
            ("level", "L1 L2"),
            ("evict", "L2::evict_last L2::evict_normal"),
            ("mapspace", "const param param::entry"),
        ],
        &[
            "prefetch{.ss}.level [a] @2.0,sm_20",
            "prefetch.global.evict [a] @7.4,sm_80",
            "prefetch{.mapspace}.tensormap [a] @8.0,sm_90",
        ],
        &["prefetch.global.L2 [%rd1];", "prefetch.tensormap [%rd1];"],
    ),
    row(
        "prefetchu",
        Other,
        &[],
        &["prefetchu.L1 [a] @2.0,sm_20"],
        &["prefetchu.L1 [%rd1];"],
    ),
    row(
        "applypriority",
        Other,
        &[],
        &["applypriority{.global}.L2::evict_normal [a], size:imm/128..128 @7.4,sm_80"],
        &["applypriority.global.L2::evict_normal [%rd1], 128;"],
    ),
    row(
        "discard",
        Store,
        &[],
        &["discard{.global}.L2 [a], size:imm/128..128 @7.4,sm_80"],
        &["discard.global.L2 [%rd1], 128;"],
    ),
    row(
        "createpolicy",
        Other,
        POLICY,
        &[
            "createpolicy.range{.global}.primary{.secondary}.b64 d, [a], first:b32, total:b32 @7.4,sm_80",
            "createpolicy.fractional.primary{.secondary}.b64 d{, fraction:f32} @7.4,sm_80",
            "createpolicy.cvt.L2.b64 d, property:b64 @7.4,sm_80",
        ],
        &[
            "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;",
            "createpolicy.range.L2::evict_first.b64 %rd1, [%rd2], 128, 256;",
            "createpolicy.cvt.L2.b64 %rd1, %rd2;",
        ],
    ),
];
