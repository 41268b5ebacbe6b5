//! `--arg`: what a kernel is given.

use super::npy;
use crate::cli::{input, output};
use crate::ptx::num::convert::Convert;
use crate::ptx::sim::{Arg, Buffer, Data, Fill, TensorMap};
use crate::ptx::types::{Kind, Type};
use anyhow::{Context, bail};
use std::fmt;
use std::path::Path;

/// The most bytes of a buffer.
const MOST: u64 = 1 << 34;

/// An argument as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgSpec {
    text: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Bytes(Vec<u8>),
    Fill(Fill),
    Unwritten(u64),
    Hex(Vec<u8>),
    File(String),
    /// A tensor in a buffer of its own.
    Tensor(TensorMap, Box<ArgSpec>),
    /// A tensor in the buffer of another argument.
    TensorOf(TensorMap, usize),
}

impl fmt::Display for ArgSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&output::printable(&self.text))
    }
}

impl ArgSpec {
    /// Reads an argument.
    ///
    /// # Errors
    /// What is wrong with it, and what there is.
    pub fn read(text: &str) -> Result<Self, String> {
        let (kind, value) = text
            .split_once('=')
            .ok_or("it must be TYPE=VALUE, as in u32=5 or buf:zero=4096")?;
        let what = match kind {
            "buf:zero" => What::Fill(Fill::Zero(length(value)?)),
            "buf:uninit" => What::Unwritten(length(value)?),
            "buf:hex" => What::Hex(hex(value)?),
            "buf:file" => What::File(value.to_owned()),
            "buf:rand" => What::Fill(random(value)?),
            "buf:cycle" => What::Fill(cycle(value)?),
            "bytes" => What::Bytes(hex(value)?),
            kind if kind.starts_with("tensormap:") => tensor(kind, value)?,
            kind if kind.starts_with("buf:") => {
                return Err(format!(
                    "`{kind}` is no buffer; there are buf:zero, buf:uninit, buf:hex, buf:file, buf:rand, buf:cycle"
                ));
            }
            kind => What::Bytes(number(kind, value)?),
        };
        Ok(ArgSpec {
            text: text.to_owned(),
            what,
        })
    }

    /// How many bytes it passes; `None` for an address.
    pub fn size(&self) -> Option<u64> {
        match &self.what {
            What::Bytes(bytes) => Some(bytes.len() as u64),
            _ => None,
        }
    }

    /// Makes the argument; files are read now.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn make(&self) -> anyhow::Result<Arg> {
        let bytes = match &self.what {
            What::Bytes(bytes) => return Ok(Arg::Bytes(bytes.clone())),
            What::TensorOf(map, other) => return Ok(Arg::TensorMap(map.clone(), Data::Of(*other))),
            What::Tensor(map, spec) => match spec.make()? {
                Arg::Buffer(buffer) => return Ok(Arg::TensorMap(map.clone(), Data::Own(buffer))),
                _ => bail!("{self}: the tensor must lie in a buffer"),
            },
            What::Fill(fill) => fill.bytes().with_context(|| format!("{fill} cannot be made"))?,
            What::Unwritten(len) => vec![0; usize::try_from(*len)?],
            What::Hex(bytes) => bytes.clone(),
            What::File(path) => file(Path::new(path))?,
        };
        Ok(Arg::Buffer(Buffer {
            name: String::new(),
            bytes: bytes.into(),
            unwritten: matches!(self.what, What::Unwritten(_)),
        }))
    }
}

fn tensor(kind: &str, value: &str) -> Result<What, String> {
    let map = super::tensor::read(kind)?;
    if let Some(other) = value.strip_prefix("arg:") {
        let other = other
            .parse()
            .map_err(|_| format!("`{other}` is no number of an argument"))?;
        return Ok(What::TensorOf(map, other));
    }
    if !value.starts_with("buf:") {
        return Err(format!("a tensor lies in buf:... or arg:N, not in `{value}`"));
    }
    Ok(What::Tensor(map, Box::new(ArgSpec::read(value)?)))
}

fn length(text: &str) -> Result<u64, String> {
    match parse_int(text) {
        Some(len) if (0..=i128::from(MOST)).contains(&len) => Ok(len as u64),
        _ => Err(format!("`{text}` is no number of bytes from 0 to {MOST}")),
    }
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'_')
        .collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| byte(pair).filter(|_| pair.len() == 2))
        .collect();
    bytes.ok_or_else(|| "it must be pairs of hexadecimal digits".to_owned())
}

fn random(text: &str) -> Result<Fill, String> {
    let (ty, count, seed) = triple(text, "it must be TYPE:COUNT:SEED, as in f32:1024:1")?;
    checked(Fill::Random { ty, count, seed })
}

fn cycle(text: &str) -> Result<Fill, String> {
    let usage = "it must be TYPE:COUNT:N, as in u32:1024:64, and N at least 1";
    let (ty, count, below) = triple(text, usage)?;
    if below == 0 {
        return Err(usage.to_owned());
    }
    checked(Fill::Cycle { ty, count, below })
}

fn triple(text: &str, usage: &str) -> Result<(Type, u64, u64), String> {
    let parts: Vec<_> = text.split(':').collect();
    let [ty, first, second] = parts.as_slice() else {
        return Err(usage.to_owned());
    };
    let ty = Type::from_name(ty).filter(|ty| is_plain(*ty)).ok_or(usage)?;
    let number = |text: &str| {
        let value = parse_int(text).and_then(|value| u64::try_from(value).ok());
        value.ok_or(usage)
    };
    Ok((ty, number(first)?, number(second)?))
}

fn checked(fill: Fill) -> Result<Fill, String> {
    match fill.len() {
        Some(len) if len <= MOST => Ok(fill),
        _ => Err(format!("{fill} is too long; a buffer has up to {MOST} bytes")),
    }
}

