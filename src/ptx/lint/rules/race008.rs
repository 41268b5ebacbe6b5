//! RACE008: threads of different CTAs talk through memory, and what orders them reaches too short or is missing.

use crate::ptx::analysis::Code as Kernel;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Base, Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;
use crate::ptx::lint::context::Context;
use crate::ptx::lint::racing::opcode;
use crate::ptx::lint::rule::Rule;
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;

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
or `.release` stands between the data's store and the flag's. And a lock that is taken by an atomic must not be given back by a plain
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

/// The wait is over, and nothing has ordered what follows.
const WAITED: u64 = 1;
/// Data has been stored, and nothing has ordered it before what follows.
const STORED: u64 = 2;

fn check(context: &Context) -> Vec<Diag> {
    let mut found = Vec::new();
    for tried in context.tried() {
        if let Some(between) = tried.between.filter(|between| between.narrow) {
            let site = between.store;
            let message = format!(
                "{} excludes threads of its own CTA only, and another CTA updates the same address",
                opcode(context, site)
            );
            let level = if between.sure { Level::Warning } else { Level::Info };
            let mut diag = Diag::new(RULE.code, level, context.span(site.function, site.inst), message)
                .help("leave out `.cta`, or use the scope `.gpu`");
            if between.assumed {
                diag = diag.note("the kernel does not say how it is launched: several CTAs of usual shapes were taken");
            }
            found.push(diag);
        }
        if let Some(code) = tried.flag.and_then(|_| context.code(tried.function))
            && let Some(flag) = tried.flag
        {
            found.extend(talk(context, code, flag));
        }
    }
    found
}

/// What is wrong about the data behind a flag that is waited for.
fn talk(context: &Context, code: Kernel, flag: InstId) -> Vec<Diag> {
    let row = |inst: InstId| code.body.insts.get(inst.index());
    let Some(wait) = row(flag).filter(|wait| wait.op.space != Space::Shared) else {
        return Vec::new();
    };
    let span = |inst: InstId| context.span(code.id, inst);
    if wait.op.has("cta") {
        let message = format!("`{}` waits for threads of its own CTA only", wait.op.text);
        return vec![Diag::warning(RULE.code, span(flag), message).help("leave out `.cta`, or use the scope `.gpu`")];
    }
    // Data that the kernel both stores and loads through one pointer is what is passed on.
    let through = |effect: Effect| -> FxHashSet<ValueId> {
        let all = (0..).map(InstId).zip(&code.body.insts);
        let plain = all.filter(|(_, row)| row.op.effect == effect && is_plain(row));
        plain
            .filter_map(|(inst, row)| Some(place(code, inst, row)?.0))
            .collect()
    };
    let (stored, loaded) = (through(Effect::Store), through(Effect::Load));
    let passed = |inst: InstId, row: &Inst| {
        let pointer = place(code, inst, row).map(|(pointer, _)| pointer);
        is_plain(row) && pointer.is_some_and(|pointer| stored.contains(&pointer) && loaded.contains(&pointer))
    };
    let mut bits = Bits::new();
    if !has(wait, &["acquire", "acq_rel"]) {
        bits.start(flag, WAITED);
    }
    let insts = || (0..).map(InstId).zip(&code.body.insts);
    for (inst, row) in insts() {
        match row.op.effect {
            Effect::Fence if !row.op.has("cta") => bits.end(inst, WAITED | STORED),
            Effect::Barrier | Effect::Call => bits.end(inst, WAITED | STORED),
            Effect::Store if passed(inst, row) => bits.start(inst, STORED),
            _ => {}
        }
    }
    let holding = bits.follow(code.cfg);
    let mut found = Vec::new();
    let early = insts().find(|(inst, row)| passed(*inst, row) && holding.before(*inst) & WAITED != 0);
    if let Some((inst, row)) = early {
        let message = format!(
            "`{}` is not ordered behind the wait for another thread's store",
            row.op.text
        );
        found.push(
            Diag::warning(RULE.code, span(inst), message)
                .related(span(flag), "the flag is waited for here")
                .help("put `membar.gl;` or `fence.acq_rel.gpu;` between them, or load the flag with `ld.acquire.gpu`"),
        );
    }
    let tells = |row: &Inst| is_strong(row) && !row.op.has("cas") && !has(row, &["release", "acq_rel"]);
    let late = insts().find(|(inst, row)| tells(row) && holding.before(*inst) & STORED != 0);
    if let Some((inst, row)) = late {
        let message = format!(
            "`{}` may be seen before the data that was stored in front of it",
            row.op.text
        );
        found
            .push(Diag::warning(RULE.code, span(inst), message).help(
                "put `membar.gl;` or `fence.acq_rel.gpu;` between them, or store the flag with `st.release.gpu`",
            ));
    }
    found.extend(plain_release(context, code, flag, wait));
    found
}

/// A lock that is given back by a plain store.
fn plain_release(context: &Context, code: Kernel, flag: InstId, wait: &Inst) -> Option<Diag> {
    let place = |inst: InstId, row: &Inst| place(code, inst, row);
    let lock = place(flag, wait).filter(|_| wait.op.effect == Effect::Atomic)?;
    let stores = (0..).map(InstId).zip(&code.body.insts);
    let mut plain = stores.filter(|(_, row)| row.op.effect == Effect::Store && is_plain(row));
    let (inst, row) = plain.find(|(inst, row)| place(*inst, row) == Some(lock))?;
    let message = format!(
        "`{}` gives back what an atomic has taken, and may do so too early",
        row.op.text
    );
    Some(
        Diag::warning(RULE.code, context.span(code.id, inst), message)
            .related(context.span(code.id, flag), "the lock is taken here")
            .help("use `atom.exch` or `st.release.gpu`, with a fence in front of it"),
    )
}

/// Where an access goes: the register's value, and the bytes from there.
fn place(code: Kernel, inst: InstId, row: &Inst) -> Option<(ValueId, i64)> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => match address.base {
            Base::Reg(reg) => Some((code.ssa.use_of(inst, reg)?, address.offset)),
            _ => None,
        },
        _ => None,
    })
}

fn has(row: &Inst, names: &[&str]) -> bool {
    row.op.mods().any(|name| names.contains(&name))
}

fn is_global(row: &Inst) -> bool {
    matches!(row.op.space, Space::Global | Space::Generic)
}

/// An access to global memory that others do not wait for.
fn is_plain(row: &Inst) -> bool {
    let weak = !has(row, &["volatile", "relaxed", "acquire", "release", "mmio"]);
    matches!(row.op.effect, Effect::Load | Effect::Store) && is_global(row) && weak
}

/// A store or atomic that others may wait for.
fn is_strong(row: &Inst) -> bool {
    match row.op.effect {
        Effect::Store => is_global(row) && !is_plain(row),
        Effect::Atomic => is_global(row),
        _ => false,
    }
}
