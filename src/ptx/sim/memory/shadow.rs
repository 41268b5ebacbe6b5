//! Who touched what: per granule of a block the last writer, two readers and the last atomic access.
//!
//! A visit is known by a tag: CTA, barrier interval of the CTA, clock of the warp, thread. The quick test compares tags in
//! bulk; it takes a visit for ordered before another one where the CTA has passed a barrier since, or where it is the same
//! thread. What fails the quick test is a suspect, and whoever asks decides with what else it knows (see `order`).

use super::super::lanes::{Longs, lanes};
use super::column::{Column, LINE, Part, Run, crowd, note_reader};
use super::tag::{Order, Tag};

/// A granule is a word until something narrower is accessed, then a byte.
const WORD: u32 = 2;

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

    fn columns(&mut self) -> [&mut Column; 4] {
        [&mut self.wrote, &mut self.read, &mut self.also, &mut self.atomic]
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.columns().into_iter().for_each(Column::clear);
    }

    /// Forgets what the CTA of that tag did.
    pub fn forget(&mut self, of: Tag) {
        self.columns()
            .into_iter()
            .for_each(|column| column.forget(|tag| of.same_cta(tag)));
    }

    /// Whether anybody has stored to these bytes since the launch began.
    #[inline(always)]
    pub fn is_stored(&self, at: usize, len: usize) -> bool {
        let first = at >> self.shift;
        let count = ((at + len - 1) >> self.shift) + 1 - first;
        self.wrote.is_visited(first, count) || self.atomic.is_visited(first, count)
    }

    /// Who stored to a byte last, and where in the program.
    pub fn writer(&self, at: usize) -> Option<(Tag, u32)> {
        let (tag, pc) = self.wrote.at(at >> self.shift);
        (tag != 0).then_some((Tag(tag), pc))
    }

    #[inline(always)]
    fn granules(&self) -> usize {
        (self.len >> self.shift) + 1
    }

    /// Makes granules bytes.
    #[cold]
    fn refine(&mut self) {
        let (shift, granules) = (self.shift, self.len + 1);
        self.columns()
            .into_iter()
            .for_each(|column| column.refine(shift, granules));
        self.shift = 0;
    }

    /// Makes granules bytes where those of one of these are; gives the bytes of a granule.
    pub fn align(all: &mut [&mut Shadow]) -> usize {
        let least = all.iter().map(|shadow| shadow.shift).min().unwrap_or(WORD);
        for shadow in all.iter_mut().filter(|shadow| shadow.shift > least) {
            shadow.refine();
        }
        1 << least
    }

    /// Lines of granules.
    pub fn lines(&self) -> usize {
        self.granules() / LINE + 1
    }

    /// Which granules of a line have been stored to, and which have been read.
    #[inline]
    pub fn visited(&self, line: usize) -> (u32, u32) {
        (
            self.wrote.visited(line) | self.atomic.visited(line),
            self.read.visited(line),
        )
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

    /// Notes that each lane of a mask reads that many bytes at its place, if the quick test clears them all; else notes
    /// nothing. `me` is the tag of lane 0.
    #[inline(always)]
    pub fn read_each(&mut self, places: &Longs, mask: u32, bytes: usize, me: Tag, pc: u32) -> bool {
        let (shift, granules, order) = (self.shift, self.granules(), Order::new(me));
        let count = bytes >> shift;
        let part = |lane: usize| Part::of_lane(places[lane] as usize >> shift, count, Tag(me.0 + lane as u64));
        let (mut last, mut low) = (0, 0);
        for (lane, place) in places.iter().enumerate() {
            let at = if mask >> lane & 1 != 0 { *place } else { 0 };
            (last, low) = (at.max(last), low | at);
        }
        let fine = bytes.is_power_of_two()
            && (1..=LINE).contains(&count)
            && low & (bytes as u64 - 1) == 0
            && (last as usize >> shift) + count <= granules;
        if !fine || (!self.is_all_read() && !lanes(mask).all(|lane| self.is_unwritten(part(lane), order))) {
            return false;
        }
        self.read.grow(granules);
        self.also.grow(granules);
        for lane in lanes(mask) {
            note_reader(&mut self.read, &mut self.also, part(lane), order, pc);
        }
        true
    }

    #[inline(always)]
    fn is_unwritten(&self, part: Part, order: Order) -> bool {
        self.wrote.is_part_clear(part, order) && self.atomic.is_part_clear(part, order)
    }

    /// Whether nobody has stored anything since the launch began.
    #[inline(always)]
    pub fn is_all_read(&self) -> bool {
        self.wrote.is_unused() && self.atomic.is_unused()
    }

    #[inline(always)]
    fn note_read(&mut self, run: Run, me: Tag, pc: u32) -> Vec<Suspect> {
        let suspect = !self.wrote.is_clear(run, me) || !self.atomic.is_clear(run, me);
        let found = if suspect {
            self.suspects(&[Visit::Write, Visit::Atomic], run, me)
        } else {
            Vec::new()
        };
        self.read.grow(self.granules());
        if self.read.is_clear(run, me) {
            self.read.set(run, me, pc);
        } else {
            self.also.grow(self.granules());
            crowd(&mut self.read, &mut self.also, run, me, pc);
        }
        found
    }

    #[inline(always)]
    fn note_write(&mut self, run: Run, me: Tag, pc: u32) -> Vec<Suspect> {
        let fine = self.wrote.is_clear(run, me)
            && self.read.is_clear(run, me)
            && self.also.is_clear(run, me)
            && self.atomic.is_clear(run, me);
        let found = if fine {
            Vec::new()
        } else {
            self.suspects(&[Visit::Write, Visit::Read, Visit::Atomic], run, me)
        };
        self.wrote.grow(self.granules());
        self.wrote.set(run, me, pc);
        found
    }

    #[inline(always)]
    fn note_atomic(&mut self, run: Run, me: Tag, pc: u32) -> Vec<Suspect> {
        let fine = self.wrote.is_clear(run, me) && self.read.is_clear(run, me) && self.also.is_clear(run, me);
        let found = if fine {
            Vec::new()
        } else {
            self.suspects(&[Visit::Write, Visit::Read], run, me)
        };
        self.atomic.grow(self.granules());
        self.atomic.set(run, me, pc);
        found
    }

    #[cold]
    #[inline(never)]
    fn suspects(&self, kinds: &[Visit], run: Run, me: Tag) -> Vec<Suspect> {
        let order = Order::new(me);
        let mut found = Vec::new();
        for nth in 0..run.count {
            let mine = me.0 + (nth >> run.per) as u64;
            for kind in kinds {
                let columns: &[&Column] = match kind {
                    Visit::Read => &[&self.read, &self.also],
                    Visit::Write => &[&self.wrote],
                    Visit::Atomic => &[&self.atomic],
                };
                for column in columns {
                    let (earlier, pc) = column.at(run.first + nth);
                    if !order.before(earlier, mine) {
                        found.push(Suspect {
                            at: (run.first + nth) << self.shift,
                            earlier: Tag(earlier),
                            pc,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(epoch: u32, thread: u32) -> Tag {
        Tag::new(3, epoch, 5, thread)
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
