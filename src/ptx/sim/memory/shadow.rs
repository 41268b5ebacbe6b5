//! Who touched what: per granule of a block the last writer, two readers and the last atomic access.
//!
//! A visit is known by a tag: CTA, barrier interval of the CTA, clock of the warp, thread. The quick test compares tags in
//! bulk; it takes a visit for ordered before another one where the CTA has passed a barrier since, or where it is the same
//! thread. What fails the quick test is a suspect, and whoever asks decides with what else it knows (see `order`).

/// A granule is a word until something narrower is accessed, then a byte.
const WORD: u32 = 2;

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
pub struct Tag(u64);

impl Tag {
    /// The tag of a visit. CTAs are told apart by their low 18 bits, of which all ones is taken for all zeros.
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

    #[inline(always)]
    fn lane(self, lane: u64) -> u64 {
        self.0 + lane
    }
}

/// What a visitor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads or writes in a way that concurrent accesses of the same kind do not mind.
    Atomic,
}

/// A visit that has not been shown to come after an earlier one.
#[derive(Clone, Copy, Debug)]
pub struct Suspect {
    /// First byte in the block.
    pub at: usize,
    /// The earlier visit.
    pub earlier: Tag,
    /// Where in the program it was.
    pub pc: u32,
    /// What it did.
    pub kind: Visit,
    /// The visit at hand.
    pub later: Tag,
}

#[derive(Clone, Debug, Default)]
struct Column {
    tags: Vec<u64>,
    pcs: Vec<u32>,
}

impl Column {
    fn grow(&mut self, len: usize) {
        if self.tags.len() < len {
            self.tags.resize(len, 0);
            self.pcs.resize(len, 0);
        }
    }

    fn split(&mut self, factor: usize) {
        self.tags = spread(&self.tags, factor);
        self.pcs = spread(&self.pcs, factor);
    }

    fn forget(&mut self, doomed: impl Fn(u64) -> bool) {
        self.tags
            .iter_mut()
            .filter(|tag| doomed(**tag))
            .for_each(|tag| *tag = 0);
    }
}

fn spread<T: Copy>(entries: &[T], factor: usize) -> Vec<T> {
    entries
        .iter()
        .flat_map(|entry| std::iter::repeat_n(*entry, factor))
        .collect()
}

/// The visits of one block.
#[derive(Clone, Debug)]
pub struct Shadow {
    /// Length of the block in bytes.
    len: usize,
    /// Bytes of a granule, as a power of two.
    shift: u32,
    wrote: Column,
    read: Column,
    /// A reader that is not `read`, of another warp if there was one.
    also: Column,
    atomic: Column,
}

/// The quick test, for one visitor.
#[derive(Clone, Copy)]
struct Order {
    start: u64,
    span: u64,
}

impl Order {
    #[inline(always)]
    fn new(me: Tag) -> Self {
        let start = me.0 >> CTA_AT << CTA_AT;
        Order {
            start,
            span: (me.0 >> EPOCH_AT << EPOCH_AT) - start,
        }
    }

    /// Whether an earlier visit surely comes before this one: one of an earlier interval, of the same thread, or none.
    #[inline(always)]
    fn before(self, earlier: u64, me: u64) -> bool {
        (earlier == 0) | (earlier.wrapping_sub(self.start) < self.span) | ((earlier ^ me) & !CLOCK_MASK == 0)
    }
}

/// A run of granules: `per` of them for each lane, one lane after another.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    count: usize,
    /// Granules of a lane, as a power of two.
    per: u32,
}

