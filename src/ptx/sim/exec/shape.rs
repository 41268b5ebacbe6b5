//! How the addresses of a warp lie to each other: most are all the same, or side by side.

use super::super::lanes::{LANES, Slot, same};
use super::super::program::Access;
use super::state::Ctx;

/// What there is to know of the addresses of some lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// They are one address.
    Same,
    /// Lanes side by side access bytes side by side: from which lane on, and how many.
    Run(usize, usize),
    /// Neither.
    Odd,
}

/// An address of 32 or of 64 bits.
trait Address: Copy + PartialEq {
    fn minus(self, other: Self) -> Self;
    fn times(size: u64, count: usize) -> Self;
    fn xor(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
}

macro_rules! address {
    ($ty:ty) => {
        impl Address for $ty {
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(size: u64, count: usize) -> Self {
                (size * count as u64) as $ty
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
        }
    };
}

address!(u32);
address!(u64);

/// The first and the last lane say what the shape can be; only that is looked for.
#[inline(always)]
fn shape<T: Address>(row: &[T; LANES], mask: u32, size: u64) -> Shape {
    let first = mask.trailing_zeros() as usize & 31;
    let last = 31 - (mask.leading_zeros() as usize & 31);
    let span = row[last].minus(row[first]);
    if span == T::times(size, 0) {
        return if same(row, first, mask) {
            Shape::Same
        } else {
            Shape::Odd
        };
    }
    let count = last - first + 1;
    if span != T::times(size, last - first) || mask.count_ones() as usize != count {
        return Shape::Odd;
    }
    let (step, zero) = (T::times(size, 1), T::times(size, 0));
    let mut off = zero;
    if count == LANES {
        for lane in 1..LANES {
            off = off.or(row[lane].minus(row[lane - 1]).xor(step));
        }
    } else {
        for lane in 1..LANES {
            let is_inside = (lane > first) & (lane <= last);
            let one = row[lane].minus(row[lane - 1]).xor(step);
            off = off.or(if is_inside { one } else { zero });
        }
    }
    if off == zero {
        Shape::Run(first, count)
    } else {
        Shape::Odd
    }
}

impl Ctx<'_> {
    /// How the addresses of the lanes of a mask lie to each other, with so many bytes to a lane.
    ///
    /// A run that goes round the end of the address space is one, too: no variable reaches there.
    #[inline(always)]
    pub fn shape(&self, access: &Access, mask: u32, size: u64) -> Shape {
        let file = &self.warp.file;
        match access.address {
            Slot::Long(at) | Slot::Quad(at) => shape(&file.longs[at as usize], mask, size),
            Slot::Word(at) => shape(&file.words[at as usize], mask, size),
            Slot::Pred(..) => Shape::Same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(row: &[u64; LANES], mask: u32, size: u64) -> Shape {
        let all: Vec<usize> = (0..LANES).filter(|lane| mask >> lane & 1 == 1).collect();
        if all.iter().all(|lane| row[*lane] == row[all[0]]) {
            return Shape::Same;
        }
        let follows = |pair: &[usize]| pair[1] == pair[0] + 1 && row[pair[1]] == row[pair[0]].wrapping_add(size);
        match all.windows(2).all(follows) {
            true => Shape::Run(all[0], all.len()),
            false => Shape::Odd,
        }
    }

    #[test]
    fn shapes_are_what_each_lane_says() {
        let masks = [
            u32::MAX,
            1,
            1 << 31,
            0xff,
            0xff00_0000,
            0x0ff0,
            0x0101,
            0x7fff_ffff,
            0xffff_fffe,
        ];
        for mask in masks {
            for size in [1, 4, 8, 16] {
                let run: [u64; LANES] = std::array::from_fn(|lane| 4096 + size * lane as u64);
                let mut rows = vec![run, [77; LANES], run.map(|at| at / 64 * 64)];
                for lane in 0..LANES {
                    let (mut bent, mut odd) = (run, [77; LANES]);
                    (bent[lane], odd[lane]) = (4, 78);
                    rows.extend([bent, odd]);
                }
                for row in rows {
                    assert_eq!(
                        shape(&row, mask, size),
                        plain(&row, mask, size),
                        "{row:?} {mask:#x} {size}"
                    );
                    let narrow = row.map(|at| at as u32);
                    assert_eq!(
                        shape(&narrow, mask, size),
                        plain(&row, mask, size),
                        "{row:?} {mask:#x} {size}"
                    );
                }
            }
        }
    }
}
