//! Variables in local memory: which part of which variable an address means.
//!
//! Unoptimised code keeps every variable in memory. Taken as one thread's private affair, each loop counter of it would differ
//! between threads; so words of local variables at known offsets are followed like registers.

use crate::ptx::flow::{Cfg, Definition, Ssa, ValueId};
use crate::ptx::ir::{Base, Body, Inst, InstId, Module, Operand, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// An address in a local variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FramePtr {
    pub(super) symbol: SymbolId,
    /// Bytes from the variable's start; of a computed address, where its object starts.
    pub(super) offset: i64,
    /// Whether an unknown amount is added.
    pub(super) computed: bool,
}

/// A word (four bytes) of a local variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameWord {
    /// The variable.
    pub symbol: SymbolId,
    /// Index of the word.
    pub word: i64,
}

/// The local addresses of a function.
#[derive(Debug, Default)]
pub(super) struct Frames {
    values: FxHashMap<ValueId, FramePtr>,
    /// Where objects start, as far as addresses show.
    starts: BTreeSet<(SymbolId, i64)>,
}

impl Frames {
    /// Finds them; empty at once where the function has no local variable.
    pub(super) fn new(module: &Module, body: &Body, cfg: &Cfg, ssa: &Ssa) -> Self {
        let mut frames = Self::default();
        let is_local = |operand: &Operand| names_local(module, operand).is_some();
        if !body.insts.iter().any(|inst| inst.operands.iter().any(is_local)) {
            return frames;
        }
        for block in cfg.rpo() {
            for phi in ssa.phis(*block) {
                if let Some(ptr) = frames.merged(ssa.phi_inputs(*phi)) {
                    frames.values.insert(*phi, ptr);
                }
            }
            for inst in cfg.insts(*block).map(InstId) {
                frames.inst(module, body, ssa, inst);
            }
        }
        frames
    }

    fn merged(&self, inputs: &[ValueId]) -> Option<FramePtr> {
        let known: Vec<Option<&FramePtr>> = inputs.iter().map(|input| self.values.get(input)).collect();
        let first = **known.iter().flatten().next()?;
        let same = known.iter().all(|ptr| *ptr == Some(&first));
        Some(FramePtr {
            computed: first.computed || !same,
            ..first
        })
    }

    fn inst(&mut self, module: &Module, body: &Body, ssa: &Ssa, inst: InstId) {
        let row = &body.insts[inst.index()];
        if let Some(ptr) = self.address(module, ssa, inst, row)
            && !ptr.computed
        {
            self.starts.insert((ptr.symbol, ptr.offset));
        }
        let [def] = ssa.defs(inst) else { return };
        if row.op.effect != Effect::Pure {
            return;
        }
        let found = match row.op.base() {
            "mov" | "cvta" => row
                .operands
                .get(1)
                .and_then(|operand| self.operand(module, ssa, inst, operand)),
            "add" | "sub" => self.sum(module, ssa, inst, row),
            _ => None,
        };
        // Any other arithmetic on an address leads somewhere in the same variable.
        let used = || ssa.uses(inst).iter().find_map(|value| self.values.get(value)).copied();
        let found = found.or_else(|| used().map(|ptr| FramePtr { computed: true, ..ptr }));
        if let Some(ptr) = found {
            if !ptr.computed {
                self.starts.insert((ptr.symbol, ptr.offset));
            }
            self.values.insert(*def, ptr);
        }
    }

    fn operand(&self, module: &Module, ssa: &Ssa, inst: InstId, operand: &Operand) -> Option<FramePtr> {
        match operand {
            Operand::Reg(reg) => self.values.get(&ssa.use_of(inst, *reg)?).copied(),
            _ => names_local(module, operand).map(|(symbol, offset)| FramePtr {
                symbol,
                offset,
                computed: false,
            }),
        }
    }

    fn sum(&self, module: &Module, ssa: &Ssa, inst: InstId, row: &Inst) -> Option<FramePtr> {
        let (a, b) = (row.operands.get(1)?, row.operands.get(2)?);
        let (ptr, other) = match self.operand(module, ssa, inst, a) {
            Some(ptr) => (ptr, b),
            None => (self.operand(module, ssa, inst, b)?, a),
        };
        let sign = if row.op.base() == "sub" { -1 } else { 1 };
        Some(match other.as_int() {
            Some(by) => FramePtr {
                offset: ptr.offset.wrapping_add(by.wrapping_mul(sign)),
                ..ptr
            },
            None => FramePtr { computed: true, ..ptr },
        })
    }

