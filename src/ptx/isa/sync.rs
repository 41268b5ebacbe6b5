//! Barriers, fences and mbarrier objects.

use super::Effect::{Async, Barrier, Fence, Mbarrier, Pure, Warp};
use super::{Row, Sets, row};

const BARRIER: Sets = &[("op", "and or"), ("cta", "cta@7.8,sm_20")];

const FENCE: Sets = &[
    ("sem", "sc acq_rel acquire@8.6,sm_90 release@8.6,sm_90"),
    ("kind", "alias@7.5,sm_70 async@8.0,sm_90"),
    ("where", "global shared::cta shared::cluster"),
    ("level", "cta gl sys@2.0,sm_20"),
];

const MBARRIER: Sets = &[
    ("own", "shared shared::cta@7.8"),
    ("any", "shared shared::cta@7.8 shared::cluster@8.0,sm_90"),
    ("sem", "release relaxed@8.6,sm_90"),
    ("waitsem", "acquire relaxed@8.6,sm_90"),
    ("reach", "cta cluster@8.0,sm_90"),
    ("op", "arrive arrive_drop"),
];

pub(super) static ROWS: &[Row] = &[
    row(
        "bar",
        Barrier,
        BARRIER,
        &[
            "bar{.cta}.sync a:u32/0..15{, b:u32/%32}",
            "bar{.cta}.arrive a:u32/0..15, b:u32/32..4294967264/%32 @2.0,sm_20",
            "bar{.cta}.red.popc.u32 d, a:u32/0..15{, b:u32/%32}, {!}c:pred @2.0,sm_20",
            "bar{.cta}.red.op.pred =p:pred, a:u32/0..15{, b:u32/%32}, {!}c:pred @2.0,sm_20",
        ],
        &[
            "bar.sync 0;",
            "bar.sync 1, 64;",
            "bar.arrive 1, 64;",
            "bar.red.popc.u32 %r1, 0, %p1;",
            "bar.red.and.pred %p1, 0, !%p2;",
        ],
    ),
    row(
        "barrier",
        Barrier,
        BARRIER,
        &[
            "barrier{.cta}.sync{.aligned} a:u32/0..15{, b:u32/%32} @6.0,sm_30",
            "barrier{.cta}.arrive{.aligned} a:u32/0..15, b:u32/32..4294967264/%32 @6.0,sm_30",
            "barrier{.cta}.red.popc{.aligned}.u32 d, a:u32/0..15{, b:u32/%32}, {!}c:pred @6.0,sm_30",
            "barrier{.cta}.red.op{.aligned}.pred =p:pred, a:u32/0..15{, b:u32/%32}, {!}c:pred @6.0,sm_30",
        ],
        &[
            "barrier.sync 1, 64;",
            "barrier.cta.sync.aligned 0;",
            "barrier.red.or.pred %p1, 0, %p2;",
        ],
    ),
    row(
        "barrier.cluster",
        Barrier,
        &[("sem", "release@8.0 relaxed@8.0"), ("acquire", "acquire@8.0")],
        &[
            "barrier.cluster.arrive{.sem}{.aligned} @7.8,sm_90",
            "barrier.cluster.wait{.acquire}{.aligned} @7.8,sm_90",
        ],
        &[
            "barrier.cluster.arrive.release.aligned;",
            "barrier.cluster.wait.acquire.aligned;",
        ],
    ),
    row(
        "bar.warp.sync",
        Warp,
        &[],
        &["bar.warp.sync mask:b32 @6.0,sm_30"],
        &["bar.warp.sync 0xffffffff;"],
    ),
    row(
        "membar",
        Fence,
        FENCE,
        &["membar.level @1.4", "membar.proxy.kind @7.5"],
        &["membar.gl;", "membar.cta;", "membar.proxy.alias;"],
    ),
    row(
        "fence",
        Fence,
        FENCE,
        &[
            "fence{.sem}.scope @6.0,sm_70",
            "fence.acquire.sync_restrict::shared::cluster.cluster @8.6,sm_90",
            "fence.release.sync_restrict::shared::cta.cluster @8.6,sm_90",
            "fence.mbarrier_init.release.cluster @8.0,sm_90",
            "fence.proxy.kind @7.5,sm_70",
            "fence.proxy.async.where @8.0,sm_90",
            "fence.proxy.tensormap::generic.release.scope @8.3,sm_90",
            "fence.proxy.tensormap::generic.acquire.scope [a], size:imm/128..128 @8.3,sm_90",
            "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster @8.6,sm_90",
            "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster @8.6,sm_90",
        ],
        &[
            "fence.sc.gpu;",
            "fence.acq_rel.cta;",
            "fence.proxy.async.shared::cta;",
            "fence.mbarrier_init.release.cluster;",
            "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
            "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
        ],
    ),
    row(
        "mbarrier.init",
        Mbarrier,
        MBARRIER,
        &["mbarrier.init{.own}.b64 [a], count:u32/1..1048575 @7.0,sm_80"],
        &["mbarrier.init.shared::cta.b64 [smem], 1;"],
    ),
    row(
        "mbarrier.inval",
        Mbarrier,
        MBARRIER,
        &["mbarrier.inval{.own}.b64 [a] @7.0,sm_80"],
        &["mbarrier.inval.shared.b64 [%r1];"],
    ),
    row(
        "mbarrier.expect_tx",
        Mbarrier,
        MBARRIER,
        &[
            "mbarrier.expect_tx{.any}.b64 [a], tx:u32 @8.0,sm_90",
            "mbarrier.expect_tx.relaxed.reach{.any}.b64 [a], tx:u32 @8.0,sm_90",
        ],
        &["mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 1024;"],
    ),
    row(
        "mbarrier.complete_tx",
        Mbarrier,
        MBARRIER,
        &[
            "mbarrier.complete_tx{.any}.b64 [a], tx:u32 @8.0,sm_90",
            "mbarrier.complete_tx.relaxed.reach{.any}.b64 [a], tx:u32 @8.0,sm_90",
        ],
        &["mbarrier.complete_tx.shared::cta.b64 [%r1], 1024;"],
    ),
    row(
        "mbarrier.arrive",
        Mbarrier,
        MBARRIER,
        &[
            "mbarrier.op{.own}.b64 =state:u64/sink, [a] @7.0,sm_80",
            "mbarrier.op{.own}.b64 =state:u64/sink, [a], count:u32/1..4294967295 @7.8,sm_90",
            "mbarrier.op.sem.reach{.own}.b64 =state:u64/sink, [a] @8.0,sm_80",
            "mbarrier.op.sem.reach{.own}.b64 =state:u64/sink, [a], count:u32/1..4294967295 @8.0,sm_90",
            "mbarrier.op.shared::cluster.b64 =state:sink/only, [a]{, count:u32/1..4294967295} @8.0,sm_90",
            "mbarrier.op.sem.reach.shared::cluster.b64 =state:sink/only, [a]{, count:u32/1..4294967295} @8.0,sm_90",
            "mbarrier.op.expect_tx{.own}.b64 =state:u64/sink, [a], tx:u32 @8.0,sm_90",
            "mbarrier.op.expect_tx.sem.reach{.own}.b64 =state:u64/sink, [a], tx:u32 @8.0,sm_90",
            "mbarrier.op.expect_tx.shared::cluster.b64 =state:sink/only, [a], tx:u32 @8.0,sm_90",
            "mbarrier.op.expect_tx.sem.reach.shared::cluster.b64 =state:sink/only, [a], tx:u32 @8.0,sm_90",
            "mbarrier.op.noComplete{.own}.b64 =state:u64/sink, [a], count:u32/1..4294967295 @7.0,sm_80",
            "mbarrier.op.noComplete.release.cta{.own}.b64 =state:u64/sink, [a], count:u32/1..4294967295 @8.0,sm_80",
        ],
        &[
            "mbarrier.arrive.shared::cta.b64 %rd1, [%r1];",
            "mbarrier.arrive.b64 _, [%rd1], 2;",
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];",
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 2048;",
            "mbarrier.arrive_drop.b64 %rd1, [%rd2];",
            "mbarrier.arrive.noComplete.b64 %rd1, [%rd2], 2;",
        ],
    ),
    row(
        "mbarrier.test_wait",
        Mbarrier,
        MBARRIER,
        &[
            "mbarrier.test_wait{.own}.b64 =done:pred, [a], state:u64 @7.0,sm_80",
            "mbarrier.test_wait.waitsem.reach{.own}.b64 =done:pred, [a], state:u64 @8.0,sm_80",
            "mbarrier.test_wait.parity{.own}.b64 =done:pred, [a], parity:u32/0..1 @7.1,sm_80",
            "mbarrier.test_wait.parity.waitsem.reach{.own}.b64 =done:pred, [a], parity:u32/0..1 @8.0,sm_80",
        ],
        &[
            "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;",
            "mbarrier.test_wait.parity.b64 %p1, [%rd1], %r1;",
        ],
    ),
    row(
        "mbarrier.try_wait",
        Mbarrier,
        MBARRIER,
        &[
            "mbarrier.try_wait{.own}.b64 =done:pred, [a], state:u64{, hint:u32} @7.8,sm_90",
            "mbarrier.try_wait.waitsem.reach{.own}.b64 =done:pred, [a], state:u64{, hint:u32} @8.0,sm_90",
            "mbarrier.try_wait.parity{.own}.b64 =done:pred, [a], parity:u32/0..1{, hint:u32} @7.8,sm_90",
            "mbarrier.try_wait.parity.waitsem.reach{.own}.b64 =done:pred, [a], parity:u32/0..1{, hint:u32} @8.0,sm_90",
        ],
        &[
            "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;",
            "mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p1, [%r1], %rd1, 1000;",
        ],
    ),
    row(
        "mbarrier.pending_count",
        Pure,
        MBARRIER,
        &["mbarrier.pending_count.b64 d:u32, state:u64 @7.0,sm_80"],
        &["mbarrier.pending_count.b64 %r1, %rd1;"],
    ),
    row(
        "griddepcontrol",
        Async,
        &[("action", "launch_dependents wait")],
        &["griddepcontrol.action @7.8,sm_90"],
        &["griddepcontrol.wait;", "griddepcontrol.launch_dependents;"],
    ),
];
