//! WARP008: lanes of one warp meet at different instructions with one mask.

use super::masks::{Fault, report};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::rule::Rule;

/// Together of one warp meet at different instructions with one mask.
pub const RULE: Rule = Rule {
    code: Code::new("WARP008", "mask-shared-by-instructions"),
    level: Level::Error,
    summary: "Together of one warp meet at different instructions with one mask.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds branches that part lanes and whose arms hold different `.sync` instructions with the same mask.

All lanes of a mask must execute the same kind of instruction; a shuffle in one arm and a vote in the other never meet. Before sm_70 it
must be one and the same instruction. Since sm_70 two copies of one instruction are legal, and only worth knowing.
Together that name each other must also give the same mask.

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
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra EVEN;
    shfl.sync.bfly.b32 %r2, %r1, 2, 31, 0xffffffff;
    bra JOIN;
EVEN:
    shfl.sync.down.b32 %r2, %r1, 2, 31, 0xffffffff;
JOIN:
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
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra EVEN;
    shfl.sync.bfly.b32 %r2, %r1, 2, 31, 0xaaaaaaaa;
    bra JOIN;
EVEN:
    shfl.sync.bfly.b32 %r2, %r1, 2, 31, 0x55555555;
JOIN:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Execute one instruction where the arms meet, or name in each arm the lanes of that arm.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = report(context, RULE.code, false, |fault| {
        matches!(fault, Fault::Elsewhere(..) | Fault::Disagree(..))
    });
    found.extend(report(context, RULE.code, true, |fault| {
        matches!(fault, Fault::Elsewhere(..) | Fault::Disagree(..))
    }));
    found
}
