//! Matrix instructions.

use super::decoder::{Decoder, Refused};
use crate::ptx::ir::Inst;

/// A matrix instruction.
#[derive(Clone, Debug)]
pub enum Matrix {}

impl Decoder<'_> {
    /// `mma`, `ldmatrix` and the like.
    pub(super) fn matrix(&mut self, _inst: &Inst) -> Result<(), Refused> {
        Err("a matrix instruction".into())
    }
}
