//! ASYNC015: a warpgroup instruction that not all four warps of the group execute.

use super::masks::with_branch;
use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::warps::Site;

/// A warpgroup instruction that not all four warps of the group execute.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC015", "not-a-whole-warpgroup"),
    level: Level::Error,
    summary: "A warpgroup instruction that not all four warps of the group execute.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `wgmma` and `setmaxnreg` that a part of a warpgroup executes: four warps in a row, of which the first one's number is a multiple of four.

All 128 threads of the warpgroup must execute the instruction. Judged where the threads that come are known.

Fails:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, 4611686293305294848;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    setp.ge.u32 %p1, %r1, 64;
    @%p1 bra DONE;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
DONE:
    add.f32 %f5, %f1, %f2;
    st.global.f32 [%rd3], %f5;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 256, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, 4611686293305294848;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra DONE;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
DONE:
    add.f32 %f5, %f1, %f2;
    st.global.f32 [%rd3], %f5;
    ret;
}
```
Let roles be whole warpgroups: branch on `%tid.x / 128`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let grouped = |site: &&Site| matches!(unit.body.insts[site.inst.index()].op.base(), "wgmma" | "setmaxnreg");
        let torn = sites
            .sites
            .iter()
            .filter(grouped)
            .find_map(|site| Some((site, torn(unit, site)?)));
        let Some((site, (comes, lacks))) = torn else { continue };
        let op = unit.body.insts[site.inst.index()]
            .op
            .text
            .split('.')
            .take(2)
            .collect::<Vec<_>>()
            .join(".");
        let message = format!("`{op}` must be executed by whole warpgroups of 128 threads");
        let label = format!("thread {comes} executes it, and thread {lacks} of the same warpgroup does not");
        let diag = Diag::error(RULE.code, context.span(unit.id, site.inst), message).label(label);
        found.push(
            with_branch(context, unit, site, diag)
                .help("branch by whole warpgroups, and launch a multiple of 128 threads"),
        );
    }
    found
}

/// A thread that comes, and one of its warpgroup that cannot.
fn torn(unit: &Unit, site: &Site) -> Option<(usize, usize)> {
    let company = site.company_of_known()?;
    // With the CTA's size open, threads beyond may not be launched at all.
    let exact = unit.shape.threads().is_some();
    let away = |thread: &usize| !company.threads.contains(*thread) && !company.maybe_gone.contains(*thread);
    let most = unit.shape.most_threads() as usize;
    (0..most).step_by(128).find_map(|base| {
        let comes = (base..base + 128).find(|thread| company.threads.contains(*thread))?;
        let lacks = (base..base + 128).find(away)?;
        // Together of one warp that part are BAR012's.
        let warp = comes / 32 * 32;
        let whole = (warp..warp + 32).all(|lane| !away(&lane));
        (whole && (exact || comes == base && company.threads.len() < 128)).then_some((comes, lacks))
    })
}
