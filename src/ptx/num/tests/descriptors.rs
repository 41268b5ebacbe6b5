//! Descriptors against the ISA's canonical layouts, written as nested shapes and strides.

use super::super::descriptor::Descriptor;

const LEADING: u32 = 0x1230;
const STRIDE: u32 = 0x4560;

fn descriptor(start: u32, mode: u64) -> Descriptor {
    let field = |bytes: u32| u64::from(bytes >> 4);
    Descriptor::new(field(start) | field(LEADING) << 16 | field(STRIDE) << 32 | mode << 62)
}

/// The offset of a nested index: digits of the index in the shape, times the strides.
fn nested(index: u32, shape: &[u32], strides: &[u32]) -> u32 {
    let mut left = index;
    let mut offset = 0;
    for (size, stride) in shape.iter().zip(strides) {
        offset += left % size * stride;
        left /= size;
    }
    offset
}

#[test]
fn fields() {
    let descriptor = descriptor(0x2_3450, 1);
    assert_eq!(
        (descriptor.start, descriptor.leading, descriptor.stride),
        (0x2_3450, LEADING, STRIDE)
    );
    assert_eq!((descriptor.swizzle, descriptor.base), (3, 0));
    assert_eq!(Descriptor::new(5 << 49).base, 5);
}

#[test]
fn canonical_layouts() {
    const MANY: u32 = 1 << 16;
    for bytes in [1, 2, 4] {
        // `T`: elements in 16 bytes; strides count bytes.
        let t = 16 / bytes;
        for (mode, bits) in [(0, 0), (3, 1), (2, 2), (1, 3)] {
            let x = 1 << bits;
            for start in [0x400, 0x2_0000, 0x460] {
                let descriptor = descriptor(start, mode);
                for mn in 0..64 {
                    for k in 0..32 {
                        let swizzled = |offset: u32| {
                            let address = start + offset;
                            address ^ (((address >> 7) & (x - 1)) << 4)
                        };
                        let along_k = match bits {
                            0 => nested(mn, &[8, MANY], &[16, STRIDE]) + nested(k, &[t, MANY], &[bytes, LEADING]),
                            _ => nested(mn, &[8, MANY], &[16 * x, STRIDE]) + nested(k, &[t, MANY], &[bytes, 16]),
                        };
                        assert_eq!(
                            descriptor.address(mn, k, bytes, false),
                            swizzled(along_k),
                            "{mode} {mn} {k}"
                        );
                        let along_mn = match bits {
                            0 => nested(mn, &[t, MANY], &[bytes, STRIDE]) + nested(k, &[8, MANY], &[16, LEADING]),
                            _ => {
                                nested(mn, &[t, x, MANY], &[bytes, 16, LEADING])
                                    + nested(k, &[8, MANY], &[16 * x, STRIDE])
                            }
                        };
                        assert_eq!(
                            descriptor.address(mn, k, bytes, true),
                            swizzled(along_mn),
                            "{mode} {mn} {k}"
                        );
                    }
                }
            }
        }
    }
}
