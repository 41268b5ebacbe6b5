//! What instructions compute: pure functions on the bits of scalars, exact and the same on every machine.
//!
//! Values are bits (`u32` for `.f32`, `u64` for `.f64`, `u16` for `.f16` and `.bf16`), never the host's floats, so that
//! NaN payloads and the sign of zero are what the PTX ISA says and not what the host does. Nothing here allocates or
//! can panic. Where the ISA leaves a result open, the function says which value it takes.
//!
//! - [`round`]: rounding modes and the modifiers `.ftz` and `.sat`; [`mod@format`]: every floating-point format, decoded and
//!   encoded exactly.
//! - [`single`], [`double`], [`half`]: arithmetic on `.f32`, `.f64`, and `.f16`/`.bf16`; [`compare`]: `setp`, `testp`.
//! - [`int`], [`bits`]: integer arithmetic and bit manipulation.
//! - [`approx`]: the `.approx` operations.
//! - [`video`]: the video instructions.
//! - [`convert`], [`packed`]: `cvt` between any two types, one by one and packed.
//! - [`matrix`], [`tensor`], [`sparse`], [`descriptor`]: where the elements of a matrix stand in a warp or in shared memory,
//!   and products of matrices.
//!
//! What the ISA leaves open, and what it is here:
//!
//! - A quotient or remainder by integer zero has every bit set, as current hardware gives; the least number by -1 wraps.
//! - A NaN of `.f64` is the first NaN operand, made quiet, or else [`double::NAN`]; all narrower NaNs are canonical.
//! - `.ftz` looks at the rounded result: what rounds up to the smallest normal number stays.
//! - `.approx` results are the true values rounded to nearest, or a last place beside them ([`approx`]).
//! - Products of matrices add exact products to C in doubles over rising `k` and round once ([`tensor`]); the fragments of
//!   `wmma` are those of `mma` ([`matrix`]).
//! - Bits of a `.tf32` below its precision are ignored where it is read and zero where it is written.

pub mod approx;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod descriptor;
pub mod double;
pub mod format;
pub mod half;
pub mod int;
pub mod matrix;
pub mod packed;
pub mod round;
pub mod single;
pub mod sparse;
pub mod tensor;
pub mod video;

pub use format::Format;
pub use int::Int;
pub use round::{Mode, Round};

#[cfg(test)]
mod tests;
