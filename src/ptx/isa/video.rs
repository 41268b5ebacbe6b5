//! Video instructions: scalar and SIMD arithmetic on parts of registers.
//!
//! Any of their operands may select parts (`%r1.b0`, `%r2.h10`), so the operands are registers or constants of 32 bits.

use super::Effect::Pure;
use super::{Row, Sets, row};

const VIDEO: Sets = &[
    ("dtype", "u32 s32"),
    ("atype", "u32 s32"),
    ("btype", "u32 s32"),
    ("ctype", "u32 s32"),
    ("op2", "add min max"),
    ("mode", "clamp wrap"),
    ("scale", "shr7 shr15"),
    ("cmp", "eq ne lt le gt ge"),
];

pub(super) static ROWS: &[Row] = &[
    scalar(
        "vadd",
        &[
            "vadd.dtype.atype.btype{.sat} d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vadd.dtype.atype.btype{.sat}.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &[
            "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;",
            "vadd.s32.u32.s32.add %r1, %r2, %r3, %r4;",
        ],
    ),
    scalar(
        "vsub",
        &[
            "vsub.dtype.atype.btype{.sat} d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vsub.dtype.atype.btype{.sat}.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &["vsub.u32.u32.u32 %r1, %r2, %r3;"],
    ),
    scalar(
        "vabsdiff",
        &[
            "vabsdiff.dtype.atype.btype{.sat} d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vabsdiff.dtype.atype.btype{.sat}.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &["vabsdiff.u32.u32.u32.add %r1, %r2, %r3, %r4;"],
    ),
    scalar(
        "vmin",
        &[
            "vmin.dtype.atype.btype{.sat} d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vmin.dtype.atype.btype{.sat}.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &["vmin.s32.s32.s32 %r1, %r2, %r3;"],
    ),
    scalar(
        "vmax",
        &[
            "vmax.dtype.atype.btype{.sat} d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vmax.dtype.atype.btype{.sat}.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &["vmax.s32.s32.s32 %r1, %r2, %r3;"],
    ),
    scalar(
        "vshl",
        &[
            "vshl.dtype.atype.u32{.sat}.mode d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vshl.dtype.atype.u32{.sat}.mode.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &["vshl.u32.u32.u32.clamp %r1, %r2, %r3;"],
    ),
    scalar(
        "vshr",
        &[
            "vshr.dtype.atype.u32{.sat}.mode d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vshr.dtype.atype.u32{.sat}.mode.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &["vshr.u32.u32.u32.wrap.add %r1, %r2, %r3, %r4;"],
    ),
    scalar(
        "vmad",
        &[
            "vmad.dtype.atype.btype{.sat}{.scale} d:u32, {-}a:u32, {-}b:u32, {-}c:u32 @2.0,sm_20",
            "vmad.dtype.atype.btype.po{.sat}{.scale} d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &[
            "vmad.s32.s32.s32.sat.shr7 %r1, %r2.b0, %r3.h0, %r4;",
            "vmad.s32.u32.s32.shr15 %r1, -%r2.h1, %r3, %r4;",
            "vmad.u32.u32.u32.po %r1, %r2, %r3, %r4;",
        ],
    ),
    scalar(
        "vset",
        &[
            "vset.atype.btype.cmp d:u32, a:u32, b:u32{, c:u32} @2.0,sm_20",
            "vset.atype.btype.cmp.op2 d:u32, a:u32, b:u32, c:u32 @2.0,sm_20",
        ],
        &[
            "vset.u32.u32.lt %r1, %r2, %r3;",
            "vset.s32.u32.eq.add %r1, %r2, %r3, %r4;",
        ],
    ),
    simd(
        "vadd2",
        &[
            "vadd2.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vadd2.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vadd2.s32.s32.s32.sat %r1.h10, %r2.h32, %r3.h10, %r4;"],
    ),
    simd(
        "vsub2",
        &[
            "vsub2.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vsub2.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vsub2.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vavrg2",
        &[
            "vavrg2.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vavrg2.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vavrg2.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vabsdiff2",
        &[
            "vabsdiff2.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vabsdiff2.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vabsdiff2.u32.u32.u32.add %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vmin2",
        &[
            "vmin2.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vmin2.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vmin2.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vmax2",
        &[
            "vmax2.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vmax2.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vmax2.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vset2",
        &[
            "vset2.atype.btype.cmp d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vset2.atype.btype.cmp.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vset2.u32.u32.lt %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vadd4",
        &[
            "vadd4.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vadd4.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vadd4.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vsub4",
        &[
            "vsub4.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vsub4.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vsub4.u32.u32.u32.sat %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vavrg4",
        &[
            "vavrg4.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vavrg4.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vavrg4.u32.u32.u32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vabsdiff4",
        &[
            "vabsdiff4.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vabsdiff4.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vmin4",
        &[
            "vmin4.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vmin4.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vmin4.u32.u32.u32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vmax4",
        &[
            "vmax4.dtype.atype.btype{.sat} d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vmax4.dtype.atype.btype.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vmax4.u32.u32.u32 %r1, %r2, %r3, %r4;"],
    ),
    simd(
        "vset4",
        &[
            "vset4.atype.btype.cmp d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
            "vset4.atype.btype.cmp.add d:u32, a:u32/reg, b:u32/reg, c:u32/reg @3.0,sm_30",
        ],
        &["vset4.u32.u32.ne.add %r1, %r2, %r3, %r4;"],
    ),
];

const fn scalar(name: &'static str, forms: &'static [&'static str], examples: &'static [&'static str]) -> Row {
    row(name, Pure, VIDEO, forms, examples)
}

const fn simd(name: &'static str, forms: &'static [&'static str], examples: &'static [&'static str]) -> Row {
    row(name, Pure, VIDEO, forms, examples)
}
