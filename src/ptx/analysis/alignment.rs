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
        self.code
            .module
            .variable(symbol)
            .map_or(1, |variable| u64::from(variable.alignment()))
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
        let mut part = |at: usize| {
            row.operands
                .get(at)
                .map_or(1, |operand| self.operand(inst, operand, depth))
        };
        match row.op.base() {
            "mov" | "cvta" | "cvt" => part(1),
            "add" | "sub" => part(1).min(part(2)),
            "mul" => (part(1) * part(2)).min(MOST),
            "mad" => (part(1) * part(2)).min(part(3)).min(MOST),
            // A mask clears what it does not let through.
            "and" => part(1).max(part(2)),
            "shl" => {
                let by = row
                    .operands
                    .get(2)
                    .and_then(|operand| self.folder.operand(inst, operand))
                    .unwrap_or(0);
                let base = row
                    .operands
                    .get(1)
                    .map_or(1, |operand| self.operand(inst, operand, depth));
                if by < 12 { (base << by).min(MOST) } else { MOST }
            }
            _ => 1,
        }
    }

    fn operand(&mut self, inst: InstId, operand: &Operand, depth: u32) -> u64 {
        match operand {
            Operand::Imm(imm) => imm.as_int().map_or(1, |value| power(value as u64)),
            Operand::Reg(reg) => self
                .code
                .ssa
                .use_of(inst, *reg)
                .map_or(1, |value| self.deep(value, depth)),
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
        let words = attributes
            .into_iter()
            .flatten()
            .flat_map(|attribute| attribute.split_whitespace());
        let mut words = words
            .skip_while(|word| *word != ".ptr")
            .skip_while(|word| *word != ".align");
        words.nth(1).and_then(|number| number.parse().ok()).map_or(1, power)
    }
}

/// The largest power of two that divides a number.
fn power(number: u64) -> u64 {
    if number == 0 {
        MOST
    } else {
        (1 << number.trailing_zeros()).min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::analysis::graphs::Graphs;
    use crate::ptx::ir::FuncId;
    use crate::ptx::parse::parse;

    /// What is known of the base register of each store.
    fn stores(body: &str) -> Vec<u64> {
        let head = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 .ptr .global .align 32 a, .param .u64 b)\n{\n";
        let regs = ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .align 8 .b8 tile[64];\n";
        let loads = "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n";
        let parsed = parse(&format!("{head}{regs}{loads}{body}\nret;\n}}\n"));
        assert_eq!(parsed.diags, Vec::new());
        let body = parsed.module.functions[0].body.as_ref().unwrap();
        let graphs = Graphs::new(&parsed.module, body);
        let mut alignment = Alignment::new(Code::new(&parsed.module, FuncId(0), body, &graphs));
        let stores = (0..)
            .map(InstId)
            .zip(&body.insts)
            .filter(|(_, row)| row.op.effect == Effect::Store);
        stores
            .map(|(at, _)| alignment.of(*graphs.ssa.uses(at).first().unwrap()))
            .collect()
    }

    #[test]
    fn comes_from_parameters_factors_and_masks() {
        let body = "st.global.u32 [%rd1], 1;\nst.global.u32 [%rd2], 1;
            mul.wide.u32 %rd3, %r1, 12;\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], 1;
            and.b64 %rd5, %rd2, -16;\nst.global.u32 [%rd5], 1;\nmov.u64 %rd6, tile+4;\nst.shared.u32 [%rd6], 1;";
        assert_eq!(stores(body), [32, 1, 4, 16, 4]);
    }

    #[test]
    fn a_pointer_that_goes_round_is_as_aligned_as_its_steps() {
        let body = "mov.u64 %rd3, %rd1;\nmov.u64 %rd4, %rd1;\nmov.u32 %r2, 0;
            L: st.global.u32 [%rd3], 1;\nst.global.u32 [%rd4], 1;\nadd.s64 %rd3, %rd3, 64;\nadd.s64 %rd4, %rd4, 8;
            add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;";
        assert_eq!(stores(body), [32, 8]);
    }
}
