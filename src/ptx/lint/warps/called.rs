//! Calls of functions that execute warp instructions: what debug builds make of `__shfl_sync` and its kin, which take the mask as a
//! parameter.
//!
//! A function is followed from its entry as long as there is one way on. Warp instructions on that way are executed by just the
//! lanes that execute the call, so the call is a site of its own, with the mask that it passes.

use super::mask::{Mask, Resolver};
use super::{Kind, Site, kind_of, mask_operand, origin};
use crate::ptx::analysis::{Call, Callee, Together, Unit};
use crate::ptx::flow::Definition;
use crate::ptx::ir::{Address, Base, Body, FuncId, Inst, InstId, Module, Operand, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// Calls within calls that are followed.
const DEEPEST: u32 = 8;

/// A warp instruction that each call of a function executes.
#[derive(Clone, Debug)]
pub(in crate::ptx::lint) struct Called {
    kind: Kind,
    mask: Passed,
    /// Where it stands.
    place: (FuncId, InstId),
}

/// Where the mask comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    Same(u32),
    /// The parameter of that number.
    Param(usize),
}

/// Per function, what its calls execute.
#[derive(Default)]
pub(in crate::ptx::lint) struct Callees {
    known: FxHashMap<FuncId, Vec<Called>>,
}

/// The functions that a warp instruction can be reached from by calls.
pub(in crate::ptx::lint) fn reaching(module: &Module) -> Vec<bool> {
    let bodies = || (0..).map(FuncId).zip(&module.functions);
    let has = |body: &Body| body.insts.iter().any(|inst| mask_operand(inst).is_some());
    let mut reaching: Vec<bool> = bodies()
        .map(|(_, function)| {
            function.kind == crate::ptx::ir::FunctionKind::Func && function.body.as_ref().is_some_and(has)
        })
        .collect();
    let mut callers: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
    let mut stack: Vec<FuncId> = bodies().map(|(id, _)| id).filter(|id| reaching[id.index()]).collect();
    if stack.is_empty() {
        return reaching;
    }
    for (caller, function) in bodies() {
        for call in function.body.iter().flat_map(|body| Call::all(module, body)) {
            if let Callee::Known(callee) = call.callee {
                callers.entry(callee).or_default().push(caller);
            }
        }
    }
    while let Some(id) = stack.pop() {
        for caller in callers.remove(&id).unwrap_or_default() {
            if !std::mem::replace(&mut reaching[caller.index()], true) {
                stack.push(caller);
            }
        }
    }
    reaching
}

impl Callees {
    /// What a call of the function executes. `unit` gives the analysis of a function.
    fn of<'u, 'm: 'u>(
        &mut self,
        id: FuncId,
        unit: &impl Fn(FuncId) -> Option<&'u Unit<'m>>,
        depth: u32,
    ) -> Vec<Called> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        // A function that calls itself, or calls too deep, is followed no further.
        self.known.insert(id, Vec::new());
        let found = match unit(id).filter(|_| depth < DEEPEST) {
            Some(of) => self.walk(of, unit, depth),
            None => Vec::new(),
        };
        self.known.insert(id, found.clone());
        found
    }

    fn walk<'u, 'm: 'u>(
        &mut self,
        unit: &'u Unit<'m>,
        units: &impl Fn(FuncId) -> Option<&'u Unit<'m>>,
        depth: u32,
    ) -> Vec<Called> {
        let mut found = Vec::new();
        for inst in only_way(unit) {
            let row = &unit.body.insts[inst.index()];
            if row.guard.is_some() {
                continue;
            }
            if let Some(operand) = mask_operand(row) {
                found.extend(passed(unit, inst, operand).map(|mask| Called {
                    kind: kind_of(row),
                    mask,
                    place: (unit.id, inst),
                }));
            } else if let Some((call, callee)) = known_call(unit, inst, row) {
                for called in self.of(callee, units, depth + 1) {
                    let mask = match called.mask {
                        Passed::Param(at) => {
                            argument(unit, &call, at).and_then(|(at, operand)| passed(unit, at, operand))
                        }
                        same => Some(same),
                    };
                    found.extend(mask.map(|mask| Called { mask, ..called }));
                }
            }
        }
        found
    }

    /// The sites that the calls of a function are.
    pub(in crate::ptx::lint) fn sites<'u, 'm: 'u>(
        &mut self,
        unit: &'u Unit<'m>,
        units: &impl Fn(FuncId) -> Option<&'u Unit<'m>>,
        lanes: &Together,
    ) -> Vec<Site> {
        let mut resolver = Resolver::new(unit, lanes);
        let mut sites = Vec::new();
        for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
            let Some((call, callee)) = known_call(unit, inst, row) else {
                continue;
            };
            let mut known = Vec::new();
            for called in self.of(callee, units, 0) {
                // One word for all that a call does with one mask.
                let key = (called.kind == Kind::Vote, called.mask);
                if known.contains(&key) {
                    continue;
                }
                known.push(key);
                let mask = match called.mask {
                    Passed::Same(mask) => Mask::Same(mask),
                    Passed::Param(at) => {
                        argument(unit, &call, at).map_or(Mask::Unknown, |(at, operand)| resolver.operand(at, operand))
                    }
                };
                sites.extend(lanes.company(unit, inst).map(|company| Site {
                    inst,
                    block: unit.cfg.block_of(inst),
                    kind: called.kind,
                    mask,
                    company,
                    within: Some(called.place),
                }));
            }
        }
        sites
    }
}

