//! Exchange and votes within a warp.

use super::Effect::Warp;
use super::{Row, row};

pub(super) static ROWS: &[Row] = &[
    row(
        "shfl",
        Warp,
        &[("mode", "up down bfly idx")],
        &[
            "shfl.sync.mode.b32 d{|p:pred}, a, b:b32, c:b32, mask:u32 @6.0,sm_30",
            "shfl.mode.b32 d{|p:pred}, a, b:b32, c:b32 @3.0,sm_30 !6.4,sm_70",
        ],
        &[
            "shfl.sync.bfly.b32 %r1, %r2, 1, 31, 0xffffffff;",
            "shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 0x1f, %r4;",
            "shfl.sync.down.b32 %f1, %f2, 16, 31, -1;",
        ],
    ),
    row(
        "vote",
        Warp,
        &[("mode", "all any uni")],
        &[
            "vote.sync.mode.pred d, {!}a, mask:u32 @6.0,sm_30",
            "vote.sync.ballot.b32 d, {!}a:pred, mask:u32 @6.0,sm_30",
            "vote.mode.pred d, {!}a @1.2,sm_12 !6.4,sm_70",
            "vote.ballot.b32 d, {!}a:pred @2.0,sm_20 !6.4,sm_70",
        ],
        &[
            "vote.sync.any.pred %p1, %p2, -1;",
            "vote.sync.ballot.b32 %r1, !%p1, 0xffffffff;",
        ],
    ),
    row(
        "match",
        Warp,
        &[("bits", "b32 b64")],
        &[
            "match.any.sync.bits d:u32, a, mask:u32 @6.0,sm_70",
            "match.all.sync.bits d:u32{|p:pred}, a, mask:u32 @6.0,sm_70",
        ],
        &[
            "match.any.sync.b32 %r1, %r2, 0xffffffff;",
            "match.all.sync.b64 %r1|%p1, %rd1, -1;",
        ],
    ),
    row(
        "activemask",
        Warp,
        &[],
        &["activemask.b32 d @6.2,sm_30"],
        &["activemask.b32 %r1;"],
    ),
    row(
        "redux",
        Warp,
        &[
            ("op", "add min max"),
            ("bitop", "and or xor"),
            ("order", "min max"),
            ("word", "u32 s32"),
        ],
        &[
            "redux.sync.op.word d, a, mask:u32 @7.0,sm_80",
            "redux.sync.bitop.b32 d:u32, a:u32, mask:u32 @7.0,sm_80",
            "redux.sync.order{.abs}{.NaN}.f32 d, a, mask:u32 @8.6,sm_100a/sm_100f",
        ],
        &[
            "redux.sync.add.s32 %r1, %r2, -1;",
            "redux.sync.or.b32 %r1, %r2, -1;",
            "redux.sync.max.NaN.f32 %f1, %f2, -1;",
        ],
    ),
    row(
        "elect",
        Warp,
        &[],
        &["elect.sync d:b32|p:pred, mask:u32 @8.0,sm_90"],
        &["elect.sync _|%p1, 0xffffffff;", "elect.sync %r1|%p1, -1;"],
    ),
];
