//! Comments for a text to be printed.

use super::FuncId;
use std::collections::HashMap;

/// Comments beside a module: they are no part of it, so that modules compare and build without them.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Lines in front of everything.
    pub head: Vec<String>,
    /// Lines in front of a statement, by function and index into its statements.
    pub stmts: HashMap<(FuncId, usize), String>,
}
