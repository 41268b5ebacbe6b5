//! Function bodies: statements in order, and the tables that their ids index.

use super::{Inst, Prototype, SymbolId};
use crate::ptx::types::Type;
use smol_str::SmolStr;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A register of a function: index into [`Body::regs`].
    RegId;
    /// A label of a function: index into [`Body::labels`].
    LabelId;
    /// An instruction of a function: index into [`Body::insts`].
    InstId;
}

/// The body of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Everything in textual order.
    pub stmts: Vec<Stmt>,
    /// The instructions in textual order; [`Stmt::Inst`] refers to them.
    pub insts: Vec<Inst>,
    /// The registers that occur, in order of first appearance.
    pub regs: Vec<RegDecl>,
    /// The labels, in order of first appearance.
    pub labels: Vec<Label>,
}

/// A register that occurs in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegDecl {
    /// The name as written: `%r1`.
    pub name: SmolStr,
    /// Its type; of an undeclared register, a guess.
    pub ty: Type,
    /// Number of components: 1, or 2 or 4 for a vector register.
    pub lanes: u8,
    /// Whether a declaration in scope was found.
    pub declared: bool,
}

/// A label, or the name of a target table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name as written.
    pub name: SmolStr,
    /// The instruction that follows it (`insts.len()` at the end of the body); `None` where the label is not
    /// defined in scope, or names a table.
    pub at: Option<InstId>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// An instruction.
    Inst(InstId),
    /// A label in front of what follows.
    Label(LabelId),
    /// `{`: a nested scope opens.
    Open,
    /// `}`: it closes.
    Close,
    /// `.reg` declarations.
    Regs(Box<RegLine>),
    /// A variable of the function: `.shared`, `.local`, `.param`, ... The name is in the module's symbol table.
    Variable(SymbolId),
    /// `.branchtargets`, `.calltargets` or `.callprototype` under a label.
    Table(Box<Table>),
    /// `.loc` with its arguments as written: source position of what follows.
    Loc(Box<str>),
    /// `.pragma` with its string, without quotes.
    Pragma(Box<str>),
    /// A directive kept as it was written, without its line end.
    Raw(Box<str>),
}

/// One `.reg` statement: a type and the names it declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegLine {
    /// Type of every name.
    pub ty: Type,
    /// Components of every name: 1, 2 or 4.
    pub lanes: u8,
    /// The names.
    pub names: Vec<RegName>,
}

/// A name in a `.reg` statement: `%r1`, or the bank `%r<8>` that stands for `%r0` to `%r7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegName {
    /// Name, or prefix of the bank's names.
    pub name: SmolStr,
    /// Size of the bank; `None` for a single register.
    pub bank: Option<u32>,
}

/// A table of targets under a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The label that names it.
    pub label: LabelId,
    /// What it holds.
    pub kind: TableKind,
}

/// What a [`Table`] holds.
#[derive(Clone, Debug, PartialEq)]
pub enum TableKind {
    /// `.branchtargets`: where a `brx.idx` may go.
    Branch(Vec<LabelId>),
    /// `.calltargets`: what an indirect call may reach.
    Call(Vec<SymbolId>),
    /// `.callprototype`: parameters and results of an indirect call.
    Prototype(Prototype),
}
