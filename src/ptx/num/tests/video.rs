//! Video instructions on worked cases, and against a plain reading of the ISA's pseudo code.

use super::super::compare::Compare;
use super::super::video::{Op, Part, Second, Simd, Video, VideoMad};
use super::cases::Cases;

fn plain(op: Op) -> Video {
    Video {
        op,
        d_signed: true,
        a_signed: true,
        b_signed: true,
        sat: false,
        d: Part::Word,
        a: Part::Word,
        b: Part::Word,
        second: None,
    }
}

#[test]
fn parts_are_extended_by_their_types() {
    let video = Video {
        a: Part::Byte(3),
        b: Part::Half(1),
        b_signed: false,
        ..plain(Op::Add)
    };
    assert_eq!(
        video.apply(0x8000_0000, 0xffff_0000, 0),
        (-128i32 + 0xffff).cast_unsigned()
    );
    let unsigned = Video {
        a_signed: false,
        ..video
    };
    assert_eq!(unsigned.apply(0x8000_0000, 0xffff_0000, 0), 128 + 0xffff);
}

#[test]
fn results_saturate_to_the_part_they_go_to() {
    let video = Video {
        sat: true,
        d: Part::Byte(1),
        ..plain(Op::Add)
    };
    assert_eq!(video.apply(100, 100, 0x1122_3344), 0x1122_7f44);
    assert_eq!(
        Video {
            d_signed: false,
            ..video
        }
        .apply(200, 100, 0x1122_3344),
        0x1122_ff44
    );
    assert_eq!(Video { sat: false, ..video }.apply(200, 100, 0x1122_3344), 0x1122_2c44);
    let word = Video {
        sat: true,
        ..plain(Op::Sub)
    };
    assert_eq!(word.apply(0x8000_0000, 1, 0), 0x8000_0000);
    assert_eq!(
        Video {
            d_signed: false,
            ..word
        }
        .apply(1, 2, 0),
        0
    );
    assert_eq!(
        Video {
            a_signed: false,
            sat: true,
            ..plain(Op::AbsDiff)
        }
        .apply(u32::MAX, 0, 0),
        0x7fff_ffff
    );
}

#[test]
fn secondary_operations() {
    let with = |second| Video {
        second: Some(second),
        ..plain(Op::Max)
    };
    assert_eq!(with(Second::Add).apply(3, 7, 10), 17);
    assert_eq!(with(Second::Min).apply(3, 7, u32::MAX), u32::MAX);
    assert_eq!(with(Second::Max).apply(3, 7, u32::MAX), 7);
    let unsigned = Video {
        d_signed: false,
        ..with(Second::Max)
    };
    assert_eq!(unsigned.apply(3, 7, u32::MAX), u32::MAX);
    let set = Video {
        d_signed: false,
        second: Some(Second::Add),
        ..plain(Op::Set(Compare::Lt))
    };
    assert_eq!((set.apply(u32::MAX, 0, 5), set.apply(0, 0, 5)), (6, 5));
}

#[test]
fn shifts() {
    let shift = |op| Video {
        b_signed: false,
        ..plain(op)
    };
    assert_eq!(shift(Op::Shl { wrap: false }).apply(3, 33, 0), 0);
    assert_eq!(shift(Op::Shl { wrap: true }).apply(3, 33, 0), 6);
    assert_eq!(shift(Op::Shr { wrap: false }).apply(0x8000_0000, 99, 0), u32::MAX);
    assert_eq!(
        Video {
            a_signed: false,
            ..shift(Op::Shr { wrap: false })
        }
        .apply(0x8000_0000, 31, 0),
        1
    );
    assert_eq!(
        Video {
            sat: true,
            ..shift(Op::Shl { wrap: false })
        }
        .apply(3, 31, 0),
        0x7fff_ffff
    );
}

