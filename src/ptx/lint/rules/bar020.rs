//! BAR020: a barrier of the whole grid that some CTAs do not come to.

use crate::ptx::analysis::Unit;
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::flow::{Definition, LoopId, ValueId};
use crate::ptx::ir::{Base, Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::parting::condition;
use crate::ptx::lint::rule::Rule;
use crate::ptx::lint::trail::{Goal, leads_to, with_trail_of};
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;

/// A barrier of the whole grid that some CTAs do not come to.
pub const RULE: Rule = Rule {
    code: Code::new("BAR020", "grid-barrier-skipped"),
    level: Level::Warning,
    summary: "A barrier of the whole grid that some CTAs do not come to.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

/// Loops longer than this do more than wait.
const LONGEST: usize = 16;

const EXPLANATION: &str = "\
Finds barriers of the grid, made of an atomic that counts arrivals and a loop that waits for the count, under a branch on `%ctaid`, and
behind one on which some CTAs leave.

Such a barrier waits for all CTAs of the grid. What is uniform within a CTA is not uniform enough here: where some CTAs go past it, the
others wait for ever. Right only if the barrier counts just the CTAs that come.

Fails:
```ptx
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 arrived;
.visible .entry k(.param .u64 out, .param .u32 ctas)
{
    .reg .pred %p<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [ctas];
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, %ctaid.x;
    setp.gt.u32 %p1, %r3, 3;
    @%p1 bra PAST;
    bar.sync 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
    membar.gl;
    atom.global.add.u32 %r4, [arrived], 1;
SPIN:
    ld.volatile.global.u32 %r5, [arrived];
    setp.lt.u32 %p3, %r5, %r2;
    @%p3 bra SPIN;
WAIT:
    bar.sync 0;
PAST:
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Clean:
```ptx
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 arrived;
.visible .entry k(.param .u64 out, .param .u32 ctas)
{
    .reg .pred %p<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [ctas];
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, %ctaid.x;
    bar.sync 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
    membar.gl;
    atom.global.add.u32 %r4, [arrived], 1;
SPIN:
    ld.volatile.global.u32 %r5, [arrived];
    setp.lt.u32 %p3, %r5, %r2;
    @%p3 bra SPIN;
WAIT:
    bar.sync 0;
    st.global.u32 [%rd1], %r1;
    ret;
}
```
Let all CTAs come to the barrier, and guard the work around it.
";

fn check(context: &Context) -> Vec<Diag> {
    context.units().flat_map(|unit| skipped(context, unit)).collect()
}

fn skipped(context: &Context, unit: &Unit) -> Vec<Diag> {
    let atomics = unit.body.insts.iter().any(counts);
    if !atomics || unit.barriers.is_empty() {
        return Vec::new();
    }
    let mut told: FxHashSet<u32> = FxHashSet::default();
    let mut found = Vec::new();
    for (id, natural) in unit.loops.iter() {
        let Some(arrival) = arrival(unit, id) else { continue };
        let Some(branch) = parting(unit, id, natural.header).filter(|branch| told.insert(*branch)) else {
            continue;
        };
        found.extend(say(context, unit, arrival, id, branch));
    }
    found
}

fn say(context: &Context, unit: &Unit, arrival: InstId, id: LoopId, branch: u32) -> Option<Diag> {
    let last = unit.cfg.last(branch)?;
    let wait = unit.cfg.insts(unit.loops.get(id).header).next()?;
    let message = "CTAs arrive here at a barrier of the grid that not all of them come to";
    let diag = Diag::warning(RULE.code, context.span(unit.id, arrival), message)
        .related(context.span(unit.id, InstId(wait)), "they wait for the others here")
        .related(context.span(unit.id, last), "CTAs part here");
    let code = context.code(unit.id)?;
    let diag = with_trail_of(context, code, condition(unit, branch)?, Goal::Cta, diag);
    Some(
        diag.note("right only if the barrier counts just the CTAs that come")
            .help("let all CTAs come to the barrier, and guard the work around it"),
    )
}

/// The atomic that counts an arrival before a loop which does nothing but wait for the count.
fn arrival(unit: &Unit, id: LoopId) -> Option<InstId> {
    let header = unit.loops.get(id).header;
    let blocks: Vec<u32> = unit
        .cfg
        .rpo()
        .iter()
        .copied()
        .filter(|block| unit.loops.contains(id, *block))
        .collect();
    let insts: Vec<InstId> = blocks
        .iter()
        .flat_map(|block| unit.cfg.insts(*block))
        .map(InstId)
        .collect();
    let row = |inst: InstId| &unit.body.insts[inst.index()];
    let only_waits = |inst: &InstId| {
        matches!(
            row(*inst).op.effect,
            Effect::Pure | Effect::Branch | Effect::Load | Effect::Fence
        ) || row(*inst).op.base() == "nanosleep"
    };
    if insts.len() > LONGEST || !insts.iter().all(only_waits) {
        return None;
    }
    let watched: Vec<Place> = insts
        .iter()
        .filter(|inst| row(**inst).op.effect == Effect::Load)
        .filter_map(|inst| place(unit, *inst))
        .collect();
    let mut all = (0..).map(InstId).zip(&unit.body.insts).filter(|(_, row)| counts(row));
    let before = |inst: InstId| {
        let block = unit.cfg.block_of(inst);
        unit.cfg.dom().dominates(block, header) && !unit.loops.contains(id, block)
    };
    all.find(|(inst, _)| before(*inst) && place(unit, *inst).is_some_and(|place| watched.contains(&place)))
        .map(|(inst, _)| inst)
}

/// Whether the instruction counts something up in global memory.
fn counts(row: &Inst) -> bool {
    matches!(row.op.base(), "atom" | "red")
        && (row.op.has("add") || row.op.has("inc"))
        && matches!(row.op.space, Space::Global | Space::Generic)
}

/// A place in memory, as far as it can be told from others: variable or pointer, and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Variable(SymbolId, i64),
    Pointer(ValueId, i64),
}

fn place(unit: &Unit, inst: InstId) -> Option<Place> {
    let address = unit.body.insts[inst.index()].as_mem()?.address;
    let reg = match address.base {
        Base::Symbol(symbol) => return Some(Place::Variable(symbol, address.offset)),
        Base::Reg(reg) => reg,
        Base::Absolute => return None,
    };
    let mut value = unit.ssa.use_of(inst, reg)?;
    // Through copies and conversions, which leave the place as it is.
    for _ in 0..8 {
        let Some(Definition::Inst(made)) = unit.ssa.value(value).map(|value| value.definition) else {
            break;
        };
        let row = &unit.body.insts[made.index()];
        if !matches!(row.op.base(), "mov" | "cvta") || row.guard.is_some() {
            break;
        }
        match row.operands.get(1)? {
            Operand::Symbol(symbol, by) => return Some(Place::Variable(*symbol, address.offset + by)),
            Operand::Reg(reg) => value = unit.ssa.use_of(made, *reg)?,
            _ => break,
        }
    }
    Some(Place::Pointer(value, address.offset))
}

/// The branch, uniform within a CTA, on which some CTAs go past the loop or leave before it.
fn parting(unit: &Unit, id: LoopId, header: u32) -> Option<u32> {
    let controllers = unit.converge.controllers();
    let mut seen: FxHashSet<u32> = FxHashSet::from_iter([header]);
    let mut stack = vec![header];
    while let Some(at) = stack.pop() {
        let above = controllers.get(at as usize).into_iter().flatten().copied();
        for block in above.filter(|block| !unit.loops.contains(id, *block)) {
            if seen.insert(block) {
                stack.push(block);
            }
        }
    }
    let leaves = unit
        .converge
        .departures()
        .iter()
        .filter(|departure| !departure.fatal && unit.cfg.dom().dominates(departure.from, header));
    seen.extend(leaves.map(|departure| departure.from));
    seen.remove(&header);
    let mut blocks: Vec<u32> = seen.into_iter().filter(|block| parts_ctas(unit, *block)).collect();
    blocks.sort_unstable();
    blocks.first().copied()
}

/// Whether a branch is taken alike by the threads of a CTA, and depends on which CTA it is.
fn parts_ctas(unit: &Unit, block: u32) -> bool {
    let code = crate::ptx::analysis::Code::of_unit(unit);
    unit.uniformity.branch(block) == Extent::Cta
        && condition(unit, block).is_some_and(|condition| leads_to(code, condition, Goal::Cta))
}
