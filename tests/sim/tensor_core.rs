//! `tcgen05` as kernels: what goes through tensor memory, and products against plain sums.

use super::launch::launch;
use super::sparse::{encode, small};

const HEAD: &str = "
    .version 8.7
    .target sm_100a
    .address_size 64
    .visible .entry k(.param .u64 in, .param .u64 out)
    {
        .reg .b64 %rd<10>;
        .reg .b32 %r<16>;
        .reg .b32 %v<64>;
        .reg .pred %p<5>;
        .shared .align 1024 .b8 tile[32768];
        .shared .align 8 .b64 bar;
        .shared .align 4 .b32 slot;
        ld.param.u64 %rd1, [in];
        ld.param.u64 %rd2, [out];
        mov.u32 %r1, %tid.x;
        shr.u32 %r2, %r1, 5;
        mov.u32 %r3, tile;
        mov.u32 %r4, bar;
        mov.u32 %r5, slot;
        setp.ne.u32 %p1, %r1, 0;
        setp.ne.u32 %p2, %r2, 0;
        @%p1 bra READY;
        mbarrier.init.shared.b64 [%r4], 1;
    READY:
        @%p2 bra TAKEN;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 64;
        tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    TAKEN:
        shl.b32 %r6, %r1, 2;
        add.u32 %r7, %r3, %r6;
        cvt.u64.u32 %rd3, %r6;
        add.u64 %rd3, %rd1, %rd3;
        mov.u32 %r8, 0;
    COPY:
        ld.global.b32 %r9, [%rd3];
        st.shared.b32 [%r7], %r9;
        add.u64 %rd3, %rd3, 512;
        add.u32 %r7, %r7, 512;
        add.u32 %r8, %r8, 1;
        setp.lt.u32 %p3, %r8, 64;
        @%p3 bra COPY;
        fence.proxy.async;
        bar.sync 0;
        ld.shared.b32 %r10, [%r5];
        shl.b32 %r11, %r2, 21;
        add.u32 %r11, %r11, %r10;
    ";

const TAIL: &str = "
        bar.sync 0;
        @%p2 bra DONE;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;
    DONE:
        ret;
    }";

