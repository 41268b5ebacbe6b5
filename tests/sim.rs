//! The simulator: vectors of other projects, fixtures of ours, faults, our own kernels.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "sim/agreement.rs"]
mod agreement;
#[path = "sim/bulk.rs"]
mod bulk;
#[path = "sim/bytes.rs"]
mod bytes;
#[path = "sim/cases.rs"]
mod cases;
#[path = "sim/codes.rs"]
mod codes;
#[path = "sim/conversions.rs"]
mod conversions;
#[path = "sim/examples.rs"]
mod examples;
#[path = "sim/fixtures.rs"]
mod fixtures;
#[path = "sim/kernels.rs"]
mod kernels;
#[path = "sim/launch.rs"]
mod launch;
#[path = "sim/matrices.rs"]
mod matrices;
#[path = "sim/numbers.rs"]
mod numbers;
#[path = "sim/sparse.rs"]
mod sparse;
#[path = "sim/stack.rs"]
mod stack;
#[path = "sim/tensor_core.rs"]
mod tensor_core;
#[path = "sim/tensors.rs"]
mod tensors;
#[path = "sim/vectors.rs"]
mod vectors;
#[path = "sim/warpgroups.rs"]
mod warpgroups;
