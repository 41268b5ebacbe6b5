//! What is known of a launch beside what the text says.

use super::exact::Exact;
use crate::ptx::ir::{Base, Inst, Operand, Special, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What is known of a launch.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Threads of a CTA, for kernels that do not require other ones.
    pub block: Option<[u32; 3]>,
    /// CTAs of the grid.
    pub grid: Option<[u32; 3]>,
    /// What kernel parameters hold.
    pub params: Rc<FxHashMap<SymbolId, u64>>,
}

impl Given {
    /// What a load brings of a parameter whose number is known.
    pub(super) fn loaded(&self, inst: &Inst) -> Option<Exact> {
        if self.params.is_empty()
            || inst.op.effect != Effect::Load
            || inst.op.space != Space::Param
            || inst.guard.is_some()
        {
            return None;
        }
        let [Operand::Reg(_), Operand::Address(address)] = &inst.operands[..] else {
            return None;
        };
        let (Base::Symbol(symbol), 0) = (address.base, address.offset) else {
            return None;
        };
        // Narrower ones are widened, each in its own way.
        let ty = inst.op.ty().filter(|ty| ty.is_integral())?;
        let value = *self.params.get(&symbol)?;
        match ty.bits() {
            64 => Some(Exact::Same(value)),
            32 => Some(Exact::Same(value & 0xffff_ffff)),
            _ => None,
        }
    }

    /// What a special register holds because of the grid: its size, and the index of the only CTA there is.
    pub(super) fn special(&self, special: Special) -> Option<Exact> {
        let grid = self.grid?;
        let (name, dimension) = special.name().split_once('.')?;
        let size = *grid.get(["x", "y", "z"].iter().position(|known| *known == dimension)?)?;
        match name {
            "%nctaid" => Some(Exact::Same(u64::from(size))),
            "%ctaid" if size == 1 => Some(Exact::Same(0)),
            _ => None,
        }
    }
}