fn registers(from: usize, count: usize) -> String {
    let names: Vec<_> = (from..from + count).map(|at| format!("%v{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Runs that in the middle, with so many words a thread in the output.
fn run(middle: &str, input: Vec<u8>, words: usize) -> Result<Vec<Vec<u32>>, String> {
    let text = format!("{HEAD}{middle}{TAIL}");
    let mut input = input;
    input.resize(32768, 0);
    let after = launch(&text, 128, vec![input, vec![0; 128 * words * 4]])?;
    let all: Vec<u32> = after[1]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    Ok(all.chunks(words).map(<[u32]>::to_vec).collect())
}

/// Stores registers of each thread to its words of the output.
fn stored(from: usize, count: usize) -> String {
    let mut out = format!("mul.wide.u32 %rd4, %r1, {};\nadd.u64 %rd4, %rd2, %rd4;\n", 4 * count);
    for at in 0..count {
        out += &format!("st.global.b32 [%rd4+{}], %v{};\n", 4 * at, from + at);
    }
    out
}

/// Each thread fills its lane: column c holds the thread times 256 plus c, in both halves.
fn filled() -> String {
    let mut out = String::from("mul.lo.u32 %r12, %r1, 0x01000100;\n");
    for at in 0..32 {
        out += &format!("add.u32 %v{at}, %r12, {};\n", at * 0x10001);
    }
    out + &format!(
        "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r11], {};\ntcgen05.wait::st.sync.aligned;\n",
        registers(0, 32)
    )
}

fn cell(lane: usize, column: usize) -> u32 {
    ((lane as u32) << 24 | (lane as u32) << 8).wrapping_add(column as u32 * 0x10001)
}

/// Shape, number, rows; and for a lane of a warp and a register which row and column it has.
type Shape = (&'static str, usize, usize, fn(usize, usize) -> (usize, usize));

const SHAPES: [Shape; 5] = [
    ("32x32b.x16", 16, 32, |lane, at| (lane, at)),
    ("16x64b.x8", 8, 16, |lane, at| {
        (lane / 4 + lane % 2 * 8, at * 2 + lane / 2 % 2)
    }),
    ("16x128b.x4", 8, 16, |lane, at| {
        (lane / 4 + at % 2 * 8, at / 2 * 4 + lane % 4)
    }),
    ("16x256b.x2", 8, 16, |lane, at| {
        (lane / 4 + at / 2 % 2 * 8, at / 4 * 8 + lane % 4 * 2 + at % 2)
    }),
    ("16x32bx2.x8", 8, 16, |lane, at| (lane % 16, at + lane / 16 * 16)),
];

#[test]
fn what_is_stored_is_loaded_in_every_shape() {
    for (shape, count, rows, place) in SHAPES {
        for (lower, packed) in [(0, false), (16, false), (0, true)] {
            // The shape whose upper lanes are further to the right says by how much.
            let split = match (shape.contains("32bx2"), packed) {
                (false, _) => "",
                (true, false) => ", 16",
                (true, true) => ", 8",
            };
            let place = |lane: usize, at: usize| match split {
                ", 8" => (lane % 16, at + lane / 16 * 8),
                _ => place(lane, at),
            };
            if lower + rows > 32 {
                continue;
            }
            let (pack, first) = if packed { (".pack::16b", 0) } else { ("", 3) };
            let middle = format!(
                "{}add.u32 %r13, %r11, {};\ntcgen05.ld.sync.aligned.{shape}{pack}.b32 {}, [%r13]{split};\ntcgen05.wait::ld.sync.aligned;\n{}",
                filled(),
                lower << 16 | first,
                registers(32, count),
                stored(32, count)
            );
            let got = run(&middle, Vec::new(), count).unwrap_or_else(|why| panic!("{shape}{pack}: {why}\n{middle}"));
            for (thread, words) in got.iter().enumerate() {
                for (at, word) in words.iter().enumerate() {
                    let (row, col) = place(thread % 32, at);
                    let row = row + thread / 32 * 32 + lower;
                    let expected = match packed {
                        true => cell(row, 2 * col) & 0xffff | cell(row, 2 * col + 1) << 16,
                        false => cell(row, first + col),
                    };
                    assert_eq!(*word, expected, "{shape}{pack} thread {thread} register {at}");
                }
            }
        }
    }
}

/// Halves of registers go to columns of their own.
#[test]
fn halves_are_stored_apart() {
    let middle = format!(
        "mul.lo.u32 %r12, %r1, 0x01000100;\nadd.u32 %v0, %r12, 0x00020001;\nadd.u32 %v1, %r12, 0x00040003;\n\
         tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r11], {{%v0, %v1}};\ntcgen05.wait::st.sync.aligned;\n\
         tcgen05.ld.sync.aligned.32x32b.x4.b32 {}, [%r11];\ntcgen05.wait::ld.sync.aligned;\n{}",
        registers(4, 4),
        stored(4, 4)
    );
    for (thread, words) in run(&middle, Vec::new(), 4).unwrap().iter().enumerate() {
        let base = (thread as u32) << 8;
        assert_eq!(*words, [1, 2, 3, 4].map(|at| base + at), "thread {thread}");
    }
}

/// Places of the elements of a factor of 32 bytes along k: rows of eight lines, unswizzled or in rows of 128 bytes.
fn place(line: usize, byte: usize, swizzled: bool) -> usize {
    match swizzled {
        false => line / 8 * 256 + byte / 16 * 128 + line % 8 * 16 + byte % 16,
        true => line / 8 * 1024 + line % 8 * 128 + ((byte / 16) ^ (line % 8)) * 16 + byte % 16,
    }
}

/// A type, bytes of an element, the kind, the codes of both factors' types and of the sums.
const TYPES: [(&str, usize, &str, u32, u32); 5] = [
    ("f16", 2, "f16", 0, 1),
    ("bf16", 2, "f16", 1, 1),
    ("tf32", 4, "tf32", 2, 1),
    ("e4m3", 1, "f8f6f4", 0, 1),
    ("s8", 1, "i8", 1, 2),
];

fn factors(ty: &str, bytes: usize, m: usize, n: usize, swizzled: bool) -> Vec<u8> {
    let mut out = vec![0u8; 32768];
    for (base, lines, salt) in [(0, m, 1), (16384, n, 2)] {
        for line in 0..lines {
            for k in 0..32 / bytes {
                let at = base + place(line, k * bytes, swizzled);
                out[at..at + bytes].copy_from_slice(&encode(ty, small(line, k, salt)).to_le_bytes()[..bytes]);
            }
        }
    }
    out
}

/// Descriptors of both factors in `%rd5` and `%rd6`, the instruction's in `%r12`; one thread multiplies, all wait.
fn multiply(instruction: u32, swizzled: bool, work: &str) -> String {
    // The stride is 256 bytes with pieces 128 apart, or 1024 bytes.
    let fixed: u64 = match swizzled {
        false => 16 << 32 | 8 << 16 | 1 << 46,
        true => 64 << 32 | 1 << 46 | 2 << 61,
    };
    format!(
        "shr.u32 %r13, %r3, 4;\ncvt.u64.u32 %rd5, %r13;\nor.b64 %rd5, %rd5, {};\nadd.u64 %rd6, %rd5, 1024;\nmov.u32 %r12, {instruction};\n\
         @%p1 bra WAIT;\n{work}\n\
         tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];\n\
         WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;\n@!%p3 bra WAIT;\ntcgen05.fence::after_thread_sync;\n",
        fixed as i64
    )
}

fn loaded(count: usize) -> String {
    format!(
        "tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {}, [%r11];\ntcgen05.wait::ld.sync.aligned;\n{}",
        registers(0, count),
        stored(0, count)
    )
}

fn instruction(m: u32, n: u32, code: u32, sums: u32) -> u32 {
    (m / 16) << 24 | (n / 8) << 17 | code << 10 | code << 7 | sums << 4
}

#[test]
fn products_of_every_kind() {
    let n = 16;
    for (ty, bytes, kind, code, sums) in TYPES {
        for swizzled in [false, true] {
            let input = factors(ty, bytes, 128, n, swizzled);
            // Once without the sums, then added, then taken away.
            let mma = |descriptor: &str, input: u32| {
                format!("tcgen05.mma.cta_group::1.kind::{kind} [%r10], %rd5, %rd6, {descriptor}, {input};\n")
            };
            let work = format!(
                "{}{}or.b32 %r14, %r12, 0x2000;\n{}{}",
                mma("%r12", 0),
                mma("%r12", 1),
                mma("%r14", 1),
                mma("%r12", 1)
            );
            let middle = multiply(instruction(128, n as u32, code, sums), swizzled, &work) + &loaded(n);
            let got = run(&middle, input, n).unwrap_or_else(|why| panic!("{ty} {swizzled}: {why}"));
            for (row, words) in got.iter().enumerate() {
                for (col, word) in words.iter().enumerate() {
                    let sum: i64 = (0..32 / bytes).map(|k| small(row, k, 1) * small(col, k, 2)).sum();
                    let expected = if sums == 2 {
                        (2 * sum) as u32
                    } else {
                        (2.0 * sum as f32).to_bits()
                    };
                    assert_eq!(*word, expected, "{ty} {swizzled} row {row} column {col}");
                }
            }
        }
    }
}

/// Half as many rows, a scale for the sums, lanes that are left alone.
#[test]
fn rows_scales_and_masks() {
    let input = factors("f16", 2, 64, 8, false);
    let work = "mov.b32 %r13, 0;\nmov.b32 %r14, 0x00000003;\n\
        tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd5, %rd6, %r12, 0;\n\
        tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd5, %rd6, %r12, {%r13, %r14, %r13, %r13}, 1, 1;";
    let middle = filled() + "bar.sync 0;\n" + &multiply(instruction(64, 8, 0, 1), false, work) + &loaded(8);
    let got = run(&middle, input, 8).unwrap();
    for (lane, words) in got.iter().enumerate() {
        for (col, word) in words.iter().enumerate() {
            let row = lane / 32 * 16 + lane % 32;
            let sum: i64 = (0..16).map(|k| small(row, k, 1) * small(col, k, 2)).sum();
            let expected = match lane {
                _ if lane % 32 >= 16 => cell(lane, col),
                32 | 33 => (sum as f32).to_bits(),
                _ => (1.5 * sum as f32).to_bits(),
            };
            assert_eq!(*word, expected, "lane {lane} column {col}");
        }
    }
}

/// The left factor in tensor memory, where two halves share a column.
#[test]
fn the_left_factor_in_tensor_memory() {
    let input = factors("f16", 2, 128, 16, false);
    // Column c of lane r gets elements 2c and 2c+1 of row r from shared memory.
    let mut fill = String::from(
        "shr.u32 %r12, %r1, 3;\nshl.b32 %r12, %r12, 8;\nand.b32 %r13, %r1, 7;\nshl.b32 %r13, %r13, 4;\nadd.u32 %r12, %r12, %r13;\nadd.u32 %r12, %r12, %r3;\n",
    );
    for at in 0..8 {
        fill += &format!("ld.shared.b32 %v{at}, [%r12+{}];\n", at / 4 * 128 + at % 4 * 4);
    }
    fill += &format!(
        "add.u32 %r13, %r11, 32;\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r13], {};\ntcgen05.wait::st.sync.aligned;\n\
         tcgen05.fence::before_thread_sync;\nbar.sync 0;\n",
        registers(0, 8)
    );
    let work = "add.u32 %r14, %r10, 32;\ntcgen05.mma.cta_group::1.kind::f16 [%r10], [%r14], %rd6, %r12, 0;";
    let middle = fill + &multiply(instruction(128, 16, 0, 1), false, work) + &loaded(16);
    let got = run(&middle, input, 16).unwrap();
    for (row, words) in got.iter().enumerate() {
        for (col, word) in words.iter().enumerate() {
            let sum: i64 = (0..16).map(|k| small(row, k, 1) * small(col, k, 2)).sum();
            assert_eq!(*word, (sum as f32).to_bits(), "row {row} column {col}");
        }
    }
}

/// The byte that a scale is, and the power of two.
fn scale(line: usize, nth: usize, salt: usize, powers: bool) -> (u8, f32) {
    let power = (line * 3 + nth * 5 + salt) % 4;
    let value = [0.5, 1.0, 2.0, 4.0][power];
    (
        if powers {
            126 + power as u8
        } else {
            [0x30, 0x38, 0x40, 0x48][power]
        },
        value,
    )
}

/// Kind, whether elements have four bits, scales a line, whether they are powers of two, the bytes of A and of B that count.
const SCALED: [(&str, bool, usize, bool, [u32; 2]); 4] = [
    ("mxf8f6f4.block_scale.scale_vec::1X", false, 1, true, [1, 2]),
    ("mxf4.block_scale.scale_vec::2X", true, 2, true, [2, 0]),
    ("mxf4nvf4.block_scale.scale_vec::4X", true, 4, false, [0, 0]),
    ("mxf4nvf4.block_scale.block32", true, 2, true, [0, 2]),
];

#[test]
fn factors_have_scales() {
    let n = 16;
    for (kind, four, chunks, powers, from) in SCALED {
        let k = if four { 64 } else { 32 };
        let mut input = if four {
            vec![0; 32768]
        } else {
            factors("e4m3", 1, 128, n, false)
        };
        if four {
            for (base, lines, salt) in [(0, 128, 1), (16384, n, 2)] {
                for (line, at) in (0..lines).flat_map(|line| (0..64).map(move |at| (line, at))) {
                    let value = small(line, at, salt);
                    let code = [0, 2, 4, 5][value.unsigned_abs() as usize] | if value < 0 { 8 } else { 0 };
                    input[base + place(line, at / 2, false)] |= code << (at % 2 * 4);
                }
            }
        }
        // Four columns of scales of rows, then one of those of columns.
        for (column, line) in (0..5).flat_map(|column| (0..32).map(move |line| (column, line))) {
            for byte in 0..4 {
                let (line, salt, first) = if column < 4 {
                    (column * 32 + line, 1, from[0])
                } else {
                    (line, 2, from[1])
                };
                let nth = (byte + 4 - first as usize) % 4;
                input[24576 + column * 128 + line % 32 * 4 + byte] = scale(line, nth, salt, powers).0;
            }
        }
        let mut fill = String::from("and.b32 %r12, %r1, 31;\nshl.b32 %r12, %r12, 2;\nadd.u32 %r12, %r12, %r3;\n");
        for at in 0..8 {
            fill += &format!("ld.shared.b32 %v{at}, [%r12+{}];\n", 24576 + at * 128);
        }
        fill += &format!(
            "add.u32 %r13, %r11, 32;\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r13], {};\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n",
            registers(0, 8)
        );
        let work = format!(
            "add.u32 %r13, %r10, 32;\nadd.u32 %r14, %r10, 36;\n\
             tcgen05.mma.cta_group::1.kind::{kind} [%r10], %rd5, %rd6, %r12, [%r13], [%r14], 0;"
        );
        let code = if four { 1 } else { 0 };
        let descriptor = instruction(128, n as u32, code, 0) | from[0] << 29 | from[1] << 4 | u32::from(powers) << 23;
        let middle = fill + &multiply(descriptor, false, &work) + &loaded(n);
        let got = run(&middle, input, n).unwrap_or_else(|why| panic!("{kind}: {why}"));
        for (row, words) in got.iter().enumerate() {
            for (col, word) in words.iter().enumerate() {
                let terms = (0..k).map(|at| {
                    let nth = at * chunks / k;
                    let scales = scale(row, nth, 1, powers).1 * scale(col, nth, 2, powers).1;
                    (small(row, at, 1) * small(col, at, 2)) as f32 * scales
                });
                assert_eq!(*word, terms.sum::<f32>().to_bits(), "{kind} row {row} column {col}");
            }
        }
    }
}

/// Rows of shared memory go to the lanes of all four warps.
#[test]
fn rows_are_copied() {
    let input: Vec<u8> = (0..32768u32).map(|at| (at * 37 % 251) as u8).collect();
    for (shape, columns, row_of) in [
        ("128x256b", 8, (|lane| lane) as fn(usize) -> usize),
        ("128x128b", 4, |lane| lane),
        ("32x128b.warpx4", 4, |lane| lane % 32),
        ("64x128b.warpx2::02_13", 4, |lane| lane % 64),
        ("64x128b.warpx2::01_23", 4, |lane| lane / 64 * 32 + lane % 32),
    ] {
        let work = format!("tcgen05.cp.cta_group::1.{shape} [%r10], %rd5;");
        let middle = multiply(0, false, &work) + &loaded(columns);
        let got = run(&middle, input.clone(), columns).unwrap_or_else(|why| panic!("{shape}: {why}"));
        for (lane, words) in got.iter().enumerate() {
            for (col, word) in words.iter().enumerate() {
                let at = place(row_of(lane), 4 * col, false);
                assert_eq!(
                    word.to_le_bytes(),
                    input[at..at + 4],
                    "{shape} lane {lane} column {col}"
                );
            }
        }
    }
}

#[test]
fn what_is_wrong_is_found() {
    let input = || factors("f16", 2, 128, 16, false);
    let mma = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd5, %rd6, %r12, 0;";
    let good = multiply(instruction(128, 16, 0, 1), false, mma);
    let error = |middle: &str| run(middle, input(), 16).unwrap_err();
    assert!(run(&(good.clone() + &loaded(16)), input(), 16).is_ok());
    let why = error(
        &(good
            .replace("WAIT: mbarrier", "WAIT: bra GO;\nmbarrier")
            .replace("tcgen05.fence", "GO: tcgen05.fence")
            + &loaded(16)),
    );
    assert!(why.contains("has not been waited for"), "{why}");
    let uncommitted = good.replace(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];",
        "mbarrier.arrive.shared.b64 _, [%r4];",
    );
    let why = error(&(uncommitted + &loaded(16)));
    assert!(why.contains("has not been committed"), "{why}");
    let why = error(&(good.clone() + &loaded(16).replace("tcgen05.wait::ld.sync.aligned;", "")));
    assert!(why.contains("before `tcgen05.wait::ld`"), "{why}");
    let why = error(&(good.clone() + &loaded(16).replace("[%r11]", "[%r10]")));
    assert!(why.contains("from a warp that has lanes 32 to 63"), "{why}");
    let why = error(&(good.clone() + &loaded(16).replace("[%r11]", "[%r11+56]")));
    assert!(why.contains("columns 56 to 71"), "{why}");
    let why = error(&(good.replace("%r12, 0;", "%r12, 1;") + &loaded(16)));
    assert!(why.contains("adds to lane 0"), "{why}");
    let why = error(&loaded(16));
    assert!(why.contains("nothing has written"), "{why}");
    let text = format!("{HEAD}{TAIL}").replace("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;", "");
    let why = launch(&text, 128, vec![vec![0; 32768], vec![0; 64]]).unwrap_err();
    assert!(why.contains("never given back"), "{why}");
    let text = format!("{HEAD}{TAIL}").replace("[%r5], 64;", "[%r5], 48;");
    let why = launch(&text, 128, vec![vec![0; 32768], vec![0; 64]]).unwrap_err();
    assert!(why.contains("32, 64, 128"), "{why}");
    // Ordinary stores to the factors need a proxy fence.
    let text = format!("{HEAD}{good}{}{TAIL}", loaded(16)).replace("fence.proxy.async;", "");
    let why = launch(&text, 128, vec![input(), vec![0; 8192]]).unwrap_err();
    assert!(why.contains("fence.proxy.async"), "{why}");
}
