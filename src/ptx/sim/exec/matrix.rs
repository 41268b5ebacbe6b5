//! Matrix instructions: the whole warp takes part.

use super::super::fault::{Fault, codes};
use super::super::lanes::{Longs, Words, lanes};
use super::super::memory::Visit;
use super::super::program::{Access, Bytes, Fragments, Matrix, Rows, Scaled, Tile};
use super::access::addresses;
use super::state::{Ctx, Split};
use crate::ptx::diag::{Code, Level};
use crate::ptx::num::matrix::{Fragment, transpose};
use crate::ptx::num::tensor::{Scales, doubles};
use smallvec::SmallVec;

impl Ctx<'_> {
    /// A matrix instruction, for the lanes that came.
    pub fn matrix(&mut self, at: u32, split: Split) {
        let program = self.program;
        let Some(matrix) = program.matrices.get(at as usize) else {
            return;
        };
        if split.mask != u32::MAX {
            self.part_of_a_warp(codes::BAR012, split);
        }
        match matrix {
            Matrix::Product(product, rows) => self.on_words(rows, split.mask, |[a, b, c], d| {
                product.apply(a, b, c, d);
            }),
            Matrix::Quads(quads, rows) => self.on_words(rows, split.mask, |[a, b, c], d| quads.apply(a, b, c, d)),
            Matrix::Doubles(shape, round, rows) => {
                let [d, a, b, c] = rows.each_ref().map(|rows| self.longs(rows));
                let mut out = d;
                doubles(*shape, *round, &a, &b, &c, &mut out);
                for (row, value) in rows[0].iter().zip(&out) {
                    self.put_long(*row, value, split.mask);
                }
            }
            Matrix::Sparse(product, rows, sparse, metadata) => {
                let metadata = self.word(*metadata);
                self.on_words(rows, split.mask, |[a, b, c], d| {
                    product.apply(&sparse.densify(a, &metadata), b, c, d);
                });
            }
            Matrix::TensorMemory(what) => self.tensor_memory(what, split),
            Matrix::Warpgroup(group) => self.warpgroup(group, split),
            Matrix::Scaled(scaled) => self.scaled(scaled, split.mask),
            Matrix::Transpose(d, a) => {
                let value = self.words(&Rows::from_slice(&[*a])).first().map(transpose);
                self.put_word(*d, &value.unwrap_or([0; 32]), split.mask);
            }
            Matrix::Eights {
                access,
                rows,
                trans,
                store: false,
            } => self.load_eights(access, rows, *trans, split),
            Matrix::Eights {
                access,
                rows,
                trans,
                store: true,
            } => self.store_eights(access, rows, *trans, split),
            Matrix::Bytes {
                access,
                rows,
                form: Bytes::Tall,
                ..
            } => self.store_bytes(access, rows, split),
            Matrix::Bytes {
                access,
                rows,
                form,
                packed,
            } => self.load_bytes(access, rows, *form == Bytes::Square, *packed, split),
            Matrix::Tile(tile) => self.tile(tile, split),
        }
    }

    /// Reports that some lanes of the warp are elsewhere.
    pub fn part_of_a_warp(&mut self, code: Code, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let message = format!(
            "only lanes {:#010x} come to an instruction that needs the whole warp together",
            split.mask
        );
        let fault = Fault::new(code, Level::Error, self.site(split.pc), message);
        self.report(fault.thread(self.thread(lane)));
    }

    /// What is in a register.
    pub fn word(&self, row: u32) -> Words {
        self.warp.file.words.get(row as usize).copied().unwrap_or([0; 32])
    }

    /// What is in registers.
    pub fn words(&self, rows: &Rows) -> SmallVec<[Words; 8]> {
        let file = &self.warp.file.words;
        rows.iter()
            .map(|row| file.get(*row as usize).copied().unwrap_or([0; 32]))
            .collect()
    }

    fn longs(&self, rows: &Rows) -> SmallVec<[Longs; 8]> {
        let file = &self.warp.file.longs;
        rows.iter()
            .map(|row| file.get(*row as usize).copied().unwrap_or([0; 32]))
            .collect()
    }

    /// Writes a register for some lanes.
    pub fn put_word(&mut self, row: u32, value: &Words, mask: u32) {
        if let Some(to) = self.warp.file.words.get_mut(row as usize) {
            super::super::lanes::put(to, value, mask);
        }
    }

    fn put_long(&mut self, row: u32, value: &Longs, mask: u32) {
        if let Some(to) = self.warp.file.longs.get_mut(row as usize) {
            super::super::lanes::put(to, value, mask);
        }
    }

    fn on_words(&mut self, rows: &Fragments, mask: u32, f: impl Fn([&[Words]; 3], &mut [Words])) {
        let [mut d, a, b, c] = rows.each_ref().map(|rows| self.words(rows));
        f([&a, &b, &c], &mut d);
        for (row, value) in rows[0].iter().zip(&d) {
            self.put_word(*row, value, mask);
        }
    }

    /// The selectors are those of the first lane; the ISA wants them alike in all lanes.
    fn scaled(&mut self, scaled: &Scaled, mask: u32) {
        let lane = mask.trailing_zeros() as usize & 31;
        let [byte_a, lane_a, byte_b, lane_b] = scaled.from.map(|slot| self.warp.file.read(slot, lane) as u32);
        let scales = Scales {
            ty: scaled.ty,
            chunks: scaled.chunks,
            a: self.word(scaled.scales[0]),
            a_from: (byte_a & 3, lane_a),
            b: self.word(scaled.scales[1]),
            b_from: (byte_b & 3, lane_b),
        };
        let sparse = scaled.sparse.map(|(sparse, row)| (sparse, self.word(row)));
        self.on_words(&scaled.fragments, mask, |[a, b, c], d| {
            let dense = sparse.map(|(sparse, metadata)| sparse.densify(a, &metadata));
            let a = dense.as_ref().map_or(a, |dense| dense.as_slice());
            scaled.product.apply_scaled(a, b, c, d, &scales);
        });
    }

    /// What a lane reads there; zero where it may not.
    pub fn read_lane(&mut self, access: &Access, address: u64, lane: usize, pc: u32) -> u128 {
        let size = u64::from(access.bytes);
        let Some(spot) = self.spot(access.space, address, size, lane, pc, false) else {
            return 0;
        };
        self.visit(access, spot, size as usize, lane, address, pc, Visit::Read);
        self.block(spot.block)
            .map_or(0, |block| block.load(spot.at, size as usize))
    }

    /// Writes for a lane.
    pub fn write_lane(&mut self, access: &Access, address: u64, value: u128, lane: usize, pc: u32) {
        let size = u64::from(access.bytes);
        let Some(spot) = self.spot(access.space, address, size, lane, pc, true) else {
            return;
        };
        self.visit(access, spot, size as usize, lane, address, pc, Visit::Write);
        if let Some(block) = self.block(spot.block) {
            block.store(spot.at, size as usize, value);
        }
    }

    /// Each eight lanes give the addresses of the rows of one matrix.
    fn load_eights(&mut self, access: &Access, rows: &Rows, trans: bool, split: Split) {
        let addresses = addresses(self, access);
        let fragment = Fragment::eight_by_eight(trans);
        for (nth, row) in rows.iter().enumerate() {
            let matrix: [u128; 8] = std::array::from_fn(|line| {
                let lane = (8 * nth + line) & 31;
                match split.mask >> lane & 1 {
                    1 => self.read_lane(access, addresses[lane], lane, split.pc),
                    _ => 0,
                }
            });
            let half = |lane: usize, element: u32| {
                let (row, col) = fragment.place(lane as u32, element);
                (matrix[row as usize & 7] >> (16 * col)) as u32 & 0xffff
            };
            let value = std::array::from_fn(|lane| half(lane, 0) | half(lane, 1) << 16);
            self.put_word(*row, &value, split.mask);
        }
    }

    fn store_eights(&mut self, access: &Access, rows: &Rows, trans: bool, split: Split) {
        let addresses = addresses(self, access);
        let fragment = Fragment::eight_by_eight(trans);
        for (nth, value) in self.words(rows).iter().enumerate() {
            let mut matrix = [0u128; 8];
            for (lane, word) in value.iter().enumerate() {
                for element in 0..2 {
                    let (row, col) = fragment.place(lane as u32, element);
                    matrix[row as usize & 7] |= u128::from(word >> (16 * element) & 0xffff) << (16 * col);
                }
            }
            for (line, value) in matrix.iter().enumerate() {
                let lane = (8 * nth + line) & 31;
                if split.mask >> lane & 1 == 1 {
                    self.write_lane(access, addresses[lane], *value, lane, split.pc);
                }
            }
        }
    }

    /// A fragment of `wmma`, element by element or register by register.
    fn tile(&mut self, tile: &Tile, split: Split) {
        let addresses = addresses(self, &tile.access);
        let per_row = (32 / tile.bits).max(1);
        for (nth, row) in tile.rows.iter().enumerate() {
            for lane in lanes(split.mask) {
                let stride = self.stride(tile, lane);
                for part in 0..per_row {
                    let place = (nth as u32 * per_row + part) * if tile.elements == 8 { 8 } else { 1 };
                    let address = addresses[lane].wrapping_add(distance(tile, lane as u32, place, stride));
                    self.move_part(tile, (*row, part), address, lane, split.pc);
                }
            }
        }
    }

    /// Elements from one row, or column, to the next.
    fn stride(&self, tile: &Tile, lane: usize) -> u64 {
        match tile.stride {
            Some(slot) => self.warp.file.read(slot, lane) & u64::from(u32::MAX),
            None => {
                let Fragment { rows, cols, .. } = tile.fragment;
                let words = if tile.elements == 32 { 32 } else { 1 };
                // Of single bits, words count as elements along k.
                let dense = if tile.row_major { cols } else { rows };
                u64::from(dense) * words
            }
        }
    }

    fn move_part(&mut self, tile: &Tile, (row, part): (u32, u32), address: u64, lane: usize, pc: u32) {
        let (row, shift) = (row as usize, part * tile.bits);
        if tile.bits == 64 {
            if tile.store {
                let value = self.warp.file.longs.get(row).map_or(0, |row| row[lane & 31]);
                return self.write_lane(&tile.access, address, value.into(), lane, pc);
            }
            let value = self.read_lane(&tile.access, address, lane, pc) as u64;
            if let Some(row) = self.warp.file.longs.get_mut(row) {
                row[lane & 31] = value;
            }
            return;
        }
        let mask = (u32::MAX >> (32 - tile.bits)) << shift;
        let old = self.warp.file.words.get(row).map_or(0, |row| row[lane & 31]);
        if tile.store {
            return self.write_lane(&tile.access, address, ((old & mask) >> shift).into(), lane, pc);
        }
        let value = self.read_lane(&tile.access, address, lane, pc) as u32;
        if let Some(row) = self.warp.file.words.get_mut(row) {
            row[lane & 31] = old & !mask | value << shift & mask;
        }
    }
}

/// Bytes from the beginning of the matrix to a lane's element.
fn distance(tile: &Tile, lane: u32, element: u32, stride: u64) -> u64 {
    let (row, col) = tile.fragment.place(lane, element);
    let (line, along) = if tile.row_major { (row, col) } else { (col, row) };
    let bits = match tile.elements {
        32 => u64::from(line) * stride + u64::from(along) * 32,
        8 => (u64::from(line) * stride + u64::from(along)) * 4,
        _ => (u64::from(line) * stride + u64::from(along)) * u64::from(tile.bits),
    };
    bits / 8
}
