//! Masks that come from a ballot of unknown votes: right where the lanes that part are parted by the very predicate voted on.

use super::{Site, Sites, origin};
use crate::ptx::analysis::{Together, Unit};
use crate::ptx::flow::{Condition, Definition, ValueId};
use crate::ptx::ir::{Guard, Inst, InstId, Operand};
use crate::ptx::isa::Extent;

/// What is wrong with a ballot as a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx::lint) enum Fault {
    /// Together part further after the vote, at the end of this block: some that it names do not come.
    Stale(u32),
    /// Together that voted no execute the instruction too.
    Includes,
}

/// A predicate, up to negation, with its sign.
#[derive(Clone, Copy)]
struct Literal {
    value: ValueId,
    positive: bool,
}

/// Judges a site whose mask is the ballot of `vote`.
pub(in crate::ptx::lint) fn judge(unit: &Unit, sites: &Sites, site: &Site, vote: InstId) -> Option<Fault> {
    let row = &unit.body.insts[vote.index()];
    let voted = operand_literal(unit, vote, row.operands.get(1)?)?;
    let block = unit.cfg.block_of(site.inst);
    let lanes = &sites.lanes;
    let known = lanes.apart(unit.cfg.block_of(vote));
    let mut settled = has_left(unit, lanes, block, voted) || is_guarded_by(unit, site, voted)?;
    for apart in lanes.apart(block).iter().filter(|apart| !known.contains(apart)) {
        let condition = taken_literal(unit, apart.block)?;
        match same(unit, condition, voted) {
            None => return Some(Fault::Stale(apart.block)),
            Some(positive) => {
                let arm = unit
                    .cfg
                    .succs()
                    .next(apart.block)
                    .get(usize::from(!positive))
                    .copied()?;
                let within = lanes.converge().arm(apart.block, &[arm]).contains(&block);
                if !within {
                    return Some(Fault::Includes);
                }
                settled = true;
            }
        }
    }
    let differs = unit.uniformity.seen_from(&unit.loops, voted.value, block).0 == Extent::Thread;
    (!settled && differs && site.company.apart.is_empty()).then_some(Fault::Includes)
}

/// Whether threads that voted no have left before the block.
fn has_left(unit: &Unit, lanes: &Together, block: u32, voted: Literal) -> bool {
    let mut before = lanes.gone_before(block);
    before.any(|gone| taken_literal(unit, gone.from).is_some_and(|taken| same(unit, taken, voted).is_some()))
}

/// Whether the site's own guard is the predicate voted on; `None` where it is another, and nothing can be said.
fn is_guarded_by(unit: &Unit, site: &Site, voted: Literal) -> Option<bool> {
    let Some(guard) = unit.body.insts[site.inst.index()].guard else {
        return Some(false);
    };
    let literal = guard_literal(unit, site.inst, guard)?;
    (same(unit, literal, voted)?).then_some(true)
}

/// The condition on which the first successor of a block is taken.
fn taken_literal(unit: &Unit, block: u32) -> Option<Literal> {
    match unit.cfg.condition(unit.body, block)? {
        Condition::Guard(guard) => guard_literal(unit, unit.cfg.last(block)?, guard),
        Condition::Index(_) => None,
    }
}

fn guard_literal(unit: &Unit, inst: InstId, guard: Guard) -> Option<Literal> {
    let value = unit.ssa.use_of(inst, guard.reg)?;
    Some(strip(
        unit,
        Literal {
            value,
            positive: !guard.negated,
        },
    ))
}

fn operand_literal(unit: &Unit, inst: InstId, operand: &Operand) -> Option<Literal> {
    let positive = matches!(operand, Operand::Reg(_));
    let value = unit.ssa.use_of(inst, operand.as_reg()?)?;
    Some(strip(unit, Literal { value, positive }))
}

/// Looks through copies and negations.
fn strip(unit: &Unit, mut literal: Literal) -> Literal {
    for _ in 0..16 {
        literal.value = origin(unit, literal.value);
        let Some((inst, row)) = maker(unit, literal.value) else {
            break;
        };
        if row.op.base() != "not" || row.guard.is_some() {
            break;
        }
        let Some(operand) = row.operands.get(1) else { break };
        let Some(value) = operand.as_reg().and_then(|reg| unit.ssa.use_of(inst, reg)) else {
            break;
        };
        literal = Literal {
            value,
            positive: literal.positive != matches!(operand, Operand::Reg(_)),
        };
    }
    literal
}

fn maker<'u>(unit: &'u Unit, value: ValueId) -> Option<(InstId, &'u Inst)> {
    match unit.ssa.value(value)?.definition {
        Definition::Inst(inst) => Some((inst, &unit.body.insts[inst.index()])),
        _ => None,
    }
}

/// Whether two predicates are the same (`true`) or each other's complement (`false`); `None` where neither is known.
fn same(unit: &Unit, a: Literal, b: Literal) -> Option<bool> {
    if a.value == b.value {
        return Some(a.positive == b.positive);
    }
    let ((one, first), (two, second)) = (maker(unit, a.value)?, maker(unit, b.value)?);
    let comparable = |row: &Inst| row.op.base() == "setp" && row.guard.is_none() && row.operands.len() == 3;
    if !comparable(first) || !comparable(second) || first.op.types != second.op.types {
        return None;
    }
    let alike = |at: usize| match (&first.operands[at], &second.operands[at]) {
        (Operand::Reg(x), Operand::Reg(y)) => {
            let value = |inst, reg: &_| unit.ssa.use_of(inst, *reg).map(|value| origin(unit, value));
            value(one, x) == value(two, y)
        }
        (x, y) => x == y,
    };
    if !alike(1) || !alike(2) {
        return None;
    }
    let (x, y) = (relation(first)?, relation(second)?);
    if x == y {
        return Some(a.positive == b.positive);
    }
    let integral = first.op.types.iter().all(|ty| ty.is_integral());
    (integral && complement(x) == y).then_some(a.positive != b.positive)
}

fn relation(row: &Inst) -> Option<&str> {
    row.op.mods().next()
}

fn complement(relation: &str) -> &'static str {
    match relation {
        "eq" => "ne",
        "ne" => "eq",
        "lt" => "ge",
        "ge" => "lt",
        "le" => "gt",
        "gt" => "le",
        _ => "",
    }
}
