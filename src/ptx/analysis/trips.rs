//! Loops run exactly: whether the threads leave a loop together, found by stepping its counters in every thread.

use super::exact::{Evaluator, Exact, Source, decoded};
use super::geometry::WARP;
use super::scalar::Scalar;
use crate::ptx::flow::{Condition, Definition, LoopId, Loops, ValueId};
use crate::ptx::isa::Extent;
use rustc_hash::FxHashMap;

/// Steps times threads that one loop may take.
const BUDGET: usize = 2 << 20;

/// A loop's counters and what is computed from them, in an order in which it can be computed.
struct Plan {
    /// Counter: value at the start of an iteration, where it starts, what it becomes.
    counters: Vec<(usize, Exact, usize)>,
    steps: Vec<Step>,
    slots: usize,
    condition: usize,
}

struct Step {
    out: usize,
    scalar: Scalar,
    second: bool,
    args: Vec<Arg>,
}

enum Arg {
    Known(Exact),
    Slot(usize, bool),
}

/// How far apart the threads are in leaving the loop at the end of `block`, where that can be found by running it:
/// [`Extent::Cta`] if all leave in the same iteration, [`Extent::Warp`] if each warp does, [`Extent::Thread`] otherwise.
pub(super) fn exit_extent(evaluator: &mut Evaluator, loops: &Loops, id: LoopId, block: u32) -> Option<Extent> {
    let cfg = evaluator.cfg();
    let natural = loops.get(id);
    // Each iteration must pass the branch.
    if !natural.is_natural() {
        return None;
    }
    if !natural.latches.iter().all(|latch| cfg.dom().dominates(block, *latch)) {
        return None;
    }
    let Some(Condition::Guard(guard)) = cfg.condition(evaluator.body(), block) else {
        return None;
    };
    let target_leaves = !loops.contains(id, *cfg.succs().next(block).first()?);
    let plan = plan(
        evaluator,
        loops,
        id,
        evaluator.ssa().use_of(cfg.last(block)?, guard.reg)?,
    )?;
    // What is the same in all threads is found to be so without running it.
    let differs = plan.counters.iter().any(|(_, start, _)| start.constant().is_none())
        || plan
            .steps
            .iter()
            .flat_map(|step| &step.args)
            .any(|arg| matches!(arg, Arg::Known(value) if value.constant().is_none()));
    if !differs {
        return None;
    }
    run(&plan, evaluator, target_leaves != guard.negated)
}

/// Collects what the condition needs in one iteration.
fn plan(evaluator: &mut Evaluator, loops: &Loops, id: LoopId, condition: ValueId) -> Option<Plan> {
    let mut plan = Plan {
        counters: Vec::new(),
        steps: Vec::new(),
        slots: 0,
        condition: 0,
    };
    let mut slots: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut counters: Vec<ValueId> = Vec::new();
    order(evaluator, loops, id, condition, &mut slots, &mut plan, &mut |counter| {
        counters.push(counter)
    })?;
    while let Some(counter) = counters.pop() {
        let (start, next) = counter_inputs(evaluator, loops, id, counter)?;
        let start = evaluator.value(start)?;
        order(evaluator, loops, id, next, &mut slots, &mut plan, &mut |counter| {
            counters.push(counter)
        })?;
        plan.counters.push((*slots.get(&counter)?, start, *slots.get(&next)?));
    }
    plan.condition = *slots.get(&condition)?;
    (!plan.counters.is_empty()).then_some(plan)
}

/// A counter's value from before the loop, and its value from the iteration before.
fn counter_inputs(evaluator: &Evaluator, loops: &Loops, id: LoopId, counter: ValueId) -> Option<(ValueId, ValueId)> {
    let header = loops.get(id).header;
    let (mut start, mut next) = (None, None);
    for (pred, input) in evaluator
        .cfg()
        .preds()
        .next(header)
        .iter()
        .zip(evaluator.ssa().phi_inputs(counter))
    {
        let place = if loops.contains(id, *pred) {
            &mut next
        } else {
            &mut start
        };
        if place.is_some_and(|known| known != *input) {
            return None;
        }
        *place = Some(*input);
    }
    Some((start?, next?))
}

