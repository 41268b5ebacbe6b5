//! Numeric instructions as kernels of one thread: that modifiers, selectors and operands get to the right function.

use super::launch::launch;
use ptxgen::ptx::num::compare::Compare;
use ptxgen::ptx::num::single::{self, Extreme};
use ptxgen::ptx::num::{Int, Mode, Round, bits, convert, double};

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
        ("vmad.u32.u32.u32 %d, %a.b1, -%b.b0, %c;", c - 0x7f * 0x78),
        ("vmad.u32.u32.u32 %d, -%a.b1, -%b.b0, %c;", c + 0x7f * 0x78),
        ("vmad.s32.s32.s32.shr7 %d, -%a.b0, %b.b0, 0;", (-0x78i32 >> 7) as u32),
        (
            "vmad.s32.s32.s32 %d, %a.b1, %b.b0, -%c;",
            (0x7f * 0x78u32).wrapping_sub(c),
        ),
        ("vmad.s32.s32.s32.sat %d, -%a.b0, -%b.b0, -%c;", 0x78u32.wrapping_sub(c)),
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

/// Operands near the borders of their formats, reproducible.
struct Operands(u64);

impl Operands {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let x = self.0 ^ (self.0 >> 29);
        match x >> 8 & 7 {
            0 => x & 0x8000_0000_8000_0000,
            1 => 0x7fff_ffff_7f80_0000 ^ (x & 0x8000_0000_8000_0001),
            2 => 0x3ff0_0000_3f80_0000 ^ (x & 0x8000_0003_8000_0003),
            3 => x & 0x800f_ffff_807f_ffff,
            4 => x % 7,
            5 => 0xffff_ffff_ffff_fffb + x % 5,
            _ => x.rotate_left(17),
        }
    }
}

