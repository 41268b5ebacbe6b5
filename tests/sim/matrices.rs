//! Matrix instructions as kernels: what goes to the registers of a warp and back is the product of the matrices.

use super::launch::launch;
use std::fmt::Write as _;

/// A small integer for each place, so that every format and every sum is exact.
fn small(row: usize, col: usize, salt: usize) -> i64 {
    ((row * 7 + col * 13 + row * col * 5 + salt) % 7) as i64 - 3
}

/// The bits of a small integer as that type.
fn encode(ty: &str, value: i64) -> u64 {
    let single = u64::from((value as f32).to_bits());
    match ty {
        "f64" => (value as f64).to_bits(),
        "f32" | "tf32" => single,
        "bf16" => single >> 16,
        // Exact for small integers: the exponent is moved and the fraction cut.
        "f16" if value == 0 => 0,
        "f16" => (single >> 16 & 0x8000) | (((single >> 13) & 0x3_ffff) - ((127 - 15) << 10)),
        _ => value as u64,
    }
}

fn bits(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f16" | "bf16" => 16,
        "s8" | "u8" => 8,
        "s4" | "u4" => 4,
        "b1" => 1,
        _ => 32,
    }
}

/// A matrix in memory, line after line, each as long as `stride` elements.
struct Matrix {
    rows: usize,
    cols: usize,
    row_major: bool,
    stride: usize,
    ty: &'static str,
}

impl Matrix {
    fn place(&self, row: usize, col: usize) -> usize {
        let (line, along) = if self.row_major { (row, col) } else { (col, row) };
        (line * self.stride + along) * bits(self.ty)
    }

    fn bytes(&self, value: impl Fn(usize, usize) -> i64) -> Vec<u8> {
        let lines = if self.row_major { self.rows } else { self.cols };
        let mut out = vec![0u8; lines * self.stride * bits(self.ty) / 8];
        for row in 0..self.rows {
            for col in 0..self.cols {
                let (at, mask) = (self.place(row, col), u64::MAX >> (64 - bits(self.ty)));
                let code = u128::from(encode(self.ty, value(row, col)) & mask) << (at % 8);
                for (to, from) in out[at / 8..].iter_mut().zip(code.to_le_bytes()) {
                    *to |= from;
                }
            }
        }
        out
    }
}

