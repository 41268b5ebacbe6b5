//! The rules, one file each: documentation, level, check.

pub mod bar001;
pub mod bar002;
pub mod bar003;
pub mod bar004;
pub mod bar005;
pub mod bar006;
pub mod bar009;
pub mod bar019;
pub mod flow001;
pub mod flow002;
pub mod flow003;
pub mod flow004;
pub mod flow005;
pub mod flow006;
pub mod flow007;
pub mod flow008;
pub mod flow009;
pub mod flow010;
pub mod flow011;
pub mod flow012;
pub mod isa020;
pub mod isa021;
mod undefined;
mod wording;
