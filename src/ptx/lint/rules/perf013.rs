//! PERF013: atomics of a whole warp on one address.

use super::accesses::{Access, accesses};
use super::wording::some_of;
use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::InstId;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;

/// Atomics of a whole warp on one address.
pub const RULE: Rule = Rule {
    code: Code::new("PERF013", "contended-atomic"),
    level: Level::Info,
    summary: "Atomics of a whole warp on one address.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds atomics and reductions that all lanes of a warp do on one address. One finding for a function.

They are done one after the other. Most can be summed up in the warp first (`redux.sync`, or a reduction with `shfl.sync`), and done by one lane.

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
    red.global.add.f32 [%rd1], %f1;
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
    setp.eq.u32 %p1, %r1, 0;
    @%p1 red.global.add.f32 [%rd1], %f1;
    ret;
}
```
Combine the values of the warp first, and let one lane do the atomic.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for code in context.codes() {
        let spaces = [Space::Global, Space::Shared, Space::Generic];
        let all = spaces.into_iter().flat_map(|space| accesses(context, code, space));
        let contended = all.filter(|access| {
            access.atomic && !access.active.unsure && is_one_place(access) && combines(code, access.inst)
        });
        let mut places: Vec<InstId> = contended.map(|access| access.inst).collect();
        places.sort_unstable();
        let Some((first, more)) = places.split_first() else {
            continue;
        };
        let opcode = &code.body.insts[first.index()].op.text;
        let message = format!("all lanes of a warp do `{opcode}` on one address");
        let diag = Diag::info(RULE.code, context.span(code.id, *first), message);
        found.push(
            some_of(context, code.id, more, "and here", diag)
                .help("combine the warp's values first, and let one lane do it"),
        );
    }
    found
}

/// Whether the values of several lanes can be combined beforehand: not those of an exchange.
fn combines(code: Function, inst: InstId) -> bool {
    let op = &code.body.insts[inst.index()].op;
    !op.has("cas") && !op.has("exch")
}

fn is_one_place(access: &Access) -> bool {
    let mut lanes = access.lanes().map(|lane| access.at(lane));
    let first = lanes.next();
    lanes.all(|at| Some(at) == first)
}
