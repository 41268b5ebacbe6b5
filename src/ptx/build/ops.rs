//! Arithmetic, comparison and conversion.

use super::function::Kernel;
use super::value::{B16, B32, B64, Class, Cond, F32, F64, Pred, Reg, Value};

/// Classes that can be added and compared. Integers count as unsigned.
pub trait Number: Class {
    /// Type suffix of arithmetic and comparison: `u32`.
    const SUFFIX: &'static str;
    /// Suffix of `add`, `sub` and `mul`, with the rounding that keeps the assembler from contracting.
    const ARITH: &'static str;
}

/// Classes with integer operations.
pub trait Int: Number {
    /// Suffix of the bitwise operations: `b32`.
    const BITS: &'static str;
}

/// Classes with floating-point operations.
pub trait Float: Number {}

macro_rules! numbers {
    ($($class:ident $suffix:literal $arith:literal;)*) => {$(
        impl Number for $class {
            const SUFFIX: &'static str = $suffix;
            const ARITH: &'static str = $arith;
        }
    )*};
}

numbers! {
    B16 "u16" "u16";
    B32 "u32" "u32";
    B64 "u64" "u64";
    F32 "f32" "rn.f32";
    F64 "f64" "rn.f64";
}

impl Int for B16 {
    const BITS: &'static str = "b16";
}
impl Int for B32 {
    const BITS: &'static str = "b32";
}
impl Int for B64 {
    const BITS: &'static str = "b64";
}
impl Float for F32 {}
impl Float for F64 {}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Cmp {
    const fn name(self) -> &'static str {
        match self {
            Cmp::Eq => "eq",
            Cmp::Ne => "ne",
            Cmp::Lt => "lt",
            Cmp::Le => "le",
            Cmp::Gt => "gt",
            Cmp::Ge => "ge",
        }
    }
}

/// Methods that only differ in opcode: a fresh register takes the result.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> $opcode:literal $suffix:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<C: $bound>(&mut self, a: Reg<C>, b: impl Into<Value<C>>) -> Reg<C> {
            self.op(&format!(concat!($opcode, ".{}"), C::$suffix), [a.into(), b.into()])
        }
    )*};
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> $opcode:literal $suffix:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<C: $bound>(&mut self, a: Reg<C>) -> Reg<C> {
            self.op(&format!(concat!($opcode, ".{}"), C::$suffix), [a.into()])
        }
    )*};
}

