//! MEM008: a generic access, or a conversion back, where the state space is known.

use super::wording::some_of;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Base, Body, FuncId, Inst, InstId, Operand, RegId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// A generic access, or a conversion back, where the state space is known.
pub const RULE: Rule = Rule {
    code: Code::new("MEM008", "generic-access-to-known-space"),
    level: Level::Info,
    summary: "A generic access, or a conversion back, where the state space is known.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loads and stores without a state space whose address comes from `cvta` of a known one, and `cvta.to` of what `cvta` has just made
generic.

A generic access is resolved to a space each time it is executed, and it keeps the compiler from knowing what it can be confused with. Compilers
leave such accesses in code that is not optimised.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b8 s[1024];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, s;
    cvta.shared.u64 %rd4, %rd3;
    add.u64 %rd5, %rd4, %rd2;
    st.u32 [%rd5], %r1;
    bar.sync 0;
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
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b8 s[1024];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, s;
    add.u64 %rd4, %rd3, %rd2;
    st.shared.u32 [%rd4], %r1;
    bar.sync 0;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Access the address before `cvta` with the space's own instruction.
";

fn check(context: &Context) -> Vec<Diag> {
    let module = &context.parsed.module;
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter_map(|(id, function)| one(context, id, function.body.as_ref()?))
        .collect()
}

/// The first one of a function, with the others.
fn one(context: &Context, id: FuncId, body: &Body) -> Option<Diag> {
    let to_generic = |row: &&Inst| row.op.base() == "cvta" && !row.op.has("to");
    if !body.insts.iter().any(|row| to_generic(&row)) {
        return None;
    }
    let spaces = known_spaces(body);
    let space_of = |row: &Inst| match row.op.base() {
        "cvta" if row.op.has("to") => spaces.get(&row.operands.get(1)?.as_reg()?).copied(),
        _ => match row.as_mem()? {
            view if view.space == Space::Generic => match view.address.base {
                Base::Reg(reg) => spaces.get(&reg).copied(),
                _ => None,
            },
            _ => None,
        },
    };
    let found: Vec<(InstId, Space)> = (0..)
        .map(InstId)
        .zip(&body.insts)
        .filter_map(|(inst, row)| Some((inst, space_of(row)?)))
        .collect();
    let (first, space) = *found.first()?;
    let row = &body.insts[first.index()];
    let message = match row.op.base() {
        "cvta" => format!(
            "`{}` undoes a `cvta`: the address is known to be in .{}",
            row.op.text,
            space.name()
        ),
        _ => format!(
            "`{}` is generic, but its address is known to be in .{}",
            row.op.text,
            space.name()
        ),
    };
    let diag = Diag::info(RULE.code, context.span(id, first), message).help(format!(
        "use the address that `cvta.{0}` was given, with `.{0}`",
        space.name()
    ));
    let more: Vec<InstId> = found.iter().skip(1).map(|(inst, _)| *inst).collect();
    Some(some_of(context, id, &more, "and this one", diag))
}

/// The registers that hold nothing but generic addresses of one space.
fn known_spaces(body: &Body) -> FxHashMap<RegId, Space> {
    let mut spaces: FxHashMap<RegId, Option<Space>> = FxHashMap::default();
    for row in &body.insts {
        let made = match row.op.base() {
            // Stack frames are addressed like this by all code that is not optimised.
            "cvta" if !row.op.has("to") => Some(row.op.space).filter(|space| *space != Space::Local),
            // An offset leaves the space as it is.
            "add" | "sub" | "mov" => row
                .operands
                .iter()
                .skip(1)
                .filter_map(Operand::as_reg)
                .find_map(|reg| spaces.get(&reg).copied().flatten()),
            _ => None,
        };
        row.defs(&mut |reg| {
            let known = spaces.entry(reg).or_insert(made);
            if *known != made {
                *known = None;
            }
        });
    }
    spaces
        .into_iter()
        .filter_map(|(reg, space)| Some((reg, space?)))
        .collect()
}
