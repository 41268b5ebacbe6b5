//! Logic, shifts and bit fields.

use super::Effect::Pure;
use super::{Row, Sets, row};

const BITS: Sets = &[
    ("type", "pred b16 b32 b64"),
    ("plain", "b16 b32 b64"),
    ("large", "b32 b64"),
];
const FIELD: Sets = &[("type", "u32 u64 s32 s64")];

pub(super) static ROWS: &[Row] = &[
    row(
        "and",
        Pure,
        BITS,
        &["and.plain d, a, b", "and.pred d, {!}a, {!}b"],
        &["and.b32 %r1, %r2, 0xff;", "and.pred %p1, %p2, !%p3;"],
    ),
    row(
        "or",
        Pure,
        BITS,
        &["or.plain d, a, b", "or.pred d, {!}a, {!}b"],
        &["or.b64 %rd1, %rd2, %rd3;", "or.pred %p1, %p2, %p3;"],
    ),
    row(
        "xor",
        Pure,
        BITS,
        &["xor.plain d, a, b", "xor.pred d, {!}a, {!}b"],
        &["xor.b16 %rs1, %rs2, %rs3;", "xor.pred %p1, %p2, 1;"],
    ),
    row(
        "not",
        Pure,
        BITS,
        &["not.plain d, a", "not.pred d, {!}a"],
        &["not.b32 %r1, %r2;", "not.pred %p1, %p2;"],
    ),
    row("cnot", Pure, BITS, &["cnot.plain d, a"], &["cnot.b32 %r1, %r2;"]),
    row(
        "lop3",
        Pure,
        &[("op", "or and")],
        &[
            "lop3.b32 d:sink, a, b, c, lut:imm @4.3,sm_50",
            "lop3.op.b32 d|p:pred, a, b, c, lut:imm, {!}q:pred @8.2,sm_70",
        ],
        &[
            "lop3.b32 %r1, %r2, %r3, %r4, 0x1e;",
            "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, %p2;",
            "lop3.and.b32 _|%p1, %r2, %r3, %r4, 0x3f, !%p2;",
        ],
    ),
    row(
        "shf",
        Pure,
        &[("dir", "l r"), ("mode", "clamp wrap")],
        &["shf.dir.mode.b32 d, a, b, c:u32 @3.1,sm_32"],
        &[
            "shf.l.wrap.b32 %r1, %r2, %r3, 5;",
            "shf.r.clamp.b32 %r1, %r2, %r3, %r4;",
        ],
    ),
    row(
        "shl",
        Pure,
        BITS,
        &["shl.plain d, a, b:u32"],
        &["shl.b32 %r1, %r2, 3;", "shl.b64 %rd1, %rd2, %r3;"],
    ),
    row(
        "shr",
        Pure,
        &[("type", "b16 b32 b64 u16 u32 u64 s16 s32 s64")],
        &["shr.type d, a, b:u32"],
        &[
            "shr.u32 %r1, %r2, 3;",
            "shr.s64 %rd1, %rd2, %r3;",
            "shr.b16 %rs1, %rs2, 1;",
        ],
    ),
    row(
        "prmt",
        Pure,
        &[("mode", "f4e b4e rc8 ecl ecr rc16")],
        &["prmt.b32{.mode} d, a, b, c @2.0,sm_20"],
        &["prmt.b32 %r1, %r2, %r3, 0x5410;", "prmt.b32.f4e %r1, %r2, %r3, %r4;"],
    ),
    row(
        "popc",
        Pure,
        BITS,
        &["popc.large d:u32, a @2.0,sm_20"],
        &["popc.b32 %r1, %r2;", "popc.b64 %r1, %rd2;"],
    ),
    row(
        "clz",
        Pure,
        BITS,
        &["clz.large d:u32, a @2.0,sm_20"],
        &["clz.b32 %r1, %r2;", "clz.b64 %r1, %rd2;"],
    ),
    row(
        "brev",
        Pure,
        BITS,
        &["brev.large d, a @2.0,sm_20"],
        &["brev.b32 %r1, %r2;"],
    ),
    row(
        "bfind",
        Pure,
        FIELD,
        &["bfind{.shiftamt}.type d:u32, a @2.0,sm_20"],
        &["bfind.u32 %r1, %r2;", "bfind.shiftamt.s64 %r1, %rd2;"],
    ),
    row(
        "fns",
        Pure,
        &[],
        &["fns.b32 d, mask:b32, base:b32, offset:b32 @6.0,sm_30"],
        &["fns.b32 %r1, %r2, 0, 3;"],
    ),
    row(
        "bfe",
        Pure,
        FIELD,
        &["bfe.type d, a, b:u32/0..255, c:u32/0..255 @2.0,sm_20"],
        &["bfe.u32 %r1, %r2, 8, 8;", "bfe.s64 %rd1, %rd2, %r3, %r4;"],
    ),
    row(
        "bfi",
        Pure,
        BITS,
        &["bfi.large =f, a, b, c:u32/0..255, e:u32/0..255 @2.0,sm_20"],
        &["bfi.b32 %r1, %r2, %r3, 8, 8;"],
    ),
    row(
        "bmsk",
        Pure,
        &[("mode", "clamp wrap")],
        &["bmsk.mode.b32 d:u32, a:u32, b:u32 @7.6,sm_70"],
        &["bmsk.clamp.b32 %r1, %r2, %r3;"],
    ),
    row(
        "szext",
        Pure,
        &[("mode", "clamp wrap"), ("type", "u32 s32")],
        &["szext.mode.type d, a, b:u32 @7.6,sm_70"],
        &["szext.clamp.s32 %r1, %r2, %r3;"],
    ),
];
