//! `rmsnorm`: y = x / rms(x) * gamma, row by row, with rms(x) = sqrt(mean(x^2) + eps).

use super::launch::{Arg, Launch, Role};
use super::params::{Range, spec, words};
use super::rows::{RowKernel, Sum, each_row, pairs, require, statistics};
use super::sweep::{F32_BYTES, Sweep};
use super::{Contract, Generate};
use crate::ptx::build::{Addr, B32, B64, Global, Kernel, ModuleBuilder, Pred, Reg};

/// Greatest length of a row.
pub const MAX_HIDDEN: u64 = 65536;

/// What eps may be.
pub const EPS: Range = Range::Float { min: 1e-12, max: 1.0 };

/// What the size of a row may be.
pub const HIDDEN: Range = Range::ints(1, MAX_HIDDEN);

/// How many rows may be launched.
pub const ROWS: Range = Range::ints(0, u32::MAX as u64);

words! {
    /// The statistic of each row that the forward pass leaves for the backward pass.
    Saved {
        /// rms = sqrt(mean(x^2) + eps).
        Rms "rms",
        /// 1 / rms.
        Rstd "rstd",
        /// Neither.
        None "none",
    }
}

spec! {
    /// Parameters of `rmsnorm`.
    RmsNorm {
        /// Elements of a row.
        hidden: u32 = 4096, HIDDEN;
        /// Rows of the launch; the text takes any number.
        rows: u32 = 1024, ROWS;
        /// Added to the mean of squares.
        eps: f64 = 1e-6, EPS;
        /// Statistic written to `rms_ptr`, one f32 a row; with `none` there is no such parameter.
        save: Saved = Saved::Rms, Range::Words(Saved::WORDS);
    }
}

impl Generate for RmsNorm {
    const NAME: &'static str = "rmsnorm";
    const SUMMARY: &'static str = "RMSNorm of rows of f32, with the rms or its inverse saved";
    const FORMULA: &'static [&'static str] = &["y = x / rms * gamma, rms = sqrt(mean(x^2) + eps), row by row"];
    const CONTRACTS: &'static [Contract] = &[Contract {
        id: "P-RMS-FWD-001",
        text: "y and the saved statistic are within 1e-6 of exact arithmetic, relative to the row's largest value",
    }];
    const ENTRIES: &'static [&'static str] = &["rms_norm"];

    fn build(&self, module: &mut ModuleBuilder) {
        let sweep = Sweep::new(self.hidden);
        module.entry("rms_norm", [sweep.threads, 1, 1], |k| {
            let input = k.param::<B64>("input_ptr");
            let gamma = k.param::<B64>("gamma_ptr");
            let output = k.param::<B64>("output_ptr");
            let saved = (self.save != Saved::None).then(|| k.param::<B64>("rms_ptr"));
            let num_rows = k.param("num_rows");
            let hidden = k.param("hidden_dim");
            require(k, hidden, self.hidden);
            let row_kernel = RowKernel::begin(k, sweep);
            let saved = saved.map(|saved| (saved, row_kernel.first(k)));
            let gamma = k.add(gamma, row_kernel.place.start);
            each_row(k, num_rows, |k, row| {
                let at = row_kernel.offset(k, row);
                let pointers = [k.add(input, at), gamma, k.add(output, at)];
                self.row(k, &row_kernel, &pointers, saved.map(|(to, first)| (to, row, first)));
            });
        });
    }

    fn launches(&self) -> Vec<Launch> {
        let (rows, hidden) = (u64::from(self.rows), u64::from(self.hidden));
        let mut args = vec![
            Arg::f32s("input_ptr", Role::Input, &[rows, hidden]),
            Arg::f32s("gamma_ptr", Role::Input, &[hidden]),
            Arg::f32s("output_ptr", Role::Output, &[rows, hidden]),
        ];
        if self.save != Saved::None {
            args.push(Arg::f32s("rms_ptr", Role::Output, &[rows]));
        }
        args.extend([Arg::free("num_rows", self.rows), Arg::baked("hidden_dim", self.hidden)]);
        let threads = Sweep::new(self.hidden).threads;
        vec![Launch::new(
            "rms_norm",
            "one block a row at a time",
            rows,
            threads,
            args,
        )]
    }
}

/// Where the statistic goes, the row's number, and whether this thread stores it.
type Saving = (Reg<B64>, Reg<B32>, Reg<Pred>);

impl RmsNorm {
    /// One row: `pointers` are those of x, gamma and y at the thread's first element.
    fn row(&self, k: &mut Kernel<'_>, row: &RowKernel, pointers: &[Reg<B64>], save: Option<Saving>) {
        k.comment("sum of squares");
        let mut kept = Vec::new();
        let mut squares = Sum::new(k, row.sweep.lanes);
        row.sweep.each(k, &row.place, pointers, |k, chunk| {
            let x = chunk.load(k, 0);
            squares.add_products(k, &x, &x);
            kept.push(x);
        });
        let sum = row.block_sum(k, &mut squares);
        let (rms, rstd) = statistics(k, sum, self.hidden, self.eps);
        if let Some((to, number, first)) = save {
            let at = k.mad_wide(number, F32_BYTES, to);
            let value = if self.save == Saved::Rms { rms } else { rstd };
            k.when(first, |k| k.store(Addr::<Global>::at(at), value));
        }
        k.comment("y = x * rstd * gamma");
        let mut kept = kept.into_iter().filter(|_| row.sweep.kept());
        row.sweep.each(k, &row.place, pointers, |k, chunk| {
            let x = kept.next().unwrap_or_else(|| chunk.load(k, 0));
            let gamma = chunk.load(k, 1);
            let y = pairs(&x, &gamma, |x, gamma| {
                let normal = k.mul(x, rstd);
                k.mul(normal, gamma)
            });
            chunk.store(k, 2, &y);
        });
    }

    /// The outputs in f64: y, and the rms of each row. `x` holds whole rows.
    pub fn reference(&self, x: &[f32], gamma: &[f32]) -> (Vec<f64>, Vec<f64>) {
        let mut y = Vec::with_capacity(x.len());
        let mut stats = Vec::new();
        for row in x.chunks_exact(self.hidden as usize) {
            let rms = reference_rms(row, self.eps);
            y.extend(
                row.iter()
                    .zip(gamma)
                    .map(|(x, gamma)| f64::from(*x) / rms * f64::from(*gamma)),
            );
            stats.push(rms);
        }
        (y, stats)
    }
}

/// sqrt(mean(x^2) + eps) in f64.
pub fn reference_rms(row: &[f32], eps: f64) -> f64 {
    let squares: f64 = row.iter().map(|x| f64::from(*x).powi(2)).sum();
    (squares / row.len() as f64 + eps).sqrt()
}
