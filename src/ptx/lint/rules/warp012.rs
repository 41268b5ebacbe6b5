//! WARP012: the CTA is no multiple of the warp size, and masks name all lanes.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::warps::{Kind, Mask, Site, leaks};

/// The CTA is no multiple of the warp size, and masks name all lanes.
pub const RULE: Rule = Rule {
    code: Code::new("WARP012", "full-mask-in-partial-warp"),
    level: Level::Info,
    summary: "The CTA is no multiple of the warp size, and masks name all lanes.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds full masks in kernels whose CTA does not fill its last warp.

Together that do not exist may be named, so this is legal; but a value read from one is undefined (WARP003), and a ballot there is never full.

Fails:
```ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 48, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 7;
    vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
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
    setp.lt.u32 %p1, %r1, 7;
    vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Launch whole warps, or name the lanes that exist.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let Some(threads) = unit.shape.threads().filter(|threads| threads % 32 != 0) else {
            continue;
        };
        let last = threads as usize - 1;
        let full = |site: &&Site| {
            matches!(site.mask, Mask::Same(u32::MAX)) && site.kind != Kind::Sync && site.company.threads.contains(last)
        };
        let Some(site) = sites.sites.iter().find(full) else {
            continue;
        };
        // Where it does harm, WARP003 says so.
        if leaks(unit, sites).is_empty() {
            let message = format!(
                "the mask names 32 lanes, but the last warp of {threads} threads has {}",
                threads % 32
            );
            found.push(
                Diag::info(RULE.code, context.span(unit.id, site.inst), message)
                    .note("lanes that do not exist may be named"),
            );
        }
    }
    found
}
