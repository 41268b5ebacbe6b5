//! Fragments against the ISA's formulas, and products against the same product of plain matrices.

use super::super::format::{E2M1, E4M3, F16};
use super::super::matrix::{BitOp, Fragment, Shape, Side, quad, quad_factor, quad_sum, transpose};
use super::super::tensor::{Lanes, Product, Quads, Scales, doubles};
use super::super::{Round, half};
use super::cases::Cases;
use crate::ptx::types::Type;

fn shape(name: &str) -> Shape {
    Shape::from_name(name).unwrap()
}

#[test]
fn shapes_have_names() {
    assert_eq!(shape("m16n8k256"), Shape { m: 16, n: 8, k: 256 });
    for name in [
        "m16n8",
        "16n8k4",
        "m16n8k0",
        "m16nk8",
        "row",
        "m16n8k999",
        "m16n8k12",
        "m4n8k8",
    ] {
        assert_eq!(Shape::from_name(name), None);
    }
}

/// Every element of the matrix stands in exactly one place.
#[test]
fn fragments_cover_the_matrix() {
    for (name, bits) in [
        ("m16n8k8", 16),
        ("m16n8k16", 16),
        ("m16n8k4", 32),
        ("m16n8k8", 32),
        ("m8n8k4", 64),
        ("m16n8k4", 64),
        ("m16n8k16", 64),
        ("m8n8k16", 8),
        ("m16n8k16", 8),
        ("m16n8k32", 8),
        ("m8n8k32", 4),
        ("m16n8k32", 4),
        ("m16n8k64", 4),
        ("m16n16k16", 16),
        ("m32n8k16", 16),
        ("m8n32k16", 16),
        ("m16n16k8", 32),
        ("m32n8k16", 8),
        ("m8n32k16", 8),
    ] {
        for side in [Side::A, Side::B, Side::C] {
            let fragment = Fragment::new(shape(name), side, bits);
            let mut seen = vec![0; (fragment.rows * fragment.cols) as usize];
            for lane in 0..32 {
                for element in 0..fragment.elements() {
                    let (row, col) = fragment.place(lane, element);
                    seen[(row * fragment.cols + col) as usize] += 1;
                    assert_eq!(fragment.place(lane, element + fragment.elements()), (row, col));
                }
            }
            assert!(seen.iter().all(|n| *n == 1), "{name} {side:?} {bits}");
        }
    }
}

/// The formulas as the ISA writes them, for shapes that differ in kind.
#[test]
fn fragments_are_those_of_the_isa() {
    for lane in 0..32 {
        let (group, thread) = (lane / 4, lane % 4);
        let check = |name: &str, side: Side, bits: u32, i: u32, expected: (u32, u32)| {
            let place = Fragment::new(shape(name), side, bits).place(lane, i);
            assert_eq!(place, expected, "{name} {side:?} lane {lane} element {i}");
        };
        for i in 0..8 {
            let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
            check(
                "m16n8k16",
                Side::A,
                16,
                i,
                (row, thread * 2 + (i & 1) + if i >= 4 { 8 } else { 0 }),
            );
            let row = if i % 2 == 0 { group } else { group + 8 };
            check(
                "m16n8k16",
                Side::A,
                64,
                i,
                (row, if i % 2 == 0 { i * 2 + thread } else { i * 2 - 2 + thread }),
            );
            let row = if i < 4 { group } else { group + 8 };
            check("m16n8k16", Side::A, 8, i, (row, thread * 4 + (i & 3)));
        }
        for i in 0..4 {
            check(
                "m16n8k16",
                Side::B,
                16,
                i,
                (thread * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, group),
            );
            let row = if i < 2 { group } else { group + 8 };
            check("m16n8k16", Side::C, 32, i, (row, thread * 2 + (i & 1)));
            let row = if i == 0 || i == 2 { group } else { group + 8 };
            check(
                "m16n8k8",
                Side::A,
                32,
                i,
                (row, if i < 2 { thread } else { thread + 4 }),
            );
            check("m8n8k16", Side::B, 8, i, (thread * 4 + i, group));
        }
        for i in 0..32 {
            let row = if i < 8 || (16..24).contains(&i) {
                group
            } else {
                group + 8
            };
            check(
                "m16n8k64",
                Side::A,
                4,
                i,
                (row, thread * 8 + (i & 7) + if i >= 16 { 32 } else { 0 }),
            );
        }
        for i in 0..16 {
            let row = thread * 8 + (i & 7) + if i >= 8 { 32 } else { 0 };
            check("m16n8k64", Side::B, 4, i, (row, group));
            let row = if i < 4 || (8..12).contains(&i) {
                group
            } else {
                group + 8
            };
            check(
                "m16n8k32",
                Side::A,
                8,
                i,
                (row, thread * 4 + (i & 3) + if i >= 8 { 16 } else { 0 }),
            );
        }
        check("m8n8k4", Side::A, 64, 0, (group, thread));
        check("m8n8k4", Side::B, 64, 0, (thread, group));
        check("m8n8k4", Side::C, 64, 1, (group, thread * 2 + 1));
    }
}

