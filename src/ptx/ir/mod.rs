//! The intermediate representation: one for PTX text, the builder, the printer, the lints and the simulator.
//!
//! Invariants, and what is deliberately absent:
//!
//! - Names are resolved. Operands hold ids ([`RegId`], [`LabelId`], [`SymbolId`]); the names stand once, in the tables of
//!   [`Body`] and [`Module`]. Two registers of one name in different scopes are two ids.
//! - An undefined name still has an id. Its table entry says so ([`RegDecl::declared`], [`Label::at`], [`SymbolKind::Undefined`]),
//!   and the parser has reported it. So every id that occurs is valid, whatever the text was.
//! - Ids are given in order of first appearance, so two parses of equal text compare equal.
//! - Blocks and edges are derived (see `flow`), never stored. Spans and comments lie in side tables of the parser.
//! - Nothing is dropped: what the instruction table does not know keeps its spelling in [`Opcode::text`], and
//!   a directive that nobody understands is kept as [`Stmt::Raw`] or [`Item::Raw`].

mod body;
mod inst;
mod module;
mod notes;
mod operand;
pub mod shape;
mod views;

pub use body::{Body, InstId, Label, LabelId, RegDecl, RegId, RegLine, RegName, Stmt, Table, TableKind};
pub use inst::{Guard, Inst};
pub use module::{
    Attr, FuncId, Function, FunctionKind, Header, Init, InitSymbol, InitValue, Item, Linkage, Module, Prototype,
    Symbol, SymbolId, SymbolKind, Variable,
};
pub use notes::Notes;
pub use operand::{Address, Base, Component, Imm, Operand};
pub use views::{BarrierKind, BarrierOp, BarrierView, BranchView, MemView};

pub use super::isa::{Opcode, Special};
