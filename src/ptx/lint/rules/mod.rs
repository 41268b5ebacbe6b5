//! The rules, one file each: documentation, level, check.

pub mod bar001;
pub mod bar002;
pub mod bar003;
pub mod bar004;
pub mod bar005;
pub mod bar006;
pub mod bar009;
pub mod bar012;
pub mod bar019;
pub mod isa020;
pub mod isa021;
mod masks;
pub mod warp001;
pub mod warp002;
pub mod warp003;
pub mod warp004;
pub mod warp005;
pub mod warp006;
pub mod warp007;
pub mod warp008;
pub mod warp011;
pub mod warp012;
mod wording;
