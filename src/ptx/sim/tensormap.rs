//! Tensor maps: what bulk tensor copies know of a tensor in global memory.
//!
//! The object is opaque: the host makes it, and kernels only hand it on, copy it, and replace fields by instructions. Here its
//! 128 bytes have a form of their own, so a real one means nothing; a launch makes it from a [`TensorMap`].

use super::super::types::Type;

/// Bytes of the object.
pub const SIZE: usize = 128;
/// What the object begins with.
const MARK: u8 = 0x54;

/// The element types, by the numbers that `tensormap.replace` gives them. `.ftz` says how reductions treat subnormal numbers.
pub const ELEMENTS: [&str; 16] = [
    "u8",
    "u16",
    "u32",
    "s32",
    "u64",
    "s64",
    "f16",
    "f32",
    "f32ftz",
    "f64",
    "bf16",
    "tf32",
    "tf32ftz",
    "b4x16",
    "b4x16_p64",
    "b6x16_p32",
];

/// A tensor in global memory, and the box of it that a copy moves. Dimensions are in elements, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// An index into [`ELEMENTS`].
    pub element: u8,
    /// Elements along each dimension.
    pub dims: Vec<u32>,
    /// Bytes from one element to the next along each dimension but the innermost.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub size: Vec<u32>,
    /// Of how many elements along each dimension a box takes one.
    pub steps: Vec<u32>,
    /// How many address bits are swizzled: 0 to 3, for none and 32, 64, 128 bytes.
    pub swizzle: u8,
    /// What is outside of the tensor is NaN, not zero.
    pub nan: bool,
}

/// The object as it is in memory: where it keeps what.
pub mod field {
    /// One less than the number of dimensions.
    pub const RANK: usize = 1;
    /// The element type.
    pub const ELEMENT: usize = 2;
    /// The interleaving: none is zero.
    pub const INTERLEAVE: usize = 3;
    /// The swizzling: none, 32, 64, 128 bytes, 96 bytes.
    pub const SWIZZLE: usize = 4;
    /// What is outside: zero or NaN.
    pub const FILL: usize = 5;
    /// What is swizzled as a whole: 16 bytes is zero.
    pub const ATOM: usize = 7;
    /// The address of the first element.
    pub const ADDRESS: usize = 8;
    /// Five dimensions.
    pub const DIMS: usize = 16;
    /// Four strides.
    pub const STRIDES: usize = 36;
    /// Five dimensions of the box.
    pub const BOX: usize = 68;
    /// Five steps.
    pub const STEPS: usize = 88;
}

fn word(bytes: &[u8; SIZE], at: usize) -> u32 {
    (0..4).rev().fold(0, |value, byte| {
        value << 8 | u32::from(bytes.get(at + byte).copied().unwrap_or(0))
    })
}

