//! Operands that find mistakes: reproducible, half of them near a border.

/// SplitMix64.
pub(super) struct Cases(u64);

/// How many cases a test tries: `PTXGEN_NUM_CASES` of them, or the number given.
pub(super) fn count(default: u64) -> u64 {
    let set = std::option_env!("PTXGEN_NUM_CASES").and_then(|text| text.parse().ok());
    set.unwrap_or(default)
}

impl Cases {
    pub(super) fn new(seed: u64) -> Cases {
        Cases(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// An integer with long runs of equal bits more often than not.
    pub(super) fn int(&mut self) -> u64 {
        let x = self.next();
        let shift = self.below(64);
        match self.below(5) {
            0 => x,
            1 => x >> shift,
            2 => ((x as i64) >> shift) as u64,
            3 => (1u64 << shift).wrapping_add(self.below(3)).wrapping_sub(1),
            _ => self.below(9).wrapping_sub(4),
        }
    }

    /// The bits of a number with that many exponent and fraction bits.
    pub(super) fn float(&mut self, exponent: u32, fraction: u32) -> u64 {
        let top = (1u64 << exponent) - 1;
        let field = match self.below(8) {
            0 => 0,
            1 => self.below(3),
            2 => top - self.below(3),
            3..=5 => top / 2 + self.below(2 * u64::from(fraction) + 4) - u64::from(fraction) - 2,
            _ => self.below(top + 1),
        }
        .min(top);
        let ones = (1u64 << fraction) - 1;
        let mantissa = match self.below(4) {
            0 => self.int() & ones,
            1 => !self.below(4) & ones,
            _ => self.next() & ones,
        };
        (self.next() & 1) << (exponent + fraction) | field << fraction | mantissa
    }

    /// A number close to another: sums cancel.
    pub(super) fn near(&mut self, a: u64, exponent: u32, fraction: u32) -> u64 {
        let sign = 1u64 << (exponent + fraction);
        let moved = (a ^ sign).wrapping_add(self.below(9)).wrapping_sub(4) & (sign | (sign - 1));
        match self.below(3) {
            0 => moved,
            1 => a ^ sign ^ (self.below(3) << fraction),
            _ => self.float(exponent, fraction),
        }
    }
}
