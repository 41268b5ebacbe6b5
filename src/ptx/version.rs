//! Versions of the PTX ISA, as the `.version` directive names them.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A PTX ISA version: the `8.0` of `.version 8.0`.
///
/// Any pair can be written down; [`PtxVersion::is_known`] says whether ptxas knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// The number before the dot.
    pub major: u8,
    /// The number after the dot.
    pub minor: u8,
}

/// What came out with a PTX ISA version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The version of the ISA.
    pub version: PtxVersion,
    /// The first CUDA toolkit to know it, as (major, minor); `None` where it came with a driver
    /// alone or was never announced.
    pub cuda: Option<(u8, u8)>,
    /// The first driver branch to load it (525 for r525); `None` where the manual names none.
    pub driver: Option<u16>,
}

/// Every version that ptxas 13.5 accepts, oldest first. There is no 2.4, 5.2, 7.9 or 8.9.
///
/// Toolkits and drivers are those of the release history in NVIDIA's PTX ISA manual. It omits
/// 5.1, which ptxas accepts, and its row for 9.5 was not at hand, so that driver is left open.
pub const RELEASES: &[Release] = &[
    release(1, 0, Some((1, 0)), None),
    release(1, 1, Some((1, 1)), None),
    release(1, 2, Some((2, 0)), None),
    release(1, 3, Some((2, 1)), None),
    release(1, 4, Some((2, 2)), None),
    release(1, 5, None, Some(190)),
    release(2, 0, Some((3, 0)), Some(195)),
    release(2, 1, Some((3, 1)), Some(256)),
    release(2, 2, Some((3, 2)), Some(260)),
    release(2, 3, Some((4, 0)), Some(270)),
    release(3, 0, Some((4, 1)), Some(285)),
    release(3, 1, Some((5, 0)), Some(302)),
    release(3, 2, Some((5, 5)), Some(319)),
    release(4, 0, Some((6, 0)), Some(331)),
    release(4, 1, Some((6, 5)), Some(340)),
    release(4, 2, Some((7, 0)), Some(346)),
    release(4, 3, Some((7, 5)), Some(352)),
    release(5, 0, Some((8, 0)), Some(361)),
    release(5, 1, None, None),
    release(6, 0, Some((9, 0)), Some(384)),
    release(6, 1, Some((9, 1)), Some(387)),
    release(6, 2, Some((9, 2)), Some(396)),
    release(6, 3, Some((10, 0)), Some(400)),
    release(6, 4, Some((10, 1)), Some(418)),
    release(6, 5, Some((10, 2)), Some(440)),
    release(7, 0, Some((11, 0)), Some(445)),
    release(7, 1, Some((11, 1)), Some(455)),
    release(7, 2, Some((11, 2)), Some(460)),
    release(7, 3, Some((11, 3)), Some(465)),
    release(7, 4, Some((11, 4)), Some(470)),
    release(7, 5, Some((11, 5)), Some(495)),
    release(7, 6, Some((11, 6)), Some(510)),
    release(7, 7, Some((11, 7)), Some(515)),
    release(7, 8, Some((11, 8)), Some(520)),
    release(8, 0, Some((12, 0)), Some(525)),
    release(8, 1, Some((12, 1)), Some(530)),
    release(8, 2, Some((12, 2)), Some(535)),
    release(8, 3, Some((12, 3)), Some(545)),
    release(8, 4, Some((12, 4)), Some(550)),
    release(8, 5, Some((12, 5)), Some(555)),
    release(8, 6, Some((12, 7)), Some(565)),
    release(8, 7, Some((12, 8)), Some(570)),
    release(8, 8, Some((12, 9)), Some(575)),
    release(9, 0, Some((13, 0)), Some(580)),
    release(9, 1, Some((13, 1)), Some(590)),
    release(9, 2, Some((13, 2)), Some(595)),
    release(9, 3, Some((13, 3)), Some(610)),
    release(9, 4, Some((13, 4)), Some(615)),
    release(9, 5, Some((13, 5)), None),
];

/// One row of [`RELEASES`].
const fn release(major: u8, minor: u8, cuda: Option<(u8, u8)>, driver: Option<u16>) -> Release {
    let version = PtxVersion::new(major, minor);
    Release { version, cuda, driver }
}

