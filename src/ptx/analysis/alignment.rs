//! What is known of the alignment of addresses.

use super::fold::Folder;
use super::graphs::Code;
use crate::ptx::flow::{Definition, ValueId};
use crate::ptx::ir::{Base, Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// More than any access asks for.
const MOST: u64 = 1 << 12;

/// Chains of instructions longer than this are not followed.
const DEEPEST: u32 = 16;

/// One function's analysis looks at no more values than this.
const BUDGET: u32 = 100_000;

/// Finds powers of two that divide values.
pub struct Alignment<'a> {
    code: Code<'a>,
    folder: Folder<'a>,
    known: FxHashMap<ValueId, u64>,
    /// How many more values may be looked at.
    left: u32,
}

impl<'a> Alignment<'a> {
    /// For one function.
    pub fn new(code: Code<'a>) -> Self {
        Self {
            code,
            folder: Folder::new(code),
            known: FxHashMap::default(),
            left: BUDGET,
        }
    }

    /// The largest known power of two that divides a value.
    pub fn of(&mut self, value: ValueId) -> u64 {
        self.deep(value, 0)
    }

    /// The alignment of a variable.
    pub fn of_symbol(&self, symbol: SymbolId) -> u64 {
        self.code.module.variable(symbol).map_or(1, |variable| u64::from(variable.alignment()))
    }

    fn deep(&mut self, value: ValueId, depth: u32) -> u64 {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        if let Some(constant) = self.folder.constant(value) {
            return power(constant);
        }
        if depth > DEEPEST || self.left == 0 {
            return 1;
        }
        self.left -= 1;
        let found = match self.code.ssa.value(value).map(|value| value.definition) {
            Some(Definition::Inst(inst)) => self.inst(inst, depth + 1),
            Some(Definition::Phi(_)) => {
                // A pointer that a loop carries round is as aligned as what comes in and what is added: assumed, then checked.
                self.known.insert(value, MOST);
                let inputs = self.code.ssa.phi_inputs(value).iter();
                let found = inputs.map(|input| self.deep(*input, depth + 1)).min().unwrap_or(1);
                if found < MOST {
                    // What was computed while more was assumed may be wrong.
                    self.known.clear();
                }
                found
            }
            _ => 1,
        };
        self.known.insert(value, found);
        found
    }

    fn inst(&mut self, inst: InstId, depth: u32) -> u64 {
        let row = &self.code.body.insts[inst.index()];
        if row.guard.is_some() {
            return 1;
        }
        if row.op.effect == Effect::Load {
            return self.parameter(row);
        }
        let integral = row.op.types.iter().all(|ty| ty.is_integral()) && !row.op.has("hi");
        if row.op.effect != Effect::Pure || !integral {
            return 1;
        }
        let mut part = |at: usize| row.operands.get(at).map_or(1, |operand| self.operand(inst, operand, depth));
        match row.op.base() {
            "mov" | "cvta" | "cvt" => part(1),
            "add" | "sub" => part(1).min(part(2)),
            "mul" => (part(1) * part(2)).min(MOST),
            "mad" => (part(1) * part(2)).min(part(3)).min(MOST),
            // A mask clears what it does not let through.
            "and" => part(1).max(part(2)),
            "shl" => {
                let by = row.operands.get(2).and_then(|operand| self.folder.operand(inst, operand)).unwrap_or(0);
                let base = row.operands.get(1).map_or(1, |operand| self.operand(inst, operand, depth));
                if by < 12 { (base << by).min(MOST) } else { MOST }
            }
            _ => 1,
        }
    }

    fn operand(&mut self, inst: InstId, operand: &Operand, depth: u32) -> u64 {
        match operand {
            Operand::Imm(imm) => imm.as_int().map_or(1, |value| power(value as u64)),
            Operand::Reg(reg) => self.code.ssa.use_of(inst, *reg).map_or(1, |value| self.deep(value, depth)),
            Operand::Symbol(symbol, offset) => self.of_symbol(*symbol).min(power(*offset as u64)),
            _ => 1,
        }
    }

    /// A pointer parameter that states the alignment of what it points to.
    fn parameter(&self, row: &Inst) -> u64 {
        let address = row.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        });
        let symbol = match address.map(|address| (address.base, address.offset)) {
            Some((Base::Symbol(symbol), 0)) if row.op.space == Space::Param && row.op.lanes == 1 => symbol,
            _ => return 1,
        };
        let attributes = self.code.module.variable(symbol).map(|variable| &variable.attributes);
        let words = attributes.into_iter().flatten().flat_map(|attribute| attribute.split_whitespace());
        let mut words = words.skip_while(|word| *word != ".ptr").skip_while(|word| *word != ".align");
        words.nth(1).and_then(|number| number.parse().ok()).map_or(1, power)
    }
}

/// The largest power of two that divides a number.
fn power(number: u64) -> u64 {
    if number == 0 { MOST } else { (1 << number.trailing_zeros()).min(MOST) }
}