#[test]
fn quads_cover_their_matrices() {
    let mut seen = [[[0; 8]; 8]; 4];
    for lane in 0..32 {
        for element in 0..8 {
            let (row, col) = quad_sum(lane, element, true);
            seen[quad(lane) as usize][row as usize][col as usize] += 1;
        }
    }
    assert_eq!(seen, [[[1; 8]; 8]; 4]);
    assert_eq!((quad(5), quad_factor(5, 3, true)), (1, (1, 3)));
    assert_eq!((quad(22), quad_factor(22, 3, false)), (1, (7, 2)));
    assert_eq!(quad_sum(17, 6, true), (7, 4));
    assert_eq!(quad_sum(18, 6, false), (6, 6));
}

#[test]
fn transposed_twice_is_the_same() {
    let mut cases = Cases::new(51);
    let a: Lanes = std::array::from_fn(|_| cases.next() as u32);
    let b = transpose(&a);
    assert_eq!(transpose(&b), a);
    // Row 2, column 5 of a matrix is in the upper half of lane 10, of its transpose in the lower half of lane 21.
    assert_eq!(b[21] & 0xffff, a[10] >> 16);
}

/// Registers whose element at (row, column) is `value(row, column)`, in `bits` bits.
fn fill(fragment: Fragment, bits: u32, value: impl Fn(u32, u32) -> u32) -> Vec<Lanes> {
    let per_register = 32 / bits;
    let mut out = vec![[0; 32]; fragment.elements().div_ceil(per_register) as usize];
    for lane in 0..32 {
        for element in 0..fragment.elements() {
            let (row, col) = fragment.place(lane, element);
            let mask = u32::MAX >> (32 - bits);
            let shift = element % per_register * bits;
            out[(element / per_register) as usize][lane as usize] |= (value(row, col) & mask) << shift;
        }
    }
    out
}

fn small(row: u32, col: u32, salt: u32) -> i32 {
    ((row * 7 + col * 13 + row * col * 5 + salt) % 11) as i32 - 5
}

fn product(name: &str, ty: Type, c: Type, slot: u32) -> Product {
    Product {
        shape: shape(name),
        a: ty,
        b: ty,
        c,
        d: c,
        slot,
        satfinite: false,
        bits: BitOp::Xor,
    }
}

fn expected(shape: Shape, row: u32, col: u32) -> i32 {
    (0..shape.k).map(|k| small(row, k, 1) * small(k, col, 2)).sum::<i32>() + small(row, col, 3)
}

fn single(x: i32) -> u32 {
    (x as f32).to_bits()
}

