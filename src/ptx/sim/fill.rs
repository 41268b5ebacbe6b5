//! What buffers hold before a launch, by a short description that gives the same bytes everywhere.

use crate::ptx::num::convert::Convert;
use crate::ptx::types::{Kind, Type};
use std::fmt;

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// So many bytes that are zero.
    Zero(u64),
    /// Random numbers: floats evenly between -1 and 1, integers any.
    Random {
        /// Of this type.
        ty: Type,
        /// How many.
        count: u64,
        /// Where the generator starts.
        seed: u64,
    },
    /// The numbers 0, 1, 2, ... below `below`, over and over.
    Cycle {
        /// Of this type.
        ty: Type,
        /// How many.
        count: u64,
        /// The first number that does not occur.
        below: u64,
    },
}

impl Fill {
    /// Length of the buffer in bytes; `None` where it is too large to count.
    pub fn len(&self) -> Option<u64> {
        match self {
            Fill::Zero(bytes) => Some(*bytes),
            Fill::Random { ty, count, .. } | Fill::Cycle { ty, count, .. } => count.checked_mul(u64::from(ty.bytes())),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The bytes; `None` if there are too many, or numbers of the type cannot be made.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let len = usize::try_from(self.len()?).ok()?;
        match *self {
            Fill::Zero(_) => Some(vec![0; len]),
            Fill::Random { ty, count, seed } => {
                let mut state = seed;
                let float = from_f64(ty);
                let drawn = (0..count).map(|_| split_mix(&mut state));
                match ty.kind() {
                    Kind::Float => collect(
                        ty,
                        len,
                        drawn.map(|drawn| float((drawn >> 11) as f64 / (1u64 << 52) as f64 - 1.0)),
                    ),
                    _ => collect(ty, len, drawn.map(Some)),
                }
            }
            Fill::Cycle { ty, count, below } => {
                let float = from_f64(ty);
                let number = |number: u64| match ty.kind() {
                    Kind::Float => float(number as f64),
                    _ => Some(number),
                };
                let numbers = below.clamp(1, count.max(1));
                let once = usize::try_from(numbers).ok()?.checked_mul(ty.bytes() as usize)?;
                let once = collect(ty, once, (0..numbers).map(number))?;
                Some(once.into_iter().cycle().take(len).collect())
            }
        }
    }
}

/// As `ptxgen run` takes it: `buf:rand=f32:1024:1`.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Zero(bytes) => write!(f, "buf:zero={bytes}"),
            Fill::Random { ty, count, seed } => write!(f, "buf:rand={}:{count}:{seed}", ty.name()),
            Fill::Cycle { ty, count, below } => write!(f, "buf:cycle={}:{count}:{below}", ty.name()),
        }
    }
}

/// A value as a number of a type.
fn from_f64(ty: Type) -> impl Fn(f64) -> Option<u64> {
    let convert = Convert::new(ty, Type::F64);
    move |value: f64| match ty {
        // The machine's own conversion gives what any gives, and buffers have millions of these.
        Type::F32 if !value.is_nan() => Some(u64::from((value as f32).to_bits())),
        _ => convert.apply(value.to_bits()),
    }
}

/// The low bytes of numbers, one behind the other.
fn collect(ty: Type, len: usize, numbers: impl Iterator<Item = Option<u64>>) -> Option<Vec<u8>> {
    fn lay<const SIZE: usize>(bytes: &mut [u8], mut numbers: impl Iterator<Item = Option<u64>>) -> Option<()> {
        for place in bytes.as_chunks_mut::<SIZE>().0 {
            let number = numbers.next()??.to_le_bytes();
            place.copy_from_slice(number.get(..SIZE)?);
        }
        Some(())
    }
    let mut bytes = vec![0; len];
    match ty.bytes() {
        1 => lay::<1>(&mut bytes, numbers),
        2 => lay::<2>(&mut bytes, numbers),
        4 => lay::<4>(&mut bytes, numbers),
        8 => lay::<8>(&mut bytes, numbers),
        _ => None,
    }?;
    Some(bytes)
}

/// The generator SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_come_round() {
        let fill = Fill::Cycle {
            ty: Type::U16,
            count: 5,
            below: 3,
        };
        assert_eq!(fill.bytes(), Some(vec![0, 0, 1, 0, 2, 0, 0, 0, 1, 0]));
        assert_eq!(fill.to_string(), "buf:cycle=u16:5:3");
        let floats = Fill::Cycle {
            ty: Type::F32,
            count: 2,
            below: 2,
        };
        assert_eq!(floats.bytes(), Some([0f32.to_le_bytes(), 1f32.to_le_bytes()].concat()));
    }

    #[test]
    fn lengths_that_overflow_have_no_bytes() {
        let fill = Fill::Random {
            ty: Type::F64,
            count: u64::MAX / 2,
            seed: 1,
        };
        assert_eq!((fill.len(), fill.bytes()), (None, None));
    }
}
