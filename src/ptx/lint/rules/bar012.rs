//! BAR012: an aligned warp instruction that not all lanes of the warp execute.

use super::masks::{parts_warps, with_condition};
use crate::ptx::analysis::{Shape, Unit};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::parting::condition;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::warps::{Kind, Site};
use rustc_hash::FxHashSet;

/// An aligned warp instruction that not all lanes of the warp execute.
pub const RULE: Rule = Rule {
    code: Code::new("BAR012", "aligned-under-divergence"),
    level: Level::Error,
    summary: "An aligned warp instruction that not all lanes of the warp execute.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds `.aligned` instructions (`mma`, `ldmatrix`, `wmma`, `wgmma`, `setmaxnreg`, `tcgen05`, ...) under a branch or guard that parts lanes of a warp.

All lanes of the warp must execute the same `.aligned` instruction together; otherwise its behaviour is undefined. Barriers have rules
of their own, BAR001 to BAR004. Where it is not known which lanes come, the finding is a warning.

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
    .shared .align 16 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    mov.u32 %r4, tile;
    and.b32 %r3, %r1, 31;
    setp.ge.u32 %p1, %r3, 8;
    @%p1 bra SKIP;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r4];
SKIP:
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
    .shared .align 16 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, tile;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Let all lanes execute it, and use the result in some.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let mut said = FxHashSet::default();
        for site in sites.sites.iter().filter(|site| site.kind == Kind::Aligned) {
            let Some((level, block)) = judge(unit, site) else {
                continue;
            };
            if said.insert(block) {
                let op = &unit.body.insts[site.inst.index()].op.text;
                let message =
                    format!("`{op}` must be executed by all lanes of a warp together, and lanes part before it");
                let diag = Diag::new(RULE.code, level, context.span(unit.id, site.inst), message)
                    .help("let all lanes execute it, and use the result in some");
                found.push(with_condition(context, unit, block, diag));
            }
        }
    }
    found
}

/// Whether lanes are apart, how sure that is, and where they part.
fn judge(unit: &Unit, site: &Site) -> Option<(Level, u32)> {
    let company = &site.company;
    let own = unit.cfg.block_of(site.inst);
    let place = company.apart.last().map_or(own, |apart| apart.block);
    let away = |thread: usize| !company.threads.contains(thread) && !company.maybe_gone.contains(thread);
    let most = unit.shape.most_threads() as usize;
    let torn = |base: usize| {
        let mut warp = base..(base + 32).min(most);
        warp.clone().any(|thread| company.threads.contains(thread)) && warp.any(away)
    };
    if company.sure && !company.apart.is_empty() && (0..most).step_by(32).any(torn) {
        return Some((Level::Error, place));
    }
    let unknown = site
        .unknown_partings()
        .find(|block| condition(unit, *block).is_some_and(|value| parts_warps(unit, value, *block)));
    let guarded = company.guarded && !matches!(unit.shape, Shape::Unknown(_));
    unknown.or(guarded.then_some(own)).map(|block| (Level::Warning, block))
}
