//! The rules, one file each: documentation, level, check.

pub mod bar001;
pub mod bar002;
pub mod bar003;
pub mod bar004;
pub mod bar005;
pub mod bar006;
pub mod bar009;
pub mod bar019;
pub mod isa020;
pub mod isa021;
pub mod lint001;
pub mod lint002;
mod wording;
