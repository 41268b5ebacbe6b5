//! Tensor memory: 128 lanes of 512 columns of 32 bits for each CTA, which warps take and give back by columns.

use super::super::fault::{Fault, codes};
use super::super::lanes::Slot;
use super::super::program::{TensorMemory, TensorShape};
use super::copies::{Kind, WHOLE};
use super::state::{Ctx, Split};
use crate::ptx::diag::Level;

/// Lanes.
pub const LANES: u32 = 128;
/// Columns.
pub const COLUMNS: u32 = 512;
/// Columns that are taken together.
const UNIT: u32 = 32;

/// Columns of a CTA that were taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    first: u32,
    count: u32,
    /// Where.
    pub pc: u32,
    /// By whom.
    pub thread: u32,
}

/// Columns that an instruction under way writes.
#[derive(Clone, Copy, Debug)]
pub struct Writing {
    first: u32,
    count: u32,
    pc: u32,
    /// Who started it.
    pub thread: u32,
    /// The commit that tells when it is over.
    pub commit: Option<u64>,
}

/// The tensor memory of a CTA.
#[derive(Clone, Debug, Default)]
pub struct Tensors {
    /// Lane after lane; nothing until it is first taken.
    cells: Vec<u32>,
    written: Vec<bool>,
    /// What is taken.
    pub taken: Vec<Taken>,
    relinquished: bool,
    /// What is being written.
    pub writing: Vec<Writing>,
    /// Commits so far.
    pub commits: u64,
}

impl Tensors {
    fn place(lane: u32, column: u32) -> usize {
        (lane % LANES * COLUMNS + column % COLUMNS) as usize
    }

    /// What a cell holds.
    pub fn read(&self, lane: u32, column: u32) -> u32 {
        self.cells.get(Self::place(lane, column)).copied().unwrap_or(0)
    }

    /// Whether a cell has been written since it was taken.
    pub fn is_written(&self, lane: u32, column: u32) -> bool {
        self.written.get(Self::place(lane, column)).copied().unwrap_or(false)
    }

    /// Writes a cell.
    pub fn write(&mut self, lane: u32, column: u32, value: u32) {
        let at = Self::place(lane, column);
        if let (Some(cell), Some(written)) = (self.cells.get_mut(at), self.written.get_mut(at)) {
            (*cell, *written) = (value, true);
        }
    }

    fn is_taken(&self, first: u32, count: u32) -> bool {
        let inside = |taken: &Taken| taken.first <= first && first + count <= taken.first + taken.count;
        self.taken.iter().any(inside)
    }

    /// The first columns of that many that nobody has.
    fn room(&self, count: u32) -> Option<u32> {
        let free = |first: &u32| {
            let meets = |taken: &Taken| taken.first < first + count && *first < taken.first + taken.count;
            !self.taken.iter().any(meets)
        };
        (0..)
            .step_by(UNIT as usize)
            .take_while(|first| first + count <= COLUMNS)
            .find(free)
    }
}

