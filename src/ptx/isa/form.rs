//! The notation of syntax lines, and what it means once read.
//!
//! A line is `OPCODE OPERANDS @GATE !END`, as in `"ld{.weak}.ss{.vec}.type d:vec, [a]{, policy:b64} @2.0"`.
//!
//! **Opcode.** `.name` is a modifier that must be there, `{.name}` one that may. Where the row's sets (or [`COMMON_SETS`])
//! know the name, any member of the set is meant, otherwise the modifier itself.
//! A set is a string of members with optional gates: `"u32 s32 f16x2@4.2,sm_53"`.
//! Real files write modifiers in any order, and so may they; only types keep theirs, since `cvt.f32.f16` is not `cvt.f16.f32`.
//!
//! **Gate.** `@7.0,sm_80`: least PTX version, then the targets of which one must be met, separated by `/`: `sm_90` is that or newer,
//! `sm_90a` just that, `sm_100f` the family. Either part may be left out: `@sm_90a/sm_100f`, `@8.0`.
//!
//! **End.** `!6.4,sm_70`: the form is gone from that PTX version on, from that target on, or where both hold if both are given.
//!
//! **Operands.** `name:annotation/annotation`. `[...]` is an address (several parts separated by commas inside), `{, x}` an operand that may be
//! absent, `d{|p}` a destination with an optional second one, `{!}p` a predicate that may be negated, `{-}a` a register that may,
//! `(...)` a list, `{a, b}` a brace vector of just these parts.
//! An operand called `d`, or prefixed by `=`, is written; one prefixed by `+` is read and written; the others are read.
//! Annotations:
//!
//! | annotation | meaning |
//! |---|---|
//! | none | a value of type `.Xtype` for an operand `X` if the line has such a set, else of the instruction's type (the last type among its modifiers) |
//! | a type, or a set's name | a value of that type |
//! | `wide` | a value of twice the width |
//! | `any` | a register of any type, or a constant |
//! | `address` | an integer register of 32 or 64 bits |
//! | `loose` | a register may be wider than the type |
//! | `exact` | a register of untyped bits, `.b32` where others of that width will not do |
//! | `src` | special registers and the addresses of variables may stand here too |
//! | `vec` | a brace vector of as many elements as `.v2`, `.v4`, `.v8` says; a scalar without |
//! | `pack` | a scalar, or a brace vector of equal parts that fill the type |
//! | `frag` | a brace vector of any length, or a single register |
//! | `x4` | just that many elements |
//! | `xone` | a single register, in braces or without |
//! | `x2num` | twice as many elements as the number in the member of the set `num` (`x1` to `x128`) |
//! | `xn2` | half as many elements as the N of the shape (`m64n8k16`), or `xn4` a quarter |
//! | `xdim` | as many elements as the dimension (`3d`) says, or `xdim-2` two less |
//! | `imm` | an integer constant, nothing else |
//! | `0..3`, `%8`, `4_8_16` | a constant must lie in the range, be a multiple, or be one of these |
//! | `?hint` | an optional operand that is there just when the modifier in the slot `hint` is |
//! | `reg` | no constant |
//! | `sink` | `_` may stand here; with `only`, nothing else |
//! | `label`, `func`, `sym`, `list` | a branch target, a function, a variable's name, a parenthesised list |

use crate::ptx::target::{PtxVersion, Target};
use crate::ptx::types::Type;

/// Modifier sets that many rows share.
pub const COMMON_SETS: &[(&str, &str)] = &[
    ("vec", "v2 v4 v8@8.8,sm_100"),
    ("rnd", "rn rz rm rp"),
    ("scope", "cta cluster@7.8,sm_90 gpu sys"),
];

/// Least version and targets of which one is needed; the default asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Least PTX version.
    pub ptx: Option<PtxVersion>,
    /// One of these is needed; empty for any target.
    pub targets: Vec<Target>,
}

/// Where a form ends: it is gone where all of these hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// From this PTX version on.
    pub ptx: Option<PtxVersion>,
    /// From this target on.
    pub target: Option<Target>,
}

/// One modifier that a slot takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The modifier without its dot.
    pub name: &'static str,
    /// What it needs.
    pub gate: Gate,
}

