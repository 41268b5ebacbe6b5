//! Video instructions.

use super::decoder::{Decoder, Refused};
use crate::ptx::ir::Inst;

impl Decoder<'_> {
    /// `vadd`, `vadd2` and the like.
    pub(super) fn video(&mut self, _inst: &Inst) -> Result<(), Refused> {
        Err("a video instruction".into())
    }
}
