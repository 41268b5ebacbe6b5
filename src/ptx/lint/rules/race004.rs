//! RACE004: several threads write the same value to one address.

use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::{Kind, finding, kind};
use crate::ptx::lint::rule::Rule;
use rustc_hash::FxHashSet;

/// Several threads write the same value to one address.
pub const RULE: Rule = Rule {
    code: Code::new("RACE004", "same-value-stores"),
    level: Level::Info,
    summary: "Several threads write the same value to one address.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds stores by which several threads write one and the same value to one address, with nothing to order them. Hardware leaves that
value there, so this is for information; it costs a serialised access, and a later change of the value turns it into a race.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    st.shared.u32 [s], 7;
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra SKIP;
    st.shared.u32 [s], 7;
SKIP:
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
```
Let one thread write.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for tried in context.tried() {
        let mut told = FxHashSet::default();
        let equal = tried.races.iter().filter(|race| kind(&race.conflict) == Kind::Equal);
        // One variable, one habit.
        for race in equal.filter(|race| told.insert(race.conflict.object.map(|(symbol, _)| symbol))) {
            let message = "several threads write the same value to one address".to_owned();
            found.push(finding(context, tried, race, RULE.code, message));
        }
    }
    found
}
