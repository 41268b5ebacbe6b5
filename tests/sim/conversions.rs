//! Conversions that only kernels can ask for as a whole: which operand goes where.

use super::launch::launch;

/// What one thread stores after some instructions on `%r1`, `%r2` (`.b32`), `%f1` to `%f4` and `%h1`, `%h2`.
fn run(instructions: &str) -> [u32; 2] {
    let text = format!(
        ".version 9.2\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<2>;\n.reg .b32 %r<8>;\n\
         .reg .b16 %h<8>;\n.reg .f32 %f<8>;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0fC0200000;\nmov.f32 %f3, 0f3F880000;\nmov.f32 %f4, 0f41000000;\n\
         mov.b32 %r1, 0;\nmov.b32 %r2, 0;\nmov.b16 %h1, 0;\nmov.b16 %h2, 0;\nld.param.u64 %rd1, [out];\n{instructions}\n\
         st.global.v2.b32 [%rd1], {{%r1, %r2}};\nret;\n}}"
    );
    let after = launch(&text, 1, vec![vec![0; 8]]).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let word = |at: usize| u32::from_le_bytes(after[0][at..at + 4].try_into().unwrap());
    [word(0), word(4)]
}

#[test]
fn random_bits_serve_two_each() {
    // 1.0625 lies half-way between two numbers of e4m3; the lower half of the random bits serves it.
    let quad = |random: &str| {
        run(&format!(
            "mov.b32 %r3, {random};\ncvt.rs.satfinite.e4m3x4.f32 %r1, {{%f1, %f2, %f3, %f4}}, %r3;"
        ))[0]
    };
    assert_eq!(quad("0xffff7fff"), 0x38c2_3850);
    assert_eq!(quad("0x00008000"), 0x38c2_3950);
    let relu = run("cvt.rs.relu.satfinite.e2m1x4.f32 %h1, {%f1, %f2, %f3, %f4}, %r1;\ncvt.u32.u16 %r1, %h1;")[0];
    assert_eq!(relu, 0x2027, "1, below zero, 1.0625 rounded down, the largest");
}

#[test]
fn fixed_point_numbers_go_and_come_back() {
    let [down, up] =
        run("cvt.rn.satfinite.s2f6x2.f32 %h1, %f3, %f2;\ncvt.rn.bf16x2.s2f6x2 %r2, %h1;\ncvt.u32.u16 %r1, %h1;");
    assert_eq!([down, up], [0x4480, 0x3f88_c000]);
    let [down, up] = run(
        "mov.b32 %r2, 0x3f88bf00;\ncvt.rn.satfinite.relu.s2f6x2.bf16x2 %h1, %r2;\ncvt.rn.bf16x2.s2f6x2 %r2, %h1;\ncvt.u32.u16 %r1, %h1;",
    );
    assert_eq!([down, up], [0x4400, 0x3f88_0000]);
}

#[test]
fn each_element_has_its_scale() {
    // Scales of four for the upper and a half for the lower element.
    let narrow = |name: &str, bits: &str| {
        run(&format!(
            "mov.b16 %h1, {bits};\nmov.b16 %h2, 0x817e;\ncvt.rn.scaled::n2::ue8m0.bf16x2.{name} %r1, %h1, %h2;"
        ))[0]
    };
    assert_eq!(narrow("e4m3x2", "0x38c0"), 0x4080_bf80, "1 and -2");
    assert_eq!(narrow("s2f6x2", "0x40c0"), 0x4080_bf00, "1 and -1");
    let fp4 = run(
        "mov.b16 %h1, 0x2c;\nmov.b16 %h2, 0x817e;\n.reg .b8 %b;\ncvt.u8.u16 %b, %h1;\ncvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %r1, %b, %h2;",
    );
    assert_eq!(fp4[0], 0x4080_bf80, "1 and -2");
}
