//! WARP004: the lanes that happen to be active are used as a mask.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::warps::Mask;
use rustc_hash::FxHashSet;

/// The lanes that happen to be active are used as a mask.
pub const RULE: Rule = Rule {
    code: Code::new("WARP004", "activemask-as-mask"),
    level: Level::Warning,
    summary: "The lanes that happen to be active are used as a mask.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `.sync` instructions whose mask is what `activemask` gave.

`activemask` tells which lanes run together at that moment, not which ones should: after a branch lanes may come one by one, and nothing
makes them meet again. The mask must follow from the program's logic.

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
    activemask.b32 %r3;
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, %r3;
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
    setp.lt.u32 %p1, %r1, 40;
    vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
    mov.u32 %r2, 0;
    @!%p1 bra SKIP;
    shfl.sync.bfly.b32 %r2, %r1, 0, 31, %r3;
SKIP:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Take the ballot of the branch's predicate before the branch, or a constant.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let mut said = FxHashSet::default();
        for site in &sites.sites {
            let Mask::Active(source) = site.mask else { continue };
            if said.insert(source) {
                let message =
                    "the mask is what `activemask` gave: nothing makes these lanes the ones that belong together";
                let diag = Diag::warning(RULE.code, context.span(sites.function, site.inst), message)
                    .related(context.span(sites.function, source), "the active lanes are read here")
                    .help("vote on the branch's predicate before the branch and use the ballot, or a constant mask");
                found.push(diag);
            }
        }
    }
    found
}
