//! Sparse factors, against the manual's words on which lane holds which columns and which metadata.

use super::super::matrix::{Fragment, Shape, Side};
use super::super::sparse::Sparse;

/// The two units of a chunk that are there, lower first; of `.tf32` the two halves of one element.
fn places(row: u32, chunk: u32, whole: bool) -> [u32; 2] {
    match whole {
        true => [[0, 1], [2, 3]][((row + chunk) % 2) as usize],
        false => [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]][((row * 5 + chunk * 3) % 6) as usize],
    }
}

/// A row's metadata for a chunk: the place of the lower unit, then of the upper one.
fn code(row: u32, chunk: u32, whole: bool) -> u32 {
    let [first, second] = places(row, chunk, whole);
    first | second << 2
}

fn value(row: u32, unit: u32) -> u32 {
    row * 37 + unit * 11 + 1
}

/// Shape along k, bits of an element, legal selectors, which lane of a group has a chunk of the upper or lower rows and where.
type Case = (u32, u32, &'static [u32], fn(u32, u32, u32) -> (u32, u32));

/// One lane of four has sixteen columns of both rows, or two lanes eight chunks each; of bytes a lane has 32 columns of a row.
const CASES: [Case; 8] = [
    (16, 16, &[0, 1, 2, 3], |selector, lower, chunk| {
        (selector, 16 * lower + 4 * chunk)
    }),
    (32, 16, &[0, 1], |selector, lower, chunk| {
        (2 * selector + chunk / 4, 16 * lower + chunk % 4 * 4)
    }),
    (8, 32, &[0, 1, 2, 3], |selector, lower, chunk| {
        (selector, 16 * lower + 4 * chunk)
    }),
    (16, 32, &[0, 1], |selector, lower, chunk| {
        (2 * selector + chunk / 4, 16 * lower + chunk % 4 * 4)
    }),
    (32, 8, &[0, 1], |selector, lower, chunk| {
        (2 * selector + lower, 4 * chunk)
    }),
    (64, 8, &[0], |_, lower, chunk| (chunk / 8 * 2 + lower, chunk % 8 * 4)),
    (64, 4, &[0, 1], |selector, lower, chunk| {
        (2 * selector + lower, 4 * chunk)
    }),
    (128, 4, &[0], |_, lower, chunk| (chunk / 8 * 2 + lower, chunk % 8 * 4)),
];

#[test]
fn every_shape() {
    for (k, slot, selectors, holder) in CASES {
        let (unit, whole) = (if slot >= 16 { 16 } else { 8 }, slot == 32);
        let (units, mask) = (k * slot / unit, u32::MAX >> (32 - unit));
        for selector in selectors {
            let mut metadata = [0; 32];
            for (row, chunk) in (0..16).flat_map(|row| (0..units / 4).map(move |chunk| (row, chunk))) {
                let (lane, bit) = holder(*selector, row / 8, chunk);
                metadata[(row % 8 * 4 + lane) as usize] |= code(row, chunk, whole) << bit;
            }
            // A register has what is there of twice as many adjacent columns as it has room for, of the upper rows and then of the lower
            // ones; the second pair of registers has those of the right half.
            let per_register = 32 / unit;
            let mut a = vec![[0u32; 32]; (16 * units / 2 * unit / 32 / 32) as usize];
            for (register, lanes) in a.iter_mut().enumerate() {
                for (lane, word) in lanes.iter_mut().enumerate() {
                    let (register, lane) = (register as u32, lane as u32);
                    let row = lane / 4 + 8 * (register % 2);
                    let first = lane % 4 * 2 * per_register + register / 2 * units / 2;
                    let there =
                        (first..first + 2 * per_register).filter(|at| places(row, at / 4, whole).contains(&(at % 4)));
                    for (nth, at) in there.enumerate() {
                        *word |= (value(row, at) & mask) << (unit * nth as u32);
                    }
                }
            }
            let dense = Fragment::new(Shape { m: 16, n: 8, k: units }, Side::A, unit);
            let mut expected = vec![[0u32; 32]; 8];
            for lane in 0..32 {
                for element in 0..dense.elements() {
                    let (row, col) = dense.place(lane, element);
                    if places(row, col / 4, whole).contains(&(col % 4)) {
                        let shift = unit * (element % per_register);
                        expected[(element / per_register) as usize][lane as usize] |= (value(row, col) & mask) << shift;
                    }
                }
            }
            let sparse = Sparse::new(k, slot, *selector).unwrap();
            assert_eq!(
                sparse.densify(&a, &metadata).to_vec(),
                expected,
                "k{k}, {slot} bits, selector {selector}"
            );
        }
    }
    assert_eq!(Sparse::new(64, 16, 0), None);
    assert_eq!(Sparse::new(16, 8, 0), None);
}
