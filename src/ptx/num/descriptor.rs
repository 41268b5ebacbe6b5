//! Matrix descriptors of `wgmma`: where in shared memory an element of a factor lies.

/// A factor in shared memory, taken apart. Distances are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the first element, of which the format keeps 18 bits.
    pub start: u32,
    /// The leading dimension byte offset.
    pub leading: u32,
    /// The stride dimension byte offset.
    pub stride: u32,
    /// How many address bits are swizzled: 0 without swizzling, 1, 2, 3 with that of 32, 64, 128 bytes.
    pub swizzle: u32,
    /// The base offset: zero where the swizzled pattern begins at a multiple of its size.
    pub base: u32,
}

impl Descriptor {
    /// Reads the fields.
    pub const fn new(bits: u64) -> Descriptor {
        Descriptor {
            start: (bits as u32 & 0x3fff) << 4,
            leading: ((bits >> 16) as u32 & 0x3fff) << 4,
            stride: ((bits >> 32) as u32 & 0x3fff) << 4,
            swizzle: match bits >> 62 {
                1 => 3,
                2 => 2,
                3 => 1,
                _ => 0,
            },
            base: (bits >> 49) as u32 & 7,
        }
    }

    /// The address of an element of `bytes` bytes, by its place along M or N and along K. Rows of A and columns of B are
    /// contiguous, unless `transposed`. Whole words of narrower elements count as one element of their size.
    #[inline]
    pub const fn address(self, mn: u32, k: u32, bytes: u32, transposed: bool) -> u32 {
        // What is contiguous goes in pieces of 16 bytes, of which as many lie side by side as the swizzle mixes.
        let row = 16u32 << self.swizzle;
        let plain = self.swizzle == 0;
        let (line, along) = if transposed { (k, mn * bytes) } else { (mn, k * bytes) };
        let within = (line % 8).wrapping_mul(row);
        let offset = match (transposed, plain) {
            (false, true) => within + along % 16 + along / 16 * self.leading + line / 8 * self.stride,
            (false, false) => within + along + line / 8 * self.stride,
            (true, true) => within + along % 16 + along / 16 * self.stride + line / 8 * self.leading,
            (true, false) => within + along % row + along / row * self.leading + line / 8 * self.stride,
        };
        let address = self.start.wrapping_add(offset);
        address ^ (address >> 3 & ((1 << self.swizzle) - 1) << 4)
    }
}

/// The descriptor of a `tcgen05.mma`: shape, types, signs and directions. Some bits mean one thing with scales and another
/// without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// The code of the sums' type.
    pub d: u32,
    /// The codes of the factors' types.
    pub types: [u32; 2],
    /// Which factors are negated.
    pub negate: [bool; 2],
    /// Which factors are contiguous along M or N.
    pub transposed: [bool; 2],
    /// Integers are clamped.
    pub saturate: bool,
    /// The left factor is sparse.
    pub sparse: bool,
    /// The first bytes of the scales that count, of the left and of the right factor.
    pub scales: [u32; 2],
    /// Scales are powers of two (`.ue8m0`).
    pub powers: bool,
    /// The longer of two lengths along k.
    pub long: bool,
}

impl Instruction {
    /// Reads the fields.
    pub const fn new(bits: u32) -> Instruction {
        Instruction {
            m: (bits >> 24 & 0x1f) << 4,
            n: (bits >> 17 & 0x3f) << 3,
            d: bits >> 4 & 3,
            types: [bits >> 7 & 7, bits >> 10 & 7],
            negate: [bit(bits, 13), bit(bits, 14)],
            transposed: [bit(bits, 15), bit(bits, 16)],
            saturate: bit(bits, 3),
            sparse: bit(bits, 2),
            scales: [bits >> 29 & 3, bits >> 4 & 3],
            powers: bit(bits, 23),
            long: bit(bits, 31),
        }
    }
}

const fn bit(bits: u32, at: u32) -> bool {
    bits >> at & 1 == 1
}

impl Descriptor {
    /// Reads the fields of a descriptor of `tcgen05`, whose swizzling has more kinds; `None` for those that are not modelled.
    pub const fn of_tensor_core(bits: u64) -> Option<Descriptor> {
        let swizzle = match bits >> 61 {
            0 => 0,
            2 => 3,
            4 => 2,
            6 => 1,
            _ => return None,
        };
        // Bit 52 makes the leading distance an address.
        if bits >> 52 & 1 == 1 {
            return None;
        }
        Some(Descriptor {
            swizzle,
            ..Descriptor::new(bits & !(3 << 62))
        })
    }
}
