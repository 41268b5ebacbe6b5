//! RACE008: threads of different CTAs talk through memory, and what orders them reaches too short or is missing.

use crate::ptx::analysis::trial::Site;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::messages::{messages, scattered};
use crate::ptx::lint::racing::opcode;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::trials::Tried;

/// What orders CTAs reaches too short or is missing.
pub const RULE: Rule = Rule {
    code: Code::new("RACE008", "narrow-scope"),
    level: Level::Warning,
    summary: "CTAs talk through memory, and what is to order them is missing or reaches within the CTA only.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds three faults of kernels whose CTAs talk through global memory. An atomic of scope `.cta` excludes atomics of the same CTA only:
two CTAs that update one address by such atomics lose updates. A flag or lock that a loop waits for tells nothing of the data behind it
unless a fence of scope `.gpu` or wider, or an `.acquire` load, stands between the wait and the first plain access, and unless a fence
or `.release` stands between the data's store and the flag's; so do counters by which the last CTA learns that the others are done. And a lock that is taken by an atomic must not be given back by a plain
store, which nothing keeps behind the accesses that the lock protects.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flag, .param .u64 data)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [data];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    st.global.u32 [%rd2], 42;
    membar.gl;
    st.volatile.global.u32 [%rd1], 1;
    ret;
WAIT:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
    ld.global.u32 %r3, [%rd2];
    st.global.u32 [%rd2+4], %r3;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flag, .param .u64 data)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [data];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    st.global.u32 [%rd2], 42;
    membar.gl;
    st.volatile.global.u32 [%rd1], 1;
    ret;
WAIT:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
    membar.gl;
    ld.global.u32 %r3, [%rd2];
    st.global.u32 [%rd2+4], %r3;
    ret;
}
```
Use `membar.gl`, `fence.acq_rel.gpu` or `.acquire` and `.release` at scope `.gpu`, and atomics without `.cta`.
";

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for tried in context.tried() {
        found.extend(narrow(context, tried));
        found.extend(messages(context, tried));
    }
    found
}

/// An atomic that reaches too short for those that meet at its address.
fn narrow(context: &Context, tried: &Tried) -> Option<Diag> {
    let diag = |level: Level, site: Site, why: &str| {
        let message = format!(
            "{} excludes threads of its own CTA only, and {why}",
            opcode(context, site)
        );
        Diag::new(RULE.code, level, context.span(site.function, site.inst), message)
            .help("leave out `.cta`, or use the scope `.gpu`")
    };
    if let Some(between) = tried.between.filter(|between| between.narrow) {
        let level = if between.sure { Level::Warning } else { Level::Info };
        let found = diag(level, between.store, "another CTA updates the same address");
        return Some(match between.assumed {
            true => found.note("the kernel does not say how it is launched: several CTAs of usual shapes were taken"),
            false => found,
        });
    }
    let inst = scattered(context, tried)?;
    let site = Site {
        function: tried.function,
        inst,
    };
    let why = "loaded data says where it goes: another CTA may update the same address";
    Some(diag(Level::Warning, site, why))
}
