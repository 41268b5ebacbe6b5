//! `fused-rmsnorm-nf4-gemv`: y = W rmsnorm(x) with W in NF4, in one launch.

use super::gemv::Gemv;
use super::launch::Launch;
use super::nf4::NibbleOrder;
use super::nf4_gemv::{K, N};
use super::params::{Range, spec};
use super::rmsnorm::{EPS, reference_rms};
use super::{Contract, Generate};
use crate::ptx::build::ModuleBuilder;

spec! {
    /// Parameters of `fused-rmsnorm-nf4-gemv`.
    FusedRmsNormNf4Gemv {
        /// Columns of the matrix, elements of x.
        k: u32 = 4096, K;
        /// Rows of the matrix, elements of y; the text takes any number.
        n: u32 = 4096, N;
        /// Added to the mean of squares.
        eps: f64 = 1e-5, EPS;
        /// Half of each byte that holds the weight with the even index; bitsandbytes writes `high`.
        nibble_order: NibbleOrder = NibbleOrder::High, Range::Words(NibbleOrder::WORDS);
    }
}

impl Generate for FusedRmsNormNf4Gemv {
    const NAME: &'static str = "fused-rmsnorm-nf4-gemv";
    const SUMMARY: &'static str = "RMSNorm of a vector, then its product with an NF4 matrix, in one launch";
    const FORMULA: &'static [&'static str] = &[
        "y = W (x / rms * gamma), rms = sqrt(mean(x^2) + eps)",
        "W = codebook[nibble] * scale of its block of 64",
    ];
    const CONTRACTS: &'static [Contract] = &[
        Contract {
            id: "F-NF4-RMS-001",
            text: "y is within 1e-4 * max(1, max|y|) of separate RMSNorm and NF4 product, and within 2e-6 of exact arithmetic",
        },
        Contract {
            id: "F-NF4-RMS-002",
            text: "nothing but y is written to device memory",
        },
    ];
    const ENTRIES: &'static [&'static str] = &["fused_rmsnorm_nf4_gemv"];

    fn build(&self, module: &mut ModuleBuilder) {
        self.gemv().build(module, "fused_rmsnorm_nf4_gemv");
    }

    fn launches(&self) -> Vec<Launch> {
        let gemv = self.gemv();
        let summary = "each block normalises x, then takes a few rows at a time";
        vec![Launch::new(
            "fused_rmsnorm_nf4_gemv",
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

impl FusedRmsNormNf4Gemv {
    fn gemv(&self) -> Gemv {
        Gemv {
            k: self.k,
            n: self.n,
            order: self.nibble_order,
            norm: Some(self.eps),
        }
    }

    /// y in f64. `data` holds two weights a byte, `scales` one f32 for 64 weights.
    pub fn reference(&self, scales: &[f32], data: &[u8], x: &[f32], gamma: &[f32]) -> Vec<f64> {
        let rms = reference_rms(x, self.eps);
        let normal = x
            .iter()
            .zip(gamma)
            .map(|(x, gamma)| f64::from(*x) / rms * f64::from(*gamma));
        self.gemv().reference(scales, data, &normal.collect::<Vec<_>>())
    }
}
