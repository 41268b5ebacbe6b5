//! BAR016: both arms of a divergent branch are long.

use super::wording::with_links;
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::isa::Extent;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Both arms of a divergent branch are long.
pub const RULE: Rule = Rule {
    code: Code::new("BAR016", "long-divergent-arms"),
    level: Level::Info,
    summary: "Lanes of one warp part, and both ways are long: the warp goes through them one after the other.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

/// Arms shorter than this many instructions are not worth a word.
const LONG: usize = 48;

const EXPLANATION: &str = "\
Finds branches that lanes of one warp take differently with at least 48 instructions on each side before the lanes meet again, in kernels
whose threads work together.

A warp goes through both arms, one after the other, with the other lanes idle. A tail guard has one arm and is not reported.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 1;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra EVEN;
    mad.lo.u32 %r2, %r2, %r1, 0;
    mad.lo.u32 %r2, %r2, %r1, 1;
    mad.lo.u32 %r2, %r2, %r1, 2;
    mad.lo.u32 %r2, %r2, %r1, 3;
    mad.lo.u32 %r2, %r2, %r1, 4;
    mad.lo.u32 %r2, %r2, %r1, 5;
    mad.lo.u32 %r2, %r2, %r1, 6;
    mad.lo.u32 %r2, %r2, %r1, 7;
    mad.lo.u32 %r2, %r2, %r1, 8;
    mad.lo.u32 %r2, %r2, %r1, 9;
    mad.lo.u32 %r2, %r2, %r1, 10;
    mad.lo.u32 %r2, %r2, %r1, 11;
    mad.lo.u32 %r2, %r2, %r1, 12;
    mad.lo.u32 %r2, %r2, %r1, 13;
    mad.lo.u32 %r2, %r2, %r1, 14;
    mad.lo.u32 %r2, %r2, %r1, 15;
    mad.lo.u32 %r2, %r2, %r1, 16;
    mad.lo.u32 %r2, %r2, %r1, 17;
    mad.lo.u32 %r2, %r2, %r1, 18;
    mad.lo.u32 %r2, %r2, %r1, 19;
    mad.lo.u32 %r2, %r2, %r1, 20;
    mad.lo.u32 %r2, %r2, %r1, 21;
    mad.lo.u32 %r2, %r2, %r1, 22;
    mad.lo.u32 %r2, %r2, %r1, 23;
    mad.lo.u32 %r2, %r2, %r1, 24;
    mad.lo.u32 %r2, %r2, %r1, 25;
    mad.lo.u32 %r2, %r2, %r1, 26;
    mad.lo.u32 %r2, %r2, %r1, 27;
    mad.lo.u32 %r2, %r2, %r1, 28;
    mad.lo.u32 %r2, %r2, %r1, 29;
    mad.lo.u32 %r2, %r2, %r1, 30;
    mad.lo.u32 %r2, %r2, %r1, 31;
    mad.lo.u32 %r2, %r2, %r1, 32;
    mad.lo.u32 %r2, %r2, %r1, 33;
    mad.lo.u32 %r2, %r2, %r1, 34;
    mad.lo.u32 %r2, %r2, %r1, 35;
    mad.lo.u32 %r2, %r2, %r1, 36;
    mad.lo.u32 %r2, %r2, %r1, 37;
    mad.lo.u32 %r2, %r2, %r1, 38;
    mad.lo.u32 %r2, %r2, %r1, 39;
    mad.lo.u32 %r2, %r2, %r1, 40;
    mad.lo.u32 %r2, %r2, %r1, 41;
    mad.lo.u32 %r2, %r2, %r1, 42;
    mad.lo.u32 %r2, %r2, %r1, 43;
    mad.lo.u32 %r2, %r2, %r1, 44;
    mad.lo.u32 %r2, %r2, %r1, 45;
    mad.lo.u32 %r2, %r2, %r1, 46;
    mad.lo.u32 %r2, %r2, %r1, 47;
    bra JOIN;
EVEN:
    mad.lo.u32 %r2, %r2, %r1, 0;
    mad.lo.u32 %r2, %r2, %r1, 1;
    mad.lo.u32 %r2, %r2, %r1, 2;
    mad.lo.u32 %r2, %r2, %r1, 3;
    mad.lo.u32 %r2, %r2, %r1, 4;
    mad.lo.u32 %r2, %r2, %r1, 5;
    mad.lo.u32 %r2, %r2, %r1, 6;
    mad.lo.u32 %r2, %r2, %r1, 7;
    mad.lo.u32 %r2, %r2, %r1, 8;
    mad.lo.u32 %r2, %r2, %r1, 9;
    mad.lo.u32 %r2, %r2, %r1, 10;
    mad.lo.u32 %r2, %r2, %r1, 11;
    mad.lo.u32 %r2, %r2, %r1, 12;
    mad.lo.u32 %r2, %r2, %r1, 13;
    mad.lo.u32 %r2, %r2, %r1, 14;
    mad.lo.u32 %r2, %r2, %r1, 15;
    mad.lo.u32 %r2, %r2, %r1, 16;
    mad.lo.u32 %r2, %r2, %r1, 17;
    mad.lo.u32 %r2, %r2, %r1, 18;
    mad.lo.u32 %r2, %r2, %r1, 19;
    mad.lo.u32 %r2, %r2, %r1, 20;
    mad.lo.u32 %r2, %r2, %r1, 21;
    mad.lo.u32 %r2, %r2, %r1, 22;
    mad.lo.u32 %r2, %r2, %r1, 23;
    mad.lo.u32 %r2, %r2, %r1, 24;
    mad.lo.u32 %r2, %r2, %r1, 25;
    mad.lo.u32 %r2, %r2, %r1, 26;
    mad.lo.u32 %r2, %r2, %r1, 27;
    mad.lo.u32 %r2, %r2, %r1, 28;
    mad.lo.u32 %r2, %r2, %r1, 29;
    mad.lo.u32 %r2, %r2, %r1, 30;
    mad.lo.u32 %r2, %r2, %r1, 31;
    mad.lo.u32 %r2, %r2, %r1, 32;
    mad.lo.u32 %r2, %r2, %r1, 33;
    mad.lo.u32 %r2, %r2, %r1, 34;
    mad.lo.u32 %r2, %r2, %r1, 35;
    mad.lo.u32 %r2, %r2, %r1, 36;
    mad.lo.u32 %r2, %r2, %r1, 37;
    mad.lo.u32 %r2, %r2, %r1, 38;
    mad.lo.u32 %r2, %r2, %r1, 39;
    mad.lo.u32 %r2, %r2, %r1, 40;
    mad.lo.u32 %r2, %r2, %r1, 41;
    mad.lo.u32 %r2, %r2, %r1, 42;
    mad.lo.u32 %r2, %r2, %r1, 43;
    mad.lo.u32 %r2, %r2, %r1, 44;
    mad.lo.u32 %r2, %r2, %r1, 45;
    mad.lo.u32 %r2, %r2, %r1, 46;
    mad.lo.u32 %r2, %r2, %r1, 47;
JOIN:
    bar.sync 0;
    st.global.u32 [%rd1], %r2;
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
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 1;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra EVEN;
    mad.lo.u32 %r2, %r2, %r1, 0;
    mad.lo.u32 %r2, %r2, %r1, 1;
    bra JOIN;
EVEN:
    mad.lo.u32 %r2, %r2, %r1, 0;
    mad.lo.u32 %r2, %r2, %r1, 1;
JOIN:
    bar.sync 0;
    st.global.u32 [%rd1], %r2;
    ret;
}
```
Let whole warps take one way: branch on `%tid.x / 32`, sort the work, or compute both and select.
";

fn check(context: &Context) -> Vec<Diag> {
    context.units().flat_map(|unit| long(context, unit)).collect()
}

fn long(context: &Context, unit: &Unit) -> Vec<Diag> {
    let mut found = Vec::new();
    // Of branches within each other the outer one is told.
    let mut told: Vec<u32> = Vec::new();
    for block in unit.cfg.rpo().iter().copied() {
        let succs = unit.converge.succs(block);
        if unit.uniformity.branch(block) < Extent::Thread || succs.len() != 2 || told.contains(&block) {
            continue;
        }
        let arms: Vec<Vec<u32>> = succs.iter().map(|arm| unit.converge.arm(block, &[*arm])).collect();
        // Where one arm runs into the other, or they never meet, there are not two ways.
        let apart = !arms[0].iter().any(|at| arms[1].contains(at));
        let long = |arm: &Vec<u32>| arm.iter().map(|at| unit.cfg.insts(*at).len()).sum::<usize>() >= LONG;
        if !apart || unit.converge.meeting(block).is_none() || !arms.iter().all(long) {
            continue;
        }
        told.extend(arms.iter().flatten());
        let Some(last) = unit.cfg.last(block) else { continue };
        let message = "lanes of one warp part here, and go through two long ways one after the other";
        let diag = Diag::info(RULE.code, context.span(unit.id, last), message);
        found.push(with_links(context, unit, block, diag).help("let whole warps take one way, or select the result"));
    }
    found
}
