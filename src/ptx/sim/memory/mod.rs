//! Memory: blocks of bytes, the address space over them, and who touched what.

mod block;
mod map;
mod shadow;

pub use block::Block;
pub use map::{Home, Map, Region, Windows};
pub use shadow::{MOST_EPOCHS, MOST_TICKS, Shadow, Suspect, Tag, Visit};
