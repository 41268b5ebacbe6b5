//! Asynchronous copies and mbarriers.

use super::decoder::{Decoder, Refused};
use crate::ptx::ir::Inst;

/// An asynchronous operation.
#[derive(Clone, Debug)]
pub enum Async {}

impl Decoder<'_> {
    /// `cp.async`, `mbarrier` and the like.
    pub(super) fn asynchronous(&mut self, _inst: &Inst) -> Result<(), Refused> {
        Err("an asynchronous operation".into())
    }
}
