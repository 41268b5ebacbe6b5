//! `ptxgen`: a compiler and inspector for NVIDIA PTX that needs no GPU.
//!
//! [`ptx`] is the compiler, [`kernels`] the kernels it emits, [`cli`] the command line.

pub mod cli;
pub mod kernels;
pub mod ptx;