impl Kernel<'_> {
    /// An instruction with one result, all operands of its class, for what has no method of its own.
    pub fn op<C: Class, const N: usize>(&mut self, opcode: &str, operands: [Value<C>; N]) -> Reg<C> {
        let result = self.fresh();
        self.op_into(result, opcode, operands);
        result
    }

    /// As [`Kernel::op`], with the result in a register that exists.
    pub fn op_into<C: Class, const N: usize>(&mut self, result: Reg<C>, opcode: &str, operands: [Value<C>; N]) {
        let operands = operands.into_iter().map(Into::into);
        self.emit(opcode, std::iter::once(result.into()).chain(operands));
    }

    binary! {
        /// `a + b`.
        add<Number> "add" ARITH;
        /// `a - b`.
        sub<Number> "sub" ARITH;
        /// `a * b`.
        mul<Float> "mul" ARITH;
        /// The lower half of `a * b`.
        mul_lo<Int> "mul.lo" SUFFIX;
        /// The smaller one.
        min<Number> "min" SUFFIX;
        /// The greater one.
        max<Number> "max" SUFFIX;
        /// Bitwise and.
        and<Int> "and" BITS;
        /// Bitwise or.
        or<Int> "or" BITS;
        /// Bitwise exclusive or.
        xor<Int> "xor" BITS;
        /// `a / b`, correctly rounded.
        div<Float> "div" ARITH;
    }

    unary! {
        /// `-a`.
        neg<Float> "neg" SUFFIX;
        /// `|a|`.
        abs<Float> "abs" SUFFIX;
        /// Square root, correctly rounded.
        sqrt<Float> "sqrt" ARITH;
        /// `1 / a`, correctly rounded.
        rcp<Float> "rcp" ARITH;
    }

    /// `a + b` into a register that exists.
    pub fn add_into<C: Number>(&mut self, result: Reg<C>, a: Reg<C>, b: impl Into<Value<C>>) {
        self.op_into(result, &format!("add.{}", C::ARITH), [a.into(), b.into()]);
    }

    /// `a - b` into a register that exists.
    pub fn sub_into<C: Number>(&mut self, result: Reg<C>, a: Reg<C>, b: impl Into<Value<C>>) {
        self.op_into(result, &format!("sub.{}", C::ARITH), [a.into(), b.into()]);
    }

    /// `a * b + c`, rounded once.
    pub fn fma<C: Float>(&mut self, a: Reg<C>, b: impl Into<Value<C>>, c: impl Into<Value<C>>) -> Reg<C> {
        let result = self.fresh();
        self.fma_into(result, a, b, c);
        result
    }

    /// `a * b + c`, rounded once, into a register that exists.
    pub fn fma_into<C: Float>(&mut self, result: Reg<C>, a: Reg<C>, b: impl Into<Value<C>>, c: impl Into<Value<C>>) {
        self.op_into(result, &format!("fma.{}", C::ARITH), [a.into(), b.into(), c.into()]);
    }

    /// `a * b + c` in 32 bits.
    pub fn mad_lo(&mut self, a: Reg<B32>, b: impl Into<Value<B32>>, c: impl Into<Value<B32>>) -> Reg<B32> {
        self.op("mad.lo.u32", [a.into(), b.into(), c.into()])
    }

    /// `a * b` in 64 bits.
    pub fn mul_wide(&mut self, a: Reg<B32>, b: impl Into<Value<B32>>) -> Reg<B64> {
        let (result, b) = (self.fresh(), b.into());
        self.emit("mul.wide.u32", [result.into(), a.into(), b.into()]);
        result
    }

    /// `a * b + c`, the product and the sum in 64 bits.
    pub fn mad_wide(&mut self, a: Reg<B32>, b: impl Into<Value<B32>>, c: impl Into<Value<B64>>) -> Reg<B64> {
        let (result, b, c) = (self.fresh(), b.into(), c.into());
        self.emit("mad.wide.u32", [result.into(), a.into(), b.into(), c.into()]);
        result
    }

    /// `a << bits`.
    pub fn shl<C: Int>(&mut self, a: Reg<C>, bits: impl Into<Value<B32>>) -> Reg<C> {
        self.shift("shl", C::BITS, a, bits.into())
    }

    /// `a >> bits`, filled with zeros.
    pub fn shr<C: Int>(&mut self, a: Reg<C>, bits: impl Into<Value<B32>>) -> Reg<C> {
        self.shift("shr", C::SUFFIX, a, bits.into())
    }

    fn shift<C: Int>(&mut self, opcode: &str, suffix: &str, a: Reg<C>, bits: Value<B32>) -> Reg<C> {
        let result = self.fresh();
        self.emit(&format!("{opcode}.{suffix}"), [result.into(), a.into(), bits.into()]);
        result
    }

    /// Compares; integers as unsigned.
    pub fn compare<C: Number>(&mut self, cmp: Cmp, a: Reg<C>, b: impl Into<Value<C>>) -> Reg<Pred> {
        let (result, b) = (self.fresh(), b.into());
        let opcode = format!("setp.{}.{}", cmp.name(), C::SUFFIX);
        self.emit(&opcode, [result.into(), a.into(), b.into()]);
        result
    }

    /// `a` where the predicate holds, else `b`.
    pub fn select<C: Class>(
        &mut self,
        cond: impl Into<Cond>,
        a: impl Into<Value<C>>,
        b: impl Into<Value<C>>,
    ) -> Reg<C> {
        let (result, cond) = (self.fresh(), cond.into());
        let (a, b): (Value<C>, Value<C>) = (a.into(), b.into());
        // `selp` takes no negated predicate.
        let (a, b) = if cond.negated { (b, a) } else { (a, b) };
        let opcode = format!("selp.{}", C::TYPE.name());
        self.emit(&opcode, [result.into(), a.into(), b.into(), cond.reg.into()]);
        result
    }

    /// The number in 64 bits, filled with zeros.
    pub fn widen(&mut self, a: Reg<B32>) -> Reg<B64> {
        let result = self.fresh();
        self.emit("cvt.u64.u32", [result.into(), a.into()]);
        result
    }

    /// The lower 32 bits.
    pub fn narrow(&mut self, a: Reg<B64>) -> Reg<B32> {
        let result = self.fresh();
        self.emit("cvt.u32.u64", [result.into(), a.into()]);
        result
    }

    /// `%tid.x`: index of the thread in its block.
    pub fn tid_x(&mut self) -> Reg<B32> {
        self.special("%tid.x")
    }

    /// `%ctaid.x`: index of the block in its grid.
    pub fn ctaid_x(&mut self) -> Reg<B32> {
        self.special("%ctaid.x")
    }

    /// `%nctaid.x`: number of blocks in the grid.
    pub fn nctaid_x(&mut self) -> Reg<B32> {
        self.special("%nctaid.x")
    }
}
