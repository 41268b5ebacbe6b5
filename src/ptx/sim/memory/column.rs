//! One kind of visit: for each granule of a block, who came last and by which instruction.
//!
//! Warps mostly visit whole lines of granules, lane after lane. A line that was last visited so has one entry for all of its
//! granules; only a line of which that is not true has cells, one a granule. Both say the same, at a hundredth of the work.

use super::tag::{Order, Tag, together};

/// Granules of a line, as a power of two.
const LINE_BITS: u32 = 5;
/// Granules of a line.
pub const LINE: usize = 1 << LINE_BITS;

/// Granules side by side that lanes side by side visit, each as many of them.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The first granule.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// Granules of a lane, as a power of two.
    pub per: u32,
}

/// The part of a run in one line.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    line: usize,
    start: usize,
    len: usize,
    /// Who visits its first granule.
    tag: u64,
    /// Granules of a lane, as a power of two.
    per: u32,
    /// Granules of the first lane that lie before it.
    phase: usize,
}

impl Run {
    /// The run, line by line, as visited by lanes from `me` on.
    #[inline(always)]
    pub fn parts(self, me: Tag) -> impl Iterator<Item = Part> {
        let end = self.first + self.count;
        let mut at = self.first;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (line, start, nth) = (at >> LINE_BITS, at % LINE, at - self.first);
            let len = (LINE - start).min(end - at);
            at += len;
            Some(Part {
                line,
                start,
                len,
                tag: me.0 + (nth >> self.per) as u64,
                per: self.per,
                phase: nth & ((1 << self.per) - 1),
            })
        })
    }
}

impl Part {
    /// So many granules that one lane visits; they must lie in one line.
    #[inline(always)]
    pub fn of_lane(first: usize, count: usize, me: Tag) -> Self {
        Part {
            line: first >> LINE_BITS,
            start: first % LINE,
            len: count,
            tag: me.0,
            per: LINE_BITS,
            phase: 0,
        }
    }

    /// Who visits a granule of it.
    #[inline(always)]
    fn visitor(self, nth: usize) -> u64 {
        self.tag + ((self.phase + nth) >> self.per) as u64
    }

    /// Whether one entry can stand for it.
    #[inline(always)]
    fn is_whole(self) -> bool {
        (self.len == LINE) & ((self.phase == 0) | (self.phase + LINE <= 1 << self.per))
    }

    /// Granules of a lane in an entry that stands for it, as a power of two.
    #[inline(always)]
    fn step(self) -> u32 {
        self.per.min(LINE_BITS)
    }
}

/// The visitors of a line.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// Of all granules: who visited the first one, with how many of them to a lane, as a power of two.
    Whole { tag: u64, per: u32 },
    /// Each granule has a cell: where they are.
    Cells(usize),
}

#[derive(Clone, Debug)]
struct Cells {
    tags: [u64; LINE],
    pcs: [u32; LINE],
}

/// The last visits of a kind. What it has not grown to nobody has visited.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Of each line: who visited its first granule, if one entry stands for all.
    tags: Vec<u64>,
    /// Of each line: the instruction, and above it `per`, or the place of the cells after all that `per` can be.
    marks: Vec<u64>,
    cells: Vec<Cells>,
    /// Cells that no line has.
    free: Vec<u32>,
}

/// Places of cells begin behind what `per` can be.
const CELLS: u64 = LINE_BITS as u64 + 1;

impl Column {
    /// Whether nobody has visited anything.
    #[inline(always)]
    pub fn is_unused(&self) -> bool {
        self.tags.is_empty()
    }

