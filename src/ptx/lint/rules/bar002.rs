//! BAR002: different barriers in the arms of a divergent branch.

use super::wording::{at_barrier, findings, law, who};
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Edit, Level};
use crate::ptx::isa::Extent;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::parting::{Parting, Shape};
use crate::ptx::lint::racing::sm;
use crate::ptx::lint::rule::Rule;
use crate::ptx::parse::pieces;

/// Different barriers in the arms of a divergent branch.
pub const RULE: Rule = Rule {
    code: Code::new("BAR002", "barriers-in-divergent-arms"),
    level: Level::Error,
    summary: "The arms of a divergent branch wait at different barrier instructions.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds branches that threads take differently and whose arms each hold aligned barriers of their own.

All threads of a warp must execute the same aligned barrier instruction. Two copies of `bar.sync 0`, one in each arm, are two instructions:
with one warp the kernel may pass, with four it may deadlock, from the same PTX, depending on whether the branch becomes predication.
Optimisers make such code from correct sources, by jump threading, loop peeling and hoisting. If whole warps take one arm or the
other, hardware completes the barrier, but the ISA does not promise it: that is a warning.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    bar.sync 0;
    bra JOIN;
EVEN:
    bar.sync 0;
JOIN:
    st.global.u32 [%rd1], %r1;
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
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    barrier.sync 0;
    bra JOIN;
EVEN:
    barrier.sync 0;
JOIN:
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Keep one barrier, where the arms meet; or use `barrier.sync`, which need not be the same instruction in all threads.
";

fn check(context: &Context) -> Vec<Diag> {
    findings(context, |shape| shape == Shape::Arms, say)
}

fn say(context: &Context, unit: &Unit, parting: &Parting) -> Diag {
    let message = format!(
        "{} wait at different barriers in the arms of one branch",
        who(parting.extent)
    );
    let diag = at_barrier(context, unit, parting, RULE.code, message).note(law(parting));
    let diag = match unaligned(context, unit, parting) {
        Some(edits) => diag.unsafe_fix(edits),
        None => diag,
    };
    match parting.extent {
        Extent::Thread => diag.help("keep one barrier behind the place where the arms meet, or use `barrier.sync` in both"),
        _ => diag.help("use `barrier.sync`, which need not be the same instruction in all warps, or give each role its own counted barrier"),
    }
}

/// The barriers as ones that need not be the same instruction, where all are plain and the module may have such.
fn unaligned(context: &Context, unit: &Unit, parting: &Parting) -> Option<Vec<Edit>> {
    if sm(unit.module)? < 70 {
        return None;
    }
    let edits = parting.sites.iter().map(|site| {
        let opcode = pieces(context.text, context.span(unit.id, site.inst)).opcode;
        let plain = site.callee.is_none() && opcode.of(context.text) == "bar.sync";
        plain.then(|| Edit {
            span: opcode,
            text: "barrier.sync".to_owned(),
        })
    });
    edits.collect()
}
