//! Compiler and inspector for NVIDIA PTX.
pub mod ptx;
