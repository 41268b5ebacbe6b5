//! Sparse left factors of `mma.sp` and `wgmma.mma_async.sp`: which columns the elements stand in.
//!
//! Of each four units of a row two are there. A unit is 16 bits for elements of 16 bits and more (one of `.tf32` is two of
//! them, which the metadata's only two legal codes keep together), and a byte for narrower ones (those of four bits go in pairs).
//! A chunk of four units has four bits of metadata, two for the place of each unit that is there.

use super::matrix::{Fragment, Shape, Side};
use super::tensor::Lanes;

/// How a sparse factor of sixteen rows is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sparse {
    /// Bits of a unit: 8 or 16.
    unit: u32,
    /// Chunks of a row.
    chunks: u32,
    /// Which lanes of each four hold the metadata, where not all do.
    selector: u32,
}

impl Sparse {
    /// The factor of a product over `k` elements of `slot` bits each. `None` where there is no such product.
    pub fn new(k: u32, slot: u32, selector: u32) -> Option<Sparse> {
        let unit = if slot >= 16 { 16 } else { 8 };
        let chunks = k * slot / unit / 4;
        let known = matches!((unit, chunks), (16, 4 | 8) | (8, 8 | 16));
        known.then_some(Sparse { unit, chunks, selector })
    }

    /// The lane that has a chunk's metadata, and where in its register.
    fn place(self, row: u32, chunk: u32) -> (u32, u32) {
        let lower = row / 8 % 2;
        let (lane, bit) = match (self.unit, self.chunks) {
            (16, 4) => (self.selector & 3, 16 * lower + 4 * chunk),
            (16, _) => (2 * (self.selector & 1) + chunk / 4, 16 * lower + 4 * (chunk % 4)),
            (_, 8) => (2 * (self.selector & 1) + lower, 4 * chunk),
            _ => (2 * (chunk / 8) + lower, 4 * (chunk % 8)),
        };
        (row % 8 * 4 + lane, bit)
    }

    /// The registers of the factor as a dense one would be held, eight at most; what is not there is zero.
    pub fn densify(self, a: &[Lanes], metadata: &Lanes) -> [Lanes; 8] {
        let fragment = |k| Fragment::new(Shape { m: 16, n: 8, k }, Side::A, self.unit);
        let (packed, dense) = (fragment(2 * self.chunks), fragment(4 * self.chunks));
        let per_register = 32 / self.unit;
        let mask = u32::MAX >> (32 - self.unit);
        let mut rows = [0u32; 16 * 64];
        for lane in 0..32u32 {
            for element in 0..packed.elements() {
                let word = a
                    .get((element / per_register) as usize)
                    .map_or(0, |row| row[lane as usize & 31]);
                let value = word >> (self.unit * (element % per_register)) & mask;
                let (row, col) = packed.place(lane, element);
                let (holder, bit) = self.place(row, col / 2);
                let code = metadata[holder as usize & 31] >> (bit + 2 * (col % 2)) & 3;
                let at = row * 4 * self.chunks + col / 2 * 4 + code;
                if let Some(to) = rows.get_mut(at as usize) {
                    *to |= value;
                }
            }
        }
        let mut out = [[0; 32]; 8];
        for lane in 0..32u32 {
            for element in 0..dense.elements() {
                let (row, col) = dense.place(lane, element);
                let value = rows.get((row * 4 * self.chunks + col) as usize).copied().unwrap_or(0);
                if let Some(register) = out.get_mut((element / per_register) as usize) {
                    register[lane as usize & 31] |= value << (self.unit * (element % per_register));
                }
            }
        }
        out
    }
}