impl Ctx<'_> {
    /// What a warp does with tensor memory.
    pub fn tensor_memory(&mut self, what: &TensorMemory, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        match what {
            TensorMemory::Alloc { to, columns } => {
                let count = self.warp.file.read(*columns, lane) as u32;
                let Some(first) = self.take_columns(count, lane, split.pc) else {
                    return;
                };
                let address = self.address(to, lane);
                if let Some(spot) = self.spot(to.space, address, 4, lane, split.pc, true) {
                    self.visit_range(spot, 4, WHOLE, lane, split.pc);
                    if let Some(block) = self.block(spot.block) {
                        block.store(spot.at, 4, u128::from(first));
                    }
                }
            }
            TensorMemory::Dealloc { address, columns } => {
                let [address, count] = [*address, *columns].map(|slot| self.warp.file.read(slot, lane) as u32);
                let same = |taken: &Taken| taken.first == address && taken.count == count;
                match self.hall.tensors.taken.iter().position(same) {
                    Some(at) => drop(self.hall.tensors.taken.swap_remove(at)),
                    None => {
                        let message = format!(
                            "gives back {count} columns of tensor memory at {address:#x}, which were not taken so"
                        );
                        self.complain(codes::ASYNC017, split.pc, lane, message);
                    }
                }
            }
            TensorMemory::Relinquish => self.hall.tensors.relinquished = true,
            TensorMemory::WaitLoad => self.loads_are_there(),
            TensorMemory::Move { .. } => self.move_tensor(what, split, lane),
        }
    }

    fn take_columns(&mut self, count: u32, lane: usize, pc: u32) -> Option<u32> {
        let fits = count.is_power_of_two() && (UNIT..=COLUMNS).contains(&count);
        let thread = self.warp.index * 32 + lane as u32;
        let tensors = &mut self.hall.tensors;
        let room = if fits && !tensors.relinquished {
            tensors.room(count)
        } else {
            None
        };
        let Some(first) = room else {
            let why = match () {
                () if !fits => format!("takes {count} columns of tensor memory; there may be 32, 64, 128, 256, 512"),
                () if tensors.relinquished => "takes tensor memory after `relinquish_alloc_permit`".to_owned(),
                () => format!("waits for {count} columns of tensor memory that nobody gives back"),
            };
            self.complain(codes::ASYNC017, pc, lane, why);
            return None;
        };
        let cells = (LANES * COLUMNS) as usize;
        tensors.cells.resize(cells, 0xA5A5_A5A5);
        tensors.written.resize(cells, false);
        tensors.taken.push(Taken {
            first,
            count,
            pc,
            thread,
        });
        for (lane, column) in (0..LANES).flat_map(|lane| (first..first + count).map(move |column| (lane, column))) {
            if let Some(written) = tensors.written.get_mut(Tensors::place(lane, column)) {
                *written = false;
            }
        }
        Some(first)
    }

    /// An address of tensor memory: lane and column.
    pub fn tensor_place(&self, slot: Slot, offset: u64, lane: usize) -> (u32, u32) {
        let address = (self.warp.file.read(slot, lane) as u32).wrapping_add(offset as u32);
        (address >> 16, address & 0xffff)
    }

    /// Whether columns are the CTA's to use; else says so.
    pub fn has_columns(&mut self, first: u32, count: u32, lane: usize, pc: u32) -> bool {
        let fine = first + count <= COLUMNS && self.hall.tensors.is_taken(first, count);
        if !fine {
            let message = format!(
                "uses columns {first} to {} of tensor memory, which are not taken",
                first + count.saturating_sub(1)
            );
            self.complain(codes::ASYNC017, pc, lane, message);
        }
        fine
    }

    /// Notes that an instruction of a lane writes columns until a commit tells that it is over.
    pub fn writes_columns(&mut self, first: u32, count: u32, lane: usize, pc: u32) {
        let thread = self.warp.index * 32 + lane as u32;
        let writing = &mut self.hall.tensors.writing;
        writing.retain(|other| {
            (other.first, other.count, other.thread) != (first, count, thread) || other.commit.is_some()
        });
        writing.push(Writing {
            first,
            count,
            pc,
            thread,
            commit: None,
        });
    }

    /// Looks for an instruction under way that writes columns; it is that which is wrong.
    fn check_writing(&mut self, first: u32, count: u32, lane: usize, pc: u32) {
        let number = self.hall.number;
        let flights = &self.world.flights;
        let open = |commit: u64| {
            let tells = |kind: Kind| kind == Kind::Arrive(commit);
            flights.iter().any(|(cta, flight)| *cta == number && tells(flight.kind))
        };
        let tensors = &mut self.hall.tensors;
        tensors.writing.retain(|writing| writing.commit.is_none_or(open));
        let meets = |writing: &&Writing| writing.first < first + count && first < writing.first + writing.count;
        let Some(writing) = tensors.writing.iter().find(meets).copied() else {
            return;
        };
        let starter = self.hall.thread(writing.thread);
        let what = match writing.commit {
            None => "reads sums of a `tcgen05.mma` that has not been committed to an mbarrier",
            Some(_) => "reads sums of a `tcgen05.mma` that has not been waited for",
        };
        let fault = Fault::new(codes::ASYNC018, Level::Error, self.site(pc), what).thread(self.thread(lane));
        let there = self.site(writing.pc);
        self.report(fault.other(Some(there), Some(starter), format!("{starter} starts it here")));
    }

    fn move_tensor(&mut self, what: &TensorMemory, split: Split, lane: usize) {
        let TensorMemory::Move {
            address,
            offset,
            shape,
            packed,
            rows,
            store,
            sums,
        } = what
        else {
            return;
        };
        let (first_row, first) = self.tensor_place(*address, *offset, lane);
        let per = if *packed { 2 } else { 1 };
        let cell = |lane: u32, register: u32| shape.cell(lane, register);
        let registers = rows.len() as u32;
        let columns = (0..registers)
            .flat_map(|register| [0, 31].map(|lane| cell(lane, register).1))
            .max()
            .unwrap_or(0)
            + 1;
        if !self.has_columns(first, columns * per, lane, split.pc) || !self.may_reach(first_row, *shape, lane, split.pc)
        {
            return;
        }
        if !store {
            self.check_writing(first, columns * per, lane, split.pc);
            self.hold_loads(sums, split);
        }
        let mut unwritten = None;
        for (register, row) in rows.iter().enumerate() {
            let mut value = self.word(*row);
            for lane in 0..32u32 {
                if split.mask >> lane & 1 == 0 {
                    continue;
                }
                let (down, across) = cell(lane, register as u32);
                let (row, column) = (first_row + down, first + across * per);
                let tensors = &mut self.hall.tensors;
                let word = &mut value[lane as usize & 31];
                match (*store, *packed) {
                    (true, false) => tensors.write(row, column, *word),
                    (true, true) => {
                        tensors.write(row, column, *word & 0xffff);
                        tensors.write(row, column + 1, *word >> 16);
                    }
                    (false, false) => *word = tensors.read(row, column),
                    (false, true) => *word = tensors.read(row, column) & 0xffff | tensors.read(row, column + 1) << 16,
                }
                let all = (column..column + per).all(|column| tensors.is_written(row, column));
                if !all {
                    unwritten.get_or_insert((lane, row, column));
                }
            }
            if !store {
                self.put_word(*row, &value, split.mask);
            }
        }
        if let Some((lane, row, column)) = unwritten.filter(|_| self.world.options.checks.memory) {
            let message = format!("loads lane {row}, column {column} of tensor memory, which nothing has written");
            self.complain(codes::FLOW004, split.pc, lane as usize, message);
        }
    }

    /// A warp reaches the lanes of its quarter alone.
    fn may_reach(&mut self, first: u32, shape: TensorShape, lane: usize, pc: u32) -> bool {
        let quarter = self.warp.index % 4 * 32;
        let fine = first >= quarter && first.is_multiple_of(16) && first + shape.rows() <= quarter + 32;
        if !fine {
            let message = format!(
                "reaches for lanes {first} to {} of tensor memory from a warp that has lanes {quarter} to {}",
                first + shape.rows() - 1,
                quarter + 31
            );
            self.complain(codes::MEM002, pc, lane, message);
        }
        fine
    }

    /// Reports what the threads of a CTA leave behind.
    pub fn leftover_columns(&mut self) {
        for taken in std::mem::take(&mut self.hall.tensors.taken) {
            let message = format!(
                "the {} columns of tensor memory taken here are never given back",
                taken.count
            );
            let fault = Fault::new(codes::ASYNC017, Level::Error, self.site(taken.pc), message);
            let thread = self.hall.thread(taken.thread);
            self.report(fault.thread(thread));
        }
    }
}
