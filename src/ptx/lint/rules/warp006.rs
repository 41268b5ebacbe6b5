//! WARP006: the clamp and segment operand of a shuffle is malformed.

use crate::ptx::diag::{Code, Diag, Edit, Level};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::warps::{Kind, Mode, Shuffle};
use crate::ptx::parse::pieces;
use crate::ptx::source::Span;

/// The clamp and segment operand of a shuffle is malformed.
pub const RULE: Rule = Rule {
    code: Code::new("WARP006", "shuffle-clamp"),
    level: Level::Error,
    summary: "The clamp and segment operand of a shuffle is malformed.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds shuffles whose third operand has bits that mean nothing, such as 32 where 31 is meant, or for which no lane ever reads another.

Bits 0 to 4 hold the last lane that may be read (31, or 0 for `up`), bits 8 to 12 the mask that cuts the warp into segments:
`(32 - width) << 8 | 31`. `ptxas` checks neither. With 32 the limit is 0, and only lane 0 of a segment can be read; `down` with limit 0
and `up` with limit 31 give every lane its own value back.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    shfl.sync.idx.b32 %r2, %r1, 0, 32, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Write 31 for `idx`, `down` and `bfly`, 0 for `up`, with `(32 - width) << 8` for segments of a smaller width.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let mut evaluator = unit.evaluator();
        for site in sites.sites.iter().filter(|site| site.kind == Kind::Shuffle) {
            let row = &unit.body.insts[site.inst.index()];
            if let Some(shuffle) = Shuffle::of(&mut evaluator, site.inst, row) {
                found.extend(judge(context.text, context.span(unit.id, site.inst), row, &shuffle));
            }
        }
    }
    found
}

fn judge(text: &str, span: Span, row: &Inst, shuffle: &Shuffle) -> Option<Diag> {
    let op = &row.op.text;
    let clamp = shuffle.clamp.as_ref()?.constant()? as u32;
    let limit = if shuffle.mode == Mode::Up { 0 } else { 31 };
    let help = format!("write {limit}, or `(32 - width) << 8 | {limit}` for segments");
    if let Some(stray) = shuffle.stray_bits() {
        let message = format!("the clamp operand {clamp:#x} of `{op}` has bits that mean nothing: {stray:#x}");
        let diag = Diag::error(RULE.code, span, message).note(format!(
            "it is read as limit {} and segment mask {:#x}",
            clamp & 31,
            clamp >> 8 & 31
        ));
        let diag = diag.help(help);
        return Some(match row.operands.get(3) {
            Some(Operand::Imm(_)) => with_clamp(text, limit, diag),
            _ => diag,
        });
    }
    shuffle.moves_nothing().then(|| {
        let message = format!(
            "no lane reads another one: `{op}` with the clamp operand {clamp:#x} gives every lane its own value"
        );
        Diag::warning(RULE.code, span, message).help(help)
    })
}

/// The repair: the clamp of a whole warp.
fn with_clamp(text: &str, limit: u32, diag: Diag) -> Diag {
    match pieces(text, diag.span).operands.get(3).copied() {
        Some(span) => diag.unsafe_fix(vec![Edit {
            span,
            text: limit.to_string(),
        }]),
        None => diag,
    }
}
