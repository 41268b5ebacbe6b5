//! Visits: who, when, and which of two surely came first.

const THREAD_BITS: u32 = 10;
const CLOCK_BITS: u32 = 20;
const EPOCH_BITS: u32 = 16;
const EPOCH_AT: u32 = THREAD_BITS + CLOCK_BITS;
const CTA_AT: u32 = EPOCH_AT + EPOCH_BITS;
const CLOCK_MASK: u64 = ((1 << CLOCK_BITS) - 1) << THREAD_BITS;
const LANE_MASK: u64 = 31;

/// The most barrier intervals of a CTA that tags tell apart.
pub const MOST_EPOCHS: u32 = (1 << EPOCH_BITS) - 1;
/// The most clock ticks of a warp that tags tell apart.
pub const MOST_TICKS: u32 = (1 << CLOCK_BITS) - 1;

/// A visit of a thread; zero is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tag(pub(super) u64);

impl Tag {
    /// The tag of a visit. CTAs are told apart by their low 18 bits, of which all ones is taken for all zeros.
    #[inline]
    pub fn new(cta: u64, epoch: u32, clock: u32, thread: u32) -> Self {
        let cta = cta % ((1 << (64 - CTA_AT)) - 1) + 1;
        let (epoch, clock) = (u64::from(epoch.min(MOST_EPOCHS)), u64::from(clock.min(MOST_TICKS)));
        Tag(cta << CTA_AT | epoch << EPOCH_AT | clock << THREAD_BITS | u64::from(thread) & 1023)
    }

    /// The thread's number in its CTA.
    pub fn thread(self) -> u32 {
        (self.0 & 1023) as u32
    }

    /// The CTA's number, as far as the tag tells.
    pub fn cta(self) -> u64 {
        (self.0 >> CTA_AT).wrapping_sub(1)
    }

    /// The barrier interval.
    pub fn epoch(self) -> u32 {
        (self.0 >> EPOCH_AT) as u32 & MOST_EPOCHS
    }

    /// The warp's clock.
    pub fn clock(self) -> u32 {
        ((self.0 & CLOCK_MASK) >> THREAD_BITS) as u32
    }

    /// The warp's number in its CTA.
    pub fn warp(self) -> u32 {
        self.thread() / 32
    }

    /// Whether both are of one CTA.
    pub fn same_cta(self, other: Tag) -> bool {
        (self.0 ^ other.0) >> CTA_AT == 0
    }

    /// Whether both are of one warp.
    pub fn same_warp(self, other: Tag) -> bool {
        self.same_cta(other) && self.warp() == other.warp()
    }
}

/// Whether two visits, neither of them nobody's, are of one warp and one barrier interval.
#[inline(always)]
pub(super) fn together(one: u64, other: u64) -> bool {
    (one ^ other) & !(CLOCK_MASK | LANE_MASK) == 0
}

/// The quick test, for one visitor.
#[derive(Clone, Copy)]
pub(super) struct Order {
    start: u64,
    span: u64,
}

impl Order {
    #[inline(always)]
    pub(super) fn new(me: Tag) -> Self {
        let start = me.0 >> CTA_AT << CTA_AT;
        Order {
            start,
            span: (me.0 >> EPOCH_AT << EPOCH_AT) - start,
        }
    }

    /// Whether there was no earlier visit, or it was in an earlier interval. That is the same for all lanes of a warp.
    #[inline(always)]
    pub(super) fn passed(self, earlier: u64) -> bool {
        (earlier == 0) | (earlier.wrapping_sub(self.start) < self.span)
    }

    /// Whether an earlier visit surely comes before this one: one of an earlier interval, of the same thread, or none.
    #[inline(always)]
    pub(super) fn before(self, earlier: u64, me: u64) -> bool {
        self.passed(earlier) | ((earlier ^ me) & !CLOCK_MASK == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_tells_its_parts() {
        let tag = Tag::new(7, 11, 13, 1023);
        assert_eq!((tag.cta(), tag.epoch(), tag.clock(), tag.thread()), (7, 11, 13, 1023));
        assert!(tag.same_cta(Tag::new(7, 0, 0, 0)) && !tag.same_cta(Tag::new(8, 11, 13, 1023)));
    }
}