    /// The local address that a load or store goes to.
    pub(super) fn address(&self, module: &Module, ssa: &Ssa, inst: InstId, row: &Inst) -> Option<FramePtr> {
        if !matches!(row.op.effect, Effect::Load | Effect::Store)
            || !matches!(row.op.space, Space::Local | Space::Generic)
        {
            return None;
        }
        let address = row.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        })?;
        let ptr = match address.base {
            Base::Reg(reg) => self.values.get(&ssa.use_of(inst, reg)?).copied(),
            Base::Symbol(symbol) => names_local(module, &Operand::Symbol(symbol, 0)).map(|(symbol, offset)| FramePtr {
                symbol,
                offset,
                computed: false,
            }),
            Base::Absolute => None,
        }?;
        Some(FramePtr {
            offset: ptr.offset.wrapping_add(address.offset),
            ..ptr
        })
    }

    /// The words that an access of this instruction's width touches.
    pub(super) fn words(ptr: FramePtr, row: &Inst) -> impl Iterator<Item = FrameWord> {
        let bytes = row.op.ty().map_or(4, |ty| i64::from(ty.bytes())) * i64::from(row.op.lanes);
        let symbol = ptr.symbol;
        let last = ptr.offset.saturating_add(bytes.max(1) - 1).div_euclid(4);
        (ptr.offset.div_euclid(4)..=last).map(move |word| FrameWord { symbol, word })
    }

    /// The words of the object at an address that is handed out or computed with: up to where the next object seems to start.
    pub(super) fn object(&self, ptr: FramePtr) -> impl Iterator<Item = FrameWord> {
        let next = self.starts.range((ptr.symbol, ptr.offset.saturating_add(1))..).next();
        let end = next
            .filter(|next| next.0 == ptr.symbol)
            .map_or(ptr.offset.saturating_add(64), |next| next.1);
        let end = end.min(ptr.offset.saturating_add(4096));
        let symbol = ptr.symbol;
        (ptr.offset.div_euclid(4)..=end.saturating_sub(1).div_euclid(4)).map(move |word| FrameWord { symbol, word })
    }

    /// The local address that a value holds.
    pub(super) fn value(&self, id: ValueId) -> Option<FramePtr> {
        self.values.get(&id).copied()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.starts.is_empty()
    }
}

/// The local variable that an operand names, with the offset.
fn names_local(module: &Module, operand: &Operand) -> Option<(SymbolId, i64)> {
    let (symbol, offset) = match operand {
        Operand::Symbol(symbol, offset) => (*symbol, *offset),
        Operand::Address(address) => match address.base {
            Base::Symbol(symbol) => (symbol, address.offset),
            _ => return None,
        },
        _ => return None,
    };
    let variable = module.variable(symbol)?;
    (variable.space == Space::Local).then_some((symbol, offset))
}

/// Whether the value is handed to someone who may write through it: stored as data or passed to a call.
pub(super) fn hands_out(ssa: &Ssa, inst: InstId, row: &Inst, value: ValueId) -> bool {
    match row.op.effect {
        Effect::Call | Effect::Atomic | Effect::Async | Effect::Mbarrier | Effect::Other => true,
        Effect::Store => {
            // Not the address itself, but the data.
            let is_data = |operand: &Operand| match operand {
                Operand::Reg(reg) => ssa.use_of(inst, *reg) == Some(value),
                Operand::Vector(parts) => parts
                    .iter()
                    .any(|part| part.as_reg().and_then(|reg| ssa.use_of(inst, reg)) == Some(value)),
                _ => false,
            };
            row.operands.iter().any(is_data)
        }
        _ => false,
    }
}

/// Whether a value is defined by an instruction at all.
pub(super) fn is_defined(ssa: &Ssa, value: ValueId) -> bool {
    ssa.value(value)
        .is_some_and(|value| value.definition != Definition::Undefined)
}
