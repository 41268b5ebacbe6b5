//! ASYNC016: the register counts that `setmaxnreg` asks for do not fit the register file.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::Operand;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// The register counts that `setmaxnreg` asks for do not fit the register file.
pub const RULE: Rule = Rule {
    code: Code::new("ASYNC016", "registers-over-budget"),
    level: Level::Error,
    summary: "The register counts that `setmaxnreg` asks for do not fit the register file.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds kernels whose roles together ask by `setmaxnreg` for more than the 65536 registers that a CTA can have.

`setmaxnreg.inc` waits until enough registers are free; if the roles ask for more than there are, it waits for ever. Counted where it is
known which warpgroups come to which instruction; those that come to none are taken to keep 24.

Fails:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 512, 1, 1
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
    @%p1 bra OTHER;
    setmaxnreg.inc.sync.aligned.u32 240;
    bra DONE;
OTHER:
    setmaxnreg.inc.sync.aligned.u32 152;
DONE:
    st.global.u32 [%rd3], %r1;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 512, 1, 1
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
    @%p1 bra OTHER;
    setmaxnreg.inc.sync.aligned.u32 240;
    bra DONE;
OTHER:
    setmaxnreg.dec.sync.aligned.u32 80;
DONE:
    st.global.u32 [%rd3], %r1;
    ret;
}
```
Let 128 times the sum over the warpgroups stay within 65536.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for sites in context.warps() {
        let Some(unit) = context.analysis.unit(sites.function) else {
            continue;
        };
        let Some(threads) = unit.shape.threads() else { continue };
        let mut asked = vec![24u64; threads.div_ceil(128) as usize];
        let mut last = None;
        for site in &sites.sites {
            let row = &unit.body.insts[site.inst.index()];
            let (true, Some(count)) = (
                row.op.base() == "setmaxnreg",
                row.operands.first().and_then(Operand::as_int),
            ) else {
                continue;
            };
            // Any other count is reported where the instruction is checked.
            let Some(count) = u64::try_from(count).ok().filter(|count| *count <= 256) else {
                continue;
            };
            let Some(company) = site.company_of_known().filter(|company| company.sure) else {
                continue;
            };
            for thread in company.threads.iter().step_by(32) {
                asked[thread / 128] = count;
            }
            last = row.op.has("inc").then_some(site.inst).or(last);
        }
        let total: u64 = asked.iter().sum::<u64>() * 128;
        if let Some(inst) = last.filter(|_| total > 65536) {
            let message = format!("the warpgroups ask for {total} registers altogether: a CTA has at most 65536");
            found.push(
                Diag::error(RULE.code, context.span(unit.id, inst), message)
                    .help("lower the counts: 128 times their sum must fit"),
            );
        }
    }
    found
}