/// Small integers are exact in every format that holds them.
#[test]
fn products_of_floats() {
    let f16 = |x: i32| u32::from(half::from_single(F16, single(x), Round::Rn));
    let code = |format: super::super::Format| move |x: i32| format.encode(f64::from(x), Round::Rn, false) as u32;
    type Encode<'a> = &'a dyn Fn(i32) -> u32;
    let table: [(&str, Type, u32, Encode); 9] = [
        ("m16n8k8", Type::F16, 16, &f16),
        ("m16n8k16", Type::F16, 16, &f16),
        ("m16n8k16", Type::Bf16, 16, &|x| single(x) >> 16),
        ("m16n8k4", Type::Tf32, 32, &single),
        ("m16n8k8", Type::Tf32, 32, &|x| single(x) | 0x1fff),
        ("m16n8k32", Type::E4m3, 8, &code(E4M3)),
        ("m16n16k16", Type::F16, 16, &f16),
        ("m32n8k16", Type::Bf16, 16, &|x| single(x) >> 16),
        ("m8n32k16", Type::F16, 16, &f16),
    ];
    for (name, ty, bits, encode) in table {
        let shape = shape(name);
        let a = fill(Fragment::new(shape, Side::A, bits), bits, |row, col| {
            encode(small(row, col, 1))
        });
        let b = fill(Fragment::new(shape, Side::B, bits), bits, |row, col| {
            encode(small(row, col, 2))
        });
        for (accumulator, width, encode) in [(Type::F32, 32, &single as Encode), (Type::F16, 16, &f16)] {
            let sums = Fragment::new(shape, Side::C, 32);
            let c = fill(sums, width, |row, col| encode(small(row, col, 3)));
            let mut d = vec![[0; 32]; c.len()];
            product(name, ty, accumulator, bits).apply(&a, &b, &c, &mut d).unwrap();
            assert_eq!(
                d,
                fill(sums, width, |row, col| encode(expected(shape, row, col))),
                "{name} {ty:?} {accumulator:?}"
            );
        }
    }
}

#[test]
fn fp4_stands_in_the_middle_of_a_byte() {
    let shape = shape("m16n8k32");
    let value = |row: u32, col: u32, salt| f64::from(small(row, col, salt) / 2);
    let encode = |x: f64| (E2M1.encode(x, Round::Rn, true) as u32) << 2;
    let a = fill(Fragment::new(shape, Side::A, 8), 8, |row, col| {
        encode(value(row, col, 1))
    });
    let b = fill(Fragment::new(shape, Side::B, 8), 8, |row, col| {
        encode(value(row, col, 2))
    });
    let c = vec![[0; 32]; 4];
    let mut d = c.clone();
    product("m16n8k32", Type::E2m1, Type::F32, 8)
        .apply(&a, &b, &c, &mut d)
        .unwrap();
    let expected = |row, col| (0..32).map(|k| value(row, k, 1) * value(k, col, 2)).sum::<f64>() as f32;
    assert_eq!(
        d,
        fill(Fragment::new(shape, Side::C, 32), 32, |row, col| expected(row, col)
            .to_bits())
    );
}

#[test]
fn products_of_integers() {
    for (name, ty, bits) in [
        ("m8n8k16", Type::S8, 8),
        ("m16n8k16", Type::S8, 8),
        ("m16n8k32", Type::S8, 8),
        ("m8n8k32", Type::S4, 4),
        ("m16n8k32", Type::S4, 4),
        ("m16n8k64", Type::S4, 4),
        ("m16n16k16", Type::S8, 8),
        ("m32n8k16", Type::S8, 8),
        ("m8n32k16", Type::S8, 8),
    ] {
        let shape = shape(name);
        let fill = |side, width, salt| {
            fill(Fragment::new(shape, side, bits), width, |row, col| {
                small(row, col, salt).cast_unsigned()
            })
        };
        let (a, b, c) = (fill(Side::A, bits, 1), fill(Side::B, bits, 2), fill(Side::C, 32, 3));
        let mut d = vec![[0; 32]; c.len()];
        product(name, ty, Type::S32, bits).apply(&a, &b, &c, &mut d).unwrap();
        let sums = Fragment::new(shape, Side::C, 32);
        assert_eq!(
            d,
            self::fill(sums, 32, |row, col| expected(shape, row, col).cast_unsigned()),
            "{name} {ty:?}"
        );
    }
}