fn list(name: &str, count: usize) -> String {
    let names: Vec<_> = (0..count).map(|at| format!("%{name}{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// A `wmma` kernel: shape, element type, type of the sums, registers of A, B, C.
type Case = ([usize; 3], &'static str, &'static str, [usize; 3]);

const CASES: [Case; 15] = [
    ([16, 16, 16], "f16", "f32", [8, 8, 8]),
    ([32, 8, 16], "f16", "f32", [8, 8, 8]),
    ([8, 32, 16], "f16", "f32", [8, 8, 8]),
    ([16, 16, 16], "f16", "f16", [8, 8, 4]),
    ([8, 32, 16], "f16", "f16", [8, 8, 4]),
    ([16, 16, 16], "bf16", "f32", [4, 4, 8]),
    ([8, 32, 16], "bf16", "f32", [2, 8, 8]),
    ([32, 8, 16], "bf16", "f32", [8, 2, 8]),
    ([16, 16, 8], "tf32", "f32", [4, 4, 8]),
    ([8, 8, 4], "f64", "f64", [1, 1, 2]),
    ([16, 16, 16], "s8", "s32", [2, 2, 8]),
    ([8, 32, 16], "s8", "s32", [1, 4, 8]),
    ([32, 8, 16], "s8", "s32", [4, 1, 8]),
    ([8, 8, 32], "s4", "s32", [1, 1, 2]),
    ([8, 8, 128], "b1", "s32", [1, 1, 2]),
];

fn kernel(case: &Case, row: [bool; 4], stride: [usize; 4]) -> String {
    let ([m, n, k], ty, sum, [a, b, c]) = *case;
    let layout = row.map(|row| if row { "row" } else { "col" });
    let shape = format!("m{m}n{n}k{k}");
    let wide = if ty == "f64" { ".f64" } else { ".b32" };
    let (kind, types) = match ty {
        "f16" => ("", format!("{sum}.{sum}")),
        "b1" => (".and.popc", format!("{sum}.{ty}.{ty}.{sum}")),
        _ => ("", format!("{sum}.{ty}.{ty}.{sum}")),
    };
    let [a, b, c, d] = [list("a", a), list("b", b), list("c", c), list("d", c)];
    let mut text = format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{{\n\
         .reg .b64 %p<4>;\n.reg {wide} %a<8>;\n.reg {wide} %b<8>;\n.reg {wide} %c<8>;\n.reg {wide} %d<8>;\n"
    );
    for (at, name) in ["pa", "pb", "pc", "pd"].iter().enumerate() {
        writeln!(text, "ld.param.u64 %p{at}, [{name}];").unwrap();
    }
    for (at, (part, ty, regs)) in [("a", ty, &a), ("b", ty, &b), ("c", sum, &c)].into_iter().enumerate() {
        let (layout, stride) = (layout[at], stride[at]);
        writeln!(
            text,
            "wmma.load.{part}.sync.aligned.{layout}.{shape}.global.{ty} {regs}, [%p{at}], {stride};"
        )
        .unwrap();
    }
    let [first, second, _, last] = layout;
    writeln!(
        text,
        "wmma.mma{kind}.sync.aligned.{first}.{second}.{shape}.{types} {d}, {a}, {b}, {c};"
    )
    .unwrap();
    let stride = stride[3];
    writeln!(
        text,
        "wmma.store.d.sync.aligned.{last}.{shape}.global.{sum} [%p3], {d}, {stride};\nret;\n}}"
    )
    .unwrap();
    text
}

#[test]
fn wmma_multiplies_matrices_in_memory() {
    for case in &CASES {
        let ([m, n, k], ty, sum, _) = *case;
        let narrow = matches!(ty, "s4" | "b1");
        for layouts in 0..if narrow { 4 } else { 16 } {
            let bit = |at: usize| layouts >> at & 1 == 1;
            let row = if narrow {
                [true, false, bit(0), bit(1)]
            } else {
                [0, 1, 2, 3].map(bit)
            };
            let sizes = [(m, k, ty), (k, n, ty), (m, n, sum), (m, n, sum)];
            let extra = if narrow { 128 } else { 16 };
            let matrices = [0, 1, 2, 3].map(|at| {
                let (rows, cols, ty) = sizes[at];
                let dense = if row[at] { cols } else { rows };
                Matrix {
                    rows,
                    cols,
                    row_major: row[at],
                    stride: dense + if at == 1 { 0 } else { extra },
                    ty,
                }
            });
            let value = |row, col, salt| match ty {
                "b1" => small(row, col, salt) & 1,
                _ => small(row, col, salt),
            };
            let [a, b, c, d] = &matrices;
            let args = [
                a.bytes(|r, c| value(r, c, 1)),
                b.bytes(|r, c| value(r, c, 2)),
                c.bytes(|r, c| small(r, c, 3)),
            ];
            let product = |row: usize, col: usize| {
                (0..k).map(|i| value(row, i, 1) * value(i, col, 2)).sum::<i64>() + small(row, col, 3)
            };
            let expected = d.bytes(product);
            let mut buffers = args.to_vec();
            buffers.push(vec![0; expected.len()]);
            let text = kernel(case, row, matrices.each_ref().map(|matrix| matrix.stride));
            let after = launch(&text, 32, buffers).unwrap_or_else(|why| panic!("{case:?} {row:?}: {why}\n{text}"));
            assert_eq!(after[3], expected, "{case:?} {row:?}");
        }
    }
}

/// Rows go to registers, through a transpose, and back; each word of the result is where the manual says.
#[test]
fn eight_by_eight_matrices_go_round() {
    let text = "
        .version 7.8
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u64 in, .param .u64 out)
        {
            .reg .b64 %rd<4>;
            .reg .b32 %r<20>;
            .shared .align 16 .b8 tile[1024];
            ld.param.u64 %rd1, [in];
            ld.param.u64 %rd2, [out];
            mov.u32 %r1, %tid.x;
            mul.wide.u32 %rd3, %r1, 16;
            add.u64 %rd1, %rd1, %rd3;
            add.u64 %rd2, %rd2, %rd3;
            ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd1];
            mov.u32 %r6, tile;
            shl.b32 %r7, %r1, 4;
            add.u32 %r6, %r6, %r7;
            st.shared.v4.b32 [%r6], {%r2, %r3, %r4, %r5};
            bar.sync 0;
            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r6];
            ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r12, %r13, %r14, %r15}, [%r6];
            movmatrix.sync.aligned.m8n8.trans.b16 %r16, %r12;
            sub.u32 %r16, %r16, %r8;
            add.u32 %r9, %r9, %r16;
            stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6+512], {%r8, %r9, %r10, %r11};
            stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r6+512], {%r12};
            bar.sync 0;
            ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%r6+512];
            st.global.v4.b32 [%rd2], {%r2, %r3, %r4, %r5};
            ret;
        }";
    let input: Vec<u8> = (0..512u32).map(|at| (at * 37 % 251) as u8).collect();
    let after = launch(text, 32, vec![input.clone(), vec![0; 512]]).unwrap();
    assert_eq!(after[1], input);
}

