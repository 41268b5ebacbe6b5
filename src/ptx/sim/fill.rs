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
                let is_float = ty.kind() == Kind::Float;
                let draw = |_| match (split_mix(&mut state), is_float) {
                    (drawn, true) => from_f64(ty, (drawn >> 11) as f64 / (1u64 << 52) as f64 - 1.0),
                    (drawn, false) => Some(drawn),
                };
                collect(ty, len, (0..count).map(draw))
            }
            Fill::Cycle { ty, count, below } => {
                let is_float = ty.kind() == Kind::Float;
                let number = |number: u64| match is_float {
                    true => from_f64(ty, number as f64),
                    false => Some(number),
                };
                let once = collect(ty, len, (0..below.clamp(1, count.max(1))).map(number))?;
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

fn from_f64(ty: Type, value: f64) -> Option<u64> {
    Convert::new(ty, Type::F64).apply(value.to_bits())
}

fn collect(ty: Type, len: usize, numbers: impl Iterator<Item = Option<u64>>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    for number in numbers {
        bytes.extend(number?.to_le_bytes().into_iter().take(ty.bytes() as usize));
    }
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
