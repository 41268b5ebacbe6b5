//! To be written.

use super::super::program::Async;
use super::state::{Ctx, Split};

impl Ctx<'_> {
    /// An asynchronous operation.
    pub fn asynchronous(&mut self, _what: &Async, _split: Split) {}
}