/// A place for a modifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The set's name, or the modifier itself.
    pub name: &'static str,
    /// Whether the modifier may be left out.
    pub optional: bool,
    /// Whether types stand here: those keep their order.
    pub is_type: bool,
    /// The modifiers that fit, one or more.
    pub alternatives: Vec<Alternative>,
}

/// Whether an operand is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read.
    Use,
    /// Written.
    Def,
    /// Read, then written.
    UseDef,
}

/// The shapes an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A register, constant, special register or symbol's address.
    Value,
    /// A register.
    Reg,
    /// An integer constant.
    Imm,
    /// `[...]`.
    Address,
    /// Scalar or `{...}`, as `.v2/.v4/.v8` says.
    Vec,
    /// Scalar, or `{...}` whose parts fill the type.
    Pack,
    /// `{...}` of any length, or a register.
    Frag,
    /// `{...}` with the parts listed in [`OperandSpec::parts`].
    Tuple,
    /// A branch target or a table's name.
    Label,
    /// A function, or a register that holds the address of one.
    Func,
    /// A variable's name.
    Symbol,
    /// `(...)`.
    List,
}

/// How an operand's type is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandType {
    /// The instruction's type: the last type among its modifiers.
    Inst,
    /// The type in that slot.
    Slot(usize),
    /// Always this.
    Fixed(Type),
    /// Twice the width of the instruction's type.
    Wide,
    /// An integer of 32 or 64 bits.
    Address,
    /// Anything.
    Any,
}

/// How many elements a brace vector has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// That many.
    Fixed(u16),
    /// One, which may do without braces.
    Lone,
    /// The number in the modifier of a slot (`x4`, `cta_group::2`), times a factor.
    Times(u16, usize),
    /// The N of the shape among the modifiers, divided.
    Shape(u16),
    /// The number in the modifier for the dimension (`3d`), less that.
    Dimension(u16),
}

impl Count {
    /// The number in `x4` or `cta_group::2`.
    pub fn number(modifier: &str) -> Option<u16> {
        let digits = modifier.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok()
    }
}

/// What an integer constant must satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// From the first to the second, both included.
    Within(i64, i64),
    /// A multiple.
    Multiple(i64),
    /// One of these.
    OneOf(Vec<i64>),
}

/// One operand of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandSpec {
    /// The manual's name.
    pub name: &'static str,
    /// Read or written.
    pub role: Role,
    /// Shape.
    pub kind: OperandKind,
    /// Type.
    pub ty: OperandType,
    /// Whether a register wider than the type is accepted.
    pub loose: bool,
    /// Whether only registers of untyped bits are accepted.
    pub exact: bool,
    /// Whether special registers and addresses of variables are accepted.
    pub src: bool,
    /// Whether `_` is accepted.
    pub sink: bool,
    /// Whether only `_` is.
    pub only_sink: bool,
    /// Whether it may be left out.
    pub optional: bool,
    /// The slot whose modifier decides whether it is there.
    pub tied: Option<usize>,
    /// Whether `!` may stand in front.
    pub negatable: bool,
    /// Whether `-` may stand in front of a register.
    pub minus: bool,
    /// Number of elements of a brace vector, where it is fixed.
    pub count: Option<Count>,
    /// What a constant must satisfy.
    pub ranges: Vec<Range>,
    /// The second destination of `d|p`; the flag says whether it may be left out.
    pub pair: Option<(Box<OperandSpec>, bool)>,
    /// The parts of a bracket or brace with several.
    pub parts: Vec<OperandSpec>,
}

/// One syntax line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The line as the table has it.
    pub line: &'static str,
    /// Places for modifiers, in the documented order.
    pub slots: Vec<Slot>,
    /// Operands.
    pub operands: Vec<OperandSpec>,
    /// What the form as a whole needs.
    pub gate: Gate,
    /// Where it ends.
    pub removal: Option<Removal>,
}

impl Form {
    /// The line without its gates: opcode and operands.
    pub fn syntax(&self) -> &'static str {
        let line = self.line;
        let end = line.find(" @").or(line.find(" !")).unwrap_or(line.len());
        line.get(..end).unwrap_or(line)
    }
}