/// Gives slots to a value and to what it is computed from, inputs first. Header phis are counters and are handed to `counter`.
fn order(
    evaluator: &mut Evaluator,
    loops: &Loops,
    id: LoopId,
    root: ValueId,
    slots: &mut FxHashMap<ValueId, usize>,
    plan: &mut Plan,
    counter: &mut impl FnMut(ValueId),
) -> Option<()> {
    let mut stack = vec![(root, false)];
    while let Some((at, ready)) = stack.pop() {
        if slots.contains_key(&at) {
            continue;
        }
        let value = *evaluator.ssa().value(at)?;
        let inst = match value.definition {
            Definition::Phi(block) if block == loops.get(id).header => {
                slots.insert(at, plan.slots);
                plan.slots += 1;
                counter(at);
                continue;
            }
            Definition::Inst(inst) => inst,
            _ => return None,
        };
        if evaluator.body().insts[inst.index()].guard.is_some() {
            return None;
        }
        let (scalar, sources, second) = decoded(evaluator, at, inst)?;
        let mut args = Vec::new();
        let mut missing = Vec::new();
        for source in sources {
            args.push(match source {
                Source::Known(value) => Arg::Known(value),
                Source::Value(input, negated) => match (slots.get(&input), evaluator.value(input)) {
                    (Some(slot), _) => Arg::Slot(*slot, negated),
                    (None, Some(value)) if !negated => Arg::Known(value),
                    _ => {
                        missing.push((input, false));
                        continue;
                    }
                },
            });
        }
        if !missing.is_empty() {
            if ready || plan.steps.len() > 1000 {
                return None;
            }
            stack.push((at, true));
            stack.extend(missing);
            continue;
        }
        slots.insert(at, plan.slots);
        plan.steps.push(Step {
            out: plan.slots,
            scalar,
            second,
            args,
        });
        plan.slots += 1;
    }
    Some(())
}

/// Steps the loop in all threads until they have left.
fn run(plan: &Plan, evaluator: &mut Evaluator, leaves_on: bool) -> Option<Extent> {
    let threads = evaluator.shape().most_threads() as usize;
    let mut state: Vec<Vec<u64>> = vec![vec![0; plan.slots]; threads];
    for (thread, slots) in state.iter_mut().enumerate() {
        plan.counters
            .iter()
            .for_each(|(slot, start, _)| slots[*slot] = start.of(thread));
    }
    let mut active = vec![true; threads];
    let mut worst = Extent::Cta;
    let mut rounds = 0;
    while active.iter().any(|active| *active) {
        rounds += 1;
        let work = threads * plan.steps.len().max(1);
        if rounds * work > BUDGET {
            return None;
        }
        evaluator.spend(work)?;
        let mut leaves = vec![None; threads];
        for thread in (0..threads).filter(|thread| active[*thread]) {
            leaves[thread] = Some(iterate(plan, &mut state[thread], thread)? == leaves_on);
        }
        let even = |part: &[Option<bool>]| {
            let mut seen = part.iter().flatten();
            let first = seen.next();
            seen.all(|leave| Some(leave) == first)
        };
        if !even(&leaves) {
            worst = if leaves.chunks(WARP as usize).all(even) {
                Extent::Warp
            } else {
                return Some(Extent::Thread);
            };
        }
        active
            .iter_mut()
            .zip(&leaves)
            .for_each(|(active, leave)| *active &= *leave == Some(false));
    }
    Some(worst)
}

/// One iteration of one thread: the condition, with the counters advanced.
fn iterate(plan: &Plan, slots: &mut [u64], thread: usize) -> Option<bool> {
    for step in &plan.steps {
        let mut values = [0u64; 4];
        for (value, arg) in values.iter_mut().zip(&step.args) {
            *value = match arg {
                Arg::Known(known) => known.of(thread),
                Arg::Slot(slot, negated) => slots[*slot] ^ u64::from(*negated),
            };
        }
        slots[step.out] = step.scalar.apply(&values[..step.args.len().min(4)])? ^ u64::from(step.second);
    }
    let condition = slots[plan.condition] & 1 == 1;
    let next: Vec<u64> = plan.counters.iter().map(|(_, _, next)| slots[*next]).collect();
    plan.counters
        .iter()
        .zip(next)
        .for_each(|((slot, _, _), next)| slots[*slot] = next);
    Some(condition)
}
