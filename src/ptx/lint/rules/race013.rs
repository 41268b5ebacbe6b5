//! RACE013: what the search for races rests on.

use crate::ptx::analysis::trial::Site;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::messages::messages;
use crate::ptx::lint::racing::opcode;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::trials::Tried;

/// What the search for races rests on.
pub const RULE: Rule = Rule {
    code: Code::new("RACE013", "race-assumption"),
    level: Level::Info,
    summary: "The search for races rests on an assumption, or did not reach the whole kernel.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Says what the verdict on races rests on: a shape of the CTA that was ruled out because threads would write different values to one
address in it, or a place at which the search had to stop, because threads wait for each other in a way that it does not follow
(flags in memory, mbarriers of other CTAs), or because the kernel or the module is too large. A kernel that could not be searched is never taken for free of races.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<8>;
    .shared .align 4 .b8 s[256];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    shl.b32 %r2, %r2, 2;
    mov.u32 %r3, s;
    add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 32, 1, 1
{
    .reg .b32 %r<8>;
    .shared .align 4 .b8 s[256];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    shl.b32 %r2, %r2, 2;
    mov.u32 %r3, s;
    add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    ret;
}
```
State the shape with `.reqntid`, or give it with `--block` (and `--grid`, `--param`).
";

fn check(context: &Context) -> Vec<Diag> {
    let tried = context.tried().iter();
    tried
        .filter_map(|tried| assumption(context, tried).or_else(|| stop(context, tried)))
        .collect()
}

fn assumption(context: &Context, tried: &Tried) -> Option<Diag> {
    let ([x, y, z], conflict) = tried.assumes?;
    let site = conflict.first;
    let message = format!(
        "a CTA of {x} x {y} x {z} threads was ruled out: its threads would write different values to one address by {}",
        opcode(context, site)
    );
    Some(
        Diag::info(RULE.code, span(context, site), message)
            .help("state the shape of the CTA with `.reqntid`, or give it with `--block`"),
    )
}

fn stop(context: &Context, tried: &Tried) -> Option<Diag> {
    let (site, why) = tried.unclear.as_ref()?;
    // What is wrong about a flag says that there is one.
    if tried.flag.is_some() && !messages(context, tried).is_empty() {
        return None;
    }
    let message = format!("not searched for races from here on: {why}");
    let span = match site {
        Some(site) => span(context, *site),
        None => context
            .parsed
            .spans
            .functions
            .get(tried.function.index())
            .map(|spans| spans.name)
            .unwrap_or_default(),
    };
    Some(Diag::info(RULE.code, span, message))
}

fn span(context: &Context, site: Site) -> crate::ptx::source::Span {
    context.span(site.function, site.inst)
}
