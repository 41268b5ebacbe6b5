//! `wgmma` as a kernel: factors in shared memory in each of the layouts that a descriptor can name.

use super::launch::launch;

/// A small integer for each place, exact in `.f16`.
fn small(row: usize, col: usize, salt: usize) -> i32 {
    ((row * 5 + col * 11 + row * col * 3 + salt) % 7) as i32 - 3
}

fn half(value: i32) -> u16 {
    let single = (value as f32).to_bits();
    match value {
        0 => 0,
        _ => ((single >> 16 & 0x8000) | (((single >> 13) & 0x3_ffff) - ((127 - 15) << 10))) as u16,
    }
}

const N: usize = 24;
const LEADING: usize = 8192;
const STRIDE: usize = 1024;

/// A layout of a factor of 16-bit elements with sixteen along `k`, beginning at a multiple of 1024 bytes.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// How many address bits are mixed.
    swizzle: usize,
    /// Contiguous along M or N.
    transposed: bool,
}

impl Layout {
    /// Where the manual's canonical layout puts an element.
    fn place(self, mn: usize, k: usize) -> usize {
        let x = 1 << self.swizzle;
        let offset = match (self.transposed, self.swizzle) {
            (false, 0) => mn % 8 * 16 + mn / 8 * STRIDE + k % 8 * 2 + k / 8 * LEADING,
            (false, _) => mn % 8 * 16 * x + mn / 8 * STRIDE + k * 2,
            (true, 0) => mn % 8 * 2 + mn / 8 * STRIDE + k % 8 * 16 + k / 8 * LEADING,
            (true, _) => mn % (8 * x) * 2 + mn / (8 * x) * LEADING + k % 8 * 16 * x + k / 8 * STRIDE,
        };
        offset ^ ((offset >> 7 & (x - 1)) << 4)
    }

    fn descriptor(self) -> u64 {
        let mode = [0u64, 3, 2, 1][self.swizzle];
        mode << 62 | (STRIDE as u64 >> 4) << 32 | (LEADING as u64 >> 4) << 16
    }

    fn bytes(self, lines: usize, salt: usize) -> Vec<u8> {
        let mut out = vec![0; 32768];
        for mn in 0..lines {
            for k in 0..16 {
                let at = self.place(mn, k);
                out[at..at + 2].copy_from_slice(&half(small(mn, k, salt)).to_le_bytes());
            }
        }
        out
    }
}

/// Copies both factors to shared memory, multiplies twice, and stores the sums.
fn kernel(a: Layout, b: Layout) -> String {
    let sums: Vec<_> = (0..N / 2).map(|at| format!("%d{at}")).collect();
    let list = format!("{{{}}}", sums.join(", "));
    let (ta, tb) = (u8::from(a.transposed), u8::from(b.transposed));
    let stores: String = (0..N / 2)
        .map(|at| format!("st.global.f32 [%out+{}], %d{at};\n", 4 * at))
        .collect();
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b64 %in, %out, %at, %da, %db, %mask;\n.reg .b32 %r<8>;\n.reg .f32 %d<{N}>;\n.reg .pred %p;\n\
         .shared .align 1024 .b8 tile[65536];\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %r0, %tid.x;\n\
         mul.wide.u32 %at, %r0, {row};\nadd.u64 %out, %out, %at;\n\
         mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\ncvt.u64.u32 %at, %r2;\nadd.u64 %in, %in, %at;\n\
         mov.u32 %r4, 0;\n\
         COPY: ld.global.b32 %r5, [%in];\nst.shared.b32 [%r3], %r5;\nadd.u64 %in, %in, 512;\nadd.u32 %r3, %r3, 512;\n\
         add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p, %r4, 128;\n@%p bra COPY;\n\
         fence.proxy.async;\nbar.sync 0;\n\
         shr.u32 %r1, %r1, 4;\ncvt.u64.u32 %at, %r1;\n\
         or.b64 %da, %at, {da};\nadd.u64 %at, %at, 2048;\nor.b64 %db, %at, {db};\n\
         wgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 {list}, %da, %db, 0, 1, 1, {ta}, {tb};\n\
         wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 {list}, %da, %db, 1, 1, -1, {ta}, {tb};\n\
         wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 {list}, %da, %db, 1, -1, -1, {ta}, {tb};\n\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
         {stores}ret;\n}}",
        row = 2 * N,
        da = a.descriptor() as i64,
        db = b.descriptor() as i64,
    )
}

#[test]
fn every_layout_of_both_factors() {
    let layouts = [0, 1, 2, 3].map(|swizzle| [false, true].map(|transposed| Layout { swizzle, transposed }));
    for a in layouts.iter().flatten() {
        for b in layouts.iter().flatten() {
            let mut input = a.bytes(64, 1);
            input.extend(b.bytes(N, 2));
            let text = kernel(*a, *b);
            let after = launch(&text, 128, vec![input, vec![0; 64 * N * 4]]);
            let after = after.unwrap_or_else(|why| panic!("{a:?} {b:?}: {why}\n{text}"));
            let words = after[1].as_chunks::<4>().0;
            for thread in 0..128 {
                for element in 0..N / 2 {
                    let row = thread / 32 * 16 + thread % 32 / 4 + 8 * (element >> 1 & 1);
                    let col = element / 4 * 8 + thread % 4 * 2 + (element & 1);
                    // Added, taken away, added again.
                    let expected: i32 = (0..16).map(|k| small(row, k, 1) * small(col, k, 2)).sum();
                    let got = f32::from_le_bytes(words[thread * N / 2 + element]);
                    assert_eq!(got, expected as f32, "{a:?} {b:?} row {row} column {col}");
                }
            }
        }
    }
}

/// The left factor in registers; the accumulator counts where a predicate says so.
#[test]
fn bytes_with_the_left_factor_in_registers() {
    let text = "
        .version 8.4
        .target sm_90a
        .address_size 64
        .visible .entry k(.param .u64 out)
        {
            .reg .b64 %out, %at, %db;
            .reg .b32 %r<4>, %a, %d<4>;
            .reg .pred %p, %q;
            .shared .align 1024 .b8 tile[512];
            ld.param.u64 %out, [out];
            mov.u32 %r0, %tid.x;
            mov.u32 %r1, tile;
            mov.u32 %a, 0x01010101;
            shl.b32 %r2, %r0, 2;
            add.u32 %r2, %r1, %r2;
            st.shared.b32 [%r2], 0xfefefefe;
            fence.proxy.async;
            bar.sync 0;
            shr.u32 %r1, %r1, 4;
            cvt.u64.u32 %db, %r1;
            or.b64 %db, %db, 0x80000;
            setp.ne.u32 %p, %r0, %r0;
            setp.eq.u32 %q, %r0, %r0;
            wgmma.fence.sync.aligned;
            wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%d0, %d1, %d2, %d3}, {%a, %a, %a, %a}, %db, %p;
            wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%d0, %d1, %d2, %d3}, {%a, %a, %a, %a}, %db, %q;
            wgmma.commit_group.sync.aligned;
            wgmma.wait_group.sync.aligned 0;
            mul.wide.u32 %at, %r0, 16;
            add.u64 %out, %out, %at;
            st.global.v4.b32 [%out], {%d0, %d1, %d2, %d3};
            ret;
        }";
    let after = launch(text, 128, vec![vec![0; 2048]]).unwrap();
    let words = after[0].as_chunks::<4>().0;
    assert!(words.iter().all(|word| i32::from_le_bytes(*word) == 32 * (254 - 2)));
}
