//! `wgmma`: a warp's part of a product of its warpgroup.

use super::super::lanes::Words;
use super::super::program::{Access, Factor, Warpgroup};
use super::super::{Stop, program::Rows};
use super::state::{Ctx, Split};
use crate::ptx::num::descriptor::Descriptor;
use crate::ptx::num::matrix::{Fragment, Side};

impl Ctx<'_> {
    /// The rows of this warp, eight columns after eight columns.
    pub fn warpgroup(&mut self, group: &Warpgroup, split: Split) {
        let first = split.mask.trailing_zeros() as usize & 31;
        let keep = self.warp.file.read(group.scale, first) == 1;
        self.hold_accumulators(group, split);
        let Some(a) = self.left_factor(group, split) else {
            return;
        };
        let per_block = group.d.len() / (group.n as usize / 8).max(1);
        for (block, rows) in group.d.chunks(per_block.max(1)).enumerate() {
            let Some(b) = self.shared_factor(group, Side::B, &group.b, block as u32 * 8, split) else {
                return;
            };
            let rows = Rows::from_slice(rows);
            let old = self.words(&rows);
            let zero = [[0; 32]; 4];
            let c: &[Words] = if keep { &old } else { &zero };
            let mut out = old.clone();
            let done = group.product.apply(&a, &flip(b, group.flip_b), c, &mut out);
            if done.is_none() {
                return;
            }
            for (row, value) in rows.iter().zip(&out) {
                self.put_word(*row, value, split.mask);
            }
        }
    }

    fn left_factor(&mut self, group: &Warpgroup, split: Split) -> Option<Vec<Words>> {
        let a = match &group.a {
            Factor::Registers(rows) => self.words(rows).to_vec(),
            shared @ Factor::Shared(..) => {
                self.shared_factor(group, Side::A, shared, self.warp.index % 4 * 16, split)?
            }
        };
        let a = match group.sparse {
            Some((sparse, metadata)) => sparse.densify(&a, &self.word(metadata)).to_vec(),
            None => a,
        };
        Some(flip(a, group.flip_a))
    }

    /// The registers of a fragment, as if each lane had loaded its words from shared memory.
    fn shared_factor(
        &mut self,
        group: &Warpgroup,
        side: Side,
        factor: &Factor,
        from: u32,
        split: Split,
    ) -> Option<Vec<Words>> {
        let &Factor::Shared(row, transposed) = factor else {
            return None;
        };
        let first = split.mask.trailing_zeros() as usize & 31;
        let bits = self.warp.file.longs.get(row as usize).map_or(0, |row| row[first]);
        let descriptor = Descriptor::new(bits);
        if descriptor.base != 0 {
            let what = "a matrix descriptor with a base offset".to_owned();
            let site = self.site(split.pc);
            self.stop(Stop::Unsupported { site, what });
            return None;
        }
        let slot = group.product.slot;
        // Elements of less than a byte go by words; of whole words each is one element.
        let (bytes, per_register) = if slot < 8 { (4, 1) } else { (slot / 8, 32 / slot) };
        let along = if group.sparse.is_some() && side == Side::B {
            64
        } else {
            32
        };
        if !transposed && descriptor.swizzle == 1 && along == 64 {
            let what = "columns that are longer than the swizzled rows".to_owned();
            let site = self.site(split.pc);
            self.stop(Stop::Unsupported { site, what });
            return None;
        }
        let shape = crate::ptx::num::matrix::Shape {
            k: along / bytes,
            ..group.product.shape
        };
        let fragment = Fragment::new(shape, side, 8 * bytes);
        let registers = fragment.elements() / per_register;
        let place = |lane: usize, element: u32| {
            let (row, col) = fragment.place(lane as u32, element);
            let (mn, k) = if side == Side::A { (row, col) } else { (col, row) };
            descriptor.address(from + mn, k, bytes, transposed)
        };
        let mut out = vec![[0; 32]; registers as usize];
        for (register, value) in out.iter_mut().enumerate() {
            for lane in super::super::lanes::lanes(split.mask) {
                let element = register as u32 * per_register;
                value[lane] = match transposed {
                    false => self.shared_word(&group.access, place(lane, element), lane, split.pc),
                    true => (0..per_register).fold(0, |word, part| {
                        let address = place(lane, element + part);
                        let whole = self.shared_word(&group.access, address & !3, lane, split.pc);
                        let mask = u32::MAX >> (32 - slot);
                        word | (whole >> (8 * (address & 3)) & mask) << (part * slot)
                    }),
                };
            }
        }
        Some(out)
    }

    fn shared_word(&mut self, access: &Access, address: u32, lane: usize, pc: u32) -> u32 {
        self.read_async(access, u64::from(address), lane, pc) as u32
    }
}

fn flip(mut registers: Vec<Words>, bits: u32) -> Vec<Words> {
    registers.iter_mut().flatten().for_each(|word| *word ^= bits);
    registers
}
