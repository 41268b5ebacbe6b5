//! BAR007: threads arrive at a named barrier at which nobody waits.

use crate::ptx::analysis::Exact;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::BarrierOp;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::Numbered;
use crate::ptx::lint::rule::Rule;

/// Threads arrive at a named barrier at which nobody waits.
pub const RULE: Rule = Rule {
    code: Code::new("BAR007", "arrive-without-wait"),
    level: Level::Warning,
    summary: "Threads arrive at a named barrier at which nobody waits.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `bar.arrive` on a barrier for which no thread waits: no `bar.sync` or `bar.red` of the kernel can have its number.

An arrival is a signal to those that wait. Usually the two roles name different barriers. Reported where all numbers are known.

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
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    bar.arrive 1, 64;
    bra DONE;
OTHER:
    bar.arrive 1, 64;
DONE:
    st.global.u32 [%rd3], %r1;
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
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    bar.arrive 1, 64;
    bra DONE;
OTHER:
    bar.sync 1, 64;
DONE:
    st.global.u32 [%rd3], %r1;
    ret;
}
```
Let the role that depends on the signal wait with `bar.sync` of the same number and count.
";

fn check(context: &Context) -> Vec<Diag> {
    let numbered = context.numbered();
    let mut found: Vec<Diag> = Vec::new();
    for arrive in numbered.iter().filter(|one| one.op == BarrierOp::Arrive) {
        let same = || numbered.iter().filter(|one| one.function == arrive.function);
        let unclear = |one: &Numbered| one.shared || one.id.is_none();
        let Some(id) = arrive.id.as_ref().and_then(Exact::constant) else {
            continue;
        };
        let waits = |one: &Numbered| one.op != BarrierOp::Arrive && !one.coming(id & 0xffff_ffff).is_empty();
        // Where the arrivals cannot even fill the barrier, BAR006 says so.
        let arrivals: u32 = same().map(|one| one.coming(id & 0xffff_ffff).warps() * 32).sum();
        let fills = arrive.count().is_none_or(|count| u64::from(arrivals) >= count);
        let said = |known: &Diag| known.message.contains(&format!("barrier {id} "));
        if !fills || same().any(unclear) || same().any(waits) || found.iter().any(said) {
            continue;
        }
        let message = format!("threads arrive at barrier {id} and none waits there");
        // Where the whole CTA arrives, no role is there that could wait.
        let some = arrive.threads.len() < arrive.shape.most_threads();
        let level = if some { Level::Warning } else { Level::Info };
        let mut diag = Diag::new(RULE.code, level, context.span(arrive.function, arrive.inst), message);
        if let Some(other) = same().find(|one| one.op != BarrierOp::Arrive && one.counted) {
            diag = diag.related(
                context.span(other.function, other.inst),
                "threads wait at another barrier here",
            );
        }
        found.push(diag.help("wait with `bar.sync` of the same number and count"));
    }
    found
}
