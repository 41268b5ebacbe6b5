//! Rounding modes, and the modifiers that change what an operation returns.

/// How an inexact result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Round {
    /// `.rn`: to nearest, ties to even.
    #[default]
    Rn,
    /// `.rz`: towards zero.
    Rz,
    /// `.rm`: towards negative infinity.
    Rm,
    /// `.rp`: towards positive infinity.
    Rp,
    /// `.rna`: to nearest, ties away from zero.
    Rna,
}

impl Round {
    /// Every mode.
    pub const ALL: [Round; 5] = [Round::Rn, Round::Rz, Round::Rm, Round::Rp, Round::Rna];

    /// The mode a modifier names, without the dot. The integer modes (`rni` ...) round in the same directions.
    pub fn from_name(name: &str) -> Option<Round> {
        Some(match name {
            "rn" | "rni" => Round::Rn,
            "rz" | "rzi" => Round::Rz,
            "rm" | "rmi" => Round::Rm,
            "rp" | "rpi" => Round::Rp,
            "rna" => Round::Rna,
            _ => return None,
        })
    }

    /// Whether a kept significand grows by one, given its last bit and how the cut-off part compares.
    ///
    /// `rest` is the cut-off part as a fraction of the last place: `Less` below a half, `Equal` a half, `Greater` above;
    /// `exact` says that nothing was cut off.
    #[inline]
    pub(super) fn grows(self, negative: bool, odd: bool, exact: bool, rest: std::cmp::Ordering) -> bool {
        match self {
            Round::Rn => rest.is_gt() || (rest.is_eq() && odd),
            Round::Rz => false,
            Round::Rm => negative && !exact,
            Round::Rp => !negative && !exact,
            Round::Rna => rest.is_ge(),
        }
    }

    /// Whether a result too large for the format becomes the largest finite number and not infinity.
    #[inline]
    pub(super) fn stops_at_max(self, negative: bool) -> bool {
        match self {
            Round::Rn | Round::Rna => false,
            Round::Rz => true,
            Round::Rm => !negative,
            Round::Rp => negative,
        }
    }
}

/// The modifiers of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mode {
    /// The rounding mode.
    pub round: Round,
    /// `.ftz`: subnormal inputs and results become zero, their sign kept. Means nothing for `.f64`.
    pub ftz: bool,
    /// `.sat`: the result is clamped to [0, 1], and NaN becomes +0.
    pub sat: bool,
}

impl Mode {
    /// `.rn` and nothing else: what an operation without modifiers does.
    pub const RN: Mode = Mode::new(Round::Rn);

    /// A rounding mode and nothing else.
    pub const fn new(round: Round) -> Mode {
        Mode {
            round,
            ftz: false,
            sat: false,
        }
    }

    /// The same with `.ftz` on or off.
    pub const fn ftz(self, ftz: bool) -> Mode {
        Mode { ftz, ..self }
    }

    /// The same with `.sat` on or off.
    pub const fn sat(self, sat: bool) -> Mode {
        Mode { sat, ..self }
    }
}
