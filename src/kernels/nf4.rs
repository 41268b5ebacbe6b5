//! NF4: weights in four bits, as QLoRA and bitsandbytes store them.
//!
//! A weight is a codebook value times its block's scale. Blocks are 64 weights along the flattened row-major matrix;
//! the scale of a block is the largest magnitude in it. Two weights share a byte.

use super::params::words;

/// Weights that share a scale.
pub const BLOCK: u32 = 64;

/// The 16 values, as bits of f32: quantiles of the normal distribution, from -1 to 1 with an exact 0 (QLoRA, appendix
/// E).
pub const CODEBOOK: [u32; 16] = [
    0xBF80_0000,
    0xBF32_39B1,
    0xBF06_6B30,
    0xBECA_32A0,
    0xBE91_A24D,
    0xBE3D_353F,
    0xBDBA_7871,
    0x0000_0000,
    0x3DA2_FAFF,
    0x3E24_CAE3,
    0x3E7C_04DD,
    0x3EAD_033A,
    0x3EE1_A4B8,
    0x3F10_07AB,
    0x3F39_13B3,
    0x3F80_0000,
];

words! {
    /// Which half of a byte holds the weight with the even index.
    NibbleOrder {
        /// The high one: what bitsandbytes writes.
        High "high",
        /// The low one.
        Low "low",
    }
}

impl NibbleOrder {
    /// The bit at which weight `index` of a byte (0 or 1) starts.
    pub const fn shift(self, index: u32) -> u32 {
        match (self, index) {
            (NibbleOrder::High, 0) | (NibbleOrder::Low, 1) => 4,
            _ => 0,
        }
    }
}

/// The codebook's values in f64.
pub fn codebook() -> [f64; 16] {
    CODEBOOK.map(|bits| f64::from(f32::from_bits(bits)))
}

/// The weights in f64: `data` holds two a byte, `scales` one for 64 weights.
pub fn dequantize(data: &[u8], scales: &[f32], order: NibbleOrder) -> Vec<f64> {
    let codebook = codebook();
    let weight = |at: usize| {
        let nibble = data[at / 2] >> order.shift(at as u32 % 2) & 15;
        codebook[usize::from(nibble)] * f64::from(scales[at / BLOCK as usize])
    };
    (0..data.len() * 2).map(weight).collect()
}

/// Codes and scales of weights, two codes a byte: the nearest codebook value, the lower one where two are equally near.
/// A block of zeros has scale 0.
pub fn quantize(weights: &[f32], order: NibbleOrder) -> (Vec<u8>, Vec<f32>) {
    let mut data = vec![0u8; weights.len().div_ceil(2)];
    let mut scales = Vec::new();
    for (number, block) in weights.chunks(BLOCK as usize).enumerate() {
        let scale = block.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
        scales.push(scale);
        for (at, weight) in block.iter().enumerate() {
            let at = number * BLOCK as usize + at;
            let normal = if scale > 0.0 { weight / scale } else { 0.0 };
            data[at / 2] |= code(normal) << order.shift(at as u32 % 2);
        }
    }
    (data, scales)
}

/// Number of midpoints between neighbouring codebook values that lie below `normal`.
fn code(normal: f32) -> u8 {
    let values = CODEBOOK.map(f32::from_bits);
    values
        .windows(2)
        .filter(|pair| normal > (pair[0] + pair[1]) / 2.0)
        .count() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codebook_values_survive_both_ways_in_both_orders() {
        let weights: Vec<f32> = (0..128).map(|at| f32::from_bits(CODEBOOK[at * 7 % 16]) * 0.5).collect();
        for order in [NibbleOrder::High, NibbleOrder::Low] {
            let (data, scales) = quantize(&weights, order);
            assert_eq!(scales, [0.5, 0.5]);
            let back = dequantize(&data, &scales, order);
            assert!(
                weights
                    .iter()
                    .zip(back)
                    .all(|(weight, back)| f64::from(*weight) == back)
            );
        }
    }

    #[test]
    fn the_even_weight_lies_in_the_half_that_the_order_names() {
        let mut weights = [0.0f32; 64];
        (weights[0], weights[1]) = (1.0, -1.0);
        assert_eq!(quantize(&weights, NibbleOrder::High).0[0], 0xF0);
        assert_eq!(quantize(&weights, NibbleOrder::Low).0[0], 0x0F);
    }

    #[test]
    fn a_block_of_zeros_stays_zero() {
        let (data, scales) = quantize(&[0.0; 64], NibbleOrder::High);
        assert_eq!(scales, [0.0]);
        assert!(
            dequantize(&data, &scales, NibbleOrder::High)
                .iter()
                .all(|weight| *weight == 0.0)
        );
    }
}
