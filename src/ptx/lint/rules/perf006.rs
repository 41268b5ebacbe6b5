//! PERF006: integer divisions and remainders by constants.

use super::kernels::{at_first, insts_where};
use crate::ptx::analysis::Folder;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Kind;
use std::cell::RefCell;

/// Integer divisions and remainders by constants.
pub const RULE: Rule = Rule {
    code: Code::new("PERF006", "division-by-constant"),
    level: Level::Info,
    summary: "Integer divisions and remainders by constants.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds integer `div` and `rem` whose divisor is the same constant on every path, also through registers. One finding for a function.

There is no instruction for them: `ptxas` makes multiplications and shifts of a division by a constant, and a long sequence of one by a register.
Unsigned division by a power of two is one shift, a remainder one `and`; signed ones need corrections.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mov.u32 %r1, %tid.x;
    div.s32 %r2, %r1, 8;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 3;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Shift or mask where the divisor is a power of two, divide unsigned numbers where they cannot be negative, and hoist what does not change in a loop.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let folder = RefCell::new(Folder::new(code));
        let divisor = |inst, row: &crate::ptx::ir::Inst| folder.borrow_mut().operand(inst, row.operands.get(2)?);
        let places = insts_where(code, |inst, row| {
            let divides = matches!(row.op.base(), "div" | "rem") && row.op.ty().is_some_and(|ty| ty.is_integral());
            divides && divisor(inst, row).is_some_and(|divisor| divisor != 0)
        });
        found.extend(at_first(context, code, RULE.code, &places, |row| {
            let by = divisor(places[0], row).unwrap_or(1);
            let signed = row.op.ty().is_some_and(|ty| ty.kind() == Kind::Signed);
            let instead = match (by.is_power_of_two(), signed, row.op.base()) {
                (true, false, "div") => format!("a shift by {} does it", by.trailing_zeros()),
                (true, false, _) => format!("an `and` with {} does it", by - 1),
                (true, true, _) => "if it is never negative, one unsigned shift or mask does it".to_owned(),
                _ => "`ptxas` makes a multiplication and shifts of it".to_owned(),
            };
            format!("`{}` by the constant {}: {instead}", row.op.text, by as i64)
        }));
    }
    found
}