type Op32 = (&'static str, fn(u32, u32, u32) -> u32);
type Op64 = (&'static str, fn(u64, u64, u64) -> u64);

/// One kernel of a warp with all operations, each result stored under its number; three operands a thread.
fn table(ops: &[&str], wide: bool) -> String {
    let (ty, size) = if wide { ("b64", 8) } else { ("b32", 4) };
    let mut text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b64 %in, %out, %at;\n.reg .b32 %lane, %w;\n.reg .{ty} %a, %b, %c, %d;\n.reg .b16 %h;\n.reg .pred %p;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\n\
         mul.wide.u32 %at, %lane, {};\nadd.u64 %in, %in, %at;\nmul.wide.u32 %at, %lane, {};\nadd.u64 %out, %out, %at;\n\
         ld.global.{ty} %a, [%in];\nld.global.{ty} %b, [%in+{size}];\nld.global.{ty} %c, [%in+{}];\n",
        3 * size,
        ops.len() * size,
        2 * size,
    );
    for (at, op) in ops.iter().enumerate() {
        text += &format!("{op}\nst.global.{ty} [%out+{}], %d;\n", at * size);
    }
    text + "ret;\n}"
}

const WORDS: [Op32; 28] = [
    ("add.f32 %d, %a, %b;", |a, b, _| single::add(a, b)),
    ("sub.f32 %d, %a, %b;", |a, b, _| single::sub(a, b)),
    ("mul.f32 %d, %a, %b;", |a, b, _| single::mul(a, b)),
    ("fma.rn.f32 %d, %a, %b, %c;", single::fma),
    ("fma.rm.ftz.sat.f32 %d, %a, %b, %c;", |a, b, c| {
        single::fma_with(a, b, c, Mode::new(Round::Rm).ftz(true).sat(true))
    }),
    ("add.rz.f32 %d, %a, %b;", |a, b, _| {
        single::add_with(a, b, Mode::new(Round::Rz))
    }),
    ("min.f32 %d, %a, %b;", |a, b, _| single::min(a, b, Extreme::default())),
    ("max.f32 %d, %a, %b;", |a, b, _| single::max(a, b, Extreme::default())),
    ("div.rp.f32 %d, %a, %b;", |a, b, _| {
        single::div_with(a, b, Mode::new(Round::Rp))
    }),
    ("sqrt.rn.f32 %d, %a;", |a, _, _| single::sqrt(a)),
    ("cvt.rn.f32.s32 %d, %a;", |a, _, _| {
        convert::f32_from_s32(a.cast_signed())
    }),
    ("cvt.rn.f32.u32 %d, %a;", |a, _, _| convert::f32_from_u32(a)),
    ("cvt.u16.u32 %h, %a; cvt.f32.f16 %d, %h;", |a, _, _| {
        convert::f32_from_f16(a as u16)
    }),
    ("cvt.rn.f16.f32 %h, %a; cvt.u32.u16 %d, %h;", |a, _, _| {
        convert::f16_from_f32(a).into()
    }),
    ("cvt.rn.bf16.f32 %h, %a; cvt.u32.u16 %d, %h;", |a, _, _| {
        convert::bf16_from_f32(a).into()
    }),
    ("cvt.rni.s32.f32 %d, %a;", |a, _, _| {
        convert::s32_from_f32(a, Round::Rn).cast_unsigned()
    }),
    ("cvt.rzi.u32.f32 %d, %a;", |a, _, _| convert::u32_from_f32(a, Round::Rz)),
    ("setp.ltu.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", |a, b, _| {
        Compare::Ltu.singles(a, b, false).into()
    }),
    ("setp.ne.ftz.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", |a, b, _| {
        Compare::Ne.singles(a, b, true).into()
    }),
    ("mul.hi.s32 %d, %a, %b;", |a, b, _| {
        a.cast_signed().mul_hi(b.cast_signed()).cast_unsigned()
    }),
    ("mad.lo.u32 %d, %a, %b, %c;", |a, b, c| a.mad_lo(b, c)),
    ("div.s32 %d, %a, %b;", |a, b, _| {
        a.cast_signed().quotient(b.cast_signed()).cast_unsigned()
    }),
    ("shr.s32 %d, %a, %b;", |a, b, _| {
        a.cast_signed().shift_right(b).cast_unsigned()
    }),
    ("shl.b32 %d, %a, %b;", |a, b, _| a.shift_left(b)),
    ("bfe.s32 %d, %a, %b, %c;", bits::bfe_s32),
    ("shf.r.wrap.b32 %d, %a, %b, %c;", |a, b, c| bits::shf_r(a, b, c, true)),
    ("sad.s32 %d, %a, %b, %c;", |a, b, c| {
        a.cast_signed().sad(b.cast_signed(), c.cast_signed()).cast_unsigned()
    }),
    ("lop3.b32 %d, %a, %b, %c, 0xe8;", |a, b, c| bits::lop3(a, b, c, 0xe8)),
];

const LONGS: [Op64; 12] = [
    ("add.f64 %d, %a, %b;", |a, b, _| double::add(a, b)),
    ("mul.f64 %d, %a, %b;", |a, b, _| double::mul(a, b)),
    ("fma.rn.f64 %d, %a, %b, %c;", double::fma),
    ("fma.rp.f64 %d, %a, %b, %c;", |a, b, c| {
        double::fma_with(a, b, c, Round::Rp)
    }),
    ("div.rz.f64 %d, %a, %b;", |a, b, _| double::div_with(a, b, Round::Rz)),
    ("min.f64 %d, %a, %b;", |a, b, _| double::min(a, b)),
    ("mul.hi.u64 %d, %a, %b;", |a, b, _| a.mul_hi(b)),
    ("rem.s64 %d, %a, %b;", |a, b, _| {
        a.cast_signed().remainder(b.cast_signed()).cast_unsigned()
    }),
    ("mad.lo.s64 %d, %a, %b, %c;", |a, b, c| a.mad_lo(b, c)),
    ("cvt.u32.u64 %w, %b; shr.u64 %d, %a, %w;", |a, b, _| {
        a.shift_right(b as u32)
    }),
    ("cvt.rn.f32.f64 %w, %a; cvt.f64.f32 %d, %w;", |a, _, _| {
        convert::f64_from_f32(convert::f32_from_f64(a))
    }),
    ("setp.le.s64 %p, %a, %b; selp.b64 %d, %c, 7, %p;", |a, b, c| {
        if a.cast_signed() <= b.cast_signed() { c } else { 7 }
    }),
];

/// What the engine's rows compute is what the scalar functions say, whatever instructions of this machine it uses.
#[test]
fn rows_agree_with_scalars() {
    let mut operands = Operands(11);
    let names = WORDS.map(|(op, _)| op);
    let text = table(&names, false);
    for _ in 0..8 {
        let input: Vec<[u32; 3]> = (0..1024)
            .map(|_| std::array::from_fn(|_| operands.next() as u32))
            .collect();
        let bytes = input.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let after = launch(&text, 1024, vec![bytes, vec![0; 1024 * 4 * names.len()]]).unwrap();
        let mut words = after[1].as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        for [a, b, c] in input {
            for (op, f) in WORDS {
                assert_eq!(words.next(), Some(f(a, b, c)), "{op} {a:#x} {b:#x} {c:#x}");
            }
        }
    }
}

#[test]
fn wide_rows_agree_with_scalars() {
    let mut operands = Operands(12);
    let names = LONGS.map(|(op, _)| op);
    let text = table(&names, true);
    for _ in 0..8 {
        let input: Vec<[u64; 3]> = (0..1024).map(|_| std::array::from_fn(|_| operands.next())).collect();
        let bytes = input.iter().flatten().flat_map(|long| long.to_le_bytes()).collect();
        let after = launch(&text, 1024, vec![bytes, vec![0; 1024 * 8 * names.len()]]).unwrap();
        let mut longs = after[1].as_chunks::<8>().0.iter().map(|long| u64::from_le_bytes(*long));
        for [a, b, c] in input {
            for (op, f) in LONGS {
                assert_eq!(longs.next(), Some(f(a, b, c)), "{op} {a:#x} {b:#x} {c:#x}");
            }
        }
    }
}
