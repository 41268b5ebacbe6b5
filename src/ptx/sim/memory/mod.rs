//! Memory: blocks of bytes, the address space over them, and who touched what.

mod block;
mod bytes;
mod column;
mod map;
#[cfg(test)]
mod model;
mod shadow;
mod tag;

pub use block::Block;
pub use bytes::Bytes;
use column::LINE;
pub use map::{Home, Map, Region, Windows};
pub use shadow::{Shadow, Suspect, Visit};
pub use tag::{MOST_EPOCHS, MOST_TICKS, Tag};