#[test]
fn integers_wrap_or_saturate() {
    let ones = vec![[u32::MAX; 32]; 4];
    let c = vec![[0x7fff_fff0; 32]; 4];
    let mut d = c.clone();
    let mut product = product("m16n8k32", Type::U8, Type::S32, 8);
    product.apply(&ones, &ones, &c, &mut d).unwrap();
    assert_eq!(d[0][0], 0x7fff_fff0 + 32 * 255 * 255);
    product.satfinite = true;
    product.apply(&ones, &ones, &c, &mut d).unwrap();
    assert_eq!(d[3][31], 0x7fff_ffff);
    product.b = Type::S8;
    product.satfinite = false;
    product.apply(&ones, &ones, &c, &mut d).unwrap();
    assert_eq!(d[0][0], 0x7fff_fff0 - 32 * 255);
}

#[test]
fn products_of_bits() {
    for name in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        let shape = shape(name);
        let words = Shape {
            k: shape.k / 32,
            ..shape
        };
        let word = |row: u32, col: u32, salt: u32| (row * 40_503 + col * 65_537 + salt).wrapping_mul(0x9e37_79b9);
        let a = fill(Fragment::new(words, Side::A, 32), 32, |row, col| word(row, col, 1));
        let b = fill(Fragment::new(words, Side::B, 32), 32, |row, col| word(col, row, 2));
        for (bits, op) in [
            (BitOp::Xor, (|x, y| x ^ y) as fn(u32, u32) -> u32),
            (BitOp::And, |x, y| x & y),
        ] {
            let c = vec![[5; 32]; 4];
            let mut d = vec![[0; 32]; if shape.m == 8 { 2 } else { 4 }];
            let product = Product {
                bits,
                ..product(name, Type::B1, Type::S32, 1)
            };
            product.apply(&a, &b, &c, &mut d).unwrap();
            let ones = |row, col| {
                (0..words.k)
                    .map(|k| op(word(row, k, 1), word(col, k, 2)).count_ones())
                    .sum::<u32>()
            };
            assert_eq!(
                d,
                fill(Fragment::new(words, Side::C, 32), 32, |row, col| 5 + ones(row, col)),
                "{name} {bits:?}"
            );
        }
    }
}

#[test]
fn products_of_doubles() {
    for name in ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"] {
        let shape = shape(name);
        let fill = |side, value: &dyn Fn(u32, u32) -> i32| {
            let fragment = Fragment::new(shape, side, 64);
            (0..fragment.elements())
                .map(|element| {
                    std::array::from_fn(|lane| {
                        let (row, col) = fragment.place(lane as u32, element);
                        f64::from(value(row, col)).to_bits()
                    })
                })
                .collect::<Vec<_>>()
        };
        let (a, b) = (
            fill(Side::A, &|r, c| small(r, c, 1)),
            fill(Side::B, &|r, c| small(r, c, 2)),
        );
        let c = fill(Side::C, &|r, c| small(r, c, 3));
        let mut d = vec![[0; 32]; c.len()];
        doubles(shape, Round::Rn, &a, &b, &c, &mut d);
        assert_eq!(d, fill(Side::C, &|row, col| expected(shape, row, col)), "{name}");
    }
}

