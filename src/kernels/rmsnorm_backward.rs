//! `rmsnorm-backward`: the gradients of y = x / rms(x) * gamma.
//!
//! The main entry computes dx, one block a row at a time. dgamma is a sum over rows; two further entries compute it
//! without atomics and so in the same order every time: each block of the first sums every `%nctaid.x`-th row into
//! its own line of a scratch buffer, the second sums the lines. Where no statistic is saved, a fourth entry computes
//! rstd for the first of these.

use super::launch::{Arg, Launch, Role};
use super::params::{Range, spec};
use super::rmsnorm::{EPS, HIDDEN, ROWS, Saved, reference_rms};
use super::rows::{RowKernel, Sum, each_row, pairs, require, statistics};
use super::sweep::{F32_BYTES, Sweep};
use super::{Contract, Generate};
use crate::ptx::build::{Addr, B32, B64, F32, Global, Kernel, ModuleBuilder, Reg};

const MAIN: &str = "rms_norm_backward";
const PARTIAL: &str = "rms_norm_backward_dgamma_partial";
const DGAMMA: &str = "rms_norm_backward_dgamma";
const RSTD: &str = "rms_norm_backward_rstd";

/// Blocks, and so lines of partial sums, of the launch that sums dgamma: enough to fill a GPU.
const PARTIALS: u64 = 256;

/// Threads of a block that adds up partial sums, one a column.
const COLUMN_THREADS: u32 = 256;

spec! {
    /// Parameters of `rmsnorm-backward`.
    RmsNormBackward {
        /// Elements of a row.
        hidden: u32 = 4096, HIDDEN;
        /// Rows of the launch; the text takes any number.
        rows: u32 = 1024, ROWS;
        /// Added to the mean of squares in the forward pass; a saved statistic holds it already.
        eps: f64 = 1e-6, EPS;
        /// Statistic that the forward pass left in `rms_ptr`, one f32 a row; with `none` it is computed again from x.
        saved: Saved = Saved::Rms, Range::Words(Saved::WORDS);
    }
}

impl Generate for RmsNormBackward {
    const NAME: &'static str = "rmsnorm-backward";
    const SUMMARY: &'static str = "gradients of RMSNorm with respect to x and gamma";
    const FORMULA: &'static [&'static str] = &[
        "dx = rstd * (gamma * dy - x * rstd^2 * mean(x * dy * gamma)), row by row",
        "dgamma = sum over rows of dy * x * rstd, in a fixed order",
    ];
    const CONTRACTS: &'static [Contract] = &[
        Contract {
            id: "P-RMS-BACK-001",
            text: "dx is within 1e-5 * max|dx| of central finite differences in f64, and within 1e-6 of exact arithmetic",
        },
        Contract {
            id: "P-RMS-BACK-002",
            text: "dgamma is within 5e-6 * sqrt(rows) * max|dgamma| of exact arithmetic, and the same in every run",
        },
    ];
    const ENTRIES: &'static [&'static str] = &[MAIN, PARTIAL, DGAMMA, RSTD];

    fn build(&self, module: &mut ModuleBuilder) {
        self.main(module);
        if self.saved == Saved::None {
            self.rstd(module);
        }
        self.dgamma_partial(module);
        self.dgamma(module);
    }

    fn launches(&self) -> Vec<Launch> {
        let mut launches = vec![self.main_launch()];
        if self.saved == Saved::None {
            launches.push(self.rstd_launch());
        }
        launches.extend([self.partial_launch(), self.dgamma_launch()]);
        launches
    }

    fn remarks(&self) -> Vec<String> {
        let saved = match self.saved {
            Saved::Rms => "rms_ptr holds the forward pass's rms = sqrt(mean(x^2) + eps)",
            Saved::Rstd => "rms_ptr holds the forward pass's rstd = 1 / sqrt(mean(x^2) + eps)",
            Saved::None => "rms = sqrt(mean(x^2) + eps) is computed from x",
        };
        let eps = match (self.hidden, self.saved) {
            (1, _) => "rows of one element: dx = gamma * dy * eps * rstd^3, as the terms cancel but for eps",
            (_, Saved::None) => "eps is that of the forward pass",
            _ => "the statistic holds eps already; it is not added again",
        };
        [saved, eps, "dx may be written over dy"].map(str::to_owned).to_vec()
    }
}

/// Launches.
impl RmsNormBackward {
    fn matrix(&self) -> [u64; 2] {
        [u64::from(self.rows), u64::from(self.hidden)]
    }

    fn threads(&self) -> u32 {
        Sweep::new(self.hidden).threads
    }

    /// Lines of partial sums.
    fn partials(&self) -> u64 {
        u64::from(self.rows).clamp(1, PARTIALS)
    }