#[test]
fn multiply_and_add() {
    let mad = VideoMad {
        a_signed: true,
        b_signed: true,
        a: Part::Word,
        b: Part::Word,
        negate_product: false,
        negate_c: false,
        plus_one: false,
        shift: 0,
        sat: false,
    };
    let minus = |x: i32| x.cast_unsigned();
    assert_eq!(mad.apply(minus(-3), 5, 4), minus(-11));
    assert_eq!(
        VideoMad {
            negate_product: true,
            ..mad
        }
        .apply(3, 5, 4),
        minus(-11)
    );
    assert_eq!(VideoMad { negate_c: true, ..mad }.apply(3, 5, 4), 11);
    assert_eq!(VideoMad { plus_one: true, ..mad }.apply(3, 5, 4), 20);
    assert_eq!(VideoMad { shift: 7, ..mad }.apply(1000, minus(-1000), 0), minus(-7813));
    assert_eq!(VideoMad { sat: true, ..mad }.apply(0x7fff_ffff, 2, 0), 0x7fff_ffff);
    let unsigned = VideoMad {
        a_signed: false,
        b_signed: false,
        sat: true,
        ..mad
    };
    assert_eq!(unsigned.apply(u32::MAX, 2, 0), u32::MAX);
    assert_eq!(
        VideoMad {
            a: Part::Byte(2),
            b: Part::Half(0),
            ..mad
        }
        .apply(0x00ff_0000, 0xffff, 9),
        10
    );
}

#[test]
fn names() {
    assert_eq!(Simd::mask_from_name("h10"), Some(3));
    assert_eq!(Simd::mask_from_name("b310"), Some(0b1011));
    assert_eq!(Simd::mask_from_name("b4"), None);
    assert_eq!(Simd::lanes_from_name("h32"), Some([2, 3, 0, 0]));
    assert_eq!(Simd::lanes_from_name("b7654"), Some([4, 5, 6, 7]));
    assert_eq!(Simd::lanes_from_name("b8654"), None);
    assert_eq!(Simd::lanes_from_name("h3"), None);
    assert_eq!(Part::from_name("h1"), Some(Part::Half(1)));
    assert_eq!(Part::from_name("b4"), None);
}

/// The ISA's loop over lanes, written down as it stands there.
fn reference(simd: &Simd, a: u32, b: u32, c: u32) -> u32 {
    let lanes = 32 / simd.width;
    let source = |n: u8, signed: bool| -> i64 {
        let (word, n) = if u32::from(n) < lanes {
            (a, u32::from(n))
        } else {
            (b, u32::from(n) - lanes)
        };
        let bits = i64::from(word >> (n * simd.width)) & ((1 << simd.width) - 1);
        if signed && bits >> (simd.width - 1) == 1 {
            bits - (1 << simd.width)
        } else {
            bits
        }
    };
    let mut d = if simd.add { i64::from(c) } else { 0 };
    for i in 0..lanes {
        let (va, vb) = (
            source(simd.a[i as usize], simd.a_signed),
            source(simd.b[i as usize], simd.b_signed),
        );
        let mut t = match simd.op {
            Op::Add => va + vb,
            Op::Sub => va - vb,
            Op::AbsDiff => (va - vb).abs(),
            Op::Min => va.min(vb),
            Op::Max => va.max(vb),
            Op::Average if va + vb >= 0 => (va + vb + 1) >> 1,
            Op::Average => (va + vb) >> 1,
            _ => i64::from(va == vb),
        };
        if simd.sat {
            let half = 1 << (simd.width - 1);
            t = if simd.d_signed {
                t.clamp(-half, half - 1)
            } else {
                t.clamp(0, 2 * half - 1)
            };
        }
        let on = simd.mask >> i & 1 == 1;
        if simd.add {
            d += if on { t } else { 0 };
        } else {
            let lane = if on { t } else { i64::from(c >> (i * simd.width)) };
            d |= (lane & ((1 << simd.width) - 1)) << (i * simd.width);
        }
    }
    d as u32
}

#[test]
fn simd_lanes() {
    let mut cases = Cases::new(71);
    let ops = [
        Op::Add,
        Op::Sub,
        Op::AbsDiff,
        Op::Min,
        Op::Max,
        Op::Average,
        Op::Set(Compare::Eq),
    ];
    for _ in 0..20_000 {
        let width = if cases.below(2) == 0 { 8 } else { 16 };
        let flag = |cases: &mut Cases| cases.below(2) == 0;
        let lanes = |cases: &mut Cases| std::array::from_fn(|_| cases.below(64 / u64::from(width)) as u8);
        let simd = Simd {
            op: ops[cases.below(7) as usize],
            width,
            d_signed: flag(&mut cases),
            a_signed: flag(&mut cases),
            b_signed: flag(&mut cases),
            sat: flag(&mut cases),
            add: flag(&mut cases),
            mask: cases.below(16) as u8,
            a: lanes(&mut cases),
            b: lanes(&mut cases),
        };
        let (a, b, c) = (cases.next() as u32, cases.next() as u32, cases.next() as u32);
        assert_eq!(
            simd.apply(a, b, c),
            reference(&simd, a, b, c),
            "{simd:?} {a:#x} {b:#x} {c:#x}"
        );
    }
}
