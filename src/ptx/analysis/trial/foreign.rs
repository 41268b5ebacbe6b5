//! Ways of ordering threads that trial runs do not follow.

use super::program::{Access, Arg, Program, Step};
use crate::ptx::flow::LoopId;
use crate::ptx::ir::{InstId, Operand, RegId};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashSet;

/// A flag that another thread sets is waited for.
pub const FLAG: &str = "a flag in memory is waited for";

/// The first instruction that waits in such a way, and what it is.
pub(super) fn find(program: &Program) -> Option<(InstId, &'static str)> {
    let rows = || (0..).map(InstId).zip(&program.body.insts);
    let explicit = rows().find_map(|(at, inst)| {
        let op = &inst.op;
        match op.effect {
            Effect::Other if !op.is_known() => Some((at, "an instruction is not known")),
            _ => None,
        }
    });
    explicit.or_else(|| spin(program).map(|at| (at, FLAG)))
}

/// Whether it is a compare-and-swap that puts in a number of the thread's own: it is tried until it succeeds, and waits for nobody.
fn is_retried(program: &Program, at: u32) -> bool {
    let Some(inst) = program.body.insts.get(at as usize) else {
        return false;
    };
    let is_constant = |operand: &Operand| is_constant(program, &super::program::arg(operand));
    inst.op.has("cas") && inst.operands.last().is_some_and(|new| !is_constant(new))
}

/// Whether it is a number that stands in the text.
fn is_constant(program: &Program, arg: &Arg) -> bool {
    match arg {
        Arg::Known(_) => true,
        Arg::Reg(reg, ..) => {
            let mut defs = program.rows.iter().filter(|row| row.defs.contains(reg));
            defs.all(|row| matches!(row.step, Step::Move(Arg::Known(_))))
        }
        _ => false,
    }
}

/// Whether a branch within the loop comes to a block only for what has been read.
fn decides(program: &Program, id: LoopId, read: &FxHashSet<RegId>, block: u32) -> bool {
    let above = program.cfg.dom().idom(block);
    above
        .filter(|above| program.loops.contains(id, *above))
        .is_some_and(|above| {
            let last = program.cfg.last(above).and_then(|last| program.rows.get(last.index()));
            last.and_then(|row| row.guard)
                .is_some_and(|guard| read.contains(&guard.reg))
        })
}

/// A loop that is left by what a strong load or atomic in it has read.
fn spin(program: &Program) -> Option<InstId> {
    for (id, _) in program.loops.iter() {
        let blocks: Vec<u32> = (0..program.cfg.blocks())
            .filter(|block| program.loops.contains(id, *block))
            .collect();
        let insts = || blocks.iter().flat_map(|block| program.cfg.insts(*block));
        // Where all meet in each round, nobody is waited for in between.
        let meets = |at: u32| matches!(program.rows[at as usize].step, Step::Barrier { .. });
        if insts().any(meets) {
            continue;
        }
        let is_strong = |at: u32, access: &Access| access.reads && access.strong && !is_retried(program, at);
        let mut read: FxHashSet<RegId> = FxHashSet::default();
        let mut first = None;
        // Blocks come in textual order: one pass follows what is read to the branch that tests it.
        for at in insts() {
            let row = &program.rows[at as usize];
            let strong = matches!(&row.step, Step::Access(access) if is_strong(at, access));
            if strong {
                first.get_or_insert(InstId(at));
            }
            if strong || (!matches!(row.step, Step::Access(_)) && row.uses.iter().any(|reg| read.contains(reg))) {
                read.extend(row.defs.iter().copied());
            }
        }
        let Some(first) = first else { continue };
        let leaves = |block: &u32| {
            program
                .cfg
                .succs()
                .next(*block)
                .iter()
                .any(|to| !program.loops.contains(id, *to))
        };
        for at in insts().filter(|at| program.rows[*at as usize].guard.is_none()) {
            let row = &program.rows[at as usize];
            let constant = matches!(&row.step, Step::Move(from) if is_constant(program, from));
            if constant && decides(program, id, &read, row.block) {
                read.extend(row.defs.iter().copied());
            }
        }
        let tests = |block: &u32| {
            let last = program.cfg.last(*block).and_then(|last| program.rows.get(last.index()));
            last.and_then(|row| row.guard)
                .is_some_and(|guard| read.contains(&guard.reg))
        };
        if blocks.iter().any(|block| leaves(block) && tests(block)) {
            return Some(first);
        }
    }
    None
}
