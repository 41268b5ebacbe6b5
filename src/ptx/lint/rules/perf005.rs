//! PERF005: neighbouring accesses that one wider access could do.

use super::wording::some_of;
use crate::ptx::analysis::{Alignment, Code as Function};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Base, InstId, MemView, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// Neighbouring accesses that one wider access could do.
pub const RULE: Rule = Rule {
    code: Code::new("PERF005", "narrow-accesses"),
    level: Level::Info,
    summary: "Neighbouring accesses that one wider access could do.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loads, and stores, of one block that access neighbouring addresses with one base, and whose first address is proved to be aligned for a
vector access. What is stored or waited for in between keeps them apart. One finding for a function.

One access of 16 bytes takes one instruction and one request where four of 4 bytes take four. The proof of alignment comes
from `.align` of variables and of `.ptr` parameters, and from factors in the arithmetic.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 out)
{
    .reg .f32 %f<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd1+4];
    ld.global.f32 %f3, [%rd1+8];
    ld.global.f32 %f4, [%rd1+12];
    add.f32 %f1, %f1, %f2;
    add.f32 %f3, %f3, %f4;
    add.f32 %f1, %f1, %f3;
    st.global.f32 [%rd1], %f1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 out)
{
    .reg .f32 %f<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
    add.f32 %f1, %f1, %f2;
    add.f32 %f3, %f3, %f4;
    add.f32 %f1, %f1, %f3;
    st.global.f32 [%rd1], %f1;
    ret;
}
```
Write one vector access: `ld.global.v4.f32 {...}`.
";

/// Bytes of the widest access.
const WIDEST: i64 = 16;

/// What an address is counted from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Value(ValueId),
    Symbol(SymbolId),
}

/// An access that may be part of a wider one.
#[derive(Clone, Copy)]
struct Narrow<'a> {
    inst: InstId,
    opcode: &'a str,
    origin: Origin,
    offset: i64,
    bytes: i64,
}

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let mut alignment = Alignment::new(code);
        let runs: Vec<(InstId, i64, i64)> = code
            .cfg
            .rpo()
            .iter()
            .flat_map(|block| runs(code, *block, &mut alignment))
            .collect();
        let Some((first, count, bytes)) = runs.first().copied() else {
            continue;
        };
        let opcode = &code.body.insts[first.index()].op.text;
        let message = format!(
            "{count} neighbouring `{opcode}` could be one access of {} bytes",
            count * bytes
        );
        let more: Vec<InstId> = runs[1..].iter().map(|run| run.0).collect();
        let diag = Diag::info(RULE.code, context.span(code.id, first), message);
        found.push(some_of(context, code.id, &more, "another such row of accesses", diag));
    }
    found
}

/// Rows of neighbouring accesses in a block: the first, how many, and the bytes of each.
fn runs(code: Function, block: u32, alignment: &mut Alignment) -> Vec<(InstId, i64, i64)> {
    let mut found = Vec::new();
    let mut group: Vec<Narrow> = Vec::new();
    for inst in code.cfg.insts(block).map(InstId) {
        let row = &code.body.insts[inst.index()];
        let narrow = row
            .as_mem()
            .filter(|_| row.guard.is_none())
            .and_then(|mem| narrow(code, inst, &mem));
        let parts = match (row.op.effect, group.first()) {
            (Effect::Pure, _) => false,
            // Loads may pass loads, and stores what is stored elsewhere in the row.
            (Effect::Load | Effect::Store, Some(first)) => {
                narrow.is_none_or(|narrow| narrow.opcode != first.opcode || narrow.origin != first.origin)
            }
            _ => true,
        };
        if parts {
            found.extend(run(&mut group, alignment));
        }
        group.extend(narrow);
    }
    found.extend(run(&mut group, alignment));
    found
}

fn narrow<'a>(code: Function<'a>, inst: InstId, mem: &MemView) -> Option<Narrow<'a>> {
    let row = &code.body.insts[inst.index()];
    let bytes = i64::from(mem.ty.bytes()) * i64::from(mem.lanes);
    let spaces = [Space::Global, Space::Shared, Space::Local];
    if mem.atomic || bytes * 2 > WIDEST || bytes < 4 || !spaces.contains(&mem.space) || row.op.has("volatile") {
        return None;
    }
    let origin = match mem.address.base {
        Base::Reg(reg) => Origin::Value(code.ssa.use_of(inst, reg)?),
        Base::Symbol(symbol) => Origin::Symbol(symbol),
        Base::Absolute => return None,
    };
    Some(Narrow {
        inst,
        opcode: &row.op.text,
        origin,
        offset: mem.address.offset,
        bytes,
    })
}

/// Takes the group and answers the widest row of neighbours in it that is aligned.
fn run(group: &mut Vec<Narrow>, alignment: &mut Alignment) -> Option<(InstId, i64, i64)> {
    let mut parts = std::mem::take(group);
    parts.sort_by_key(|part| part.offset);
    let first = *parts.first()?;
    let aligned = match first.origin {
        Origin::Value(value) => alignment.of(value),
        Origin::Symbol(symbol) => alignment.of_symbol(symbol),
    };
    for count in [4, 2] {
        let bytes = first.bytes * count;
        if bytes > WIDEST || i64::try_from(aligned).is_ok_and(|aligned| aligned < bytes) {
            continue;
        }
        let fits = |row: &&[Narrow]| {
            row[0].offset % bytes == 0
                && row
                    .windows(2)
                    .all(|pair| pair[1].offset == pair[0].offset + first.bytes)
        };
        if let Some(row) = parts.windows(count as usize).find(fits) {
            let inst = row.iter().map(|part| part.inst).min()?;
            return Some((inst, count, first.bytes));
        }
    }
    None
}