    /// Makes room for so many granules.
    #[inline(always)]
    pub fn grow(&mut self, granules: usize) {
        let lines = granules / LINE + 1;
        if self.tags.len() < lines {
            self.grow_to(lines);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow_to(&mut self, lines: usize) {
        if self.tags.is_empty() {
            // Fresh zeros take no memory until they are written.
            (self.tags, self.marks) = (vec![0; lines], vec![0; lines]);
        } else {
            self.tags.resize(lines, 0);
            self.marks.resize(lines, 0);
        }
    }

    /// Forgets everything, and keeps the room.
    pub fn clear(&mut self) {
        self.tags.fill(0);
        self.marks.fill(0);
        self.cells.clear();
        self.free.clear();
    }

    #[inline(always)]
    fn line(&self, at: usize) -> Option<Line> {
        let (tag, link) = (*self.tags.get(at)?, *self.marks.get(at)? >> 32);
        Some(match link {
            per @ ..CELLS => Line::Whole { tag, per: per as u32 },
            link => Line::Cells((link - CELLS) as usize),
        })
    }

    #[inline(always)]
    fn put(&mut self, at: usize, tag: u64, mark: u64) {
        if let (Some(place), Some(other)) = (self.tags.get_mut(at), self.marks.get_mut(at)) {
            (*place, *other) = (tag, mark);
        }
    }

    /// The cells of a line, which has them from now on.
    #[inline(always)]
    fn cells(&mut self, at: usize) -> Option<&mut Cells> {
        let place = match self.line(at)? {
            Line::Cells(place) => place,
            Line::Whole { tag, per } => self.split(at, tag, per),
        };
        self.cells.get_mut(place)
    }

    #[inline(never)]
    fn split(&mut self, at: usize, tag: u64, per: u32) -> usize {
        let pc = self.marks.get(at).map_or(0, |mark| *mark as u32);
        let tags = std::array::from_fn(|nth| if tag == 0 { 0 } else { tag + (nth >> per) as u64 });
        let cells = Cells { tags, pcs: [pc; LINE] };
        let place = match self.free.pop() {
            Some(place) => place as usize,
            None => self.cells.len(),
        };
        match self.cells.get_mut(place) {
            Some(old) => *old = cells,
            None => self.cells.push(cells),
        }
        self.put(at, 0, (place as u64 + CELLS) << 32);
        place
    }

    /// Whether all visits of a run surely come before these.
    #[inline(always)]
    pub fn is_clear(&self, run: Run, me: Tag) -> bool {
        let order = Order::new(me);
        let mut fine = true;
        for part in run.parts(me) {
            fine &= self.is_part_clear(part, order);
        }
        fine
    }

    /// The same for a part of one.
    #[inline(always)]
    pub fn is_part_clear(&self, part: Part, order: Order) -> bool {
        match self.line(part.line) {
            None => true,
            Some(Line::Whole { tag, per }) => order.passed(tag) || is_after(tag, per, part, order),
            Some(Line::Cells(place)) => {
                let cells = self.cells.get(place);
                let Some(tags) = cells.and_then(|cells| cells.tags.get(part.start..part.start + part.len)) else {
                    return true;
                };
                let mut fine = true;
                for (nth, tag) in tags.iter().enumerate() {
                    fine &= order.before(*tag, part.visitor(nth));
                }
                fine
            }
        }
    }

    /// Notes a run.
    #[inline(always)]
    pub fn set(&mut self, run: Run, me: Tag, pc: u32) {
        for part in run.parts(me) {
            self.set_part(part, pc);
        }
    }

    #[inline(always)]
    fn set_part(&mut self, part: Part, pc: u32) {
        if part.is_whole() {
            if let Some(Line::Cells(place)) = self.line(part.line) {
                self.free.push(place as u32);
            }
            return self.put(part.line, part.tag, u64::from(part.step()) << 32 | u64::from(pc));
        }
        let Some(cells) = self.cells(part.line) else { return };
        let range = part.start..part.start + part.len;
        if let Some(tags) = cells.tags.get_mut(range.clone()) {
            for (nth, tag) in tags.iter_mut().enumerate() {
                *tag = part.visitor(nth);
            }
        }
        if let Some(pcs) = cells.pcs.get_mut(range) {
            pcs.fill(pc);
        }
    }

    /// Who visited a granule of a line that has cells.
    #[inline(always)]
    fn tag(&self, line: usize, nth: usize) -> Option<u64> {
        match self.line(line)? {
            Line::Cells(place) => self.cells.get(place)?.tags.get(nth).copied(),
            Line::Whole { .. } => None,
        }
    }

    /// Who visited a granule, and by which instruction.
    pub fn at(&self, granule: usize) -> (u64, u32) {
        let (line, nth) = (granule / LINE, granule % LINE);
        match self.line(line) {
            None | Some(Line::Whole { tag: 0, .. }) => (0, 0),
            Some(Line::Whole { tag, per }) => {
                let pc = self.marks.get(line).map_or(0, |mark| *mark as u32);
                (tag + (nth >> per) as u64, pc)
            }
            Some(Line::Cells(place)) => self
                .cells
                .get(place)
                .map_or((0, 0), |cells| (cells.tags[nth], cells.pcs[nth])),
        }
    }

    /// Which granules of a line anybody has visited.
    #[inline]
    pub fn visited(&self, line: usize) -> u32 {
        match self.line(line) {
            None | Some(Line::Whole { tag: 0, .. }) => 0,
            Some(Line::Whole { .. }) => u32::MAX,
            Some(Line::Cells(place)) => {
                let cells = self.cells.get(place).map(|cells| cells.tags.iter().enumerate());
                let bits = cells.into_iter().flatten();
                bits.fold(0, |set, (nth, tag)| set | u32::from(*tag != 0) << nth)
            }
        }
    }

    /// Whether anybody has visited one of these granules.
    #[inline(always)]
    pub fn is_visited(&self, first: usize, count: usize) -> bool {
        let run = Run { first, count, per: 0 };
        run.parts(Tag(0)).any(|part| match self.line(part.line) {
            None => false,
            Some(Line::Whole { tag, .. }) => tag != 0,
            Some(Line::Cells(place)) => {
                let cells = self.cells.get(place);
                let tags = cells.and_then(|cells| cells.tags.get(part.start..part.start + part.len));
                tags.into_iter().flatten().any(|tag| *tag != 0)
            }
        })
    }

    /// Forgets the visits of some.
    pub fn forget(&mut self, doomed: impl Fn(Tag) -> bool) {
        let cells = self.cells.iter_mut().flat_map(|cells| &mut cells.tags);
        for tag in self.tags.iter_mut().chain(cells) {
            if *tag != 0 && doomed(Tag(*tag)) {
                *tag = 0;
            }
        }
    }

    /// Makes several granules of each.
    pub fn refine(&mut self, shift: u32, granules: usize) {
        let old = std::mem::take(self);
        if old.tags.is_empty() {
            return;
        }
        self.grow(granules);
        for (at, tag) in old.tags.iter().enumerate() {
            match old.line(at) {
                Some(Line::Whole { per, .. }) if *tag != 0 => {
                    let pc = old.marks.get(at).map_or(0, |mark| *mark as u32);
                    for part in 0..1usize << shift {
                        let tag = tag + ((part << (LINE_BITS - shift)) >> per) as u64;
                        let per = (per + shift).min(LINE_BITS);
                        self.put((at << shift) + part, tag, u64::from(per) << 32 | u64::from(pc));
                    }
                }
                Some(Line::Cells(_)) => self.refine_cells(&old, at, shift),
                _ => {}
            }
        }
    }

    fn refine_cells(&mut self, old: &Column, line: usize, shift: u32) {
        for granule in line * LINE..(line + 1) * LINE {
            let (tag, pc) = old.at(granule);
            for new in granule << shift..(granule + 1) << shift {
                if let Some(cells) = self.cells(new / LINE) {
                    (cells.tags[new % LINE], cells.pcs[new % LINE]) = (tag, pc);
                }
            }
        }
    }
}

/// Whether the visit of a whole line surely comes before one of its parts, by other reasons than that the CTA has passed a barrier.
#[inline(always)]
fn is_after(tag: u64, per: u32, part: Part, order: Order) -> bool {
    if (per == part.step()) & part.is_whole() {
        return order.before(tag, part.tag);
    }
    let mut fine = true;
    for nth in 0..part.len {
        fine &= order.before(tag + ((part.start + nth) >> per) as u64, part.visitor(nth));
    }
    fine
}

/// Notes a reader of some granules of one line; all of them are that lane's.
#[inline(always)]
pub fn note_reader(first: &mut Column, second: &mut Column, part: Part, order: Order, pc: u32) {
    let (range, mine) = (part.start..part.start + part.len, part.tag);
    let Some(Line::Cells(place)) = first.line(part.line) else {
        if first.is_part_clear(part, order) {
            first.set_part(part, pc);
        } else if !crowd_line(first, second, part, order, pc) {
            crowd_cells(first, second, part, order, pc);
        }
        return;
    };
    let cells = first.cells.get_mut(place);
    let Some((tags, pcs)) =
        cells.and_then(|cells| Some((cells.tags.get_mut(range.clone())?, cells.pcs.get_mut(range)?)))
    else {
        return;
    };
    let mut fine = true;
    for tag in tags.iter() {
        fine &= order.before(*tag, mine);
    }
    if fine {
        tags.fill(mine);
        pcs.fill(pc);
        return;
    }
    // Two lanes of the warp have often read it already, and stand for all.
    let known = second.tag(part.line, part.start);
    if let ([tag], Some(known)) = (&*tags, known)
        && place_of(*tag, known, mine, order).is_none()
    {
        return;
    }
    crowd_cells(first, second, part, order, pc);
}

/// Notes readers where others have read in the same interval: two are kept, of different warps where there are.
pub fn crowd(first: &mut Column, second: &mut Column, run: Run, me: Tag, pc: u32) {
    let order = Order::new(me);
    for part in run.parts(me) {
        if !crowd_line(first, second, part, order, pc) {
            crowd_cells(first, second, part, order, pc);
        }
    }
}

/// Which of the two a reader takes the place of.
#[inline(always)]
fn place_of(first: u64, second: u64, mine: u64, order: Order) -> Option<bool> {
    if order.before(first, mine) {
        return Some(false);
    }
    let is_free = !together(first, mine) || order.before(second, mine) || together(second, mine);
    is_free.then_some(true)
}

/// The same for a line as a whole, where what holds for its first granule holds for all.
#[inline(always)]
fn crowd_line(first: &mut Column, second: &mut Column, part: Part, order: Order, pc: u32) -> bool {
    let alike = |column: &Column| match column.line(part.line) {
        Some(Line::Whole { tag, per }) if order.passed(tag) || per == part.step() => Some(tag),
        _ => None,
    };
    let (true, Some(one), Some(other)) = (part.is_whole(), alike(first), alike(second)) else {
        return false;
    };
    match place_of(one, other, part.tag, order) {
        Some(false) => first.set_part(part, pc),
        Some(true) => second.set_part(part, pc),
        None => {}
    }
    true
}

fn crowd_cells(first: &mut Column, second: &mut Column, part: Part, order: Order, pc: u32) {
    let (Some(first), Some(second)) = (first.cells(part.line), second.cells(part.line)) else {
        return;
    };
    for nth in 0..part.len {
        let (at, mine) = ((part.start + nth) % LINE, part.visitor(nth));
        match place_of(first.tags[at], second.tags[at], mine, order) {
            Some(false) => (first.tags[at], first.pcs[at]) = (mine, pc),
            Some(true) => (second.tags[at], second.pcs[at]) = (mine, pc),
            None => {}
        }
    }
}
