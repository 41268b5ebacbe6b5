//! `nf4-gemv`: y = W x with W in NF4.

use super::gemv::Gemv;
use super::launch::Launch;
use super::nf4::NibbleOrder;
use super::params::{Range, spec};
use super::{Contract, Generate};
use crate::ptx::build::ModuleBuilder;

/// What the number of columns may be: whole blocks of weights, as many as the threads of one block own.
pub const K: Range = Range::multiples(64, 64, 32768);

/// What the number of rows may be.
pub const N: Range = Range::ints(1, u32::MAX as u64);

spec! {
    /// Parameters of `nf4-gemv`.
    Nf4Gemv {
        /// Columns of the matrix, elements of x.
        k: u32 = 4096, K;
        /// Rows of the matrix, elements of y; the text takes any number.
        n: u32 = 4096, N;
        /// Half of each byte that holds the weight with the even index; bitsandbytes writes `high`.
        nibble_order: NibbleOrder = NibbleOrder::High, Range::Words(NibbleOrder::WORDS);
    }
}

impl Generate for Nf4Gemv {
    const NAME: &'static str = "nf4-gemv";
    const SUMMARY: &'static str = "product of an NF4 matrix and a vector of f32";
    const FORMULA: &'static [&'static str] = &["y = W x, W = codebook[nibble] * scale of its block of 64"];
    const CONTRACTS: &'static [Contract] = &[Contract {
        id: "P-NF4-GEMV-001",
        text: "y is within 2e-6 * max(1, max|y|) of exact arithmetic on the decoded weights, and the same in every run",
    }];
    const ENTRIES: &'static [&'static str] = &["nf4_gemv"];

    fn build(&self, module: &mut ModuleBuilder) {
        self.gemv().build(module, "nf4_gemv");
    }

    fn launches(&self) -> Vec<Launch> {
        let gemv = self.gemv();
        let summary = "each block takes a few rows at a time";
        vec![Launch::new(
            "nf4_gemv",
            summary,
            gemv.blocks(),
            gemv.threads(),
            gemv.args(),
        )]
    }

    fn remarks(&self) -> Vec<String> {
        self.gemv().remarks()
    }
}

impl Nf4Gemv {
    fn gemv(&self) -> Gemv {
        Gemv {
            k: self.k,
            n: self.n,
            order: self.nibble_order,
            norm: None,
        }
    }

    /// y in f64. `data` holds two weights a byte, `scales` one f32 for 64 weights.
    pub fn reference(&self, scales: &[f32], data: &[u8], x: &[f32]) -> Vec<f64> {
        let x: Vec<_> = x.iter().map(|x| f64::from(*x)).collect();
        self.gemv().reference(scales, data, &x)
    }
}
