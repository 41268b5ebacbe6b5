//! The stack: `alloca` and the like, and local variables of functions that may call themselves.
//!
//! A function's local variables lie where they lie, unless it can be under way more than once: then every call has them in a
//! frame of its own, and their addresses are computed where the function starts.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused};
use super::{Ins, Op, Rare, layout};
use crate::ptx::ir::{Body, FuncId, Inst, Module, Operand, SymbolId, SymbolKind};
use crate::ptx::types::{Space, Type};

/// What an instruction does to the stack.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Stack {
    /// Takes bytes from the stack; where they are goes to the slot.
    Take { d: Option<Slot>, size: Slot, align: u64 },
    /// Where the stack ends now.
    Save { d: Slot },
    /// It ends there again.
    Restore { a: Slot },
}

/// The addresses of a variable in a frame, as 64 and as 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Framed {
    long: u32,
    word: u32,
}

impl Framed {
    /// The slot with the address as a value of that width.
    pub fn slot(self, bits: u32) -> Slot {
        if bits > 32 {
            Slot::Long(self.long)
        } else {
            Slot::Word(self.word)
        }
    }
}

/// What a body calls; `None` for a function that a register names.
fn calls<'b>(module: &'b Module, body: &'b Body) -> impl Iterator<Item = Option<FuncId>> + 'b {
    body.insts
        .iter()
        .filter(|inst| inst.op.base() == "call")
        .filter_map(|inst| {
            let callee = inst
                .operands
                .iter()
                .find(|operand| !matches!(operand, Operand::List(_)))?;
            let Operand::Symbol(symbol, _) = callee else {
                return Some(None);
            };
            match module.symbol(*symbol).kind {
                SymbolKind::Function(function) => {
                    Some(Some(module.function_named(module.name(*symbol)).unwrap_or(function)))
                }
                _ => None,
            }
        })
}

/// Whether a function can be called while it is under way.
fn is_recursive(module: &Module, function: FuncId) -> bool {
    let mut seen = vec![false; module.functions.len()];
    let mut left = vec![function];
    while let Some(at) = left.pop() {
        let Some(body) = module
            .functions
            .get(at.index())
            .and_then(|function| function.body.as_ref())
        else {
            continue;
        };
        for callee in calls(module, body) {
            let targets = match callee {
                Some(one) => one.0..one.0 + 1,
                None => 0..module.functions.len() as u32,
            };
            for target in targets.map(FuncId) {
                if target == function {
                    return true;
                }
                if let Some(seen) = seen.get_mut(target.index()).filter(|seen| !**seen) {
                    *seen = true;
                    left.push(target);
                }
            }
        }
    }
    false
}

impl Decoder<'_> {
    /// The row of the stack pointer.
    pub(super) fn stack(&mut self) -> Result<Slot, Refused> {
        if let Some(at) = self.out.stack {
            return Ok(Slot::Long(at));
        }
        let end = self.out.layout.stack()?;
        let at = self.new_long(end);
        self.out.stack = Some(at);
        Ok(Slot::Long(at))
    }

    /// Gives the local variables of a function that may call itself a frame; the instructions that do so come first.
    ///
    /// # Errors
    /// What has no place on the stack.
    pub(super) fn frame(&mut self, function: FuncId, body: &Body) -> Result<(), Refused> {
        self.framed.clear();
        let locals: Vec<SymbolId> = layout::variables(body, self.module, Space::Local).collect();
        if function == self.out.kernel || locals.is_empty() || !is_recursive(self.module, function) {
            return Ok(());
        }
        let stack = self.stack()?;
        let mut len = 0u64;
        let mut places = Vec::new();
        for symbol in locals {
            let variable = self.module.variable(symbol).ok_or("a variable without a type")?;
            let size = variable.size().ok_or("a local variable without a size")?;
            let at = len.next_multiple_of(u64::from(variable.alignment()).max(1));
            len = at.saturating_add(size);
            places.push((symbol, at));
        }
        let size = self.constant(len, 64);
        // Frames begin where any variable may.
        self.rare(Rare::Stack(Stack::Take {
            d: None,
            size,
            align: 128,
        }));
        for (symbol, at) in places {
            let framed = Framed {
                long: self.new_long(0),
                word: self.new_word(0),
            };
            self.lanewise1(Slot::Long(framed.long), stack, move |stack| stack.wrapping_add(at));
            self.push(Ins {
                d: framed.word,
                a: framed.long,
                ..Ins::plain(Op::Narrow)
            });
            self.framed.insert(symbol, framed);
        }
        Ok(())
    }

    /// `alloca`, `stacksave`, `stackrestore`.
    pub(super) fn on_stack(&mut self, inst: &Inst) -> Result<(), Refused> {
        self.stack()?;
        let ty = inst.op.ty().unwrap_or(Type::U64);
        let what = match inst.op.base() {
            "stacksave" => Stack::Save {
                d: self.dest(inst, ty)?,
            },
            "stackrestore" => Stack::Restore {
                a: self.arg(inst, 0, ty)?,
            },
            _ => Stack::Take {
                d: Some(self.dest(inst, ty)?),
                size: self.arg(inst, 1, ty)?,
                align: match inst.operands.get(2).and_then(Operand::as_int) {
                    Some(align) => u64::try_from(align).unwrap_or(0).max(8),
                    None => 8,
                },
            },
        };
        self.rare(Rare::Stack(what));
        Ok(())
    }
}