    fn shape_args(&self) -> [Arg; 2] {
        [Arg::free("num_rows", self.rows), Arg::baked("hidden_dim", self.hidden)]
    }

    fn main_launch(&self) -> Launch {
        let [rows, hidden] = self.matrix();
        let mut args = vec![
            Arg::f32s("input_ptr", Role::Input, &[rows, hidden]),
            Arg::f32s("gamma_ptr", Role::Input, &[hidden]),
        ];
        if self.saved != Saved::None {
            args.push(Arg::f32s("rms_ptr", Role::Input, &[rows]));
        }
        args.extend([
            Arg::f32s("grad_output_ptr", Role::Input, &[rows, hidden]),
            Arg::f32s("grad_input_ptr", Role::Output, &[rows, hidden]),
        ]);
        args.extend(self.shape_args());
        Launch::new(MAIN, "dx, one block a row at a time", rows, self.threads(), args)
    }

    fn rstd_launch(&self) -> Launch {
        let [rows, hidden] = self.matrix();
        let mut args = vec![
            Arg::f32s("input_ptr", Role::Input, &[rows, hidden]),
            Arg::f32s("rms_ptr", Role::Scratch, &[rows]),
        ];
        args.extend(self.shape_args());
        Launch::new(
            RSTD,
            "1 / rms of each row, for the sums of dgamma",
            rows,
            self.threads(),
            args,
        )
    }

    fn partial_launch(&self) -> Launch {
        let [rows, hidden] = self.matrix();
        let saved = if self.saved == Saved::None {
            Role::Scratch
        } else {
            Role::Input
        };
        let mut args = vec![
            Arg::f32s("input_ptr", Role::Input, &[rows, hidden]),
            Arg::f32s("rms_ptr", saved, &[rows]),
            Arg::f32s("grad_output_ptr", Role::Input, &[rows, hidden]),
            Arg::f32s("partials_ptr", Role::Scratch, &[self.partials(), hidden]),
        ];
        args.extend(self.shape_args());
        let summary = "partial sums of dgamma, a line for each block of the grid";
        Launch::new(PARTIAL, summary, self.partials(), self.threads(), args)
    }

    fn dgamma_launch(&self) -> Launch {
        let hidden = u64::from(self.hidden);
        let args = vec![
            Arg::f32s("partials_ptr", Role::Scratch, &[self.partials(), hidden]),
            Arg::f32s("grad_gamma_ptr", Role::Output, &[hidden]),
            Arg::free("num_partials", self.partials() as u32),
            Arg::baked("hidden_dim", self.hidden),
        ];
        let blocks = hidden.div_ceil(u64::from(COLUMN_THREADS));
        Launch::new(
            DGAMMA,
            "dgamma: the sum of the partial sums",
            blocks,
            COLUMN_THREADS,
            args,
        )
    }
}

/// dx.
impl RmsNormBackward {
    fn main(&self, module: &mut ModuleBuilder) {
        let sweep = Sweep::new(self.hidden);
        module.entry(MAIN, [sweep.threads, 1, 1], |k| {
            let x = k.param::<B64>("input_ptr");
            let gamma = k.param::<B64>("gamma_ptr");
            let saved = (self.saved != Saved::None).then(|| k.param::<B64>("rms_ptr"));
            let dy = k.param::<B64>("grad_output_ptr");
            let dx = k.param::<B64>("grad_input_ptr");
            let num_rows = k.param("num_rows");
            let hidden = k.param("hidden_dim");
            require(k, hidden, self.hidden);
            let setup = RowKernel::begin(k, sweep);
            let gamma = k.add(gamma, setup.place.start);
            each_row(k, num_rows, |k, row| {
                let at = setup.offset(k, row);
                // A row of one element with its rms at hand needs no x.
                let reads_x = self.hidden > 1 || saved.is_none();
                let x = if reads_x { k.add(x, at) } else { x };
                let pointers = [x, k.add(dy, at), gamma, k.add(dx, at)];
                let rstd = saved.map(|saved| self.load_rstd(k, saved, row));
                match self.hidden {
                    1 => self.lone(k, &setup, &pointers, rstd),
                    _ => self.row(k, &setup, &pointers, rstd),
                }
            });
        });
    }

