//! `--arg tensormap:...`: a tensor map, as the host would make it.

use crate::ptx::sim::tensormap::{ELEMENTS, TensorMap};

/// How it is written.
const USAGE: &str = "it must be tensormap:TYPE:DIMENSIONS:BOX[:OPTION...]=BUFFER, innermost dimension first, as in \
                     tensormap:f16:128x64:64x8:swizzle128=buf:zero=16384; BUFFER is buf:... or arg:N";

fn numbers<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split('x').map(|number| number.parse().ok()).collect()
}

/// Reads what stands in front of the `=`.
///
/// # Errors
/// What is wrong with it, and what there is.
pub fn read(kind: &str) -> Result<TensorMap, String> {
    let mut parts = kind.split(':').skip(1);
    let (Some(ty), Some(dims), Some(size)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(USAGE.into());
    };
    let element = ELEMENTS.iter().position(|name| *name == ty);
    let element = element.ok_or_else(|| format!("`{ty}` is no type of a tensor; there are {}", ELEMENTS.join(", ")))?;
    let dims: Vec<u32> = numbers(dims).ok_or(USAGE)?;
    let size: Vec<u32> = numbers(size).ok_or(USAGE)?;
    let mut map = TensorMap {
        element: element as u8,
        strides: Vec::new(),
        steps: vec![1; dims.len()],
        dims,
        size,
        swizzle: 0,
        nan: false,
    };
    map.strides = TensorMap::dense_strides(map.element_bits(), &map.dims);
    for option in parts {
        match option {
            "swizzle32" => map.swizzle = 1,
            "swizzle64" => map.swizzle = 2,
            "swizzle128" => map.swizzle = 3,
            "nan" => map.nan = true,
            _ => {
                let (strides, steps) = (option.strip_prefix("strides"), option.strip_prefix("steps"));
                match (strides.and_then(numbers), steps.and_then(numbers)) {
                    (Some(strides), _) => map.strides = strides,
                    (_, Some(steps)) => map.steps = steps,
                    _ => {
                        return Err(format!(
                            "`{option}` is no option of a tensor map; there are swizzle32, swizzle64, swizzle128, nan, strides256x4096 (bytes), steps1x2"
                        ));
                    }
                }
            }
        }
    }
    map.check()?;
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read() {
        let map = read("tensormap:f16:128x64:64x8:swizzle128").unwrap();
        assert_eq!(
            (map.dims, map.size, map.strides),
            (vec![128, 64], vec![64, 8], vec![256])
        );
        assert_eq!((map.element, map.swizzle, map.nan), (6, 3, false));
        let map = read("tensormap:f32:20x6x2:4x2x1:strides96x768:steps1x2x1:nan").unwrap();
        assert_eq!((map.strides, map.steps, map.nan), (vec![96, 768], vec![1, 2, 1], true));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| read(text).unwrap_err();
        assert!(error("tensormap:f16:128x64").contains("tensormap:TYPE"));
        assert!(error("tensormap:f17:128x64:64x8").contains("f16, f32"));
        assert!(error("tensormap:f16:128x64:64x8:swizzle16").contains("swizzle32"));
        assert!(error("tensormap:f16:128x64:32x8:swizzle128").contains("64 bytes"));
        assert!(error("tensormap:f16:100x64:32x8:strides100").contains("stride of 100"));
    }
}
