use super::round::{Mode, Round};
use super::*;

const ONE: u32 = 0x3f80_0000;

#[test]
fn single_directed_rounding_and_signs_of_zero() {
    let tiny = 1;
    assert_eq!(single::add(ONE, tiny), ONE);
    assert_eq!(single::add_with(ONE, tiny, Mode::new(Round::Rp)), ONE + 1);
    assert_eq!(single::sub_with(ONE, tiny, Mode::new(Round::Rz)), ONE - 1);
    assert_eq!(single::sub_with(ONE, ONE, Mode::new(Round::Rm)), 0x8000_0000);
    assert_eq!(single::sub_with(ONE, ONE, Mode::RN), 0);
    assert_eq!(single::add(0x7f80_0000, 0xff80_0000), single::NAN);
    assert_eq!(single::add_with(tiny, tiny, Mode::RN.ftz(true)), 0);
}

#[test]
fn half_to_single_is_exact() {
    for a in 0..=u16::MAX {
        let value = f64::from(f32::from_bits(half::f16_to_single(a)));
        let expected = format::F16.decode(u64::from(a));
        assert!(
            value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
            "{a:#x}"
        );
        if !value.is_nan() {
            assert_eq!(half::from_single(format::F16, half::f16_to_single(a), Round::Rn), a);
        }
    }
}
