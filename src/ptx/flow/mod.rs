//! Control flow: graph, dominators, loops, the dataflow engine, and which definition each use sees.
//!
//! Everything here is derived from a [`Body`](crate::ptx::ir::Body) and never stored in it. Nothing recurses over the input,
//! and nothing keeps a dense set per block: functions of fifty thousand instructions are usual.

mod cfg;
pub mod dataflow;
mod digraph;
mod dom;
mod liveness;
mod loops;
mod order;
mod place;
mod rename;
mod ssa;

pub use cfg::{Cfg, Condition, FlowProblem, is_noreturn};
pub use digraph::Digraph;
pub use dom::DomTree;
pub use liveness::{Liveness, Pressure};
pub use loops::{Loop, LoopId, Loops};
pub use order::in_order;
pub use ssa::{Definition, Ssa, Value, ValueId};

#[cfg(test)]
mod tests;
