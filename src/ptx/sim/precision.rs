//! What a run that carries an f64 beside every f32 has found.

use super::Arg;
use super::fault::{Site, Thread};

/// What it has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precision {
    /// The first instruction at which the error jumps, in the order of the run.
    pub jump: Option<Jump>,
    /// At how many instructions it does.
    pub jumps: usize,
    /// Arguments that are buffers with values that were followed, and the worst of those.
    pub buffers: Vec<(usize, Worst)>,
}

impl Precision {
    /// Makes numbers of buffers those of arguments.
    pub(super) fn of_args(mut self, args: &[Arg]) -> Self {
        let places = args.iter().enumerate().filter(|(_, arg)| matches!(arg, Arg::Buffer(_)));
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        self.buffers.retain_mut(|(at, _)| match places.get(*at) {
            Some(place) => {
                *at = *place;
                true
            }
            None => false,
        });
        self
    }
}

/// An instruction whose result is much worse than what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// The instruction.
    pub site: Site,
    /// The thread.
    pub thread: Thread,
    /// Its result.
    pub got: f64,
    /// What it would be if nothing had been rounded to f32 since the launch.
    pub exact: f64,
    /// The worst relative error of its operands.
    pub before: f64,
    /// That of the result.
    pub after: f64,
}

/// The worst value of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// How many of its values were followed.
    pub followed: u64,
    /// Which one is the worst.
    pub element: usize,
    /// What it is.
    pub got: f64,
    /// What it would be if nothing had been rounded to f32 since the launch.
    pub exact: f64,
    /// Its relative error.
    pub error: f64,
}

/// The error of a value as a part of what it should be; none where one of them is no number.
pub fn error(got: f64, exact: f64) -> f64 {
    if got == exact || !got.is_finite() || !exact.is_finite() {
        return 0.0;
    }
    ((got - exact) / exact).abs()
}
