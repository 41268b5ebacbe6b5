//! Calls: who is called, and where arguments and results are kept on both sides.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused};
use super::{Rare, Routine};
use crate::ptx::ir::{Body, FuncId, Inst, Operand, RegId, SymbolId, SymbolKind};
use crate::ptx::types::{Space, Type};

/// Where an argument or a result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// In a register; how many bytes of it.
    Slot(Slot, u32),
    /// In a thread's arena: where, and how many bytes.
    Bytes(u32, u32),
    /// Nobody wants it.
    Nowhere,
}

/// Who is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the module.
    Function(FuncId),
    /// The function whose address is in a register.
    Register(Slot),
    /// A function of the system, by its name.
    System(String),
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Who.
    pub callee: Callee,
    /// What is passed.
    pub args: Vec<Holder>,
    /// Where the results go.
    pub results: Vec<Holder>,
}

impl<'m> Decoder<'m> {
    /// `call`.
    pub(super) fn call(&mut self, inst: &Inst) -> Result<(), Refused> {
        let mut operands = inst.operands.as_slice();
        let mut results: &[Operand] = &[];
        if let [Operand::List(list), rest @ ..] = operands {
            (results, operands) = (list, rest);
        }
        let [callee, rest @ ..] = operands else {
            return Err("a call of nothing".into());
        };
        let args: &[Operand] = match rest.first() {
            Some(Operand::List(list)) => list,
            _ => &[],
        };
        let callee = match callee {
            Operand::Symbol(symbol, _) => self.callee(*symbol)?,
            operand => {
                let slot = self.source(operand, Type::U64)?;
                self.all_functions();
                Callee::Register(slot)
            }
        };
        let args = self.holders(args, false)?;
        let results = self.holders(results, true)?;
        self.rare(Rare::Call(Box::new(CallSite { callee, args, results })));
        Ok(())
    }

    fn callee(&mut self, symbol: SymbolId) -> Result<Callee, Refused> {
        let name = self.module.name(symbol).to_owned();
        let SymbolKind::Function(function) = self.module.symbol(symbol).kind else {
            return Err(format!("a call of `{name}`, which is no function"));
        };
        // A prototype and its definition are two functions of one name.
        let function = self.module.function_named(&name).unwrap_or(function);
        if self.module.function(function).body.is_none() {
            return Ok(Callee::System(name));
        }
        self.called.push(function);
        Ok(Callee::Function(function))
    }

    /// What a register holds may be the address of any function.
    fn all_functions(&mut self) {
        self.called.extend((0..self.module.functions.len() as u32).map(FuncId));
    }

    /// Where arguments are kept; the components of a vector register one by one.
    fn holders(&mut self, operands: &[Operand], written: bool) -> Result<Vec<Holder>, Refused> {
        let mut holders = Vec::new();
        for operand in operands {
            match self.spelled_out(operand) {
                Operand::Vector(parts) => {
                    for part in &parts {
                        holders.push(self.holder(part, written)?);
                    }
                }
                operand => holders.push(self.holder(&operand, written)?),
            }
        }
        Ok(holders)
    }

    fn holder(&mut self, operand: &Operand, written: bool) -> Result<Holder, Refused> {
        if Self::is_sink(operand) {
            return Ok(Holder::Nowhere);
        }
        let variable = self.symbol_of(operand).filter(|symbol| {
            let variable = self.module.variable(*symbol);
            variable.is_some_and(|variable| variable.space == Space::Param)
        });
        if let Some(symbol) = variable {
            return self.param_holder(symbol);
        }
        let ty = self.declared(operand).unwrap_or(Type::B64);
        let slot = match written {
            true => self.target(operand, ty)?,
            false => self.source(operand, ty)?,
        };
        Ok(Holder::Slot(slot, ty.bytes()))
    }

    fn param_holder(&mut self, symbol: SymbolId) -> Result<Holder, Refused> {
        self.out.layout.address(self.module, symbol)?;
        let region = self.out.layout.param.of(symbol).ok_or("a parameter without a place")?;
        Ok(Holder::Bytes(region.at as u32, region.size as u32))
    }

    /// Decodes a function that is called.
    ///
    /// # Errors
    /// What of its parameters cannot be placed.
    pub(super) fn routine(&mut self, function: FuncId, body: &'m Body) -> Result<(), String> {
        let rows = |decoder: &Self| {
            let file = &decoder.out.file;
            [
                file.words.len() as u32,
                file.longs.len() as u32,
                file.preds.len() as u32,
            ]
        };
        let (before, arena) = (rows(self), self.out.layout.arena_len as u32);
        let start = self.out.code.len() as u32;
        self.function(function, body);
        let declared = self.module.function(function);
        let mut formal = |symbols: &[SymbolId]| -> Result<Vec<Holder>, String> {
            let mut holders = Vec::new();
            for symbol in symbols {
                holders.extend(self.formal(*symbol)?);
            }
            Ok(holders)
        };
        let (params, results) = (formal(&declared.params)?, formal(&declared.results)?);
        let after = rows(self);
        let range = |at: usize| before[at]..after[at];
        let routine = Routine {
            start,
            rows: [range(0), range(1), range(2)],
            arena: arena..self.out.layout.arena_len as u32,
            params,
            results,
        };
        if let Some(place) = self.out.routines.get_mut(function.index()) {
            *place = Some(routine);
        }
        Ok(())
    }

    /// Where a function keeps one of its own parameters or results.
    fn formal(&mut self, symbol: SymbolId) -> Result<Vec<Holder>, String> {
        let variable = self.module.variable(symbol).ok_or("a parameter without a type")?;
        if variable.space == Space::Param {
            return Ok(vec![self.param_holder(symbol)?]);
        }
        let name = self.module.name(symbol);
        let reg = self.body.regs.iter().position(|decl| decl.name == name);
        let parts = 0..u32::from(variable.lanes.max(1));
        match reg {
            None => Ok(parts.map(|_| Holder::Nowhere).collect()),
            Some(at) => parts
                .map(|part| {
                    Ok(Holder::Slot(
                        self.register(RegId(at as u32), part)?,
                        variable.ty.bytes(),
                    ))
                })
                .collect(),
        }
    }

    /// Registers that hold parameters are written when the function starts.
    pub(super) fn mark_params(&mut self) {
        let declared = self.module.function(self.function);
        for symbol in &declared.params {
            let name = self.module.name(*symbol);
            let reg = self.body.regs.iter().position(|decl| decl.name == name);
            if let Some(at) = reg {
                self.mark_filled(RegId(at as u32));
            }
        }
    }
}
