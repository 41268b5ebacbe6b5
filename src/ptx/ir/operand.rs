//! Operands.

use super::{LabelId, RegId, Special, SymbolId};
use std::fmt;

/// What stands between the commas of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register: `%r1`.
    Reg(RegId),
    /// A negated predicate: `!%p1`.
    Not(RegId),
    /// One component of a vector register (`%v.x`) or a part selected by a video instruction (`%r1.b0`, `%r1.h1`).
    Part(RegId, Component),
    /// A negated register, or part of one, as `vmad` takes it: `-%r1`, `-%r1.h0`.
    Neg(RegId, Option<Component>),
    /// A register plus a constant: `%r1+4`. Any operand may be one, not only an address.
    Sum(RegId, i64),
    /// A special register: `%tid.x`.
    Special(Special),
    /// A number.
    Imm(Imm),
    /// The address of a variable or function, with a byte offset: `arr`, `arr+16`.
    Symbol(SymbolId, i64),
    /// The address of an array's element: `arr[%r1]`. With a constant it is a [`Operand::Symbol`] and an offset.
    Element(SymbolId, RegId),
    /// A branch target or the label of a `.branchtargets`, `.calltargets` or `.callprototype` table.
    Label(LabelId),
    /// `[%rd1+8]`.
    Address(Address),
    /// A bracket with several parts: `[tensor, {%r1, %r2}]`, `[tex, sampler, {%f1, %f2}]`.
    Bracket(Box<[Operand]>),
    /// A vector: `{%f1, %f2}`.
    Vector(Box<[Operand]>),
    /// A call's argument or result list: `(%r1, param0)`.
    List(Box<[Operand]>),
    /// A pair of destinations: `%p1|%p2`.
    Pair(Box<(Operand, Operand)>),
    /// `_`: a result nobody wants.
    Sink,
    /// A label whose definition has not been met yet. Only a parse in progress has it.
    Pending,
}

impl Operand {
    /// The register, where the operand is nothing but one (negated or not).
    pub fn as_reg(&self) -> Option<RegId> {
        match self {
            Operand::Reg(reg) | Operand::Not(reg) => Some(*reg),
            _ => None,
        }
    }

    /// The integer, where the operand is an integer immediate.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Operand::Imm(imm) => imm.as_int(),
            _ => None,
        }
    }

    /// Calls `see` with every register that occurs in the operand, in order.
    pub fn for_each_reg(&self, see: &mut impl FnMut(RegId)) {
        match self {
            Operand::Reg(reg)
            | Operand::Not(reg)
            | Operand::Part(reg, _)
            | Operand::Neg(reg, _)
            | Operand::Sum(reg, _)
            | Operand::Element(_, reg) => see(*reg),
            Operand::Address(Address {
                base: Base::Reg(reg), ..
            }) => see(*reg),
            Operand::Bracket(parts) | Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| part.for_each_reg(see));
            }
            Operand::Pair(pair) => {
                pair.0.for_each_reg(see);
                pair.1.for_each_reg(see);
            }
            _ => {}
        }
    }
}

/// An immediate. Equality is by bits, so NaNs compare as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Imm {
    /// A signed integer constant.
    Int(i64),
    /// An integer constant above `i64::MAX`, or one with the suffix `U`.
    Unsigned(u64),
    /// Bits of a single-precision constant, written `0f3F800000`.
    F32(u32),
    /// Bits of a double-precision constant, written `0d...` or in decimal.
    F64(u64),
}

impl Imm {
    /// The integer's 64 bits as a signed number; `None` for floating-point constants.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Imm::Int(value) => Some(value),
            Imm::Unsigned(value) => Some(value as i64),
            Imm::F32(_) | Imm::F64(_) => None,
        }
    }
}

/// A single address: base plus byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// What the offset is added to.
    pub base: Base,
    /// Byte offset; the whole address where there is no base.
    pub offset: i64,
}

/// The base of an [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register holds the base.
    Reg(RegId),
    /// The address of a variable or parameter.
    Symbol(SymbolId),
    /// An absolute address.
    Absolute,
}

macro_rules! components {
    ($($variant:ident $name:literal),*) => {
        /// A component of a vector, or the part of a register that a video instruction selects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Component {
            $(#[doc = concat!("`.", $name, "`")] $variant,)*
            /// `.b7531`: four of the eight bytes of two registers, from the highest down.
            Bytes([u8; 4]),
        }

        impl Component {
            /// The component of that name, without the dot.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Component::$variant),)* _ => four_bytes(name) }
            }
        }

        impl fmt::Display for Component {
            /// The name without the dot.
            fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
                match self {
                    $(Component::$variant => out.write_str($name),)*
                    Component::Bytes(bytes) => {
                        out.write_str("b")?;
                        bytes.iter().try_for_each(|byte| write!(out, "{byte}"))
                    }
                }
            }
        }
    };
}

components! {
    X "x", Y "y", Z "z", W "w", R "r", G "g", B "b", A "a",
    B0 "b0", B1 "b1", B2 "b2", B3 "b3", H0 "h0", H1 "h1",
    H00 "h00", H01 "h01", H02 "h02", H03 "h03", H10 "h10", H11 "h11", H12 "h12", H13 "h13", H20 "h20", H21 "h21", H22 "h22", H23 "h23", H30 "h30", H31 "h31", H32 "h32", H33 "h33",
    B210 "b210", B310 "b310", B320 "b320", B321 "b321",
    B10 "b10", B20 "b20", B21 "b21", B30 "b30", B31 "b31", B32 "b32"
}

fn four_bytes(name: &str) -> Option<Component> {
    let digits: [u8; 4] = name.strip_prefix('b')?.as_bytes().try_into().ok()?;
    let fits = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
    fits.then(|| Component::Bytes(digits.map(|digit| digit - b'0')))
}

impl Component {
    /// Whether it is all of a register, in whatever order.
    pub fn is_whole(self) -> bool {
        let Component::Bytes(mut bytes) = self else {
            return false;
        };
        bytes.sort_unstable();
        bytes == [0, 1, 2, 3]
    }

    /// Which component of a vector it is, if it is one of a vector.
    pub const fn index(self) -> Option<u8> {
        match self {
            Component::X | Component::R => Some(0),
            Component::Y | Component::G => Some(1),
            Component::Z | Component::B => Some(2),
            Component::W | Component::A => Some(3),
            _ => None,
        }
    }

    /// Whether it is two of the four halves of two registers: `.h10`.
    pub fn is_two_halves(self) -> bool {
        use Component::{H00, H01, H02, H03, H10, H11, H12, H13, H20, H21, H22, H23, H30, H31, H32, H33};
        matches!(
            self,
            H00 | H01 | H02 | H03 | H10 | H11 | H12 | H13 | H20 | H21 | H22 | H23 | H30 | H31 | H32 | H33
        )
    }

    /// Whether it is some bytes of a register, from the highest down: `.b31`.
    pub const fn is_byte_mask(self) -> bool {
        use Component::{B0, B1, B2, B3, B10, B20, B21, B30, B31, B32, B210, B310, B320, B321};
        matches!(
            self,
            B0 | B1
                | B2
                | B3
                | B10
                | B20
                | B21
                | B30
                | B31
                | B32
                | B210
                | B310
                | B320
                | B321
                | Component::Bytes([3, 2, 1, 0])
        )
    }
}
