//! Calls and what is known of the functions behind them.

use crate::ptx::ir::{Body, FuncId, Inst, InstId, Module, Operand, SymbolId, SymbolKind};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashSet;

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function with a body.
    Known(FuncId),
    /// A function whose body is elsewhere.
    External(SymbolId),
    /// Whatever a register holds.
    Indirect,
}

impl Callee {
    /// What a call of that name calls: the function of that name with a body, if there is one.
    pub fn named(module: &Module, symbol: SymbolId) -> Self {
        let SymbolKind::Function(function) = module.symbol(symbol).kind else {
            return Callee::External(symbol);
        };
        let best = match module.function(function).body {
            Some(_) => Some(function),
            None => module.function_named(module.name(symbol)),
        };
        match best.filter(|function| module.function(*function).body.is_some()) {
            Some(function) => Callee::Known(function),
            None => Callee::External(symbol),
        }
    }
}

/// A call's parts.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Where.
    pub inst: InstId,
    /// What is called.
    pub callee: Callee,
    /// The operands that take the results.
    pub results: &'a [Operand],
    /// The operands that are passed.
    pub args: &'a [Operand],
}

impl<'a> Call<'a> {
    /// Reads a call instruction; `None` for others.
    pub fn of(module: &Module, at: InstId, inst: &'a Inst) -> Option<Call<'a>> {
        if inst.op.effect != Effect::Call {
            return None;
        }
        let is_callee = |operand: &Operand| matches!(operand, Operand::Symbol(..) | Operand::Reg(_));
        let place = inst.operands.iter().position(is_callee)?;
        let list = |operand: Option<&'a Operand>| match operand {
            Some(Operand::List(parts)) => &parts[..],
            _ => &[],
        };
        let callee = match &inst.operands[place] {
            Operand::Symbol(symbol, _) => Callee::named(module, *symbol),
            _ => Callee::Indirect,
        };
        let results = list(place.checked_sub(1).and_then(|before| inst.operands.get(before)));
        let args = list(inst.operands.get(place + 1));
        Some(Call {
            inst: at,
            callee,
            results,
            args,
        })
    }

    /// The calls of a body.
    pub fn all(module: &'a Module, body: &'a Body) -> impl Iterator<Item = Call<'a>> {
        (0..)
            .map(InstId)
            .zip(&body.insts)
            .filter_map(|(at, inst)| Call::of(module, at, inst))
    }
}

/// The functions with bodies that a body calls, and that those call, each once.
pub fn called(module: &Module, body: &Body) -> Vec<FuncId> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut next = 0;
    let mut at = Some(body);
    loop {
        for call in at.into_iter().flat_map(|body| Call::all(module, body)) {
            if let Callee::Known(function) = call.callee
                && seen.insert(function)
            {
                found.push(function);
            }
        }
        let Some(function) = found.get(next) else { return found };
        next += 1;
        at = module.function(*function).body.as_ref();
    }
}
