//! Arrays as NumPy stores them, version 1.0 and 2.0.

use crate::ptx::types::{Kind, Type};
use anyhow::{Context, bail};

/// What such files begin with.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The data of an array.
///
/// # Errors
/// If it is not one that memory can hold as it is.
pub fn data(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let number = |range: std::ops::Range<usize>| -> Option<usize> {
        let bytes = bytes.get(range)?;
        Some(
            bytes
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | usize::from(*byte)),
        )
    };
    let (len, start) = match bytes.get(6) {
        Some(1) => (number(8..10), 10),
        Some(2 | 3) => (number(8..12), 12),
        _ => bail!("a .npy file of an unknown version"),
    };
    let start = len.map(|len| start + len).context("a .npy file that is cut short")?;
    let header = bytes.get(10..start).context("a .npy file that is cut short")?;
    let header = String::from_utf8_lossy(header);
    if header.contains("'fortran_order': True") {
        bail!("an array in Fortran order; store it in C order");
    }
    if header.contains("'descr': '>") || header.contains("'descr': '|O'") || header.contains("'descr': [") {
        bail!("an array of big-endian numbers, objects or records; store plain numbers, little end first");
    }
    Ok(bytes.get(start..).unwrap_or_default().to_vec())
}

/// A one-dimensional array of that type.
pub fn array(bytes: &[u8], ty: Type) -> Vec<u8> {
    let letter = match ty.kind() {
        Kind::Float if ty != Type::Bf16 => 'f',
        Kind::Signed => 'i',
        _ => 'u',
    };
    let size = ty.bytes();
    let order = if size == 1 { '|' } else { '<' };
    let count = bytes.len() / size as usize;
    let mut header = format!("{{'descr': '{order}{letter}{size}', 'fortran_order': False, 'shape': ({count},), }}");
    // The data begin at a multiple of 64.
    while !(MAGIC.len() + 4 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(bytes.get(..count * size as usize).unwrap_or(bytes));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_comes_back() {
        let values = [1, 2, 3, 4, 5, 6, 7, 8];
        let file = array(&values, Type::F32);
        assert!(file.starts_with(MAGIC) && file.len() % 64 == 8);
        assert_eq!(data(&file).unwrap(), values);
        assert!(data(&file[..20]).is_err());
        let fortran = String::from_utf8_lossy(&file).replace("False", "True ").into_bytes();
        assert!(data(&fortran).is_err());
    }
}
