//! The simulator: vectors of other projects, fixtures of ours, faults.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "sim/vectors.rs"]
mod vectors;

#[path = "sim/fixtures.rs"]
mod fixtures;