impl PtxVersion {
    /// The newest version that this crate and ptxas 13.5 know.
    pub const NEWEST: Self = Self::new(9, 5);
    /// The oldest version.
    pub const OLDEST: Self = Self::new(1, 0);

    /// The version `major.minor`.
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// The toolkit and driver that came out with this version, or `None` for one that does not
    /// exist.
    pub fn release(self) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.version == self)
    }

    /// Whether ptxas 13.5 accepts this version at all.
    pub fn is_known(self) -> bool {
        self.release().is_some()
    }

    /// The known version that is nearest to this one; the older of two that are equally near.
    pub fn nearest(self) -> Self {
        let number = |version: Self| i32::from(version.major) * 10 + i32::from(version.minor);
        let versions = RELEASES.iter().map(|release| release.version);
        let nearest = versions.min_by_key(|version| (number(*version) - number(self)).abs());
        nearest.unwrap_or(Self::NEWEST)
    }

    /// The newest known version before this one.
    pub fn previous(self) -> Option<Self> {
        let versions = RELEASES.iter().map(|release| release.version);
        versions.rev().find(|version| *version < self)
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A text that is not of the form `MAJOR.MINOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePtxVersionError {
    /// The text as it was given.
    pub text: String,
}

impl fmt::Display for ParsePtxVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let newest = PtxVersion::NEWEST;
        write!(f, "`{}` is no PTX version such as `{newest}`", self.text)
    }
}

impl Error for ParsePtxVersionError {}

impl FromStr for PtxVersion {
    type Err = ParsePtxVersionError;

    /// Reads `8.0`, and leading zeros as ptxas does (`8.00`); asks for no known version.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParsePtxVersionError { text: text.to_owned() };
        let (major, minor) = text.split_once('.').ok_or_else(error)?;
        let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse().map_err(|_| error()),
            false => Err(error()),
        };
        Ok(Self::new(number(major)?, number(minor)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_versions() {
        for release in RELEASES {
            let text = release.version.to_string();
            assert_eq!(text.parse(), Ok(release.version));
        }
        assert_eq!("08.00".parse(), Ok(PtxVersion::new(8, 0)));
        for bad in ["", "8", "8.", ".8", "8.0.1", "+8.0", "8.-1", "8.999", "v8.0"] {
            assert!(bad.parse::<PtxVersion>().is_err(), "{bad}");
        }
        assert_eq!(
            "8".parse::<PtxVersion>().unwrap_err().to_string(),
            "`8` is no PTX version such as `9.5`"
        );
    }

    #[test]
    fn lists_versions_in_order() {
        assert!(RELEASES.is_sorted_by(|a, b| a.version < b.version));
        let toolkits: Vec<_> = RELEASES.iter().filter_map(|release| release.cuda).collect();
        assert!(toolkits.is_sorted_by(|a, b| a < b));
        let drivers: Vec<_> = RELEASES.iter().filter_map(|release| release.driver).collect();
        assert!(drivers.is_sorted_by(|a, b| a < b));
        assert_eq!(RELEASES.last().unwrap().version, PtxVersion::NEWEST);
    }

    #[test]
    fn steps_over_versions_that_never_were() {
        assert_eq!(PtxVersion::new(6, 0).previous(), Some(PtxVersion::new(5, 1)));
        assert_eq!(PtxVersion::new(9, 0).previous(), Some(PtxVersion::new(8, 8)));
        assert_eq!(PtxVersion::new(1, 0).previous(), None);
        assert!(!PtxVersion::new(8, 9).is_known());
        for (wrong, near) in [((8, 9), (8, 8)), ((10, 2), (9, 5)), ((5, 4), (5, 1)), ((0, 1), (1, 0))] {
            assert_eq!(
                PtxVersion::new(wrong.0, wrong.1).nearest(),
                PtxVersion::new(near.0, near.1)
            );
        }
    }

    #[test]
    fn knows_the_toolkit_of_a_version() {
        let hopper = PtxVersion::new(8, 0).release().unwrap();
        assert_eq!((hopper.cuda, hopper.driver), (Some((12, 0)), Some(525)));
    }
}
