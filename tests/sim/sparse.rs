//! Products with a sparse left factor as kernels, against the product of the matrices they stand for.

use super::launch::launch;

/// A small integer for each place.
pub(super) fn small(row: usize, col: usize, salt: usize) -> i64 {
    ((row * 7 + col * 13 + row * col * 5 + salt) % 7) as i64 - 3
}

pub(super) fn encode(ty: &str, value: i64) -> u32 {
    let single = (value as f32).to_bits();
    match ty {
        "tf32" => single,
        "bf16" => single >> 16,
        "f16" if value == 0 => 0,
        "f16" => (single >> 16 & 0x8000) | (((single >> 13) & 0x3_ffff) - ((127 - 15) << 10)),
        "e4m3" => [0, 0x38, 0x40, 0x44][value.unsigned_abs() as usize] | if value < 0 { 0x80 } else { 0 },
        "e2m1" => [0, 2, 4, 5][value.unsigned_abs() as usize] | if value < 0 { 8 } else { 0 },
        "s4" => value as u32 & 15,
        _ => value as u32 & 255,
    }
}

fn bits(ty: &str) -> usize {
    match ty {
        "tf32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "e2m1" => 4,
        _ => 8,
    }
}

/// Elements of a unit, of which two in four are there: pairs of the narrowest; one of `.tf32` is two units.
fn is_there(ty: &str, row: usize, k: usize) -> bool {
    if ty == "tf32" {
        return (row + k / 2) % 2 == k % 2;
    }
    let unit = if bits(ty) == 4 { k / 2 } else { k };
    let pair = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]][(row * 5 + unit / 4 * 3) % 6];
    pair.contains(&(unit % 4))
}

/// The four bits for a chunk of four units.
fn metadata(ty: &str, row: usize, chunk: usize) -> u32 {
    let units: Vec<usize> = match ty {
        "tf32" => {
            let there = usize::from((row + chunk) % 2 == 1);
            vec![2 * there, 2 * there + 1]
        }
        _ => {
            let per_unit = if bits(ty) == 4 { 2 } else { 1 };
            (0..4)
                .filter(|unit| is_there(ty, row, (4 * chunk + unit) * per_unit))
                .collect()
        }
    };
    (units[0] | units[1] << 2) as u32
}

/// Each lane's registers of the factors and its metadata, as the manual says.
fn lane_input(ty: &str, k: usize, lane: usize, registers: [usize; 2]) -> Vec<u32> {
    let per_register = 32 / bits(ty);
    let (group, within) = (lane / 4, lane % 4);
    let mut out = Vec::new();
    for register in 0..4 {
        let row = group + 8 * (register % 2);
        let first = within * 2 * per_register + register / 2 * k / 2;
        let there = (first..first + 2 * per_register).filter(|k| is_there(ty, row, *k));
        let word = there.enumerate().fold(0u32, |word, (nth, k)| {
            word | encode(ty, small(row, k, 1)) << (nth * bits(ty))
        });
        out.push(if register < registers[0] { word } else { 0 });
    }
    for register in 0..4 {
        let first = within * per_register + register * 4 * per_register;
        let word = (0..per_register).fold(0u32, |word, nth| {
            word | encode(ty, small(first + nth, group, 2)) << (nth * bits(ty))
        });
        out.push(if register < registers[1] { word } else { 0 });
    }
    let bytes = bits(ty) <= 8;
    let chunks = k * bits(ty) / if bytes { 8 } else { 16 } / 4;
    let meta = match (bytes, chunks) {
        // One lane for sixteen columns of both rows, or two lanes.
        (false, _) if chunks == 4 && within != 1 => 0xffff_ffff,
        (false, _) => {
            let from = if chunks == 4 { 0 } else { within % 2 * 4 };
            (0..8).fold(0, |word, at| {
                word | metadata(ty, group + at / 4 * 8, from + at % 4) << (4 * at)
            })
        }
        (true, 8) => (0..8).fold(0, |word, at| {
            word | metadata(ty, group + within % 2 * 8, at) << (4 * at)
        }),
        (true, _) => (0..8).fold(0, |word, at| {
            word | metadata(ty, group + within % 2 * 8, within / 2 * 8 + at) << (4 * at)
        }),
    };
    out.push(meta);
    out.resize(12, 0);
    out
}

