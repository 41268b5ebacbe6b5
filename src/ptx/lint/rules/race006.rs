//! RACE006: CTAs write and read one place in global memory.

use crate::ptx::analysis::trial::Site;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::gathers;
use crate::ptx::lint::racing::opcode;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::trials::Tried;

/// CTAs write and read one place in global memory.
pub const RULE: Rule = Rule {
    code: Code::new("RACE006", "race-between-ctas"),
    level: Level::Warning,
    summary: "Different CTAs access one place in global memory, one of them writes, and nothing orders them.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds stores to global memory that reach places which another CTA stores to or loads from: an index without `%ctaid`, a halo that is
updated in place. No barrier orders CTAs; only the end of the kernel, a cooperative launch or atomics with fences do, and a kernel
that has such atomics or fences is not judged. Where the launch is not given, kernels that ask which CTA they are in are taken to run in
several: what shows for all usual shapes, and whatever integer parameters hold, is a warning, and everything else information. So is a
load from where loaded data says, of an array in which each thread stores at a place of its own.

Fails (launched as `--block 64,1,1 --grid 2,1,1`):
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
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
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
```
Let the index take in `%ctaid`, or write to another buffer than the one that is read.
";

fn check(context: &Context) -> Vec<Diag> {
    let tried = context.tried().iter();
    let found = tried.filter_map(|tried| {
        let Some(between) = tried.between.filter(|between| !between.narrow) else {
            return gathered(context, tried);
        };
        let span = |site: Site| context.span(site.function, site.inst);
        let [x, y, z] = between.cta;
        let does = if between.both { "writes" } else { "reads" };
        let message = format!(
            "{} writes where another CTA {does}, and nothing orders them",
            opcode(context, between.store)
        );
        let level = if between.sure { Level::Warning } else { Level::Info };
        let mut diag = Diag::new(RULE.code, level, span(between.store), message)
            .note("different parameters are taken to point to different memory")
            .help("let the index take in `%ctaid`, or write to another buffer than the one that is read");
        if between.some {
            diag = diag.note("shown where integer parameters are the number of threads: it depends on them");
        }
        if between.assumed {
            diag = diag.note("the kernel does not say how it is launched: several CTAs of usual shapes were taken");
        }
        Some(if between.store == between.other {
            diag.label(format!("CTA (0, 0, 0) and CTA ({x}, {y}, {z}) write one address"))
        } else {
            diag.related(
                span(between.other),
                format!("CTA (0, 0, 0) or ({x}, {y}, {z}) {does} the same address here"),
            )
        })
    });
    found.collect()
}

/// A thread's own element that another one, led there by data, may read.
fn gathered(context: &Context, tried: &Tried) -> Option<Diag> {
    let quiet = tried.between.is_none() && tried.races.is_empty();
    let gather = quiet.then(|| gathers::find(context, tried)).flatten()?;
    let site = |inst| Site {
        function: tried.function,
        inst,
    };
    let message = format!(
        "{} writes where another thread may read, and nothing orders them",
        opcode(context, site(gather.store))
    );
    let diag = Diag::new(
        RULE.code,
        Level::Info,
        context.span(tried.function, gather.store),
        message,
    )
    .related(
        context.span(tried.function, gather.load),
        "loaded data says where this reads: it may be another thread's element",
    )
    .note("different parameters are taken to point to different memory")
    .help("write to another buffer than the one that is read");
    Some(diag)
}
