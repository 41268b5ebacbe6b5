//! Typed registers and what may stand in their place.

use crate::ptx::ir::{Imm, Operand, Special};
use crate::ptx::types::Type;
use std::marker::PhantomData;
use std::ops::Not;

/// A class of registers: one type, one bank of names.
///
/// Signed, unsigned and untyped integers of one width share a class, as they do in PTX: the instruction says how it
/// reads the bits.
pub trait Class: Copy + std::fmt::Debug + 'static {
    /// Type of the `.reg` declaration, and of plain loads and stores.
    const TYPE: Type;
    /// Prefix of the names.
    const BANK: &'static str;
}

macro_rules! classes {
    ($($name:ident $ty:ident $bank:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        impl Class for $name {
            const TYPE: Type = Type::$ty;
            const BANK: &'static str = $bank;
        }
    )*};
}

classes! {
    Pred Pred "%p" "Predicates, `%p`.";
    B16 B16 "%rs" "16-bit integers, `%rs`.";
    B32 B32 "%r" "32-bit integers, `%r`.";
    B64 B64 "%rd" "64-bit integers and addresses, `%rd`.";
    F32 F32 "%f" "Single-precision numbers, `%f`.";
    F64 F64 "%fd" "Double-precision numbers, `%fd`.";
}

/// A register of class `C`. Copies name the same register.
#[derive(Debug, PartialEq, Eq)]
pub struct Reg<C> {
    /// Index into the function's registers.
    pub(super) id: u32,
    /// Which function it belongs to: using it in another is an error.
    pub(super) owner: u32,
    class: PhantomData<C>,
}

// Not derived: that would ask for `C: Clone` of every user.
impl<C> Clone for Reg<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Reg<C> {}

impl<C: Class> Reg<C> {
    pub(super) fn new(id: u32, owner: u32) -> Self {
        Self {
            id,
            owner,
            class: PhantomData,
        }
    }
}

/// A predicate register, taken as it is or negated: `p` or `!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond {
    pub(super) reg: Reg<Pred>,
    pub(super) negated: bool,
}

impl From<Reg<Pred>> for Cond {
    fn from(reg: Reg<Pred>) -> Self {
        Self { reg, negated: false }
    }
}

impl Not for Reg<Pred> {
    type Output = Cond;

    fn not(self) -> Cond {
        !Cond::from(self)
    }
}

impl Not for Cond {
    type Output = Cond;

    fn not(self) -> Cond {
        Cond {
            negated: !self.negated,
            ..self
        }
    }
}

/// What an operand of class `C` may be: a register, a constant or a special register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<C> {
    /// A register.
    Reg(Reg<C>),
    /// A constant.
    Imm(Imm),
    /// A special register; `mov` alone takes these everywhere.
    Special(Special),
}

impl<C> From<Reg<C>> for Value<C> {
    fn from(reg: Reg<C>) -> Self {
        Value::Reg(reg)
    }
}

macro_rules! constants {
    ($($class:ident: $($ty:ident)*;)*) => {$($(
        impl From<$ty> for Value<$class> {
            fn from(value: $ty) -> Self {
                Value::Imm(Imm::Int(i64::from(value)))
            }
        }
    )*)*};
}

constants! {
    B16: u16 i16;
    B32: u32 i32;
    B64: u32 i32 i64;
}

impl From<u64> for Value<B64> {
    fn from(value: u64) -> Self {
        Value::Imm(i64::try_from(value).map_or(Imm::Unsigned(value), Imm::Int))
    }
}

impl From<f32> for Value<F32> {
    fn from(value: f32) -> Self {
        Value::Imm(Imm::F32(value.to_bits()))
    }
}

impl From<f64> for Value<F64> {
    fn from(value: f64) -> Self {
        Value::Imm(Imm::F64(value.to_bits()))
    }
}

/// An operand whose class is no longer known to the compiler, but the owner of its registers is still checked.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) operand: Operand,
    /// Owners of the registers inside, at most one function if all is well.
    pub(super) owner: Option<u32>,
}

impl From<Operand> for Arg {
    fn from(operand: Operand) -> Self {
        Self { operand, owner: None }
    }
}

impl<C: Class> From<Reg<C>> for Arg {
    fn from(reg: Reg<C>) -> Self {
        Self {
            operand: Operand::Reg(crate::ptx::ir::RegId(reg.id)),
            owner: Some(reg.owner),
        }
    }
}

impl<C: Class> From<Value<C>> for Arg {
    fn from(value: Value<C>) -> Self {
        match value {
            Value::Reg(reg) => reg.into(),
            Value::Imm(imm) => Operand::Imm(imm).into(),
            Value::Special(special) => Operand::Special(special).into(),
        }
    }
}