/// Type, sums, `k`, selector, modifiers, more operands.
type Case = (&'static str, &'static str, usize, u32, &'static str, &'static str);

const CASES: [Case; 12] = [
    ("f16", "f32", 16, 1, "", ""),
    ("f16", "f32", 32, 0, "", ""),
    ("bf16", "f32", 32, 1, "", ""),
    ("tf32", "f32", 8, 1, "", ""),
    ("tf32", "f32", 16, 0, "", ""),
    ("s8", "s32", 32, 0, "", ""),
    ("s8", "s32", 64, 0, "", ""),
    ("s4", "s32", 64, 1, "", ""),
    ("s4", "s32", 128, 0, "", ""),
    ("e4m3", "f32", 64, 0, "", ""),
    ("e4m3", "f32", 64, 0, ".kind::mxf8f6f4.block_scale", ".ue8m0"),
    ("e2m1", "f32", 128, 0, ".kind::mxf4.block_scale.scale_vec::2X", ".ue8m0"),
];

#[test]
fn the_product_is_that_of_the_dense_matrices() {
    for (ty, sum, k, selector, kind, scale) in CASES {
        let a = 16 * k / 2 * bits(ty) / 32 / 32;
        let b = 8 * k * bits(ty) / 32 / 32;
        let list = |name: &str, from: usize, count: usize| {
            let names: Vec<_> = (from..from + count).map(|at| format!("%{name}{at}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        // The scales are two and four, in byte 0 of every lane.
        let scales = if scale.is_empty() {
            ""
        } else {
            ", %r12, {0, 0}, %r13, {0, 0}"
        };
        let text = format!(
            ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
             .reg .b64 %rd<4>;\n.reg .b32 %r<20>;\n.reg .b32 %d<4>;\n.reg .b32 %t;\n\
             ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %rd3, %t, 48;\nadd.u64 %rd1, %rd1, %rd3;\n\
             mul.wide.u32 %rd3, %t, 16;\nadd.u64 %rd2, %rd2, %rd3;\n\
             ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%rd1];\nld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%rd1+16];\n\
             ld.global.v4.b32 {{%r8, %r9, %r10, %r11}}, [%rd1+32];\nmov.b32 %r12, 0x80808080;\nmov.b32 %r13, 0x81818181;\n\
             mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n\
             mma.sp::ordered_metadata.sync.aligned.m16n8k{k}.row.col{kind}.{sum}.{ty}.{ty}.{sum}{scale} {d}, {a}, {b}, {d}, %r8, {selector}{scales};\n\
             st.global.v4.b32 [%rd2], {d};\nret;\n}}",
            d = list("d", 0, 4),
            a = list("r", 0, a),
            b = list("r", 4, b),
        );
        let input: Vec<u8> = (0..32)
            .flat_map(|lane| lane_input(ty, k, lane, [a, b]))
            .flat_map(u32::to_le_bytes)
            .collect();
        let after =
            launch(&text, 32, vec![input, vec![0; 512]]).unwrap_or_else(|why| panic!("{ty} {k}: {why}\n{text}"));
        for (at, word) in after[1].as_chunks::<4>().0.iter().enumerate() {
            let (lane, element) = (at / 4, at % 4);
            let (row, col) = (lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2);
            let there = (0..k).filter(|k| is_there(ty, row, *k));
            let sum_of: i64 = there.map(|k| small(row, k, 1) * small(k, col, 2)).sum();
            let expected = if scale.is_empty() { sum_of } else { 8 * sum_of };
            let expected = if sum == "f32" {
                (expected as f32).to_bits()
            } else {
                expected as u32
            };
            assert_eq!(
                u32::from_le_bytes(*word),
                expected,
                "{ty} k{k} {kind}: row {row}, column {col}"
            );
        }
    }
}

