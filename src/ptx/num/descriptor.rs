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