#[test]
fn four_products_at_once() {
    let f16 = |x: i32| u32::from(half::from_single(F16, single(x), Round::Rn));
    for (a_row, b_row, c, d) in [
        (true, false, Type::F32, Type::F32),
        (false, true, Type::F16, Type::F16),
        (true, true, Type::F16, Type::F32),
        (false, false, Type::F32, Type::F32),
    ] {
        let shape = Shape { m: 8, n: 8, k: 4 };
        let factor = |row_major: bool, salt: u32, flip: bool| -> Vec<Lanes> {
            (0..2)
                .map(|register| {
                    std::array::from_fn(|lane| {
                        let half = |element| {
                            let (line, k) = quad_factor(lane as u32, element, row_major);
                            let (row, col) = if flip { (k, line) } else { (line, k) };
                            f16(small(row, col, salt))
                        };
                        half(2 * register) | half(2 * register + 1) << 16
                    })
                })
                .collect()
        };
        let sums = |ty: Type, value: &dyn Fn(u32, u32) -> i32| -> Vec<Lanes> {
            let count = if ty == Type::F32 { 8 } else { 4 };
            (0..count)
                .map(|register| {
                    std::array::from_fn(|lane| {
                        let at = |element| {
                            let (row, col) = quad_sum(lane as u32, element, ty == Type::F32);
                            value(row, col)
                        };
                        if ty == Type::F32 {
                            single(at(register))
                        } else {
                            f16(at(2 * register)) | f16(at(2 * register + 1)) << 16
                        }
                    })
                })
                .collect()
        };
        let (a, b) = (factor(a_row, 1, false), factor(!b_row, 2, true));
        let start = sums(c, &|row, col| small(row, col, 3));
        let mut out = vec![[0; 32]; if d == Type::F32 { 8 } else { 4 }];
        Quads { a_row, b_row, c, d }.apply(&a, &b, &start, &mut out);
        assert_eq!(
            out,
            sums(d, &|row, col| expected(shape, row, col)),
            "{a_row} {b_row} {c:?} {d:?}"
        );
    }
}

/// Elements are one, scales powers of two that tell chunk, row and column apart.
#[test]
fn scaled_products() {
    let shape = shape("m16n8k64");
    let one = E2M1.encode(1.0, Round::Rn, true) as u32;
    let a = fill(Fragment::new(shape, Side::A, 4), 4, |_, _| one);
    let b = fill(Fragment::new(shape, Side::B, 4), 4, |_, _| one);
    let (row_scale, col_scale) = (
        |row: u32, chunk: u32| row % 5 + 2 * chunk,
        |col: u32, chunk: u32| col % 3 + chunk,
    );
    // Lanes 2 and 3 of each four give the scales of A, lane 1 those of B, from byte 2 on.
    let pack = |scale: &dyn Fn(u32) -> u32| (127 + scale(0)) << 16 | (127 + scale(1)) << 24;
    let scales = Scales {
        ty: Type::Ue8m0,
        chunks: 2,
        a: std::array::from_fn(|lane| match lane as u32 % 4 {
            0 | 1 => u32::MAX,
            half => pack(&|chunk| row_scale(lane as u32 / 4 + 8 * (half - 2), chunk)),
        }),
        a_from: (2, 1),
        b: std::array::from_fn(|lane| match lane % 4 {
            1 => pack(&|chunk| col_scale(lane as u32 / 4, chunk)),
            _ => u32::MAX,
        }),
        b_from: (2, 1),
    };
    let c = vec![[0; 32]; 4];
    let mut d = c.clone();
    product("m16n8k64", Type::E2m1, Type::F32, 4)
        .apply_scaled(&a, &b, &c, &mut d, &scales)
        .unwrap();
    let power = |n: u32| 2f32.powi(n as i32);
    let expected = |row, col| {
        let part = |chunk| 32.0 * power(row_scale(row, chunk)) * power(col_scale(col, chunk));
        f32::to_bits(part(0) + part(1))
    };
    assert_eq!(d, fill(Fragment::new(shape, Side::C, 32), 32, expected));
    let quarter = Scales {
        ty: Type::Ue4m3,
        chunks: 4,
        a: [0x3838_3838; 32],
        b: [0x2828_a8a8; 32],
        a_from: (0, 0),
        b_from: (0, 0),
    };
    product("m16n8k64", Type::E2m1, Type::F32, 4)
        .apply_scaled(&a, &b, &c, &mut d, &quarter)
        .unwrap();
    assert_eq!(d[0][0], 16f32.to_bits(), "the sign bit of a scale does not count");
}
