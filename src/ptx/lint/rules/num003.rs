//! NUM003: floating-point constants that are not what they seem.

use super::kernels::{at_first, insts_where};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Imm, Inst, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Type;

/// Floating-point constants that are not what they seem.
pub const RULE: Rule = Rule {
    code: Code::new("NUM003", "odd-float-literal"),
    level: Level::Info,
    summary: "Floating-point constants that are not what they seem.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds single-precision constants that are denormal or NaN, infinities in sums and products, and decimal constants that single precision cannot hold
and that are rounded on the way in. One finding for a function.

Infinity as the start of a minimum or maximum is usual and does not count.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    add.f32 %f2, %f1, 0f00000001;
    st.global.f32 [%rd1], %f2;
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
    .reg .f32 %f<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    add.f32 %f2, %f1, 0f3F800000;
    st.global.f32 [%rd1], %f2;
    ret;
}
```
Check the digits: a constant written in hexadecimal shows its bits, most significant first.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let places = insts_where(code, |_, row| odd(row).is_some());
        found.extend(at_first(context, code, RULE.code, &places, |row| {
            odd(row).unwrap_or_default()
        }));
    }
    found
}

/// What is odd about a constant of the instruction.
fn odd(row: &Inst) -> Option<String> {
    if !row.op.types.contains(&Type::F32) {
        return None;
    }
    row.operands.iter().find_map(|operand| match operand {
        Operand::Imm(Imm::F32(bits)) => odd_bits(row, *bits),
        Operand::Imm(Imm::F64(bits)) => odd_decimal(*bits),
        _ => None,
    })
}

fn odd_bits(row: &Inst, bits: u32) -> Option<String> {
    let value = f32::from_bits(bits);
    let literal = format!("0f{bits:08X}");
    if value.is_subnormal() {
        let lost = if row.op.has("ftz") {
            ", and `.ftz` flushes it to zero"
        } else {
            ""
        };
        return Some(format!("`{literal}` is the denormal number {value:e}{lost}"));
    }
    let arithmetic = matches!(row.op.base(), "add" | "sub" | "mul" | "fma" | "div");
    match (value.is_nan(), value.is_infinite() && arithmetic) {
        (true, _) => Some(format!("`{literal}` is not a number")),
        (_, true) => Some(format!("`{literal}` is infinite")),
        _ => None,
    }
}

fn odd_decimal(bits: u64) -> Option<String> {
    let value = f64::from_bits(bits);
    let rounded = value as f32;
    (value.is_finite() && f64::from(rounded) != value)
        .then(|| format!("{value} has no single-precision value; {rounded:e} is used"))
}
