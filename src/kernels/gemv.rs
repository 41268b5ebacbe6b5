//! The body of the NF4 matrix-vector kernels: y = W x, or y = W rmsnorm(x).
//!
//! A thread owns 32 columns: 16 bytes of each row of W, half a block of weights. Its part of x lies in registers for
//! the whole launch. The codebook lies one value a lane, twice over, so that a shuffle decodes a nibble without
//! masking out its neighbours. A block takes several rows at a time, so that their loads overlap and they share the
//! barriers of the reduction.

use super::launch::{Arg, Role};
use super::nf4::{BLOCK, CODEBOOK, NibbleOrder, dequantize};
use super::rows::{all_registers, require, statistics};
use super::sweep::F32_BYTES;
use crate::ptx::build::{
    Addr, Array, B32, B64, Cmp, Const, F32, Global, Kernel, ModuleBuilder, Pred, Reg, Shared, Value,
};
use crate::ptx::ir::Imm;
use crate::ptx::types::Type;

/// Columns of a thread: what a 16-byte load brings.
const COLUMNS: u32 = 32;

/// Blocks of the largest grid; each then takes several batches of rows, and reads x once for all of them.
const MOST_BLOCKS: u64 = 1024;

/// A matrix-vector kernel.
#[derive(Clone, Debug)]
pub(super) struct Gemv {
    /// Columns.
    pub k: u32,
    /// Rows of the launch.
    pub n: u32,
    /// Half of a byte that holds the even weight.
    pub order: NibbleOrder,
    /// Normalises x first, with this eps.
    pub norm: Option<f64>,
}

/// Registers and addresses that hold for the whole launch.
struct Setup {
    tid: Reg<B32>,
    /// Whether this thread has columns; all do where there is none.
    active: Option<Reg<Pred>>,
    /// Address of this thread's weights and of their scale in row 0.
    data: Reg<B64>,
    scales: Reg<B64>,
    y: Reg<B64>,
    n: Reg<B64>,
    /// This lane's value of the codebook.
    codebook: Reg<F32>,
    /// This thread's part of x, gamma multiplied in.
    x: Vec<Reg<F32>>,
    /// 1 / rms(x).
    rstd: Option<Reg<F32>>,
    /// Sums of a batch: for each warp, one a row.
    sums: Array<Shared, F32>,
}

impl Gemv {
    /// Threads of the block: a warp for each 1024 columns.
    pub fn threads(&self) -> u32 {
        self.k.div_ceil(COLUMNS).next_multiple_of(32)
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        u64::from(self.n).div_ceil(u64::from(self.batch())).min(MOST_BLOCKS)
    }

    /// Rows that a block takes at a time: as many as registers allow.
    fn batch(&self) -> u32 {
        match self.threads() {
            0..=512 => 8,
            _ => 4,
        }
    }

    /// Arguments of the launch.
    pub fn args(&self) -> Vec<Arg> {
        let (k, n) = (u64::from(self.k), u64::from(self.n));
        let mut args = vec![
            Arg::f32s("y_ptr", Role::Output, &[n]),
            Arg::f32s("scales_ptr", Role::Input, &[n, k / u64::from(BLOCK)]),
            Arg::buffer("data_ptr", Type::U8, Role::Input, &[n, k / 2]),
            Arg::f32s("x_ptr", Role::Input, &[k]),
        ];
        if self.norm.is_some() {
            args.push(Arg::f32s("gamma_ptr", Role::Input, &[k]));
        }
        args.extend([Arg::baked("k_dim", self.k), Arg::free("n_dim", self.n)]);
        args
    }

    /// Remarks for the head of the text.
    pub fn remarks(&self) -> Vec<String> {
        let half = self.order.word();
        vec![
            format!(
                "weight (row, column) is nibble row * {} + column of data_ptr, the even one in a byte's {half} half",
                self.k
            ),
            format!(
                "its scale is element (row * {} + column) / {BLOCK} of scales_ptr",
                self.k
            ),
            "y_ptr overlaps no other buffer".to_owned(),
        ]
    }

