//! Shuffles in a loop whose distance changes from round to round: `for (d = 16; d > 0; d /= 2) v += shfl.down(v, d)`.

use crate::ptx::analysis::{Evaluator, Exact, Unit};
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{InstId, Operand};

/// Distances that are followed: 16, 8, 4, 2, 1 and no more.
const MOST: usize = 6;
/// Instructions between one distance and the next.
const DEEPEST: usize = 6;

/// The distances of a shuffle, round by round, where they start at a number and each follows from the one before; and whether what
/// is fetched in one round goes into what is passed on in the next.
pub(super) fn rounds(unit: &Unit, evaluator: &mut Evaluator, inst: InstId) -> Option<(Vec<u64>, bool)> {
    let row = &unit.body.insts[inst.index()];
    let value = |at: usize| unit.ssa.use_of(inst, row.operands.get(at)?.as_reg()?);
    let lane = value(2)?;
    let is_phi = |value: ValueId| {
        matches!(
            unit.ssa.value(value).map(|value| value.definition),
            Some(Definition::Phi(_))
        )
    };
    if !is_phi(lane) {
        return None;
    }
    let inputs = unit.ssa.phi_inputs(lane);
    let start = inputs.iter().find_map(|input| evaluator.value(*input)?.constant())?;
    let [next] = inputs
        .iter()
        .copied()
        .filter(|input| evaluator.value(*input).is_none())
        .collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let mut rounds = vec![start];
    while rounds.len() < MOST {
        let Some(lane) =
            step(unit, evaluator, next, (lane, *rounds.last()?), DEEPEST).filter(|lane| (1..32).contains(lane))
        else {
            break;
        };
        rounds.push(lane);
    }
    let header = unit.ssa.value(lane)?.block;
    let passed =
        value(1).filter(|value| is_phi(*value) && unit.ssa.value(*value).map(|value| value.block) == Some(header));
    (1..32).contains(&start).then_some((rounds, passed.is_some()))
}

/// What a value becomes where the counter has that number, on 32 bits.
fn step(unit: &Unit, evaluator: &mut Evaluator, value: ValueId, counter: (ValueId, u64), depth: usize) -> Option<u64> {
    if value == counter.0 {
        return Some(counter.1);
    }
    if let Some(known) = evaluator.value(value) {
        return known.constant();
    }
    let Definition::Inst(inst) = unit.ssa.value(value)?.definition else {
        return None;
    };
    let row = &unit.body.insts[inst.index()];
    if depth == 0 || row.guard.is_some() {
        return None;
    }
    let mut part = |at: usize| match row.operands.get(at)? {
        Operand::Reg(reg) => step(unit, evaluator, unit.ssa.use_of(inst, *reg)?, counter, depth - 1),
        operand => evaluator.operand(inst, operand).as_ref().and_then(Exact::constant),
    };
    let first = part(1)?;
    let result = match row.op.base() {
        "mov" => first,
        "shr" => first.checked_shr(u32::try_from(part(2)?).ok()?)?,
        "shl" => first.checked_shl(u32::try_from(part(2)?).ok()?)?,
        "add" => first.wrapping_add(part(2)?),
        _ => return None,
    };
    Some(result & 0xffff_ffff)
}
