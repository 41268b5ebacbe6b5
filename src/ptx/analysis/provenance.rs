//! Where the addresses of stores to device memory come from: which parameters of the kernel.

use crate::ptx::flow::{Cfg, Definition, Ssa, ValueId};
use crate::ptx::ir::{Base, Body, FuncId, Inst, InstId, Module, Operand, SymbolId, SymbolKind};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// An instruction that may write device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The instruction.
    pub inst: InstId,
    /// Parameters of 64 bits that its address is made of.
    pub params: BTreeSet<SymbolId>,
    /// Why there may be others; `None` where there are not.
    pub unknown: Option<&'static str>,
}

/// What a kernel may write outside its own registers, shared and local memory.
pub fn writes(module: &Module, id: FuncId) -> Vec<Write> {
    let Some(body) = &module.function(id).body else {
        return Vec::new();
    };
    let cfg = Cfg::new(module, body);
    let trace = Trace {
        module,
        body,
        ssa: Ssa::new(body, &cfg),
    };
    let insts = (0..).map(InstId).zip(&body.insts);
    insts.filter_map(|(id, inst)| trace.write(id, inst)).collect()
}

struct Trace<'m> {
    module: &'m Module,
    body: &'m Body,
    ssa: Ssa,
}

impl Trace<'_> {
    fn write(&self, id: InstId, inst: &Inst) -> Option<Write> {
        let mut write = Write {
            inst: id,
            params: BTreeSet::new(),
            unknown: None,
        };
        match inst.op.effect {
            Effect::Store | Effect::Atomic => {}
            Effect::Call => write.unknown = Some("the function that is called may write anywhere"),
            Effect::Async if inst.op.text.contains(".global.shared") => {
                write.unknown = Some("bulk copies are not traced");
            }
            Effect::Other => write.unknown = Some("the instruction may write anywhere"),
            _ => return None,
        }
        if write.unknown.is_some() {
            return Some(write);
        }
        let is = |space: &str| inst.op.text.split('.').any(|part| part == space);
        if is("shared") || is("local") || is("param") {
            return None;
        }
        let address = inst.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        });
        match address.map(|address| &address.base) {
            Some(Base::Reg(reg)) => match self.ssa.use_of(id, *reg) {
                Some(value) => self.origins(value, &mut write),
                None => write.unknown = Some("its address is not known"),
            },
            _ => write.unknown = Some("its address is no parameter's"),
        }
        Some(write)
    }

    /// Follows a value back through everything that is computed from operands alone.
    fn origins(&self, from: ValueId, write: &mut Write) {
        let (mut seen, mut stack) = (FxHashSet::default(), vec![from]);
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.ssa.value(value).map(|value| value.definition) {
                Some(Definition::Phi(_)) => stack.extend(self.ssa.phi_inputs(value).iter().copied()),
                Some(Definition::Inst(inst)) => self.step(inst, write, &mut stack),
                _ => write.unknown = Some("its address may be undefined"),
            }
        }
    }

    fn step(&self, id: InstId, write: &mut Write, stack: &mut Vec<ValueId>) {
        let inst = &self.body.insts[id.index()];
        match inst.op.effect {
            Effect::Pure => {
                let takes_address = inst.operands.iter().any(|operand| match operand {
                    Operand::Symbol(symbol, _) => matches!(self.module.symbol(*symbol).kind, SymbolKind::Variable(_)),
                    _ => false,
                });
                if takes_address {
                    write.unknown = Some("its address may be that of a variable");
                }
                stack.extend(self.ssa.uses(id).iter().filter(|used| used.is_some()));
            }
            Effect::Load => match self.param(inst) {
                Some((symbol, 8)) => {
                    write.params.insert(symbol);
                }
                // Numbers of fewer bits are no addresses of device memory.
                Some(_) => {}
                None if is_wide(inst) => write.unknown = Some("its address was read from memory"),
                None => {}
            },
            // Lanes hand one another indices; where they hand addresses, both come from somewhere that is followed.
            Effect::Warp => stack.extend(self.ssa.uses(id).iter().filter(|used| used.is_some())),
            _ => write.unknown = Some("its address is not only computed"),
        }
    }

    /// The parameter that an instruction loads, and its size.
    fn param(&self, inst: &Inst) -> Option<(SymbolId, u32)> {
        let symbol = inst.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => match address.base {
                Base::Symbol(symbol) => Some(symbol),
                _ => None,
            },
            _ => None,
        })?;
        let variable = self.module.variable(symbol)?;
        (variable.space == Space::Param).then(|| (symbol, variable.ty.bytes()))
    }
}

/// Whether an instruction loads 64 bits at a time, enough for an address.
fn is_wide(inst: &Inst) -> bool {
    let ty = inst.op.text.rsplit('.').next().unwrap_or_default();
    !matches!(
        ty,
        "u8" | "s8" | "b8" | "u16" | "s16" | "b16" | "u32" | "s32" | "b32" | "f16" | "bf16" | "f32" | "f64"
    )
}