    /// Adds the kernel to a module.
    pub fn build(&self, module: &mut ModuleBuilder, entry: &str) {
        let values = CODEBOOK.map(|bits| Value::Imm(Imm::F32(bits)));
        let codebook = module.constant("nf4_codebook", &values);
        module.entry(entry, [self.threads(), 1, 1], |k| {
            all_registers(k);
            let setup = self.setup(k, &codebook);
            let batch = self.batch();
            let (block, blocks) = (k.ctaid_x(), k.nctaid_x());
            let (first, step) = (k.mul_wide(block, batch), k.mul_wide(blocks, batch));
            k.for_range("batches", first, setup.n, step, |k, row| {
                self.batch_of_rows(k, &setup, row)
            });
        });
    }

    fn setup(&self, k: &mut Kernel<'_>, codebook: &Array<Const, F32>) -> Setup {
        let y = k.param::<B64>("y_ptr");
        let scales = k.param::<B64>("scales_ptr");
        let data = k.param::<B64>("data_ptr");
        let x = k.param::<B64>("x_ptr");
        let gamma = self.norm.map(|_| k.param::<B64>("gamma_ptr"));
        let k_dim = k.param("k_dim");
        let n = k.param("n_dim");
        require(k, k_dim, self.k);
        let warps = k.warps();
        let sums = k.shared("row_sums", warps * self.batch());
        let tid = k.tid_x();
        let owners = self.k / COLUMNS;
        let active = (owners < self.threads()).then(|| k.compare(Cmp::Lt, tid, owners));
        k.comment("lane l holds value l % 16 of the codebook");
        let code = k.and(tid, 15);
        let from = k.const_element(codebook, code);
        let codebook = k.load(from);
        let (x, rstd) = self.load_x(k, tid, active, x, gamma);
        let block = k.shr(tid, (BLOCK / COLUMNS).ilog2());
        Setup {
            tid,
            active,
            data: k.mad_wide(tid, COLUMNS / 2, data),
            scales: k.mad_wide(block, F32_BYTES, scales),
            y,
            n: k.widen(n),
            codebook,
            x,
            rstd,
            sums,
        }
    }

    /// This thread's part of x, zero where it has no columns; normalised but for the factor 1 / rms, which is
    /// returned beside it.
    fn load_x(
        &self,
        k: &mut Kernel<'_>,
        tid: Reg<B32>,
        active: Option<Reg<Pred>>,
        x: Reg<B64>,
        gamma: Option<Reg<B64>>,
    ) -> (Vec<Reg<F32>>, Option<Reg<F32>>) {
        k.comment(format!("x: {COLUMNS} columns a thread"));
        let part = k.mad_wide(tid, COLUMNS * F32_BYTES, x);
        let x = load_columns(k, active, part);
        let (Some(gamma), Some(eps)) = (gamma, self.norm) else {
            return (x, None);
        };
        let scratch = k.sum_scratch("square_sums");
        let squares = k.var(0.0f32);
        for x in &x {
            k.fma_into(squares, *x, *x, squares);
        }
        let squares = k.block_sum(squares, tid, scratch.as_ref());
        let (_, rstd) = statistics(k, squares, self.k, eps);
        k.comment("x * gamma; 1 / rms multiplies the finished sums");
        let part = k.mad_wide(tid, COLUMNS * F32_BYTES, gamma);
        let gamma = load_columns(k, active, part);
        let x = x.into_iter().zip(gamma).map(|(x, gamma)| k.mul(x, gamma)).collect();
        (x, Some(rstd))
    }

    /// Rows `row`, `row + 1`, ... of one batch. Rows past the end repeat the last one, and nobody stores them.
    fn batch_of_rows(&self, k: &mut Kernel<'_>, setup: &Setup, row: Reg<B64>) {
        let batch = self.batch();
        let left = k.sub(setup.n, row);
        let left = k.min(left, batch);
        let last = k.narrow(left);
        let last = k.sub(last, 1u32);
        let first = k.narrow(row);
        let data = k.mad_wide(first, self.k / 2, setup.data);
        let scales = k.mad_wide(first, self.k / BLOCK * F32_BYTES, setup.scales);
        k.comment("weights and scales of all rows of the batch, before any is used");
        let mut loaded = Vec::new();
        loaded.push(load_weights(k, setup.active, data, scales));
        for at in 1..batch {
            let at = k.min(last, at);
            let data = k.mad_wide(at, self.k / 2, data);
            let scale = k.mad_wide(at, self.k / BLOCK * F32_BYTES, scales);
            loaded.push(load_weights(k, setup.active, data, scale));
        }
        let parts: Vec<_> = loaded
            .iter()
            .map(|(words, scale)| self.dot(k, setup, words, *scale))
            .collect();
        self.reduce(k, setup, row, left, &parts);
    }

