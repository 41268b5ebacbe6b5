//! How a block walks along rows of f32: geometry, pointers and the ragged end.

use crate::ptx::build::{Addr, B32, B64, Cmp, F32, Global, Kernel, Pred, Reg};

/// Bytes of an f32.
pub const F32_BYTES: u32 = 4;

/// Values of one row that a thread may keep in registers between two passes.
const KEPT: u32 = 16;

/// Steps a block takes along a row before it is made larger.
const STEPS: u32 = 4;

/// Steps of a loop over a long row that are written out.
const UNROLL: u32 = 4;

/// A row of `len` elements, shared out among the threads of a block: in each step, thread `t` takes the `lanes`
/// neighbours from `t * lanes` on, so that neighbouring threads touch neighbouring memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Elements of the row.
    pub len: u32,
    /// Threads of the block: a power of two, 32 to 1024.
    pub threads: u32,
    /// Elements a thread takes at once: 4, 2 or 1, a divisor of `len`, so that rows start at aligned addresses.
    pub lanes: u32,
}

/// One step of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// One pointer a buffer, at this thread's first element.
    pointers: &'a [Reg<B64>],
    /// Bytes from there on.
    offset: i64,
    /// Which threads have elements; all where there is none.
    guard: Option<Reg<Pred>>,
    lanes: u32,
}

/// What a thread knows of its place in the row.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// `%tid.x`.
    pub tid: Reg<B32>,
    /// Bytes from the row's start to this thread's first element.
    pub start: Reg<B64>,
    /// Whether the thread has elements in the last, ragged step.
    tail: Option<Reg<Pred>>,
}

impl Sweep {
    /// The geometry for rows of `len` elements.
    pub fn new(len: u32) -> Self {
        let lanes = [4, 2].into_iter().find(|lanes| len.is_multiple_of(*lanes)).unwrap_or(1);
        let threads = len.div_ceil(STEPS * lanes).next_power_of_two().clamp(32, 1024);
        Self { len, threads, lanes }
    }

    /// Elements in one step of the whole block.
    const fn step(&self) -> u32 {
        self.threads * self.lanes
    }

    /// Steps in which all threads have elements.
    const fn full(&self) -> u32 {
        self.len / self.step()
    }

    /// Whether a last step follows in which only some threads have elements.
    const fn ragged(&self) -> bool {
        !self.len.is_multiple_of(self.step())
    }

    /// Whether a thread can keep its part of a row in registers, all steps being written out.
    pub fn kept(&self) -> bool {
        self.len.div_ceil(self.step()) * self.lanes <= KEPT
    }

    /// The thread's place, computed once.
    pub fn place(&self, k: &mut Kernel<'_>) -> Place {
        let tid = k.tid_x();
        let start = k.mul_wide(tid, self.lanes * F32_BYTES);
        let rest = (self.len - self.full() * self.step()) / self.lanes;
        let tail = self.ragged().then(|| k.compare(Cmp::Lt, tid, rest));
        Place { tid, start, tail }
    }

    /// Walks along the row: `visit` writes the code of one step. `pointers` point at the thread's first element.
    ///
    /// Every thread runs the same steps, so the block may meet at a barrier afterwards.
    pub fn each(
        &self,
        k: &mut Kernel<'_>,
        place: &Place,
        pointers: &[Reg<B64>],
        mut visit: impl FnMut(&mut Kernel<'_>, &Chunk<'_>),
    ) {
        let chunk = |pointers, step: u32, guard| Chunk {
            pointers,
            offset: i64::from(step) * i64::from(self.step() * F32_BYTES),
            guard,
            lanes: self.lanes,
        };
        let mut moving = pointers.to_vec();
        let mut written = self.full();
        if !self.kept() {
            moving = pointers.iter().map(|pointer| k.var(*pointer)).collect();
            k.repeat("columns", self.full() / UNROLL, |k| {
                for step in 0..UNROLL {
                    visit(k, &chunk(&moving, step, None));
                }
                for pointer in &moving {
                    k.add_into(*pointer, *pointer, UNROLL * self.step() * F32_BYTES);
                }
            });
            written = self.full() % UNROLL;
        }
        for step in 0..written {
            visit(k, &chunk(&moving, step, None));
        }
        if place.tail.is_some() {
            visit(k, &chunk(&moving, written, place.tail));
        }
    }
}

impl Chunk<'_> {
    /// Loads this thread's elements of a buffer; 0 where it has none.
    pub fn load(&self, k: &mut Kernel<'_>, buffer: usize) -> Vec<Reg<F32>> {
        let from = self.address(buffer);
        match self.guard {
            None => k.load_vec(self.lanes, from),
            Some(guard) => k.load_or(guard, self.lanes, "", from, 0.0f32),
        }
    }

    /// Loads this thread's elements of two buffers and multiplies them.
    pub fn load_product(&self, k: &mut Kernel<'_>, a: usize, b: usize) -> Vec<Reg<F32>> {
        let (a, b) = (self.load(k, a), self.load(k, b));
        a.into_iter().zip(b).map(|(a, b)| k.mul(a, b)).collect()
    }

    /// Stores this thread's elements of a buffer.
    pub fn store(&self, k: &mut Kernel<'_>, buffer: usize, values: &[Reg<F32>]) {
        let to = self.address(buffer);
        match self.guard {
            None => k.store_vec(to, values),
            Some(guard) => k.when(guard, |k| k.store_vec(to, values)),
        }
    }

    fn address(&self, buffer: usize) -> Addr<Global> {
        Addr::at(self.pointers[buffer]).plus(self.offset)
    }
}