/// Scalars that memory can hold.
pub fn is_plain(ty: Type) -> bool {
    let float = matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64);
    let int = ty.is_integral() && matches!(ty.bits(), 8 | 16 | 32 | 64) && !ty.name().contains('x');
    float || int
}

fn parse_int(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

fn number(kind: &str, text: &str) -> Result<Vec<u8>, String> {
    let ty = Type::from_name(kind).filter(|ty| is_plain(*ty));
    let ty = ty.ok_or_else(|| format!("`{kind}` is no type of an argument; there are u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64, bytes, buf:..., tensormap:..."))?;
    let len = ty.bytes() as usize;
    let bits = match ty.kind() {
        Kind::Float => {
            let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
            Convert::new(ty, Type::F64).apply(value.to_bits()).unwrap_or(0)
        }
        _ => integer(ty, text)?,
    };
    Ok(bits.to_le_bytes().into_iter().take(len).collect())
}

fn integer(ty: Type, text: &str) -> Result<u64, String> {
    let value = parse_int(text).ok_or_else(|| format!("`{text}` is no integer"))?;
    let bits = ty.bits();
    let (least, most) = match ty.kind() {
        Kind::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        Kind::Unsigned => (0, (1i128 << bits) - 1),
        _ => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
    };
    if (least..=most).contains(&value) {
        Ok(value as u64)
    } else {
        Err(format!(
            "{value} does not fit {}; it holds {least} to {most}",
            ty.name()
        ))
    }
}

fn file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes =
        std::fs::read(path).map_err(|error| anyhow::anyhow!("{}: {}", path.display(), input::explain(&error, path)))?;
    if bytes.starts_with(npy::MAGIC) {
        return npy::data(&bytes).with_context(|| path.display().to_string());
    }
    Ok(bytes)
}

/// A buffer, and how it is looked at: `N`, `N:TYPE`, `N:TYPE:COUNT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// The argument's number or name.
    pub arg: String,
    /// The elements' type.
    pub ty: Option<Type>,
    /// How many are shown.
    pub count: Option<usize>,
}

impl Spot {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let arg = parts.next().unwrap_or_default().to_owned();
        let ty = match parts.next() {
            None => None,
            Some(name) => {
                let ty = Type::from_name(name).filter(|ty| is_plain(*ty));
                Some(ty.ok_or_else(|| format!("`{name}` is no type of elements; there are u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64"))?)
            }
        };
        let count = match parts.next() {
            None => None,
            Some(count) => Some(
                count
                    .parse()
                    .map_err(|_| format!("`{count}` is no number of elements"))?,
            ),
        };
        if arg.is_empty() || parts.next().is_some() {
            return Err("it must be N, N:TYPE or N:TYPE:COUNT, as in 2:f32:8".into());
        }
        Ok(Spot { arg, ty, count })
    }

    /// Which argument it is.
    ///
    /// # Errors
    /// If there is no such buffer.
    pub fn find(&self, names: &[&str]) -> anyhow::Result<usize> {
        let at = match self.arg.parse::<usize>() {
            Ok(at) => Some(at).filter(|at| *at < names.len()),
            Err(_) => names.iter().position(|name| *name == self.arg),
        };
        match at {
            Some(at) => Ok(at),
            None => bail!(
                "there is no argument `{}`; the parameters: {}",
                self.arg,
                names.join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        match ArgSpec::read(text).unwrap().make().unwrap() {
            Arg::Bytes(bytes) => bytes,
            Arg::Buffer(buffer) | Arg::TensorMap(_, Data::Own(buffer)) => buffer.bytes.into_vec(),
            Arg::TensorMap(..) => Vec::new(),
        }
    }

    #[test]
    fn numbers_are_their_bytes() {
        assert_eq!(bytes("u32=5"), [5, 0, 0, 0]);
        assert_eq!(bytes("s16=-2"), [0xfe, 0xff]);
        assert_eq!(bytes("b32=0x3f800000"), bytes("f32=1"));
        assert_eq!(bytes("f16=1"), [0, 0x3c]);
        assert_eq!(bytes("f32=1e-5"), 1e-5f32.to_le_bytes());
        assert_eq!(bytes("buf:hex=00 11ff"), [0, 0x11, 0xff]);
        assert_eq!(bytes("buf:zero=3"), [0; 3]);
        assert_eq!(bytes("buf:rand=f32:4:1").len(), 16);
        assert_eq!(bytes("buf:rand=u8:4:1"), bytes("buf:rand=u8:4:1"));
        assert_ne!(bytes("buf:rand=u32:4:1"), bytes("buf:rand=u32:4:2"));
        assert_eq!(bytes("buf:cycle=u8:5:3"), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| ArgSpec::read(text).unwrap_err();
        assert!(error("5").contains("TYPE=VALUE"));
        assert!(error("u8=256").contains("0 to 255"));
        assert!(error("i32=5").contains("no type"));
        assert!(error("buf:ones=5").contains("buf:zero"));
        assert!(error("buf:hex=123").contains("pairs"));
        assert!(error("buf:rand=f32:4").contains("SEED"));
        assert!(error("tensormap:f16:64x8:64x8=u32=5").contains("arg:N"));
        assert!(error("tensormap:f16:64x8:64x8=arg:x").contains("no number"));
        assert!(error("buf:cycle=u32:4:0").contains("at least 1"));
        assert!(error("buf:rand=f64:99999999999:1").contains("too long"));
        assert!(error("buf:zero=-1").contains("bytes"));
        assert!(Spot::read("0:f33").unwrap_err().contains("f33"));
        assert!(Spot::read(":f32").is_err() && Spot::read("0:f32:1:2").is_err());
    }
}
