//! `ldmatrix` and `stmatrix` of bytes.

use super::super::fault::codes;
use super::super::program::{Access, Rows};
use super::access::addresses;
use super::state::{Ctx, Split};

/// Sixteen elements side by side in memory, each in a byte: those of four bits stand in its middle.
fn unpack(row: u128, packed: Option<u32>) -> [u8; 16] {
    std::array::from_fn(|at| match packed {
        Some(4) => (row >> (4 * at) & 0xf) as u8 * 4,
        Some(bits) => (row >> (bits as usize * at) & 0x3f) as u8,
        None => (row >> (8 * at)) as u8,
    })
}

impl Ctx<'_> {
    /// Rows of sixteen elements. Of a square matrix each lane gets four rows of two columns, of others four columns of a row.
    pub fn load_bytes(&mut self, access: &Access, rows: &Rows, square: bool, packed: Option<u32>, split: Split) {
        let addresses = addresses(self, access);
        let lines: usize = if square { 16 } else { 8 };
        for (nth, registers) in rows.chunks(if square { 2 } else { 1 }).enumerate() {
            let mut matrix = [[0u8; 16]; 16];
            for (line, row) in matrix.iter_mut().enumerate().take(lines) {
                let lane = (lines * nth + line) & 31;
                if split.mask >> lane & 1 == 1 {
                    *row = self.byte_row(access, addresses[lane], packed, lane, split.pc);
                }
            }
            for (half, register) in registers.iter().enumerate() {
                let byte = |lane: usize, at: usize| match square {
                    true => matrix[4 * (lane % 4) + at][lane / 4 + 8 * half],
                    false => matrix[lane / 4][4 * (lane % 4) + at],
                };
                let value = std::array::from_fn(|lane| u32::from_le_bytes([0, 1, 2, 3].map(|at| byte(lane, at))));
                self.put_word(*register, &value, split.mask);
            }
        }
    }

    /// A row of sixteen elements, as a read of that lane.
    fn byte_row(&mut self, access: &Access, address: u64, packed: Option<u32>, lane: usize, pc: u32) -> [u8; 16] {
        if !address.is_multiple_of(16) {
            let message = format!("the address {address:#x} of a row is no multiple of 16");
            self.complain(codes::MEM003, pc, lane, message);
            return [0; 16];
        }
        // Sixteen elements of four or six bits are two or three words.
        let row = match packed {
            None => self.read_lane(access, address, lane, pc),
            Some(bits) => (0..u64::from(bits) / 2).fold(0, |row, word| {
                row | self.read_lane(access, address + 4 * word, lane, pc) << (32 * word)
            }),
        };
        unpack(row, packed)
    }

    /// Lanes hold two rows of two columns each; columns become rows of sixteen bytes.
    pub fn store_bytes(&mut self, access: &Access, rows: &Rows, split: Split) {
        let addresses = addresses(self, access);
        for (nth, value) in self.words(rows).iter().enumerate() {
            let mut lines = [[0u8; 16]; 8];
            for (lane, word) in value.iter().enumerate() {
                for (at, byte) in word.to_le_bytes().into_iter().enumerate() {
                    lines[2 * (lane % 4) + at % 2][lane / 4 + 8 * (at / 2)] = byte;
                }
            }
            for (line, bytes) in lines.iter().enumerate() {
                let lane = (8 * nth + line) & 31;
                if split.mask >> lane & 1 == 1 {
                    self.write_lane(access, addresses[lane], u128::from_le_bytes(*bytes), lane, split.pc);
                }
            }
        }
    }
}
