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
pub mod mem001;
pub mod mem002;
pub mod mem003;
pub mod mem004;
pub mod mem005;
pub mod mem007;
pub mod mem011;
pub mod race001;
pub mod race002;
pub mod race003;
pub mod race004;
pub mod race005;
pub mod race007;
pub mod race009;
pub mod race010;
pub mod race013;
mod wording;