fn long(bytes: &[u8; SIZE], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

impl TensorMap {
    /// Bits of an element in global memory, and the bytes that sixteen of them take up in shared memory.
    pub fn element_bits(&self) -> u32 {
        match self.element {
            0 => 8,
            1 | 6 | 10 => 16,
            4 | 5 | 9 => 64,
            13 | 14 => 4,
            15 => 6,
            _ => 32,
        }
    }

    /// The element's type, as far as reductions know it.
    pub fn element_type(&self) -> Type {
        match self.element {
            0 => Type::U8,
            1 => Type::U16,
            3 => Type::S32,
            4 => Type::U64,
            5 => Type::S64,
            6 => Type::F16,
            7 | 8 | 11 | 12 => Type::F32,
            9 => Type::F64,
            10 => Type::Bf16,
            _ => Type::U32,
        }
    }

    /// Strides of a tensor without gaps.
    pub fn dense_strides(element_bits: u32, dims: &[u32]) -> Vec<u64> {
        let mut stride = 0u64;
        let sizes = dims.iter().enumerate().map(|(at, dim)| {
            stride = match at {
                0 => u64::from(*dim).saturating_mul(u64::from(element_bits)) / 8,
                _ => stride.saturating_mul(u64::from(*dim)),
            };
            stride
        });
        sizes.take(dims.len().saturating_sub(1)).collect()
    }

    /// Bytes of a box in shared memory along its innermost dimension.
    pub fn row_bytes(&self) -> u64 {
        let inner = u64::from(self.size.first().copied().unwrap_or(0));
        inner * u64::from(self.element_bits()) / 8
    }

    /// What is wrong with it: what the host's function refuses, too.
    ///
    /// # Errors
    /// The first thing that is.
    pub fn check(&self) -> Result<(), String> {
        let rank = self.dims.len();
        if !(1..=5).contains(&rank) {
            return Err(format!("a tensor has 1 to 5 dimensions, and not {rank}"));
        }
        if self.size.len() != rank || self.steps.len() != rank || self.strides.len() + 1 != rank {
            return Err(format!(
                "{rank} dimensions need {rank} of the box, {rank} steps and {} strides",
                rank - 1
            ));
        }
        if self.element > 12 {
            return Err("elements of 4 and 6 bits are not modelled".into());
        }
        if self.dims.contains(&0) {
            return Err("a dimension of 0 elements".into());
        }
        if let Some(size) = self.size.iter().find(|size| !(1..=256).contains(*size)) {
            return Err(format!(
                "a box of {size} elements along a dimension; there may be 1 to 256"
            ));
        }
        if let Some(step) = self.steps.iter().find(|step| !(1..=8).contains(*step)) {
            return Err(format!("a step of {step} elements; there may be 1 to 8"));
        }
        if let Some(stride) = self
            .strides
            .iter()
            .find(|stride| !stride.is_multiple_of(16) || **stride >= 1 << 40)
        {
            return Err(format!(
                "a stride of {stride} bytes; it must be a multiple of 16 below 2^40"
            ));
        }
        let all = self.size.iter().fold(u64::from(self.element_bits()) / 8, |all, size| {
            all.saturating_mul(u64::from(*size))
        });
        if all > 1 << 18 {
            return Err(format!("a box of {all} bytes, which is more than shared memory has"));
        }
        let row = self.row_bytes();
        if !row.is_multiple_of(16) {
            return Err(format!(
                "the innermost dimension of the box has {row} bytes; it must be a multiple of 16"
            ));
        }
        let span = 16u64 << self.swizzle;
        if self.swizzle > 3 || (self.swizzle > 0 && row != span) {
            return Err(format!(
                "the innermost dimension of the box has {row} bytes; where {span} bytes are swizzled, it must have as many"
            ));
        }
        if self.nan && !matches!(self.element, 6..=12) {
            return Err("only floats can be filled with NaN".into());
        }
        Ok(())
    }

    /// The object in memory.
    pub fn encode(&self, address: u64) -> [u8; SIZE] {
        let mut out = [0; SIZE];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = out.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(0, &[MARK, self.dims.len().saturating_sub(1) as u8, self.element]);
        put(field::SWIZZLE, &[self.swizzle, u8::from(self.nan)]);
        put(field::ADDRESS, &address.to_le_bytes());
        for (base, numbers) in [
            (field::DIMS, &self.dims),
            (field::BOX, &self.size),
            (field::STEPS, &self.steps),
        ] {
            for (at, number) in numbers.iter().take(5).enumerate() {
                put(base + 4 * at, &number.to_le_bytes());
            }
        }
        for (at, stride) in self.strides.iter().take(4).enumerate() {
            put(field::STRIDES + 8 * at, &stride.to_le_bytes());
        }
        out
    }

    /// Reads the object, and the address of its first element.
    ///
    /// # Errors
    /// What it is not, or what about it is not modelled.
    pub fn decode(bytes: &[u8; SIZE]) -> Result<(TensorMap, u64), String> {
        if bytes[0] != MARK {
            return Err("a tensor map that no `tensormap:` argument made".into());
        }
        if bytes[field::INTERLEAVE] != 0 || bytes[field::ATOM] != 0 || bytes[field::SWIZZLE] > 3 {
            return Err("a tensor map that is interleaved, or swizzled in a way that is not modelled".into());
        }
        let rank = usize::from(bytes[field::RANK]).min(4) + 1;
        let words = |base: usize| (0..rank).map(|at| word(bytes, base + 4 * at)).collect::<Vec<u32>>();
        let map = TensorMap {
            element: bytes[field::ELEMENT],
            dims: words(field::DIMS),
            strides: (1..rank).map(|at| long(bytes, field::STRIDES + 8 * (at - 1))).collect(),
            size: words(field::BOX),
            steps: words(field::STEPS),
            swizzle: bytes[field::SWIZZLE],
            nan: bytes[field::FILL] != 0,
        };
        map.check().map_err(|why| format!("a tensor map with {why}"))?;
        Ok((map, long(bytes, field::ADDRESS)))
    }
}

/// Where a byte of shared memory lies when addresses are swizzled: bits above say how the pieces of 16 bytes of a row are mixed.
pub const fn swizzled(address: u64, swizzle: u8) -> u64 {
    address ^ ((address >> 7) & ((1 << swizzle) - 1)) << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            element: 6,
            dims: vec![100, 7, 3],
            strides: vec![208, 2080],
            size: vec![64, 4, 2],
            steps: vec![1, 2, 1],
            swizzle: 3,
            nan: true,
        }
    }

    #[test]
    fn the_object_comes_back() {
        assert_eq!(
            TensorMap::decode(&map().encode(0x1234_5678_9ab0)),
            Ok((map(), 0x1234_5678_9ab0))
        );
        assert!(TensorMap::decode(&[0; SIZE]).unwrap_err().contains("no `tensormap:`"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(map().check(), Ok(()));
        let wrong = |change: fn(&mut TensorMap)| {
            let mut map = map();
            change(&mut map);
            map.check().unwrap_err()
        };
        assert!(wrong(|map| map.size[0] = 128).contains("256 bytes"));
        assert!(wrong(|map| map.size[0] = 12).contains("multiple of 16"));
        assert!(wrong(|map| map.strides[1] = 24).contains("stride of 24"));
        assert!(wrong(|map| map.dims.truncate(2)).contains("2 dimensions"));
        assert!(wrong(|map| map.steps[2] = 9).contains("step of 9"));
        assert!(wrong(|map| map.element = 1).contains("NaN"));
        assert!(wrong(|map| map.element = 13).contains("not modelled"));
    }

    #[test]
    fn pieces_are_mixed_by_the_bits_above() {
        assert_eq!(
            [0, 1, 2, 3].map(|swizzle| swizzled(0x3f4, swizzle)),
            [0x3f4, 0x3e4, 0x3c4, 0x384]
        );
        assert_eq!(TensorMap::dense_strides(16, &[64, 8, 4]), [128, 1024]);
    }
}
