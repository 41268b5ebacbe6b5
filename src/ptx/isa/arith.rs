//! Integer and floating-point arithmetic.

use super::{Effect, Row};

pub(super) static ROWS: &[Row] = &[Row {
    name: "add",
    effect: Effect::Pure,
    sets: &[("type", "u16 u32 u64 s16 s64")],
    forms: &[
        "add.type d, a, b",
        "add{.sat}.s32 d, a, b",
        "add{.rnd}{.ftz}{.sat}.f32 d, a, b",
    ],
    examples: &["add.s32 %r1, %r2, 7;", "add.rn.ftz.f32 %f1, %f2, %f3;"],
}];
