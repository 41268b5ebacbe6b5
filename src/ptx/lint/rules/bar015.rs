//! BAR015: lanes of one warp spin for a lock that another lane of the warp holds.

use super::masks::is_old;
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Base, InstId};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::parting::{condition, maker};
use crate::ptx::lint::rule::Rule;

/// Lanes of one warp spin for a lock that another lane of the warp holds.
pub const RULE: Rule = Rule {
    code: Code::new("BAR015", "spin-within-warp"),
    level: Level::Warning,
    summary: "Lanes of one warp spin for a lock that another lane of the warp holds.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loops in which all lanes of a warp try to take one lock by an atomic exchange, with the release behind the loop.

Before sm_70 the lanes that failed keep the lane that has the lock from running on to its release: the warp hangs. Since sm_70 lanes make
progress of their own, and it is only slow; there it is information.

Fails:
```ptx
.version 8.0
.target sm_60
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
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
TRY:
    atom.global.cas.b32 %r2, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra TRY;
    st.global.u32 [%rd3], %r1;
    atom.global.exch.b32 %r3, [%rd1], 0;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_60
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
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra DONE;
TRY:
    atom.global.cas.b32 %r2, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra TRY;
    st.global.u32 [%rd3], %r1;
    atom.global.exch.b32 %r3, [%rd1], 0;
DONE:
    ret;
}
```
Let one lane take the lock for its warp, or put the critical section into the loop.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for unit in context.units() {
        for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
            let takes = row.op.base() == "atom" && (row.op.has("cas") || row.op.has("exch"));
            if takes
                && row.guard.is_none()
                && let Some(release) = spins(context, unit, inst)
            {
                let level = if is_old(unit) { Level::Warning } else { Level::Info };
                let message = "lanes of one warp spin here for a lock that one of them holds";
                let diag = Diag::new(RULE.code, level, context.span(unit.id, inst), message)
                    .related(context.span(unit.id, release), "the lock is given back behind the loop")
                    .note("before sm_70 the lanes that wait keep the one that holds the lock from running on")
                    .help("let one lane take the lock, or put the critical section into the loop");
                found.push(diag);
            }
        }
    }
    found
}

/// Whether several lanes leave a small loop around an attempt in different rounds; where the lock is given back.
fn spins(context: &Context, unit: &Unit, inst: InstId) -> Option<InstId> {
    let block = unit.cfg.block_of(inst);
    let id = unit.loops.innermost(block)?;
    let (extent, exit) = unit.uniformity.loop_exit(id);
    let blocks = unit.cfg.rpo().iter().filter(|block| unit.loops.contains(id, **block));
    let size: usize = blocks.map(|block| unit.cfg.insts(*block).len()).sum();
    let result = *unit.ssa.defs(inst).first()?;
    if extent != Extent::Thread || size > 12 || !depends(unit, condition(unit, exit)?, result) {
        return None;
    }
    let company = context.lanes(unit).company(unit, inst)?;
    let several = company.threads.warps() < company.threads.len();
    // The loop's own exit parts lanes, and that is the point; anything else around it would choose one.
    let chosen = company.apart.iter().any(|apart| !unit.loops.contains(id, apart.block));
    if !several || chosen || company.guarded {
        return None;
    }
    let base = address(unit, inst)?;
    let gives = |other: InstId| {
        let row = &unit.body.insts[other.index()];
        let writes = matches!(row.op.effect, Effect::Store | Effect::Atomic);
        writes && !unit.loops.contains(id, unit.cfg.block_of(other)) && address(unit, other) == Some(base)
    };
    (inst.0..unit.body.insts.len() as u32)
        .map(InstId)
        .find(|other| gives(*other))
}

/// The address of an access: register value and offset.
fn address(unit: &Unit, inst: InstId) -> Option<(ValueId, i64)> {
    let address = unit.body.insts[inst.index()].as_mem()?.address;
    match address.base {
        Base::Reg(reg) => {
            let value = unit.ssa.use_of(inst, reg)?;
            (unit.uniformity.extent(value) <= Extent::Warp).then_some((value, address.offset))
        }
        _ => None,
    }
}

/// Whether a condition is computed from a value within a few steps.
fn depends(unit: &Unit, condition: ValueId, value: ValueId) -> bool {
    let mut stack = vec![(condition, 0)];
    while let Some((at, depth)) = stack.pop() {
        if at == value {
            return true;
        }
        if let (true, Some(inst)) = (depth < 4, maker(unit, at)) {
            stack.extend(unit.ssa.uses(inst).iter().map(|used| (*used, depth + 1)));
        }
    }
    false
}
