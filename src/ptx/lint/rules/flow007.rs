//! FLOW007: a loop that threads never leave.

use crate::ptx::analysis::Code as Function;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::{Condition, LoopId};
use crate::ptx::ir::InstId;
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// A loop that threads never leave.
pub const RULE: Rule = Rule {
    code: Code::new("FLOW007", "endless-loop"),
    level: Level::Warning,
    summary: "A loop that threads never leave.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds loops without a way out, and loops whose every exit depends on a condition that does not change in the loop: a thread that does not leave in
the first round never does. Loops that call functions are not judged, the function may end the thread.

The kernel hangs until a watchdog or the user ends it.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flag)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
SPIN:
    @%p1 bra SPIN;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flag)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
SPIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    ret;
}
```
Compute the condition in the loop, from something that changes there.
";

/// A way out of a loop: the block, and whether its condition may change in the loop.
struct Way {
    block: u32,
    changes: bool,
}

fn check(context: &Context) -> Vec<Diag> {
    let codes = context
        .codes()
        .filter(|code| code.cfg.problems.is_empty() && !code.loops.is_empty());
    codes.flat_map(|code| endless(context, code)).collect()
}

fn endless(context: &Context, code: Function) -> Vec<Diag> {
    let mut ways: Vec<Vec<Way>> = code.loops.iter().map(|_| Vec::new()).collect();
    let mut judged = vec![true; ways.len()];
    for block in code.cfg.rpo().iter().filter(|block| **block != code.cfg.exit()) {
        let unclear = code.cfg.insts(*block).any(|at| {
            let op = &code.body.insts[at as usize].op;
            op.effect == Effect::Call || !op.is_known()
        });
        for id in code.loops.around(*block) {
            judged[id.0 as usize] &= !unclear;
            if code
                .cfg
                .succs()
                .next(*block)
                .iter()
                .any(|to| !code.loops.contains(id, *to))
            {
                let changes = changes(code, id, *block);
                ways[id.0 as usize].push(Way { block: *block, changes });
            }
        }
    }
    let stuck = code
        .loops
        .iter()
        .filter(|(id, _)| judged[id.0 as usize] && !ways[id.0 as usize].iter().any(|way| way.changes));
    stuck
        .filter_map(|(id, _)| say(context, code, id, &ways[id.0 as usize]))
        .collect()
}

/// Whether the condition at the end of a block may change from round to round.
fn changes(code: Function, id: LoopId, block: u32) -> bool {
    let Some(Condition::Guard(guard)) = code.cfg.condition(code.body, block) else {
        return true;
    };
    let value = code.cfg.last(block).and_then(|last| code.ssa.use_of(last, guard.reg));
    value
        .and_then(|value| code.ssa.value(value))
        .is_none_or(|value| code.loops.contains(id, value.block))
}

fn say(context: &Context, code: Function, id: LoopId, ways: &[Way]) -> Option<Diag> {
    let header = InstId(code.cfg.insts(code.loops.get(id).header).next()?);
    let Some(way) = ways.first() else {
        let message = "nothing leads out of the loop that starts here";
        return Some(Diag::warning(RULE.code, context.span(code.id, header), message).help("give the loop an exit"));
    };
    let last = code.cfg.last(way.block)?;
    let diag = Diag::warning(
        RULE.code,
        context.span(code.id, last),
        "a thread that does not leave the loop in its first round never does",
    )
    .related(context.span(code.id, header), "the loop starts here");
    Some(
        diag.note("the condition does not change in the loop")
            .help("compute the condition in the loop"),
    )
}
