//! The compiler.

pub mod target;
pub mod version;
