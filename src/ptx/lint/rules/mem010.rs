//! MEM010: a byte offset that is computed in 32 bits and widened afterwards.

use crate::ptx::analysis::trial::Site;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Body, FuncId, Inst, InstId, Operand, RegId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;

/// A byte offset that is computed in 32 bits and widened afterwards.
pub const RULE: Rule = Rule {
    code: Code::new("MEM010", "narrow-offset"),
    level: Level::Info,
    summary: "A byte offset is computed in 32 bits and widened afterwards: it wraps at 4 GiB.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds products of two numbers that are not constant (rows and columns, a CTA's index and a pitch), scaled to bytes in 32 bits, then
widened to 64 bits and added to an address. The address has room for more than 4 GiB, the offset has not: for large data it wraps and
another element is accessed. It is for information, because whether data is that large is not known.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 pitch)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [pitch];
    mov.u32 %r2, %ctaid.x;
    mul.lo.u32 %r3, %r2, %r1;
    shl.b32 %r4, %r3, 2;
    cvt.u64.u32 %rd2, %r4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 pitch)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [pitch];
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd2, %r2, %r1;
    shl.b64 %rd2, %rd2, 2;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Widen before multiplying: `mul.wide`, then scale in 64 bits.
";

fn check(context: &Context) -> Vec<Diag> {
    let functions = (0..).map(FuncId).zip(&context.parsed.module.functions);
    let bodies = functions.filter_map(|(id, function)| Some((id, function.body.as_ref()?)));
    bodies.flat_map(|(id, body)| in_body(context, id, body)).collect()
}

/// The only instruction that writes each register; none where there are several.
fn makers(body: &Body) -> FxHashMap<RegId, Option<InstId>> {
    let mut makers = FxHashMap::default();
    for (at, inst) in (0..).map(InstId).zip(&body.insts) {
        inst.defs(&mut |reg| {
            makers.entry(reg).and_modify(|known| *known = None).or_insert(Some(at));
        });
    }
    makers
}

fn in_body(context: &Context, function: FuncId, body: &Body) -> Vec<Diag> {
    if !body.insts.iter().any(is_widening) {
        return Vec::new();
    }
    let makers = makers(body);
    let maker = |operand: Option<&Operand>| -> Option<(InstId, &Inst)> {
        let at = (*makers.get(&operand?.as_reg()?)?)?;
        Some((at, body.insts.get(at.index())?))
    };
    let mut found = Vec::new();
    for (at, inst) in (0..).map(InstId).zip(&body.insts).filter(|(_, inst)| is_widening(inst)) {
        let scaled = maker(inst.operands.get(1)).filter(|(_, inst)| is_scaling(inst));
        let Some((product, _)) = scaled
            .and_then(|(_, inst)| maker(inst.operands.get(1)))
            .filter(|(_, inst)| is_product(inst))
        else {
            continue;
        };
        let Some((scale, _)) = scaled else { continue };
        let span = |inst| {
            let site = Site { function, inst };
            context.span(site.function, site.inst)
        };
        let message = "a byte offset is computed in 32 bits and widened afterwards: it wraps at 4 GiB";
        found.push(
            Diag::info(RULE.code, span(at), message)
                .related(span(product), "this product is kept in 32 bits")
                .related(span(scale), "it is scaled to bytes here")
                .help("widen before multiplying: `mul.wide`, then scale in 64 bits"),
        );
    }
    found
}

/// `cvt.u64.u32` and the like.
fn is_widening(inst: &Inst) -> bool {
    let wide = |ty: &Type| ty.is_integral() && ty.bits() == 64;
    let narrow = |ty: &Type| ty.is_integral() && ty.bits() == 32;
    inst.op.base() == "cvt" && matches!(inst.op.types.as_slice(), [to, from] if wide(to) && narrow(from))
}

/// A product with the size of an element, in 32 bits.
fn is_scaling(inst: &Inst) -> bool {
    let by = inst.operands.get(2).and_then(Operand::as_int);
    let narrow = inst.op.ty().is_some_and(|ty| ty.bits() == 32);
    narrow
        && match inst.op.base() {
            "shl" => by.is_some_and(|by| (1..=4).contains(&by)),
            "mul" => inst.op.has("lo") && by.is_some_and(|by| [2, 4, 8, 16].contains(&by)),
            _ => false,
        }
}

/// A product of two numbers that are not constant, perhaps with something added.
fn is_product(inst: &Inst) -> bool {
    let registers = inst
        .operands
        .iter()
        .skip(1)
        .take(2)
        .all(|operand| matches!(operand, Operand::Reg(_)));
    matches!(inst.op.base(), "mul" | "mad")
        && inst.op.has("lo")
        && registers
        && inst.op.ty().is_some_and(|ty| ty.bits() == 32)
}