    /// This thread's part of one row: 32 weights times x.
    fn dot(&self, k: &mut Kernel<'_>, setup: &Setup, words: &[Reg<B32>], scale: Reg<F32>) -> Reg<F32> {
        let sum = k.var(0.0f32);
        for (word, x) in words.iter().zip(setup.x.chunks(8)) {
            for (at, x) in (0..).zip(x) {
                // The shuffle reads the lower five bits: the nibble, and one bit that picks between equal lanes.
                let nibble = match at / 2 * 8 + self.order.shift(at % 2) {
                    0 => *word,
                    bits => k.shr(*word, bits),
                };
                let weight = k.shuffle_from(setup.codebook, nibble);
                k.fma_into(sum, weight, *x, sum);
            }
        }
        k.mul(sum, scale)
    }

    /// Sums each row's parts over the block and stores the results.
    fn reduce(&self, k: &mut Kernel<'_>, setup: &Setup, row: Reg<B64>, left: Reg<B64>, parts: &[Reg<F32>]) {
        let batch = self.batch();
        k.comment("each row's sum over the warp, then over the warps");
        let lane = k.and(setup.tid, 31u32);
        let sum = k.warp_sums(parts, lane);
        let (warp, lanes) = (k.shr(setup.tid, 5u32), 32 / batch);
        // Lane 0 has row 0, lane 4 (of eight rows) row 1, and so on.
        let row_of_batch = k.shr(lane, lanes.ilog2());
        let slot = k.mad_lo(warp, batch, row_of_batch);
        let slot = k.shared_element(&setup.sums, slot);
        let copy = k.and(lane, lanes - 1);
        let stores = k.compare(Cmp::Eq, copy, 0u32);
        k.when(stores, |k| k.store(slot, sum));
        k.barrier();
        let tid = k.widen(setup.tid);
        let writes = k.compare(Cmp::Lt, tid, left);
        k.if_then(writes, |k| {
            let from = k.shared_element(&setup.sums, setup.tid);
            let mut total = k.load(from);
            for warp in 1..k.warps() {
                let part = k.load(from.plus(i64::from(warp * batch * F32_BYTES)));
                total = k.add(total, part);
            }
            let y = setup.rstd.map_or(total, |rstd| k.mul(total, rstd));
            let row = k.add(row, tid);
            let row = k.narrow(row);
            let to = k.mad_wide(row, F32_BYTES, setup.y);
            k.store(Addr::<Global>::at(to), y);
        });
        k.comment("the next batch writes the sums again");
        k.barrier();
    }

    /// y in f64.
    pub fn reference(&self, scales: &[f32], data: &[u8], x: &[f64]) -> Vec<f64> {
        let weights = dequantize(data, scales, self.order);
        let dot = |row: &[f64]| row.iter().zip(x).map(|(weight, x)| weight * x).sum();
        weights.chunks_exact(self.k as usize).map(dot).collect()
    }
}

/// The f32 of this thread's columns, 0 where it has none.
fn load_columns(k: &mut Kernel<'_>, active: Option<Reg<Pred>>, from: Reg<B64>) -> Vec<Reg<F32>> {
    let from = Addr::<Global>::at(from);
    let load = |at: i64| {
        let from = from.plus(at * 16);
        match active {
            None => k.load_const_vec(4, from),
            Some(active) => k.load_or(active, 4, ".nc", from, 0.0f32),
        }
    };
    (0..i64::from(COLUMNS / 4)).flat_map(load).collect()
}

/// The 16 bytes of weights and the scale of one row, 0 where the thread has no columns.
fn load_weights(
    k: &mut Kernel<'_>,
    active: Option<Reg<Pred>>,
    data: Reg<B64>,
    scale: Reg<B64>,
) -> (Vec<Reg<B32>>, Reg<F32>) {
    let (data, scale) = (Addr::<Global>::at(data), Addr::<Global>::at(scale));
    match active {
        None => (k.load_const_vec(4, data), k.load_const_vec(1, scale)[0]),
        Some(active) => (
            k.load_or(active, 4, ".nc", data, 0u32),
            k.load_or(active, 1, ".nc", scale, 0.0f32)[0],
        ),
    }
}
