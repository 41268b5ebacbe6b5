//! WARP007: the result of a shuffle is used where its predicate says that no lane was read.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use rustc_hash::FxHashMap;

/// The result of a shuffle is used where its predicate says that no lane was read.
pub const RULE: Rule = Rule {
    code: Code::new("WARP007", "shuffle-result-where-invalid"),
    level: Level::Warning,
    summary: "The result of a shuffle is used where its predicate says that no lane was read.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds uses of a shuffle's result under the negation of the predicate that it gives.

`shfl.sync d|p` sets `p` where the lane read lies in the segment. Where it does not, `d` is the lane's own value, which is rarely meant.

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
    shfl.sync.down.b32 %r3|%p1, %r1, 1, 31, 0xffffffff;
    mov.u32 %r2, %r1;
    @!%p1 add.u32 %r2, %r1, %r3;
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
    shfl.sync.down.b32 %r3|%p1, %r1, 1, 31, 0xffffffff;
    mov.u32 %r2, %r1;
    @%p1 add.u32 %r2, %r1, %r3;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Use the result where the predicate holds.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let pairs: FxHashMap<ValueId, (ValueId, InstId)> =
            sites.sites.iter().filter_map(|site| pair(unit, site.inst)).collect();
        if pairs.is_empty() {
            continue;
        }
        for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
            if let Some(shuffle) = misuse(unit, inst, row, &pairs) {
                let message = "the shuffle's result is used where its predicate says that no lane was read";
                let diag = Diag::warning(RULE.code, context.span(unit.id, inst), message)
                    .related(context.span(unit.id, shuffle), "the shuffle")
                    .help("negate the predicate");
                found.push(diag);
            }
        }
    }
    found
}

/// The predicate of a shuffle, with its result.
fn pair(unit: &Unit, inst: InstId) -> Option<(ValueId, (ValueId, InstId))> {
    let row = &unit.body.insts[inst.index()];
    if row.op.base() != "shfl" || !matches!(row.operands.first(), Some(Operand::Pair(_))) {
        return None;
    }
    match unit.ssa.defs(inst) {
        [result, predicate] => Some((*predicate, (*result, inst))),
        _ => None,
    }
}

/// Whether an instruction takes the result only where the predicate does not hold; the shuffle.
fn misuse(unit: &Unit, inst: InstId, row: &Inst, pairs: &FxHashMap<ValueId, (ValueId, InstId)>) -> Option<InstId> {
    let value = |operand: &Operand| operand.as_reg().and_then(|reg| unit.ssa.use_of(inst, reg));
    if row.op.base() == "selp" {
        let (result, shuffle) = pairs.get(&value(row.operands.get(3)?)?)?;
        let no = value(row.operands.get(2)?)?;
        return (no == *result && value(row.operands.get(1)?) != Some(*result)).then_some(*shuffle);
    }
    let guard = row.guard.filter(|guard| guard.negated)?;
    let (result, shuffle) = pairs.get(&unit.ssa.use_of(inst, guard.reg)?)?;
    let used = unit.ssa.uses(inst).iter().skip(1).any(|used| used == result);
    used.then_some(*shuffle)
}
