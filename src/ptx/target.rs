//! Targets and versions.
use std::str::FromStr;
/// A PTX version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// Major.
    pub major: u8,
    /// Minor.
    pub minor: u8,
}
impl FromStr for PtxVersion {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let (a, b) = s.split_once('.').ok_or("no dot")?;
        Ok(Self {
            major: a.parse().map_err(|_| "major")?,
            minor: b.parse().map_err(|_| "minor")?,
        })
    }
}
/// Suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// Plain.
    None,
    /// `f`.
    Family,
    /// `a`.
    Arch,
}
/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Number.
    pub sm: u16,
    /// Suffix.
    pub suffix: Suffix,
}
impl FromStr for Target {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let s = s.strip_prefix("sm_").ok_or("no sm_")?;
        let (n, suffix) = match s.strip_suffix('a') {
            Some(n) => (n, Suffix::Arch),
            None => match s.strip_suffix('f') {
                Some(n) => (n, Suffix::Family),
                None => (s, Suffix::None),
            },
        };
        Ok(Self {
            sm: n.parse().map_err(|_| "number")?,
            suffix,
        })
    }
}
