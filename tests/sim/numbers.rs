//! Numeric instructions as kernels of one thread: that modifiers, selectors and operands get to the right function.

use super::launch::launch;

/// Runs instructions on `%a`, `%b`, `%c` (32 bits each) that leave their result in `%d`.
fn run(code: &str, operands: [u32; 3]) -> u32 {
    let text = format!(
        ".version 9.2\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b64 %in, %out;\n.reg .b32 %a, %b, %c, %d;\n.reg .b16 %h, %g;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         ld.global.b32 %a, [%in];\nld.global.b32 %b, [%in+4];\nld.global.b32 %c, [%in+8];\n\
         {code}\nst.global.b32 [%out], %d;\nret;\n}}"
    );
    let input = operands.iter().flat_map(|word| word.to_le_bytes()).collect();
    let after = launch(&text, 1, vec![input, vec![0; 4]]).unwrap_or_else(|why| panic!("{code}: {why}"));
    u32::from_le_bytes(after[1].as_slice().try_into().unwrap())
}

fn f32(x: f32) -> u32 {
    x.to_bits()
}

#[test]
fn video() {
    let (a, b, c) = (0x80ff_7f01, 0x1234_5678, 0x1111_1111);
    for (code, expected) in [
        ("vadd.s32.s32.s32 %d, %a.b3, %b.b0;", (-128i32 + 0x78) as u32),
        ("vadd.u32.u32.u32 %d, %a.b3, %b.h1;", 0x80 + 0x1234),
        ("vadd.s32.s32.s32.sat %d.b1, %a.b1, %b.b0, %c;", 0x1111_7f11),
        ("vsub.u32.u32.u32.sat %d, %a.b0, %b.b0;", 0),
        ("vabsdiff.s32.s32.s32.add %d, %a.b2, %b.b0, %c;", 0x1111_1111 + 0x79),
        ("vmin.s32.s32.s32 %d, %a, %b;", a),
        ("vmax.u32.u32.u32.max %d, %a.b0, %b.b0, %c;", c),
        ("vshl.u32.u32.u32.wrap %d, %a.b0, 33;", 2),
        ("vshr.s32.s32.u32.clamp %d, %a, 99;", u32::MAX),
        ("vset.s32.s32.lt.add %d, %a, %b, %c;", c + 1),
        (
            "vmad.s32.s32.s32.shr7 %d, %a.b1, %b.b0, %c;",
            (0x7f * 0x78 + 0x1111_1111) >> 7,
        ),
        ("vmad.u32.u32.u32.po %d, %a.b0, %b.b0, %c;", 0x78 + c + 1),
        ("vadd2.s32.s32.s32.sat %d.h10, %a.h00, %b.h32, %c;", 0x7fff_7fff),
        ("vsub2.u32.u32.u32 %d.h0, %a.h10, %b.h32, %c;", 0x1111_2889),
        ("vavrg4.u32.u32.u32 %d, %a, %b, %c;", 0x499a_6b3d),
        ("vset4.u32.u32.gt.add %d, %a, %b, %c;", c + 3),
        ("vmax4.s32.s32.s32 %d.b3210, %a.b3210, %b.b7654, %c;", 0x1234_7f78),
    ] {
        assert_eq!(run(code, [a, b, c]), expected, "{code}");
    }
}

#[test]
fn conversions() {
    let (a, b) = (f32(1.0), f32(-3.0));
    for (code, expected) in [
        ("cvt.rn.f16x2.f32 %d, %a, %b;", 0x3c00_c200),
        ("cvt.rs.relu.f16x2.f32 %d, %a, %b, %c;", 0x3c00_0000),
        ("cvt.rs.bf16x2.f32 %d, %a, %b, %c;", 0x3f80_c040),
        ("cvt.rn.satfinite.e4m3x2.f32 %h, %a, %b; cvt.u32.u16 %d, %h;", 0x38c4),
        (
            "cvt.rn.satfinite.relu.e5m2x2.f32 %h, %a, %b; cvt.u32.u16 %d, %h;",
            0x3c00,
        ),
        ("cvt.rn.satfinite.e2m3x2.f32 %h, %a, %b; cvt.u32.u16 %d, %h;", 0x0834),
        ("cvt.rz.ue8m0x2.f32 %h, %a, %b; cvt.u32.u16 %d, %h;", 0x7f80),
        ("cvt.rp.ue8m0x2.f32 %h, %a, %b; cvt.u32.u16 %d, %h;", 0x7f81),
        ("mov.b16 %h, 0x7f81; cvt.rn.bf16x2.ue8m0x2 %d, %h;", 0x3f80_4080),
        ("mov.b16 %h, 0x38c4; cvt.rn.f16x2.e4m3x2 %d, %h;", 0x3c00_c200),
        ("cvt.rna.tf32.f32 %d, %c;", 0x3f80_2000),
        ("cvt.pack.sat.s16.s32 %d, %a, %b;", 0x7fff_8000),
        ("cvt.pack.sat.u8.s32.b32 %d, %a, 7, %c;", 0x1000_ff07),
        ("cvt.rni.sat.s8.f32 %d, %b;", (-3i32) as u32),
        ("cvt.rzi.u32.f32 %d, %b;", 0),
    ] {
        assert_eq!(run(code, [a, b, 0x3f80_1000]), expected, "{code}");
    }
}

#[test]
fn extremes_of_three() {
    let operands = [f32(1.0), f32(-3.0), f32(f32::NAN)];
    for (code, expected) in [
        ("max.f32 %d, %a, %b, %c;", f32(1.0)),
        ("max.abs.f32 %d, %a, %b, %c;", f32(3.0)),
        ("min.NaN.f32 %d, %a, %b, %c;", 0x7fff_ffff),
        ("min.xorsign.abs.f32 %d, %a, %b;", f32(-1.0)),
    ] {
        assert_eq!(run(code, operands), expected, "{code}");
    }
}

#[test]
fn reductions_of_floats() {
    let operands = [f32(1.0), f32(-3.0), 0xffc0_0000];
    for (code, expected) in [
        ("redux.sync.max.abs.f32 %d, %b, 1;", f32(3.0)),
        ("redux.sync.min.f32 %d, %b, 1;", f32(-3.0)),
        ("redux.sync.min.NaN.f32 %d, %c, 1;", 0x7fff_ffff),
    ] {
        assert_eq!(run(code, operands), expected, "{code}");
    }
}