    /// One row: `pointers` are those of x, dy, gamma and dx at the thread's first element; `rstd` is computed where
    /// it is not given.
    fn row(&self, k: &mut Kernel<'_>, setup: &RowKernel, pointers: &[Reg<B64>], rstd: Option<Reg<F32>>) {
        k.comment("sum of x * dy * gamma");
        let sweep = &setup.sweep;
        let mut kept = Vec::new();
        let mut products = Sum::new(k, sweep.lanes);
        let mut squares = rstd.is_none().then(|| Sum::new(k, sweep.lanes));
        sweep.each(k, &setup.place, pointers, |k, chunk| {
            let x = chunk.load(k, 0);
            let scaled = chunk.load_product(k, 1, 2);
            products.add_products(k, &x, &scaled);
            if let Some(squares) = &squares {
                squares.add_products(k, &x, &x);
            }
            kept.push((x, scaled));
        });
        let sum = setup.block_sum(k, &mut products);
        let rstd = match (rstd, &mut squares) {
            (Some(rstd), _) => rstd,
            (None, Some(squares)) => {
                let squares = setup.block_sum(k, squares);
                statistics(k, squares, self.hidden, self.eps).1
            }
            (None, None) => return,
        };
        k.comment("dx = rstd * (gamma * dy) - rstd^3 * mean * x");
        let slope = self.slope(k, sum, rstd);
        let mut kept = kept.into_iter().filter(|_| sweep.kept());
        sweep.each(k, &setup.place, pointers, |k, chunk| {
            let (x, scaled) = kept.next().unwrap_or_else(|| {
                let x = chunk.load(k, 0);
                (x, chunk.load_product(k, 1, 2))
            });
            let dx = pairs(&x, &scaled, |x, scaled| {
                let direct = k.mul(scaled, rstd);
                k.fma(x, slope, direct)
            });
            chunk.store(k, 3, &dx);
        });
    }

    /// A row of one element. There x^2 = rms^2 - eps, so the two terms of dx cancel but for eps: gamma * dy * eps *
    /// rstd^3. Their difference would be all rounding error.
    fn lone(&self, k: &mut Kernel<'_>, setup: &RowKernel, pointers: &[Reg<B64>], rstd: Option<Reg<F32>>) {
        let rstd = rstd.unwrap_or_else(|| self.row_rstd(k, setup, &pointers[..1]));
        k.comment("dx = gamma * dy * eps * rstd^3");
        let once = k.mul(rstd, self.eps as f32);
        let twice = k.mul(once, rstd);
        let factor = k.mul(twice, rstd);
        setup.sweep.each(k, &setup.place, pointers, |k, chunk| {
            let dx: Vec<_> = chunk
                .load_product(k, 1, 2)
                .into_iter()
                .map(|scaled| k.mul(scaled, factor))
                .collect();
            chunk.store(k, 3, &dx);
        });
    }

    /// 1 / rms of the row whose elements `x` points at.
    fn row_rstd(&self, k: &mut Kernel<'_>, setup: &RowKernel, x: &[Reg<B64>]) -> Reg<F32> {
        let mut squares = Sum::new(k, setup.sweep.lanes);
        setup.sweep.each(k, &setup.place, x, |k, chunk| {
            let x = chunk.load(k, 0);
            squares.add_products(k, &x, &x);
        });
        let sum = setup.block_sum(k, &mut squares);
        statistics(k, sum, self.hidden, self.eps).1
    }

    /// -rstd^3 * sum / hidden, in an order that keeps every step near 1 for rows of any scale: the sum grows with the
    /// rms, rstd falls with it.
    fn slope(&self, k: &mut Kernel<'_>, sum: Reg<F32>, rstd: Reg<F32>) -> Reg<F32> {
        let mean = k.mul(sum, -1.0 / self.hidden as f32);
        let normal = k.mul(mean, rstd);
        let once = k.mul(normal, rstd);
        k.mul(once, rstd)
    }

    /// 1 / rms of a row from what was saved, as it is: eps is in there already.
    fn load_rstd(&self, k: &mut Kernel<'_>, saved: Reg<B64>, row: Reg<B32>) -> Reg<F32> {
        let at = k.mad_wide(row, F32_BYTES, saved);
        let saved = k.load(Addr::<Global>::at(at));
        match self.saved {
            Saved::Rms => k.rcp(saved),
            // The entry that makes up for a missing statistic writes this too.
            Saved::Rstd | Saved::None => saved,
        }
    }
}

/// dgamma.
impl RmsNormBackward {
    fn rstd(&self, module: &mut ModuleBuilder) {
        let sweep = Sweep::new(self.hidden);
        module.entry(RSTD, [sweep.threads, 1, 1], |k| {
            let x = k.param::<B64>("input_ptr");
            let rstd_ptr = k.param::<B64>("rms_ptr");
            let num_rows = k.param("num_rows");
            let hidden = k.param("hidden_dim");
            require(k, hidden, self.hidden);
            let setup = RowKernel::begin(k, sweep);
            let first = setup.first(k);
            each_row(k, num_rows, |k, row| {
                let at = setup.offset(k, row);
                let x = k.add(x, at);
                let rstd = self.row_rstd(k, &setup, &[x]);
                let at = k.mad_wide(row, F32_BYTES, rstd_ptr);
                k.when(first, |k| k.store(Addr::<Global>::at(at), rstd));
            });
        });
    }

