//! Barriers with the numbers they name, followed through registers: id, count, and which threads can come.

use super::context::Context;
use super::trail::{Goal, with_trail};
use crate::ptx::analysis::{Exact, Reach, Shape, Threads, Unit};
use crate::ptx::diag::Diag;
use crate::ptx::ir::{BarrierKind, BarrierOp, FuncId, InstId};

/// A barrier of the CTA with what is known of its numbers.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    /// The function.
    pub(super) function: FuncId,
    /// The barrier.
    pub(super) inst: InstId,
    /// What it does.
    pub(super) op: BarrierOp,
    /// The barrier's number in each thread, where known.
    pub(super) id: Option<Exact>,
    /// How many threads take part, where given and known.
    pub(super) count: Option<Exact>,
    /// Whether a count is given.
    pub(super) counted: bool,
    /// The threads that can come.
    pub(super) threads: Threads,
    /// Whether all of them do.
    pub(super) sure: bool,
    /// Whether they come all together, or none of them.
    pub(super) whole: bool,
    /// Whether it lies in a loop.
    pub(super) in_loop: bool,
    /// The shape for which this holds.
    pub(super) shape: Shape,
    /// Whether the function meets barriers in functions that it calls, or is such a function: then others may come too.
    pub(super) shared: bool,
}

/// The barriers of a function.
pub(super) fn find(unit: &Unit) -> Vec<Numbered> {
    let own = |inst: InstId| {
        unit.body.insts[inst.index()]
            .as_barrier()
            .filter(|view| view.kind == BarrierKind::Cta)
    };
    let sites: Vec<_> = unit
        .barriers
        .iter()
        .filter_map(|site| own(site.inst).map(|view| (site.inst, view)))
        .filter(|(inst, _)| unit.cfg.is_reachable(unit.cfg.block_of(*inst)))
        .collect();
    // `bar.sync 0` by all is the usual case, and there is nothing to find.
    let is_plain = |id: Option<i64>, counted: bool| !counted && id.is_some_and(|id| (0..16).contains(&id));
    if sites
        .iter()
        .all(|(_, view)| is_plain(view.id.and_then(|id| id.as_int()), view.count.is_some()))
    {
        return Vec::new();
    }
    let reach = Reach::new(unit);
    let mut evaluator = unit.evaluator();
    let calls = unit.barriers.iter().any(|site| site.callee.is_some());
    let is_kernel = unit.function().kind == crate::ptx::ir::FunctionKind::Entry;
    sites
        .into_iter()
        .map(|(inst, view)| {
            let (threads, sure) = reach.inst(unit, inst);
            Numbered {
                function: unit.id,
                inst,
                op: view.op,
                id: view.id.and_then(|operand| evaluator.operand(inst, operand)),
                count: view.count.and_then(|operand| evaluator.operand(inst, operand)),
                counted: view.count.is_some(),
                threads,
                sure,
                whole: reach.is_whole(unit, inst),
                in_loop: unit.loops.innermost(unit.cfg.block_of(inst)).is_some(),
                shape: unit.shape,
                shared: calls || !is_kernel,
            }
        })
        .collect()
}

/// A number of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Which barrier.
    Id,
    /// How many threads it counts.
    Count,
}

impl Numbered {
    /// Adds where a number comes from that stands in a register.
    pub(super) fn told(&self, context: &Context, part: Part, diag: Diag) -> Diag {
        let Some(code) = context.code(self.function) else {
            return diag;
        };
        let at = usize::from(self.op == BarrierOp::Red) + usize::from(part == Part::Count);
        with_trail(context, code, self.inst, at, Goal::Number, diag)
    }

    /// The count, where all threads name the same.
    pub(super) fn count(&self) -> Option<u64> {
        self.count.as_ref()?.constant().map(|count| count & 0xffff_ffff)
    }

    /// Whether any thread that comes has a number for which the test holds. Numbers that differ between threads are
    /// looked at only where it is known which threads there are.
    pub(super) fn any(&self, number: Option<&Exact>, test: impl Fn(u64) -> bool) -> Option<u64> {
        let number = number?;
        match number.constant() {
            Some(value) => Some(value & 0xffff_ffff).filter(|value| test(*value)),
            None if self.shape.threads().is_some() && self.sure => {
                let mut numbers = self.threads.iter().map(|thread| number.of(thread) & 0xffff_ffff);
                numbers.find(|value| test(*value))
            }
            None => None,
        }
    }

    /// The threads that come to the barrier of this number.
    pub(super) fn coming(&self, id: u64) -> Threads {
        match &self.id {
            Some(own) => self.threads.filter(|thread| own.of(thread) & 0xffff_ffff == id),
            None => self.threads,
        }
    }
}
