//! Control flow and what concerns the thread as a whole.

use super::Effect::{Branch, Call, Exit, Other};
use super::{Row, row};

pub(super) static ROWS: &[Row] = &[
    row(
        "bra",
        Branch,
        &[],
        &["bra{.uni} target:label"],
        &["bra L1;", "bra.uni L1;"],
    ),
    row(
        "brx",
        Branch,
        &[],
        &["brx.idx{.uni} index:u32, targets:label @6.0,sm_30"],
        &["brx.idx %r1, TS;"],
    ),
    row(
        "call",
        Call,
        &[],
        &[
            "call{.uni} callee:func{, args:list}{, targets:label}",
            "call{.uni} =results:list, callee:func{, args:list}{, targets:label}",
            "call{.uni} callee:func, args:list, targets:sym @2.1,sm_20",
            "call{.uni} =results:list, callee:func, args:list, targets:sym @2.1,sm_20",
        ],
        &["call.uni fn0;", "call (%r1), fr, (%r2);"],
    ),
    row("ret", Exit, &[], &["ret{.uni}"], &["ret;", "ret.uni;"]),
    row("exit", Exit, &[], &["exit"], &["exit;"]),
    row("trap", Exit, &[], &["trap"], &["trap;"]),
    row("brkpt", Other, &[], &["brkpt"], &["brkpt;"]),
    row(
        "nanosleep",
        Other,
        &[],
        &["nanosleep.u32 t @6.2,sm_70"],
        &["nanosleep.u32 100;"],
    ),
    row(
        "pmevent",
        Other,
        &[],
        &["pmevent a:imm/0..15 @1.4", "pmevent.mask a:imm/0..65535 @3.0,sm_20"],
        &["pmevent 1;", "pmevent.mask 3;"],
    ),
    row(
        "setmaxnreg",
        Other,
        &[("action", "inc dec")],
        &[
            "setmaxnreg.action.sync.aligned.u32 count:imm/24..256/%8 @8.0,sm_90a/sm_100a/sm_101a/sm_120a/sm_100f/sm_110f/sm_120f",
        ],
        &["setmaxnreg.inc.sync.aligned.u32 240;"],
    ),
];
