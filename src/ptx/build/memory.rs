//! Loads, stores and addresses.

use super::addr::{Addr, Array, Const, Global, Memory, Shared};
use super::function::Kernel;
use super::value::{Arg, B32, B64, Class, Cond, Reg, Value};
use crate::ptx::ir::Operand;

impl Kernel<'_> {
    /// Loads one element.
    pub fn load<C: Class>(&mut self, from: Addr<impl Memory>) -> Reg<C> {
        let result = self.fresh();
        self.load_into(&[result], "", from);
        result
    }

    /// Loads `lanes` elements (1, 2 or 4) that follow each other, with one access aligned to all of them.
    pub fn load_vec<C: Class>(&mut self, lanes: u32, from: Addr<impl Memory>) -> Vec<Reg<C>> {
        let results: Vec<_> = (0..lanes).map(|_| self.fresh()).collect();
        self.load_into(&results, "", from);
        results
    }

    /// As [`Kernel::load_vec`], through the read-only path: nobody may write the data while the kernel runs.
    pub fn load_const_vec<C: Class>(&mut self, lanes: u32, from: Addr<Global>) -> Vec<Reg<C>> {
        let results: Vec<_> = (0..lanes).map(|_| self.fresh()).collect();
        self.load_into(&results, ".nc", from);
        results
    }

    /// Loads into registers that exist; `options` stand behind the state space.
    pub fn load_into<C: Class, M: Memory>(&mut self, results: &[Reg<C>], options: &str, from: Addr<M>) {
        let opcode = access::<C, M>("ld", options, results.len());
        let results = vector(results);
        self.emit(&opcode, [results, from.arg()]);
    }

    /// Loads where the condition holds, and gives `default` elsewhere.
    pub fn load_or<C: Class>(
        &mut self,
        cond: impl Into<Cond>,
        lanes: u32,
        options: &str,
        from: Addr<impl Memory>,
        default: impl Into<Value<C>>,
    ) -> Vec<Reg<C>> {
        let default = default.into();
        let results: Vec<_> = (0..lanes).map(|_| self.var(default)).collect();
        self.when(cond, |k| k.load_into(&results, options, from));
        results
    }

    /// Stores one element.
    pub fn store<C: Class>(&mut self, to: Addr<impl Memory>, value: Reg<C>) {
        self.store_vec(to, &[value]);
    }

    /// Stores 1, 2 or 4 elements that follow each other, with one access aligned to all of them.
    pub fn store_vec<C: Class, M: Memory>(&mut self, to: Addr<M>, values: &[Reg<C>]) {
        let opcode = access::<C, M>("st", "", values.len());
        let values = vector(values);
        self.emit(&opcode, [to.arg(), values]);
    }

    /// The address of an element of a shared array whose index is in a register.
    pub fn shared_element<C: Class>(&mut self, array: &Array<Shared, C>, index: Reg<B32>) -> Addr<Shared> {
        let start = self.fresh::<B32>();
        let symbol = Arg::from(Operand::Symbol(array.symbol, 0));
        self.emit("mov.u32", [start.into(), symbol]);
        Addr::at(self.mad_lo(index, C::TYPE.bytes(), start))
    }

    /// The address of an element of a constant array whose index is in a register.
    pub fn const_element<C: Class>(&mut self, array: &Array<Const, C>, index: Reg<B32>) -> Addr<Const> {
        let start = self.fresh::<B64>();
        let symbol = Arg::from(Operand::Symbol(array.symbol, 0));
        self.emit("mov.u64", [start.into(), symbol]);
        Addr::at(self.mad_wide(index, C::TYPE.bytes(), start))
    }
}

/// `ld.global.nc.v4.f32`.
fn access<C: Class, M: Memory>(base: &str, options: &str, lanes: usize) -> String {
    let (space, ty) = (M::SPACE.name(), C::TYPE.name());
    match lanes {
        1 => format!("{base}.{space}{options}.{ty}"),
        _ => format!("{base}.{space}{options}.v{lanes}.{ty}"),
    }
}

fn vector<C: Class>(regs: &[Reg<C>]) -> Arg {
    let args: Vec<Arg> = regs.iter().map(|reg| Arg::from(*reg)).collect();
    if let [one] = args.as_slice() {
        return one.clone();
    }
    // All come from one function, or the first stranger gives the mistake away.
    let first = args.first().and_then(|arg| arg.owner);
    let owner = args
        .iter()
        .map(|arg| arg.owner)
        .find(|owner| *owner != first)
        .flatten()
        .or(first);
    Arg {
        operand: Operand::Vector(args.into_iter().map(|arg| arg.operand).collect()),
        owner,
    }
}
