//! WARP010: five shuffles reduce an integer over a warp, which `redux.sync` does at once.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Body, FuncId, Inst, InstId, Operand, RegId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::sm;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;

/// Five shuffles reduce an integer over a warp, which `redux.sync` does at once.
pub const RULE: Rule = Rule {
    code: Code::new("WARP010", "reduction-by-shuffles"),
    level: Level::Info,
    summary: "Five shuffles reduce an integer over a warp, which `redux.sync` does at once.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds chains of five `shfl.sync` over 16, 8, 4, 2 and 1 lanes whose results go into `add`, `min`, `max`, `and`, `or` or `xor` on 32-bit integers,
on targets that have `redux.sync` (sm_80 and later).

`redux.sync` does the same in one instruction. Sums of floating-point numbers have no such instruction and are not reported.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
    add.s32 %r1, %r1, %r2;
    shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1;
    add.s32 %r1, %r1, %r2;
    shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1;
    add.s32 %r1, %r1, %r2;
    shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1;
    add.s32 %r1, %r1, %r2;
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    add.s32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    redux.sync.add.s32 %r1, %r1, -1;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Use `redux.sync` with the same operation.
";

/// What the steps of a reduction over a warp add up to: 16, 8, 4, 2 and 1 lanes, a bit each.
const ALL_STEPS: u32 = 31;

fn check(context: &Context) -> Vec<Diag> {
    if sm(&context.parsed.module).is_none_or(|sm| sm < 80) {
        return Vec::new();
    }
    let module = &context.parsed.module;
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter_map(|(id, function)| one(context, id, function.body.as_ref()?))
        .collect()
}

/// The first chain of a function.
fn one(context: &Context, id: FuncId, body: &Body) -> Option<Diag> {
    if body.insts.iter().filter(|row| row.op.base() == "shfl").count() < 5 {
        return None;
    }
    // What a shuffle has fetched, and over how many lanes; what has been reduced so far, by which operation, and where that began.
    let mut fetched: FxHashMap<RegId, (u32, InstId)> = FxHashMap::default();
    let mut reduced: FxHashMap<RegId, (u32, &str, InstId)> = FxHashMap::default();
    let numbers = numbers(body);
    for (inst, row) in (0..).map(InstId).zip(&body.insts) {
        let sources: Vec<RegId> = row.operands.iter().skip(1).filter_map(Operand::as_reg).collect();
        let step = sources.iter().find_map(|reg| fetched.get(reg).copied());
        let before = sources.iter().find_map(|reg| reduced.get(reg).copied());
        let chain = step.filter(|_| is_integer(row)).map(|(step, from)| {
            let begun = before.filter(|(steps, name, _)| *name == row.op.base() && steps & step == 0);
            let (steps, _, first) = begun.unwrap_or((0, "", from));
            (steps | step, row.op.base(), first)
        });
        let lanes = row.operands.get(2).and_then(|operand| match operand {
            Operand::Reg(reg) => numbers.get(reg).copied().flatten(),
            operand => operand.as_int(),
        });
        let fetch = (row.op.base() == "shfl" && (row.op.has("bfly") || row.op.has("down")))
            .then(|| lanes.filter(|lanes| [1, 2, 4, 8, 16].contains(lanes)))
            .flatten();
        row.defs(&mut |reg| {
            fetched.remove(&reg);
            reduced.remove(&reg);
        });
        let Some(into) = row.operands.first().and_then(target) else {
            continue;
        };
        if let Some(lanes) = fetch {
            fetched.insert(into, (lanes as u32, inst));
        } else if let Some((steps, name, first)) = chain {
            if steps == ALL_STEPS {
                return Some(say(context, id, name, first));
            }
            reduced.insert(into, (steps, name, first));
        }
    }
    None
}

/// What registers hold that hold one number: compilers put the distances there.
fn numbers(body: &Body) -> FxHashMap<RegId, Option<i64>> {
    let mut numbers: FxHashMap<RegId, Option<i64>> = FxHashMap::default();
    for row in &body.insts {
        let number = match (row.op.base(), row.operands.get(1)) {
            ("mov", Some(operand)) => operand.as_int(),
            _ => None,
        };
        row.defs(&mut |reg| {
            let known = numbers.entry(reg).or_insert(number);
            if *known != number {
                *known = None;
            }
        });
    }
    numbers
}

/// The register that is written; of a shuffle's pair the value.
fn target(operand: &Operand) -> Option<RegId> {
    match operand {
        Operand::Pair(pair) => pair.0.as_reg(),
        operand => operand.as_reg(),
    }
}

fn is_integer(row: &Inst) -> bool {
    matches!(row.op.base(), "add" | "min" | "max" | "and" | "or" | "xor")
        && matches!(row.op.ty(), Some(Type::U32 | Type::S32 | Type::B32))
}

fn say(context: &Context, id: FuncId, name: &str, first: InstId) -> Diag {
    let message =
        format!("five shuffles and `{name}` reduce over a warp what `redux.sync.{name}` does in one instruction");
    Diag::info(RULE.code, context.span(id, first), message).help(format!("use `redux.sync.{name}` with the same mask"))
}