impl Shadow {
    /// Of a block of that many bytes that nobody has touched.
    pub fn new(len: usize) -> Self {
        Shadow {
            len,
            shift: WORD,
            wrote: Column::default(),
            read: Column::default(),
            also: Column::default(),
            atomic: Column::default(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        for column in [&mut self.wrote, &mut self.read, &mut self.also, &mut self.atomic] {
            column.forget(|_| true);
        }
    }

    /// Forgets what the CTA of that tag did.
    pub fn forget(&mut self, of: Tag) {
        for column in [&mut self.wrote, &mut self.read, &mut self.also, &mut self.atomic] {
            column.forget(|tag| of.same_cta(Tag(tag)));
        }
    }

    /// Whether anybody has stored to these bytes since the launch began.
    #[inline(always)]
    pub fn is_stored(&self, at: usize, len: usize) -> bool {
        let range = at >> self.shift..((at + len - 1) >> self.shift) + 1;
        let stored = |column: &Column| {
            column
                .tags
                .get(range.clone())
                .is_some_and(|tags| tags.iter().any(|tag| *tag != 0))
        };
        stored(&self.wrote) || stored(&self.atomic)
    }

    /// Who stored to a byte last, and where in the program.
    pub fn writer(&self, at: usize) -> Option<(Tag, u32)> {
        let at = at >> self.shift;
        let tag = *self.wrote.tags.get(at)?;
        (tag != 0).then(|| (Tag(tag), self.wrote.pcs.get(at).copied().unwrap_or(0)))
    }

    fn granules(&self) -> usize {
        (self.len >> self.shift) + 1
    }

    /// Makes granules bytes.
    #[cold]
    fn refine(&mut self) {
        let factor = 1 << self.shift;
        for column in [&mut self.wrote, &mut self.read, &mut self.also, &mut self.atomic] {
            column.split(factor);
        }
        self.shift = 0;
    }

    /// Notes a visit of `bytes` bytes a lane at `at`, by `count` lanes side by side from the one of the tag on.
    /// Returns what the quick test does not clear.
    #[inline(always)]
    pub fn visit(&mut self, kind: Visit, at: usize, bytes: usize, count: usize, me: Tag, pc: u32) -> Vec<Suspect> {
        if self.shift != 0 && (at | bytes) & 3 != 0 {
            self.refine();
        }
        let per = (bytes >> self.shift).trailing_zeros();
        let run = Run {
            first: at >> self.shift,
            count: count << per,
            per,
        };
        if run.first + run.count > self.granules() {
            return Vec::new();
        }
        match kind {
            Visit::Read => self.note_read(run, me, pc),
            Visit::Write => self.note_write(run, me, pc),
            Visit::Atomic => self.note_atomic(run, me, pc),
        }
    }

    #[inline(always)]
    fn note_read(&mut self, run: Run, me: Tag, pc: u32) -> Vec<Suspect> {
        let suspect = !clear(&self.wrote, run, me) || !clear(&self.atomic, run, me);
        let found = if suspect {
            self.suspects(&[Visit::Write, Visit::Atomic], run, me)
        } else {
            Vec::new()
        };
        self.read.grow(self.granules());
        if clear(&self.read, run, me) {
            set(&mut self.read, run, me, pc);
        } else {
            self.crowd(run, me, pc);
        }
        found
    }

    #[inline(always)]
    fn note_write(&mut self, run: Run, me: Tag, pc: u32) -> Vec<Suspect> {
        let fine = clear(&self.wrote, run, me)
            && clear(&self.read, run, me)
            && clear(&self.also, run, me)
            && clear(&self.atomic, run, me);
        let found = if fine {
            Vec::new()
        } else {
            self.suspects(&[Visit::Write, Visit::Read, Visit::Atomic], run, me)
        };
        self.wrote.grow(self.granules());
        set(&mut self.wrote, run, me, pc);
        found
    }

    #[inline(always)]
    fn note_atomic(&mut self, run: Run, me: Tag, pc: u32) -> Vec<Suspect> {
        let fine = clear(&self.wrote, run, me) && clear(&self.read, run, me) && clear(&self.also, run, me);
        let found = if fine {
            Vec::new()
        } else {
            self.suspects(&[Visit::Write, Visit::Read], run, me)
        };
        self.atomic.grow(self.granules());
        set(&mut self.atomic, run, me, pc);
        found
    }

    /// Notes readers where others have read in the same interval: two are kept, of different warps where there are.
    #[inline(never)]
    fn crowd(&mut self, run: Run, me: Tag, pc: u32) {
        self.also.grow(self.granules());
        let order = Order::new(me);
        for nth in 0..run.count {
            let at = run.first + nth;
            let mine = me.lane((nth >> run.per) as u64);
            let (first, second) = (self.read.tags[at], self.also.tags[at]);
            if order.before(first, mine) {
                (self.read.tags[at], self.read.pcs[at]) = (mine, pc);
                continue;
            }
            let warp = |tag: u64| tag & !(CLOCK_MASK | LANE_MASK);
            let other_warp = warp(first) != warp(mine);
            if other_warp || order.before(second, mine) || warp(second) == warp(mine) {
                (self.also.tags[at], self.also.pcs[at]) = (mine, pc);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn suspects(&self, kinds: &[Visit], run: Run, me: Tag) -> Vec<Suspect> {
        let order = Order::new(me);
        let mut found = Vec::new();
        for nth in 0..run.count {
            let mine = me.lane((nth >> run.per) as u64);
            for kind in kinds {
                let columns: &[&Column] = match kind {
                    Visit::Read => &[&self.read, &self.also],
                    Visit::Write => &[&self.wrote],
                    Visit::Atomic => &[&self.atomic],
                };
                for column in columns {
                    let Some(earlier) = column.tags.get(run.first + nth).copied() else {
                        continue;
                    };
                    if !order.before(earlier, mine) {
                        found.push(Suspect {
                            at: (run.first + nth) << self.shift,
                            earlier: Tag(earlier),
                            pc: column.pcs[run.first + nth],
                            kind: *kind,
                            later: Tag(mine),
                        });
                    }
                }
            }
        }
        found
    }
}

/// Whether all visits of a column surely come before this one.
#[inline(always)]
fn clear(column: &Column, run: Run, me: Tag) -> bool {
    let Some(tags) = column.tags.get(run.first..run.first + run.count) else {
        return true;
    };
    let order = Order::new(me);
    let mut fine = true;
    let mut nth = 0;
    while nth < tags.len() {
        fine &= order.before(tags[nth], me.lane((nth >> run.per) as u64));
        nth += 1;
    }
    fine
}

#[inline(always)]
fn set(column: &mut Column, run: Run, me: Tag, pc: u32) {
    let range = run.first..run.first + run.count;
    if let Some(tags) = column.tags.get_mut(range.clone()) {
        let mut nth = 0;
        while nth < tags.len() {
            tags[nth] = me.lane((nth >> run.per) as u64);
            nth += 1;
        }
    }
    if let Some(pcs) = column.pcs.get_mut(range) {
        pcs.fill(pc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(epoch: u32, thread: u32) -> Tag {
        Tag::new(3, epoch, 5, thread)
    }

    #[test]
    fn a_tag_tells_its_parts() {
        let tag = Tag::new(7, 11, 13, 1023);
        assert_eq!((tag.cta(), tag.epoch(), tag.clock(), tag.thread()), (7, 11, 13, 1023));
        assert!(tag.same_cta(Tag::new(7, 0, 0, 0)) && !tag.same_cta(Tag::new(8, 11, 13, 1023)));
    }

    #[test]
    fn a_barrier_orders_and_nothing_else_does() {
        let mut shadow = Shadow::new(64);
        assert!(shadow.visit(Visit::Write, 0, 4, 8, tag(1, 0), 1).is_empty());
        assert!(
            shadow.visit(Visit::Read, 4, 4, 1, tag(1, 1), 2).is_empty(),
            "its own word"
        );
        let found = shadow.visit(Visit::Read, 4, 4, 1, tag(1, 0), 2);
        assert_eq!((found.len(), found[0].earlier.thread(), found[0].pc), (1, 1, 1));
        assert!(shadow.visit(Visit::Read, 4, 4, 1, tag(2, 0), 2).is_empty());
        assert_eq!(
            shadow.visit(Visit::Read, 8, 4, 1, Tag::new(4, 9, 0, 2), 2).len(),
            1,
            "another CTA"
        );
    }

    #[test]
    fn one_of_many_readers_is_found() {
        let mut shadow = Shadow::new(64);
        for thread in 0..4 {
            assert!(shadow.visit(Visit::Read, 0, 4, 1, tag(1, thread), 0).is_empty());
        }
        for thread in 0..4 {
            assert!(
                !shadow
                    .clone()
                    .visit(Visit::Write, 0, 4, 1, tag(1, thread), 0)
                    .is_empty()
            );
        }
        assert!(shadow.visit(Visit::Write, 0, 4, 1, tag(2, 0), 0).is_empty());
    }

    #[test]
    fn bytes_of_a_word_are_told_apart() {
        let mut shadow = Shadow::new(64);
        assert!(shadow.visit(Visit::Write, 0, 1, 4, tag(1, 0), 0).is_empty());
        assert!(!shadow.visit(Visit::Write, 0, 4, 1, tag(1, 9), 0).is_empty());
        let mut shadow = Shadow::new(64);
        assert!(shadow.visit(Visit::Write, 0, 4, 1, tag(1, 0), 0).is_empty());
        assert!(shadow.visit(Visit::Write, 4, 1, 1, tag(1, 1), 0).is_empty());
        assert!(!shadow.visit(Visit::Write, 3, 1, 1, tag(1, 1), 0).is_empty());
    }
}
