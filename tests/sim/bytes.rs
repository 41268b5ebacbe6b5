//! `ldmatrix` and `stmatrix` of bytes as kernels.

use super::launch::launch;

/// A warp stores its share of the input to shared memory, 16 bytes a lane, does something, and stores four registers.
fn kernel(middle: &str) -> String {
    format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b64 %rd<4>;\n.reg .b32 %r<20>;\n.shared .align 16 .b8 tile[1024];\n\
         ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 16;\n\
         add.u64 %rd1, %rd1, %rd3;\nadd.u64 %rd2, %rd2, %rd3;\n\
         ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%rd1];\nmov.u32 %r6, tile;\nshl.b32 %r7, %r1, 4;\nadd.u32 %r6, %r6, %r7;\n\
         st.shared.v4.b32 [%r6], {{%r2, %r3, %r4, %r5}};\nmov.b32 %r8, 0;\nmov.b32 %r9, 0;\nmov.b32 %r10, 0;\nmov.b32 %r11, 0;\n\
         bar.sync 0;\n{middle}\nst.global.v4.b32 [%rd2], {{%r8, %r9, %r10, %r11}};\nret;\n}}"
    )
}

fn input() -> Vec<u8> {
    (0..512u32).map(|at| (at * 37 % 251) as u8).collect()
}

/// What each lane has in its registers, byte by byte.
fn run(middle: &str) -> Vec<[u8; 16]> {
    let text = kernel(middle);
    let after = launch(&text, 32, vec![input(), vec![0; 512]]).unwrap_or_else(|why| panic!("{why}\n{text}"));
    after[1].as_chunks::<16>().0.to_vec()
}

/// Element of a row of packed ones, as the byte it becomes.
fn unpacked(row: &[u8], at: usize, bits: usize) -> u8 {
    let whole = row
        .iter()
        .rev()
        .fold(0u128, |value, byte| value << 8 | u128::from(*byte));
    match bits {
        4 => (whole >> (4 * at) & 15) as u8 * 4,
        6 => (whole >> (6 * at) & 63) as u8,
        _ => row[at],
    }
}

#[test]
fn square_matrices_are_transposed() {
    let input = input();
    for (bits, format) in [(8, "b8"), (4, "b8x16.b4x16_p64"), (6, "b8x16.b6x16_p32")] {
        let lanes = run(&format!(
            "ldmatrix.sync.aligned.m16n16.x2.trans.shared.{format} {{%r8, %r9, %r10, %r11}}, [%r6];"
        ));
        for (lane, got) in lanes.iter().enumerate() {
            // Two registers a matrix: four rows of one column, then of the column eight further.
            let expected: [u8; 16] = std::array::from_fn(|at| {
                let (matrix, half, byte) = (at / 8, at / 4 % 2, at % 4);
                let row = matrix * 16 + lane % 4 * 4 + byte;
                unpacked(&input[16 * row..16 * row + 16], lane / 4 + 8 * half, bits)
            });
            assert_eq!(*got, expected, "{format} lane {lane}");
        }
    }
}

#[test]
fn flat_matrices_are_unpacked() {
    let input = input();
    for (bits, format) in [(4, "b4x16_p64"), (6, "b6x16_p32")] {
        let lanes = run(&format!(
            "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.{format} {{%r8, %r9, %r10, %r11}}, [%r6];"
        ));
        for (lane, got) in lanes.iter().enumerate() {
            let expected: [u8; 16] = std::array::from_fn(|at| {
                let row = at / 4 * 8 + lane / 4;
                unpacked(&input[16 * row..16 * row + 16], lane % 4 * 4 + at % 4, bits)
            });
            assert_eq!(*got, expected, "{format} lane {lane}");
        }
    }
}

/// What pads the rows in memory need not be written.
#[test]
fn padding_is_not_read() {
    let middle = "
        .shared .align 16 .b8 part[128];
        mov.u32 %r12, part;
        shl.b32 %r13, %r1, 4;
        and.b32 %r13, %r13, 127;
        add.u32 %r12, %r12, %r13;
        st.shared.b32 [%r12], 0x76543210;
        st.shared.b32 [%r12+4], 0xfedcba98;
        bar.warp.sync 0xffffffff;
        ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r8}, [%r12];";
    let text = kernel(
        &middle
            .replace("st.shared.b32 [%r12]", "@!%q st.shared.b32 [%r12]")
            .replace("st.shared.b32 [%r12+4]", "@!%q st.shared.b32 [%r12+4]"),
    );
    let text = text.replace(
        ".reg .b32 %r<20>;",
        ".reg .b32 %r<20>;\n.reg .pred %q;\nmov.u32 %r14, %tid.x;\nsetp.gt.u32 %q, %r14, 7;",
    );
    let after = launch(&text, 32, vec![input(), vec![0; 512]]).unwrap();
    let first = after[1].as_chunks::<16>().0[1];
    assert_eq!(first[..4], [16, 20, 24, 28]);
}

/// Two columns of two rows a lane go to memory as rows of sixteen.
#[test]
fn columns_are_stored_as_rows() {
    let input = input();
    let lanes = run(
        "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r6+512], {%r2, %r3, %r4, %r5};\n\
         bar.sync 0;\nld.shared.v4.b32 {%r8, %r9, %r10, %r11}, [%r6+512];",
    );
    for (line, got) in lanes.iter().enumerate() {
        let (matrix, col) = (line / 8, line % 8);
        let expected: [u8; 16] = std::array::from_fn(|row| {
            let lane = row % 8 * 4 + col / 2;
            input[16 * lane + 4 * matrix + row / 8 * 2 + col % 2]
        });
        assert_eq!(*got, expected, "row {line}");
    }
}
