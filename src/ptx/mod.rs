//! The compiler: no files, no command line, no serialisation, no colours.

pub mod analysis;
pub mod build;
pub mod diag;
pub mod flow;
pub mod format;
pub mod ir;
pub mod isa;
pub mod lint;
pub mod listing;
pub mod needs;
pub mod num;
pub mod parse;
pub mod print;
pub mod sim;
pub mod source;
pub mod target;
pub mod types;
pub mod verify;
pub mod version;
pub mod witness;
