//! The simulator: vectors of other projects, fixtures of ours, faults, our own kernels.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "sim/agreement.rs"]
mod agreement;
#[path = "sim/cases.rs"]
mod cases;
#[path = "sim/codes.rs"]
mod codes;
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
#[path = "sim/vectors.rs"]
mod vectors;
#[path = "sim/warpgroups.rs"]
mod warpgroups;