    /// Each thread sums a few columns over the block's rows. No thread waits for another.
    fn dgamma_partial(&self, module: &mut ModuleBuilder) {
        let Sweep { threads, lanes, .. } = Sweep::new(self.hidden);
        module.entry(PARTIAL, [threads, 1, 1], |k| {
            let x = k.param::<B64>("input_ptr");
            let saved = k.param::<B64>("rms_ptr");
            let dy = k.param::<B64>("grad_output_ptr");
            let partials = k.param::<B64>("partials_ptr");
            let num_rows = k.param("num_rows");
            let hidden = k.param("hidden_dim");
            require(k, hidden, self.hidden);
            let (tid, block) = (k.tid_x(), k.ctaid_x());
            let line = k.mad_wide(block, self.hidden * F32_BYTES, partials);
            let first = k.mul_lo(tid, lanes);
            k.for_range("columns", first, self.hidden, threads * lanes, |k, column| {
                let at = k.mul_wide(column, F32_BYTES);
                let sums: Vec<_> = (0..lanes).map(|_| k.var(0.0f32)).collect();
                let (x, dy) = (k.add(x, at), k.add(dy, at));
                each_row(k, num_rows, |k, row| {
                    let rstd = self.load_rstd(k, saved, row);
                    let x = k.mad_wide(row, self.hidden * F32_BYTES, x);
                    let dy = k.mad_wide(row, self.hidden * F32_BYTES, dy);
                    let x = k.load_vec(lanes, Addr::<Global>::at(x));
                    let dy = k.load_vec(lanes, Addr::<Global>::at(dy));
                    for ((sum, x), dy) in sums.iter().zip(x).zip(dy) {
                        let normal = k.mul(x, rstd);
                        k.fma_into(*sum, dy, normal, *sum);
                    }
                });
                let to = k.add(line, at);
                k.store_vec(Addr::<Global>::at(to), &sums);
            });
        });
    }

    /// Each thread sums one column over the lines, from the first to the last.
    fn dgamma(&self, module: &mut ModuleBuilder) {
        module.entry(DGAMMA, [COLUMN_THREADS, 1, 1], |k| {
            let partials = k.param::<B64>("partials_ptr");
            let grad_gamma = k.param::<B64>("grad_gamma_ptr");
            let lines = k.param::<B32>("num_partials");
            let hidden = k.param("hidden_dim");
            require(k, hidden, self.hidden);
            let (tid, block, blocks) = (k.tid_x(), k.ctaid_x(), k.nctaid_x());
            let tid = k.widen(tid);
            let first = k.mad_wide(block, COLUMN_THREADS, tid);
            let step = k.mul_wide(blocks, COLUMN_THREADS);
            k.for_range("columns", first, self.hidden, step, |k, column| {
                let at = k.shl(column, F32_BYTES.ilog2());
                let from = k.add(partials, at);
                let sum = k.var(0.0f32);
                let lines = k.widen(lines);
                k.for_range("lines", 0u32, lines, 1u32, |k, line: Reg<B64>| {
                    let line = k.narrow(line);
                    let from = k.mad_wide(line, self.hidden * F32_BYTES, from);
                    let part = k.load(Addr::<Global>::at(from));
                    k.add_into(sum, sum, part);
                });
                let to = k.add(grad_gamma, at);
                k.store(Addr::<Global>::at(to), sum);
            });
        });
    }
}

impl RmsNormBackward {
    /// The gradients in f64: dx, and dgamma. `x` and `dy` hold whole rows.
    pub fn reference(&self, x: &[f32], gamma: &[f32], dy: &[f32]) -> (Vec<f64>, Vec<f64>) {
        let hidden = self.hidden as usize;
        let mut dx = Vec::with_capacity(x.len());
        let mut dgamma = vec![0.0; hidden];
        for (x, dy) in x.chunks_exact(hidden).zip(dy.chunks_exact(hidden)) {
            let rstd = 1.0 / reference_rms(x, self.eps);
            let element = |at: usize| (f64::from(x[at]), f64::from(dy[at]), f64::from(gamma[at]));
            let products = (0..hidden).map(element).map(|(x, dy, gamma)| x * dy * gamma);
            let mean = products.sum::<f64>() / hidden as f64;
            for (at, sum) in dgamma.iter_mut().enumerate() {
                let (x, dy, gamma) = element(at);
                dx.push(rstd * (gamma * dy - x * rstd * rstd * mean));
                *sum += dy * x * rstd;
            }
        }
        (dx, dgamma)
    }
}
