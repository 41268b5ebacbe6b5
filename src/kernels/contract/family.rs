//! Inputs: random, each family hard in its own way, the same for the same seed everywhere.

use super::reference::Kind;
use super::words;

words! {
    /// What inputs are like. What is said of one input is said of the reference's first one; the others are normal.
    Family {
        /// Normally distributed, factors around 1.
        Normal "normal",
        /// All data a thousandth of that.
        Small "small",
        /// All data a thousand times that.
        Large "large",
        /// Magnitudes from 1e-3 to 1e3 in one input.
        Spread "spread",
        /// One element of each row is a thousand times the others.
        Outlier "outlier",
        /// Only the first element of each row is not 0.
        First "first",
        /// Only the last element of each row is not 0.
        Last "last",
        /// All elements of a row are the same.
        Constant "constant",
        /// All data of one input are 0, and some scales.
        Zeros "zeros",
        /// One element is NaN.
        Nan "nan",
        /// One element is infinite.
        Infinite "infinite",
    }
}

/// A generator of random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Evenly from 0 to 1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        ((self.unit() * end as f64) as usize).min(end.saturating_sub(1))
    }

    /// Nearly normal, between -6 and 6: a sum of twelve, so that no library function is in it.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

impl Family {
    /// Whether its inputs are finite.
    pub const fn is_finite(self) -> bool {
        !matches!(self, Family::Nan | Family::Infinite)
    }

    /// The values of an input of `len` elements in rows of `row`; `first` says whether it is the reference's first one.
    pub fn values(self, kind: Kind, first: bool, len: usize, row: usize, random: &mut Random) -> Vec<f64> {
        match kind {
            Kind::Data => self.data(first, len, row.max(1), random),
            Kind::Weight => (0..len).map(|_| 1.0 + 0.5 * random.normal()).collect(),
            Kind::Scale => (0..len).map(|at| self.scale(at, random)).collect(),
            Kind::Codes => self.codes(len, random),
            Kind::Derived => Vec::new(),
        }
    }

    fn scale(self, at: usize, random: &mut Random) -> f64 {
        let scale = 0.01 + random.unit();
        if self == Family::Zeros && at.is_multiple_of(3) {
            0.0
        } else {
            scale
        }
    }

    fn codes(self, len: usize, random: &mut Random) -> Vec<f64> {
        (0..len)
            .map(|at| match self {
                // Every code in turn, in both halves.
                Family::Constant => (at * 17 % 256) as f64,
                _ => (random.bits() & 255) as f64,
            })
            .collect()
    }

    fn data(self, first: bool, len: usize, row: usize, random: &mut Random) -> Vec<f64> {
        let mut values: Vec<f64> = (0..len).map(|_| random.normal()).collect();
        match self {
            Family::Small => values.iter_mut().for_each(|value| *value *= 1e-3),
            Family::Large => values.iter_mut().for_each(|value| *value *= 1e3),
            Family::Normal => {}
            _ if first => self.bend(&mut values, row, random),
            _ => {}
        }
        values
    }

    /// What makes the first input special.
    fn bend(self, values: &mut [f64], row: usize, random: &mut Random) {
        let len = values.len();
        match self {
            Family::Spread => values
                .iter_mut()
                .for_each(|value| *value *= 10f64.powi(random.below(7) as i32 - 3)),
            Family::Zeros => values.fill(0.0),
            Family::Nan if len > 0 => values[random.below(len)] = f64::NAN,
            Family::Infinite if len > 0 => values[random.below(len)] = f64::INFINITY,
            _ => {}
        }
        for row in values.chunks_mut(row) {
            let last = row.len() - 1;
            match self {
                Family::Outlier => row[random.below(last + 1)] *= 1e3,
                Family::First => row[1..].fill(0.0),
                Family::Last => row[..last].fill(0.0),
                Family::Constant => row.fill(row[0]),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_what_they_say_and_repeat() {
        let values = |family: Family| family.values(Kind::Data, true, 12, 4, &mut Random::new(7));
        assert_eq!(values(Family::Normal), values(Family::Normal));
        assert_eq!(values(Family::First).iter().filter(|value| **value != 0.0).count(), 3);
        assert!(values(Family::Last)[..3].iter().all(|value| *value == 0.0));
        assert!(values(Family::Zeros).iter().all(|value| *value == 0.0));
        assert_eq!(values(Family::Nan).iter().filter(|value| value.is_nan()).count(), 1);
        assert_eq!(
            values(Family::Infinite)
                .iter()
                .filter(|value| value.is_infinite())
                .count(),
            1
        );
        let large = values(Family::Large);
        assert!(
            large
                .iter()
                .zip(values(Family::Normal))
                .all(|(large, normal)| *large == normal * 1e3)
        );
        let mean = Family::Normal
            .values(Kind::Data, true, 4096, 1, &mut Random::new(1))
            .iter()
            .sum::<f64>()
            / 4096.0;
        assert!(mean.abs() < 0.1, "{mean}");
    }
}
