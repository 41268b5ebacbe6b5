//! Sets of a CTA's threads.

/// A set of threads, by linear index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask([u64; 16]);

impl Mask {
    /// The first `count` threads.
    pub fn first(count: u32) -> Self {
        let mut words = [0u64; 16];
        for (at, word) in words.iter_mut().enumerate() {
            let left = u64::from(count).saturating_sub(at as u64 * 64).min(64);
            *word = if left == 64 { u64::MAX } else { (1 << left) - 1 };
        }
        Self(words)
    }

    /// The lanes of a warp that a 32-bit mask names.
    pub fn of_warp(warp: usize, lanes: u32) -> Self {
        let mut words = [0u64; 16];
        if let Some(word) = words.get_mut(warp / 2) {
            *word = u64::from(lanes) << (warp % 2 * 32);
        }
        Self(words)
    }

    /// The lanes of a warp that are in the set.
    pub fn warp(&self, warp: usize) -> u32 {
        self.0.get(warp / 2).map_or(0, |word| (*word >> (warp % 2 * 32)) as u32)
    }

    /// Whether the thread is in the set.
    #[inline]
    pub fn has(&self, thread: usize) -> bool {
        self.0
            .get(thread / 64)
            .is_some_and(|word| word >> (thread % 64) & 1 == 1)
    }

    /// Adds a thread.
    pub fn add(&mut self, thread: usize) {
        if let Some(word) = self.0.get_mut(thread / 64) {
            *word |= 1 << (thread % 64);
        }
    }

    #[inline]
    fn zip(&self, other: &Self, each: impl Fn(u64, u64) -> u64) -> Self {
        let mut words = self.0;
        words
            .iter_mut()
            .zip(other.0)
            .for_each(|(word, other)| *word = each(*word, other));
        Self(words)
    }

    /// Those in both.
    #[inline]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Those in either.
    #[inline]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Those that are not in the other.
    #[inline]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The threads, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        words.into_iter().enumerate().flat_map(|(at, word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let start = Some(word).filter(|word| *word != 0);
            std::iter::successors(start, rest).map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }

    /// The first thread, where there is one.
    pub fn lowest(&self) -> Option<usize> {
        let at = self.0.iter().position(|word| *word != 0)?;
        Some(at * 64 + self.0[at].trailing_zeros() as usize)
    }

    /// The threads for which the predicate holds.
    #[inline]
    pub fn filter(&self, holds: impl Fn(usize) -> bool) -> Self {
        let mut words = self.0;
        for (at, word) in words.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !holds(at * 64 + bit as usize) {
                    *word &= !(1 << bit);
                }
            }
        }
        Self(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_threads() {
        let mask = Mask::first(70);
        assert_eq!(mask.len(), 70);
        assert_eq!(mask.iter().last(), Some(69));
        assert_eq!(
            mask.minus(&Mask::first(64)).iter().collect::<Vec<_>>(),
            [64, 65, 66, 67, 68, 69]
        );
        assert_eq!(Mask::of_warp(1, 5).iter().collect::<Vec<_>>(), [32, 34]);
        assert_eq!(Mask::first(70).warp(2), 0x3f);
        assert!(Mask::default().is_empty());
    }
}