/// The instructions from the entry on, as long as there is one way.
fn only_way<'u>(unit: &'u Unit) -> impl Iterator<Item = InstId> + 'u {
    let mut blocks = Vec::new();
    let mut next = unit.cfg.rpo().first().copied();
    while let Some(block) = next.filter(|block| *block != unit.cfg.exit() && !blocks.contains(block)) {
        blocks.push(block);
        next = match unit.cfg.succs().next(block) {
            [only] => Some(*only),
            _ => None,
        };
    }
    blocks.into_iter().flat_map(|block| unit.cfg.insts(block)).map(InstId)
}

fn known_call<'u>(unit: &'u Unit, inst: InstId, row: &'u Inst) -> Option<(Call<'u>, FuncId)> {
    let call = Call::of(unit.module, inst, row)?;
    match call.callee {
        Callee::Known(callee) => Some((call, callee)),
        _ => None,
    }
}

/// What a call passes as the argument of that number, and where that can be asked for.
fn argument<'u>(unit: &'u Unit, call: &Call<'u>, at: usize) -> Option<(InstId, &'u Operand)> {
    match call.args.get(at)? {
        Operand::Symbol(symbol, 0) => stored(unit, *symbol, call.inst),
        operand => Some((call.inst, operand)),
    }
}

/// The store to a parameter that a call passes: in the block of the call, behind all others.
fn stored<'u>(unit: &'u Unit, param: SymbolId, call: InstId) -> Option<(InstId, &'u Operand)> {
    let block = unit.cfg.insts(unit.cfg.block_of(call));
    let mut before = (block.start..call.0)
        .rev()
        .map(|at| (InstId(at), &unit.body.insts[at as usize]));
    let (at, row) =
        before.find(|(_, row)| row.op.space == Space::Param && address(row).is_some_and(|to| to.0 == param))?;
    let whole = row.op.effect == Effect::Store && row.op.lanes == 1 && row.op.ty().is_some_and(|ty| ty.bits() == 32);
    let plain = whole && row.guard.is_none() && address(row)?.1 == 0;
    Some((at, row.operands.get(1).filter(|_| plain)?))
}

fn address(row: &Inst) -> Option<(SymbolId, i64)> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Address(Address {
            base: Base::Symbol(symbol),
            offset,
        }) => Some((*symbol, *offset)),
        _ => None,
    })
}

/// Where a mask comes from: a number, or a parameter as it was passed.
fn passed(unit: &Unit, inst: InstId, operand: &Operand) -> Option<Passed> {
    if let Some(mask) = unit
        .evaluator()
        .operand(inst, operand)
        .and_then(|exact| exact.constant())
    {
        return Some(Passed::Same(mask as u32));
    }
    let value = origin(unit, unit.ssa.use_of(inst, operand.as_reg()?)?);
    let Definition::Inst(load) = unit.ssa.value(value)?.definition else {
        return None;
    };
    let row = &unit.body.insts[load.index()];
    let plain = row.op.effect == Effect::Load && row.op.space == Space::Param && row.guard.is_none();
    let (symbol, 0) = address(row).filter(|_| plain)? else {
        return None;
    };
    let params = &unit.function().params;
    params.iter().position(|param| *param == symbol).map(Passed::Param)
}
