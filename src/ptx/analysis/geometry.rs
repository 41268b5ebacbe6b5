//! What is known of the shape of a CTA.

use crate::ptx::ir::{Body, Function, Operand, Special};

/// Most threads a CTA can have on any device.
pub const MOST_THREADS: u32 = 1024;

/// Threads of a warp.
pub const WARP: u32 = 32;

/// What is known of the shape of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Exactly these threads in x, y, z.
    Exact([u32; 3]),
    /// One dimension, at most so many threads. What holds for all threads of the largest such CTA holds in smaller ones.
    Line(u32),
    /// At most so many threads, in more than one dimension. Rows are taken to be whole warps, or not to be longer than one.
    Unknown(u32),
}

impl Shape {
    /// The shape of a function's CTAs: `.reqntid`, else the launch's, else what `.maxntid` and the registers read allow.
    ///
    /// A function that never looks at the second and third dimension is taken to be launched with one.
    pub fn of(function: &Function, launch: Option<[u32; 3]>) -> Shape {
        let sane = |dims: &[u32; 3]| {
            let threads = dims.iter().try_fold(1u32, |threads, dim| threads.checked_mul(*dim));
            threads.is_some_and(|threads| (1..=MOST_THREADS).contains(&threads))
        };
        if let Some(dims) = function.required_block().or(launch).filter(sane) {
            return Shape::Exact(dims);
        }
        let bound = function.attr("maxntid").map(|dims| {
            let threads = dims.iter().try_fold(1u64, |threads, dim| threads.checked_mul(*dim));
            threads.map_or(MOST_THREADS, |threads| threads.clamp(1, u64::from(MOST_THREADS)) as u32)
        });
        let most = bound.unwrap_or(MOST_THREADS);
        match &function.body {
            Some(body) if reads_other_dimensions(body) => Shape::Unknown(most),
            _ => Shape::Line(most),
        }
    }

    /// The most threads a CTA can have.
    pub fn most_threads(self) -> u32 {
        match self {
            Shape::Exact([x, y, z]) => x * y * z,
            Shape::Line(most) | Shape::Unknown(most) => most,
        }
    }

    /// Number of threads, where it is known.
    pub fn threads(self) -> Option<u32> {
        matches!(self, Shape::Exact(_)).then(|| self.most_threads())
    }

    /// Whether a CTA has a single warp for sure.
    pub fn is_one_warp(self) -> bool {
        self.most_threads() <= WARP
    }

    /// Whether a special register holds the same in all threads because of the shape: `%tid.y` of a one-dimensional CTA.
    pub fn special_is_constant(self, special: Special) -> bool {
        match (self, special.name()) {
            (Shape::Exact([x, _, _]), "%tid.x") => x == 1,
            (Shape::Exact([_, y, _]), "%tid.y") => y == 1,
            (Shape::Exact([_, _, z]), "%tid.z") => z == 1,
            (Shape::Line(_), "%tid.y" | "%tid.z") => true,
            _ => special.name() == "%tid.w",
        }
    }

    /// Whether a special register holds the thread's linear index.
    pub fn counts_threads(self, special: Special) -> bool {
        let line = match self {
            Shape::Exact([_, y, z]) => y * z == 1,
            Shape::Line(_) | Shape::Unknown(_) => true,
        };
        line && special.name() == "%tid.x"
    }

    /// What a thread (by its linear index) reads from a special register, where that follows from the shape.
    pub fn special(self, special: Special, thread: u32) -> Option<u64> {
        let lane = thread % WARP;
        let mask = |bits: u64| Some(bits & 0xffff_ffff);
        match special.name() {
            "%laneid" => return Some(u64::from(lane)),
            "WARP_SZ" => return Some(u64::from(WARP)),
            "%lanemask_eq" => return mask(1 << lane),
            "%lanemask_le" => return mask((2 << lane) - 1),
            "%lanemask_lt" => return mask((1 << lane) - 1),
            "%lanemask_ge" => return mask(!((1 << lane) - 1)),
            "%lanemask_gt" => return mask(!((2 << lane) - 1)),
            _ => {}
        }
        match (self, special.name()) {
            (Shape::Exact([x, _, _]), "%tid.x") => Some(u64::from(thread % x)),
            (Shape::Exact([x, y, _]), "%tid.y") => Some(u64::from(thread / x % y)),
            (Shape::Exact([x, y, _]), "%tid.z") => Some(u64::from(thread / x / y)),
            (Shape::Exact([x, _, _]), "%ntid.x") => Some(u64::from(x)),
            (Shape::Exact([_, y, _]), "%ntid.y") => Some(u64::from(y)),
            (Shape::Exact([_, _, z]), "%ntid.z") => Some(u64::from(z)),
            (Shape::Line(_) | Shape::Unknown(_), "%tid.x") => Some(u64::from(thread)),
            (Shape::Line(_), "%tid.y" | "%tid.z") => Some(0),
            (Shape::Line(_), "%ntid.y" | "%ntid.z") => Some(1),
            _ => None,
        }
    }
}

/// Whether the function looks at the CTA's second or third dimension.
pub(super) fn reads_other_dimensions(body: &Body) -> bool {
    let names = ["%tid.y", "%tid.z", "%ntid.y", "%ntid.z", "%tid", "%ntid"];
    let reads = |operand: &Operand| matches!(operand, Operand::Special(special) if names.contains(&special.name()));
    body.insts.iter().any(|inst| inst.operands.iter().any(reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_along_x_first() {
        let shape = Shape::Exact([8, 4, 2]);
        let read = |name: &str, thread| Special::from_name(name).and_then(|special| shape.special(special, thread));
        assert_eq!(read("%tid.x", 13), Some(5));
        assert_eq!(read("%tid.y", 13), Some(1));
        assert_eq!(read("%tid.z", 40), Some(1));
        assert_eq!(read("%laneid", 40), Some(8));
        assert_eq!(read("%lanemask_lt", 2), Some(3));
        assert_eq!(read("%lanemask_gt", 31), Some(0));
        assert_eq!(read("%ctaid.x", 0), None);
    }
}