/// Four lanes of a warp do not make up a matrix.
#[test]
fn part_of_a_warp_is_a_fault() {
    let text = "
        .version 7.8
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u64 out)
        {
            .reg .b32 %r<3>;
            mov.u32 %r1, %tid.x;
            movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;
            ret;
        }";
    let why = launch(text, 4, vec![vec![0; 4]]).unwrap_err();
    assert!(why.contains("needs the whole warp"), "{why}");
}

/// Runs instructions that leave a number in `%d0` to `%d7`, all of a warp; `%one` holds ones of `.f16`, `%lane` the lane.
fn sums(code: &str) -> Vec<f32> {
    let text = format!(
        ".version 8.8\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b64 %out, %at;\n.reg .b32 %lane, %one, %x<4>;\n.reg .f32 %d<8>;\n\
         ld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\nmul.wide.u32 %at, %lane, 32;\nadd.u64 %out, %out, %at;\n\
         mov.b32 %one, 0x3c003c00;\n{}{code}\n\
         st.global.v4.f32 [%out], {{%d0, %d1, %d2, %d3}};\nst.global.v4.f32 [%out+16], {{%d4, %d5, %d6, %d7}};\nret;\n}}",
        (0..8)
            .map(|at| format!("mov.f32 %d{at}, 0f3F800000;\n"))
            .collect::<String>(),
    );
    let after = launch(&text, 32, vec![vec![0; 1024]]).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let words = after[0].as_chunks::<4>().0;
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

#[test]
fn four_small_products() {
    let d = "{%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}";
    let code = format!("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {d}, {{%one, %one}}, {{%one, %one}}, {d};");
    assert!(sums(&code).iter().all(|sum| *sum == 5.0));
}

/// Chunks of ones with scales of two and one on one side, of one on the other.
#[test]
fn block_scales() {
    for scale in ["%x1", "{%x1}"] {
        let code = format!(
            "mov.b32 %x0, 0x22222222;
            mov.b32 %x1, 0x7f80ffff;
            mov.b32 %x2, 0x7f7f7f7f;
            mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
                {{%d0, %d1, %d2, %d3}}, {{%x0, %x0, %x0, %x0}}, {{%x0, %x0}}, {{%d0, %d1, %d2, %d3}},
                {scale}, {{2, 1}}, %x2, {{0, 3}};"
        );
        let sums = sums(&code);
        let wanted = [97.0, 97.0, 97.0, 97.0, 1.0, 1.0, 1.0, 1.0];
        assert!(sums.chunks(8).all(|lane| lane == wanted), "{scale}: {sums:?}");
    }
}

/// Of each four ones two are there: half of the sum.
#[test]
fn sparse_products() {
    let code = "mov.b32 %x0, 0xe4e4e4e4;
        mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d0, %d1, %d2, %d3}, {%one, %one}, {%one, %one}, {%d0, %d1, %d2, %d3}, %x0, 1;";
    let sums = sums(code);
    assert!(
        sums.chunks(8)
            .all(|lane| lane == [9.0, 9.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0]),
        "{sums:?}"
    );
}
