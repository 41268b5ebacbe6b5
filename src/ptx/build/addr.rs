//! Typed addresses and arrays.

use super::value::{B32, B64, Class, Reg};
use crate::ptx::ir::{Address, Base, Operand, RegId, SymbolId};
use crate::ptx::types::Space;
use std::marker::PhantomData;

/// A memory that has addresses of its own.
pub trait Memory: Copy + std::fmt::Debug + 'static {
    /// State space.
    const SPACE: Space;
    /// Class of a register that holds an address.
    type Pointer: Class;
}

macro_rules! memories {
    ($($name:ident $pointer:ident $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        impl Memory for $name {
            const SPACE: Space = Space::$name;
            type Pointer = $pointer;
        }
    )*};
}

memories! {
    Global B64 "Device memory.";
    Shared B32 "Memory of the CTA.";
    Const B64 "Constant memory.";
}

/// An address in `M`: a register or a variable's symbol, plus bytes.
#[derive(Debug)]
pub struct Addr<M: Memory> {
    base: Start<M>,
    offset: i64,
}

#[derive(Debug)]
enum Start<M: Memory> {
    Reg(Reg<M::Pointer>),
    Symbol(SymbolId, PhantomData<M>),
}

// Not derived: that would ask for bounds on `M::Pointer`.
impl<M: Memory> Clone for Start<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory> Copy for Start<M> {}

impl<M: Memory> Clone for Addr<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory> Copy for Addr<M> {}

impl<M: Memory> Addr<M> {
    /// The address that the register holds.
    pub fn at(pointer: Reg<M::Pointer>) -> Self {
        Self {
            base: Start::Reg(pointer),
            offset: 0,
        }
    }

    pub(super) fn symbol(symbol: SymbolId) -> Self {
        Self {
            base: Start::Symbol(symbol, PhantomData),
            offset: 0,
        }
    }

    /// So many bytes further.
    #[must_use]
    pub fn plus(self, bytes: i64) -> Self {
        Self {
            offset: self.offset + bytes,
            ..self
        }
    }

    pub(super) fn arg(self) -> super::value::Arg {
        let (base, owner) = match self.base {
            Start::Reg(reg) => (Base::Reg(RegId(reg.id)), Some(reg.owner)),
            Start::Symbol(symbol, _) => (Base::Symbol(symbol), None),
        };
        let offset = self.offset;
        super::value::Arg {
            operand: Operand::Address(Address { base, offset }),
            owner,
        }
    }
}

/// An array variable in `M` with elements of class `C`, addressed through its symbol: never through a literal offset,
/// because the start of shared memory is not the program's from sm_90 on.
#[derive(Debug)]
pub struct Array<M: Memory, C: Class> {
    pub(super) symbol: SymbolId,
    pub(super) len: u32,
    kinds: PhantomData<(M, C)>,
}

impl<M: Memory, C: Class> Clone for Array<M, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory, C: Class> Copy for Array<M, C> {}

impl<M: Memory, C: Class> Array<M, C> {
    pub(super) fn new(symbol: SymbolId, len: u32) -> Self {
        Self {
            symbol,
            len,
            kinds: PhantomData,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the element with that index.
    pub fn element(&self, index: u32) -> Addr<M> {
        Addr::symbol(self.symbol).plus(i64::from(index) * i64::from(C::TYPE.bytes()))
    }
}
