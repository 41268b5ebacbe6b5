//! `ptxgen`: a compiler and inspector for NVIDIA PTX that needs no GPU.
//!
//! [`ptx`] is the compiler, [`kernels`] the kernels it emits, [`cli`] the command line.

pub mod cli;
pub mod kernels;
pub mod ptx;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
