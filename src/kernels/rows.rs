//! What kernels that work row by row have in common: the loop over rows, sums along a row, the statistics of RMSNorm.

use super::sweep::{F32_BYTES, Place, Sweep};
use crate::ptx::build::{Array, B32, B64, Cmp, F32, Kernel, Pred, Reg, Shared};

/// Runs `body` for the rows of this block, every `%nctaid.x`-th: any grid covers any number of rows.
///
/// The counter has 64 bits, so that the last step cannot wrap around.
pub fn each_row(k: &mut Kernel<'_>, num_rows: Reg<B32>, body: impl FnOnce(&mut Kernel<'_>, Reg<B32>)) {
    let (first, blocks) = (k.ctaid_x(), k.nctaid_x());
    let (first, blocks, end) = (k.widen(first), k.widen(blocks), k.widen(num_rows));
    k.for_range("rows", first, end, blocks, |k, row| {
        let row = k.narrow(row);
        body(k, row);
    });
}

/// Lets the assembler use as many registers as a block of this size can have.
///
/// Without it, ptxas keeps two blocks of 1024 threads resident, with 32 registers a thread, and spills.
pub fn all_registers(k: &mut Kernel<'_>) {
    k.attribute("minnctapersm", &[1]);
}

/// Traps where an argument differs from the value that the kernel is made for.
pub fn require(k: &mut Kernel<'_>, argument: Reg<B32>, baked: u32) {
    k.comment(format!(
        "this text is made for {baked}; another value would read out of bounds"
    ));
    let differs = k.compare(Cmp::Ne, argument, baked);
    k.trap_if(differs);
}

/// What every kernel that works row by row sets up before its loop.
pub struct RowKernel {
    /// Geometry.
    pub sweep: Sweep,
    /// The thread's place in its row.
    pub place: Place,
    /// Scratch memory of sums over the block.
    pub scratch: Option<Array<Shared, F32>>,
}

impl RowKernel {
    /// Emits the set-up.
    pub fn begin(k: &mut Kernel<'_>, sweep: Sweep) -> Self {
        all_registers(k);
        let scratch = k.sum_scratch("warp_sums");
        let place = sweep.place(k);
        Self { sweep, place, scratch }
    }

    /// Whether the thread is the block's first. It stays the same in all rows: ask before the loop over them.
    pub fn first(&self, k: &mut Kernel<'_>) -> Reg<Pred> {
        k.compare(Cmp::Eq, self.place.tid, 0)
    }

    /// Bytes from the start of a matrix of rows to the thread's first element in this row; 64 bits, as matrices pass
    /// 4 GiB.
    pub fn offset(&self, k: &mut Kernel<'_>, row: Reg<B32>) -> Reg<B64> {
        k.mad_wide(row, self.sweep.len * F32_BYTES, self.place.start)
    }

    /// The sum over the whole block, in every thread. All threads must get here.
    pub fn block_sum(&self, k: &mut Kernel<'_>, sum: &mut Sum) -> Reg<F32> {
        let own = sum.total(k);
        k.block_sum(own, self.place.tid, self.scratch.as_ref())
    }
}

/// A sum of products under way, with one accumulator a lane: shorter chains of dependent instructions, smaller
/// rounding errors.
pub struct Sum(Vec<Reg<F32>>);

impl Sum {
    /// Starts at 0.
    pub fn new(k: &mut Kernel<'_>, lanes: u32) -> Self {
        Self((0..lanes).map(|_| k.var(0.0f32)).collect())
    }

    /// Adds `a * b`, element by element.
    pub fn add_products(&self, k: &mut Kernel<'_>, a: &[Reg<F32>], b: &[Reg<F32>]) {
        for ((sum, a), b) in self.0.iter().zip(a).zip(b) {
            k.fma_into(*sum, *a, *b, *sum);
        }
    }

    /// All accumulators together.
    pub fn total(&mut self, k: &mut Kernel<'_>) -> Reg<F32> {
        while self.0.len() > 1 {
            let add = |pair: &[Reg<F32>]| match pair {
                [a, b] => k.add(*a, *b),
                rest => rest[0],
            };
            self.0 = self.0.chunks(2).map(add).collect();
        }
        self.0[0]
    }
}

/// rms and 1 / rms of a row from its sum of squares, both correctly rounded from the mean on.
pub fn statistics(k: &mut Kernel<'_>, squares: Reg<F32>, len: u32, eps: f64) -> (Reg<F32>, Reg<F32>) {
    k.comment("rms = sqrt(mean + eps)");
    let mean = k.fma(squares, 1.0 / len as f32, eps as f32);
    let rms = k.sqrt(mean);
    (rms, k.rcp(rms))
}

/// Applies `f` to the elements of two vectors, pair by pair.
pub fn pairs(a: &[Reg<F32>], b: &[Reg<F32>], mut f: impl FnMut(Reg<F32>, Reg<F32>) -> Reg<F32>) -> Vec<Reg<F32>> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}