/// The same of four warps: the left factor in registers, the right one in shared memory, unswizzled.
#[test]
fn four_warps_together() {
    for (ty, sum, k, b_bytes, flags) in [("f16", "f32", 32, 2, ", 1, 1, 0"), ("s8", "s32", 64, 1, "")] {
        // Pieces of eight columns by sixteen bytes, one behind the other along k.
        let mut tile = vec![0u8; 512];
        for col in 0..8 {
            for k in 0..k {
                let at = k * b_bytes / 16 * 128 + col * 16 + k * b_bytes % 16;
                tile[at..at + b_bytes].copy_from_slice(&encode(ty, small(k, col, 2)).to_le_bytes()[..b_bytes]);
            }
        }
        let text = format!(
            ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 tile, .param .u64 out)\n{{\n\
             .reg .b64 %rd<6>;\n.reg .b32 %r<20>;\n.reg .b32 %d<4>;\n.reg .b32 %t, %l, %at;\n.reg .pred %p;\n.shared .align 128 .b8 s[512];\n\
             ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nld.param.u64 %rd4, [tile];\nmov.u32 %t, %tid.x;\nand.b32 %l, %t, 31;\n\
             mul.wide.u32 %rd3, %l, 48;\nadd.u64 %rd1, %rd1, %rd3;\nmul.wide.u32 %rd3, %t, 16;\nadd.u64 %rd2, %rd2, %rd3;\n\
             mul.wide.u32 %rd3, %t, 4;\nadd.u64 %rd4, %rd4, %rd3;\nld.global.b32 %r12, [%rd4];\nmov.u32 %at, s;\nshl.b32 %r13, %t, 2;\n\
             add.u32 %r13, %r13, %at;\nst.shared.b32 [%r13], %r12;\nfence.proxy.async;\nbar.sync 0;\n\
             ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%rd1];\nld.global.b32 %r8, [%rd1+32];\n\
             shr.u32 %at, %at, 4;\ncvt.u64.u32 %rd5, %at;\nor.b64 %rd5, %rd5, 0x80000;\n\
             setp.ne.u32 %p, %t, %t;\nwgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sp.sync.aligned.m64n8k{k}.{sum}.{ty}.{ty} {{%d0, %d1, %d2, %d3}}, {{%r0, %r1, %r2, %r3}}, %rd5, %r8, 0, %p{flags};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
             st.global.v4.b32 [%rd2], {{%d0, %d1, %d2, %d3}};\nret;\n}}"
        );
        let text = if sum == "f32" {
            text.replace(".reg .b32 %d<4>", ".reg .f32 %d<4>")
                .replace("v4.b32 [%rd2]", "v4.f32 [%rd2]")
        } else {
            text
        };
        let input: Vec<u8> = (0..32)
            .flat_map(|lane| lane_input(ty, k, lane, [4, 4]))
            .flat_map(u32::to_le_bytes)
            .collect();
        let after =
            launch(&text, 128, vec![input, tile, vec![0; 2048]]).unwrap_or_else(|why| panic!("{ty}: {why}\n{text}"));
        for (at, word) in after[2].as_chunks::<4>().0.iter().enumerate() {
            // All four warps have the same sixteen rows.
            let (lane, element) = (at / 4 % 32, at % 4);
            let (row, col) = (lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2);
            let there = (0..k).filter(|k| is_there(ty, row, *k));
            let expected: i64 = there.map(|k| small(row, k, 1) * small(k, col, 2)).sum();
            let expected = if sum == "f32" {
                (expected as f32).to_bits()
            } else {
                expected as u32
            };
            assert_eq!(u32::from_le_bytes(*word), expected, "{ty}: row {row}, column {col}");
        }
    }
}
