//! The ladder of targets: which GPUs `.target` can name, what each needs, and what runs where.
//!
//! Every fact in the table was obtained by asking ptxas 13.5; `tests/target_ladder.rs` asks again.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

pub use super::version::PtxVersion;

/// What follows the number in a target's name.
///
/// Ordered by how much the target can do: `sm_100a` has all that `sm_100f` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// Nothing: features that every later GPU keeps.
    None,
    /// `f`: features that later GPUs of the same family keep.
    Family,
    /// `a`: features that this one GPU has.
    Arch,
}

impl Suffix {
    /// The suffix as text: `""`, `"f"` or `"a"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Family => "f",
            Self::Arch => "a",
        }
    }
}

/// A GPU architecture as `.target` names it: `sm_90a` is number 90 with [`Suffix::Arch`].
///
/// Any pair can be written down; [`Target::is_known`] says whether ptxas knows it. Only known
/// targets come from [`str::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Ten times the major plus the minor compute capability.
    pub sm: u16,
    /// What follows the number.
    pub suffix: Suffix,
}

/// One target, and what ptxas 13.5 says about it.
struct Row {
    target: Target,
    /// The least `.version` that allows it.
    min_ptx: PtxVersion,
    /// Whether it is a value of `-arch`, that is, whether code can be made for it.
    assembled: bool,
}

/// A row that can be generated code for.
const fn live(sm: u16, suffix: Suffix, major: u8, minor: u8) -> Row {
    Row {
        target: Target { sm, suffix },
        min_ptx: PtxVersion::new(major, minor),
        assembled: true,
    }
}

/// A row that is only read: its code is assembled for a later GPU.
const fn read_only(sm: u16, suffix: Suffix, major: u8, minor: u8) -> Row {
    Row {
        assembled: false,
        ..live(sm, suffix, major, minor)
    }
}

/// All targets, in order.
///
/// The manual lists neither sm_21 nor sm_82, and sm_70 only from 6.0 on; what ptxas does stands
/// here. PTX 9.0 renamed sm_101 to sm_110, and ptxas still reads the old name.
#[rustfmt::skip]
const LADDER: &[Row] = &[
    read_only(10, Suffix::None, 1, 0),
    read_only(11, Suffix::None, 1, 0),
    read_only(12, Suffix::None, 1, 2),
    read_only(13, Suffix::None, 1, 2),
    read_only(20, Suffix::None, 2, 0),
    read_only(21, Suffix::None, 2, 0),
    read_only(30, Suffix::None, 3, 0),
    read_only(32, Suffix::None, 4, 0),
    read_only(35, Suffix::None, 3, 1),
    read_only(37, Suffix::None, 4, 1),
    read_only(50, Suffix::None, 4, 0),
    read_only(52, Suffix::None, 4, 1),
    read_only(53, Suffix::None, 4, 2),
    read_only(60, Suffix::None, 5, 0),
    read_only(61, Suffix::None, 5, 0),
    read_only(62, Suffix::None, 5, 0),
    read_only(70, Suffix::None, 5, 1),
    read_only(72, Suffix::None, 6, 1),
    live(75, Suffix::None, 6, 3),
    live(80, Suffix::None, 7, 0),
    read_only(82, Suffix::None, 6, 2),
    live(86, Suffix::None, 7, 1),
    live(87, Suffix::None, 7, 4),
    live(88, Suffix::None, 9, 0),
    live(89, Suffix::None, 7, 8),
    live(90, Suffix::None, 7, 8), live(90, Suffix::Arch, 8, 0),
    live(100, Suffix::None, 8, 6), live(100, Suffix::Family, 8, 8), live(100, Suffix::Arch, 8, 6),
    read_only(101, Suffix::None, 8, 6), read_only(101, Suffix::Family, 8, 8), read_only(101, Suffix::Arch, 8, 6),
    live(103, Suffix::None, 8, 8), live(103, Suffix::Family, 8, 8), live(103, Suffix::Arch, 8, 8),
    live(107, Suffix::None, 9, 4), live(107, Suffix::Family, 9, 4), live(107, Suffix::Arch, 9, 4),
    live(110, Suffix::None, 9, 0), live(110, Suffix::Family, 9, 0), live(110, Suffix::Arch, 9, 0),
    live(120, Suffix::None, 8, 7), live(120, Suffix::Family, 8, 8), live(120, Suffix::Arch, 8, 7),
    live(121, Suffix::None, 8, 8), live(121, Suffix::Family, 8, 8), live(121, Suffix::Arch, 8, 8),
];

impl Target {
    /// `sm_NN`.
    pub const fn base(sm: u16) -> Self {
        let suffix = Suffix::None;
        Self { sm, suffix }
    }

    /// `sm_NNa`.
    pub const fn arch(sm: u16) -> Self {
        let suffix = Suffix::Arch;
        Self { sm, suffix }
    }

    /// `sm_NNf`.
    pub const fn family_of(sm: u16) -> Self {
        let suffix = Suffix::Family;
        Self { sm, suffix }
    }

    /// Every target that ptxas 13.5 reads, in order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        LADDER.iter().map(|row| row.target)
    }

    /// Whether ptxas 13.5 reads this target.
    pub fn is_known(self) -> bool {
        self.row().is_some()
    }

    /// The least `.version` that allows this target, or `None` for an unknown one.
    pub fn min_ptx(self) -> Option<PtxVersion> {
        Some(self.row()?.min_ptx)
    }

    /// Whether ptxas 13.5 makes code for this target (`-arch` takes it). It reads older ones too,
    /// but for a newer GPU: see [`Target::assembled_as`].
    pub fn assembled_by_13_5(self) -> bool {
        self.row().is_some_and(|row| row.assembled)
    }

    /// The `-arch` with which ptxas 13.5 assembles a module for this target: the target itself,
    /// or the least later GPU that takes it (`sm_75` for `sm_50`). `None` for an unknown target.
    pub fn assembled_as(self) -> Option<Self> {
        self.row()?;
        let exact = self.renamed();
        let takes = |gpu: &Self| gpu.assembled_by_13_5() && self.runs_on(*gpu);
        let found = exact.assembled_by_13_5().then_some(exact);
        found.or_else(|| Self::all().find(takes))
    }

    /// The least member of this GPU's family: 100 for sm_100, sm_103 and sm_107; 110 for sm_110
    /// and its old name sm_101; 120 for sm_120 and sm_121. Earlier GPUs have no family.
    pub fn family(self) -> Option<u16> {
        match self.renamed().sm {
            100..=109 => Some(100),
            110..=119 => Some(110),
            120..=129 => Some(120),
            _ => None,
        }
    }

    /// Whether a module for this target can be assembled for `gpu`.
    ///
    /// A plain target goes to any later GPU, `f` to later GPUs of its family, `a` to its own GPU
    /// with the suffix.
    pub fn runs_on(self, gpu: Self) -> bool {
        let (from, to) = (self.renamed(), gpu.renamed());
        match self.suffix {
            Suffix::None => self.sm <= gpu.sm,
            Suffix::Family => {
                let family = from.family();
                family.is_some() && family == to.family() && from.sm <= to.sm
            }
            Suffix::Arch => from == to,
        }
    }

    /// Whether an instruction that needs the target `need` is legal under this one: `sm_80` asks for that or any later
    /// target, `sm_90a` for just that, `sm_103f` for a target of the family, not before 103, with `f` or `a`.
    pub fn satisfies(self, need: Target) -> bool {
        match need.suffix {
            Suffix::None => self.sm >= need.sm,
            Suffix::Family => self.suffix >= Suffix::Family && need.runs_on(self),
            Suffix::Arch => self.suffix == Suffix::Arch && self.is_gpu(need.sm),
        }
    }

    /// Whether this is the GPU with that number, under its old name or its new one.
    fn is_gpu(self, sm: u16) -> bool {
        self.renamed().sm == Self::base(sm).renamed().sm
    }

    /// This target under its present name: PTX 9.0 renamed sm_101 to sm_110.
    fn renamed(self) -> Self {
        let sm = if self.sm == 101 { 110 } else { self.sm };
        Self { sm, ..self }
    }

    fn row(self) -> Option<&'static Row> {
        LADDER.iter().find(|row| row.target == self)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.sm, self.suffix.as_str())
    }
}

/// A text that names no known target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget {
    /// The text as it was given.
    pub text: String,
    /// The known target that is nearest, where the text holds a number at all.
    pub nearest: Option<Target>,
}

impl UnknownTarget {
    fn new(text: &str) -> Self {
        let nearest = mentioned(text).and_then(nearest);
        let text = text.to_owned();
        Self { text, nearest }
    }
}

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown target `{}`", self.text)?;
        match self.nearest {
            Some(nearest) => write!(f, "; the nearest is `{nearest}`"),
            None => write!(f, "; a target looks like `sm_90` or `sm_100a`"),
        }
    }
}

impl Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    /// Reads `sm_90a`, and `compute_90a` for the same, as ptxas does.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.strip_prefix("sm_").or(text.strip_prefix("compute_"));
        name.and_then(Self::spelled).ok_or_else(|| UnknownTarget::new(text))
    }
}

impl Target {
    /// The target of that name, without the `sm_`; ptxas allows leading zeros.
    fn spelled(name: &str) -> Option<Self> {
        let suffix = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let sm: u16 = name.strip_suffix(suffix)?.parse().ok()?;
        Self::all().find(|target| target.sm == sm && target.suffix.as_str() == suffix)
    }
}

/// The target that `text` seems to mean: its first number and the letter after it.
fn mentioned(text: &str) -> Option<Target> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let rest = text[start..].trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u16 = text[start..text.len() - rest.len()].parse().ok()?;
    // `sm_8` and `8.0` both mean the GPU with compute capability 8.0.
    let sm = if number < 10 { number * 10 } else { number };
    let suffix = match rest.chars().next() {
        Some('a' | 'A') => Suffix::Arch,
        Some('f' | 'F') => Suffix::Family,
        _ => Suffix::None,
    };
    Some(Target { sm, suffix })
}

/// The known target that is nearest to `wanted`, by number and then by suffix.
fn nearest(wanted: Target) -> Option<Target> {
    let distance = |target: &Target| {
        let number = target.sm.abs_diff(wanted.sm);
        // Who asked for any suffix is nearer to another suffix than to none.
        let plain = target.suffix == Suffix::None;
        (number, target.suffix != wanted.suffix, plain)
    };
    Target::all().min_by_key(distance)
}

/// What `.target` can say besides the GPU, after it: `.target sm_80, debug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetOption {
    /// Texture and sampler are bound together (the default).
    TexmodeUnified,
    /// Textures and samplers are bound apart. Excludes [`TargetOption::TexmodeUnified`].
    TexmodeIndependent,
    /// The module carries DWARF; ptxas rejects it if it does not.
    Debug,
    /// f64 instructions work on f32, on GPUs without doubles.
    MapF64ToF32,
}

impl TargetOption {
    /// All options.
    pub const ALL: [Self; 4] = [
        Self::TexmodeUnified,
        Self::TexmodeIndependent,
        Self::Debug,
        Self::MapF64ToF32,
    ];

    /// The option as PTX spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TexmodeUnified => "texmode_unified",
            Self::TexmodeIndependent => "texmode_independent",
            Self::Debug => "debug",
            Self::MapF64ToF32 => "map_f64_to_f32",
        }
    }

    /// The option spelled `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|option| option.as_str() == name)
    }

    /// The least `.version` that allows the option.
    pub const fn min_ptx(self) -> PtxVersion {
        match self {
            Self::TexmodeUnified | Self::MapF64ToF32 => PtxVersion::new(1, 0),
            Self::TexmodeIndependent => PtxVersion::new(1, 5),
            Self::Debug => PtxVersion::new(3, 0),
        }
    }

    /// Whether the option may stand beside `target`: `map_f64_to_f32` only where f64 is missing,
    /// that is, before sm_13.
    pub const fn allowed_with(self, target: Target) -> bool {
        !matches!(self, Self::MapF64ToF32) || target.sm < 13
    }
}

impl fmt::Display for TargetOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few rows spelled out, to show an edit of the table that was not meant.
    const FACTS: &[(&str, (u8, u8), &str)] = &[
        // target, least version, assembled as
        ("sm_10", (1, 0), "sm_75"),
        ("sm_20", (2, 0), "sm_75"),
        ("sm_35", (3, 1), "sm_75"),
        ("sm_50", (4, 0), "sm_75"),
        ("sm_70", (5, 1), "sm_75"),
        ("sm_75", (6, 3), "sm_75"),
        ("sm_80", (7, 0), "sm_80"),
        ("sm_82", (6, 2), "sm_86"),
        ("sm_89", (7, 8), "sm_89"),
        ("sm_90", (7, 8), "sm_90"),
        ("sm_90a", (8, 0), "sm_90a"),
        ("sm_100a", (8, 6), "sm_100a"),
        ("sm_100f", (8, 8), "sm_100f"),
        ("sm_101", (8, 6), "sm_110"),
        ("sm_101a", (8, 6), "sm_110a"),
        ("sm_101f", (8, 8), "sm_110f"),
        ("sm_107f", (9, 4), "sm_107f"),
        ("sm_121a", (8, 8), "sm_121a"),
    ];

    fn target(name: &str) -> Target {
        name.parse().unwrap()
    }

    #[test]
    fn knows_versions_and_architectures() {
        for (name, (major, minor), arch) in FACTS {
            let have = target(name);
            assert_eq!(have.min_ptx(), Some(PtxVersion::new(*major, *minor)), "{name}");
            assert_eq!(have.assembled_as(), Some(target(arch)), "{name}");
            assert_eq!(have.assembled_by_13_5(), name == arch, "{name}");
        }
        let made_up = Target::family_of(90);
        assert_eq!((made_up.min_ptx(), made_up.assembled_as()), (None, None));
    }

    #[test]
    fn table_is_sorted_and_names_known_versions() {
        assert!(LADDER.is_sorted_by(|a, b| a.target < b.target));
        assert!(LADDER.iter().all(|row| row.min_ptx.is_known()));
        assert!(Target::all().all(|target| target.assembled_as().is_some()));
    }

    #[test]
    fn reads_and_prints_names() {
        for known in Target::all() {
            assert_eq!(known.to_string().parse(), Ok(known));
        }
        assert_eq!(target("compute_90a"), Target::arch(90));
        assert_eq!(target("sm_090"), Target::base(90));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        for (text, nearest) in [
            ("sm_91", "sm_90"),
            ("sm_90f", "sm_90a"),
            ("sm_80a", "sm_80"),
            ("sm_130f", "sm_121f"),
            ("SM_90A", "sm_90a"),
            ("sm80", "sm_80"),
            ("8.0", "sm_80"),
            ("sm_+90", "sm_90"),
            ("sm_90aa", "sm_90a"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert_eq!(error.nearest, Some(target(nearest)), "{text}");
        }
        assert_eq!(
            "sm_91".parse::<Target>().unwrap_err().to_string(),
            "unknown target `sm_91`; the nearest is `sm_90`"
        );
        assert_eq!(
            "hopper".parse::<Target>().unwrap_err().to_string(),
            "unknown target `hopper`; a target looks like `sm_90` or `sm_100a`"
        );
    }

    #[test]
    fn modules_run_on_later_gpus_of_their_kind() {
        for (module, yes, no) in [
            ("sm_80", "sm_80 sm_90a sm_120f", "sm_75"),
            ("sm_100f", "sm_100 sm_100a sm_103 sm_107a", "sm_90a sm_110f sm_120a"),
            ("sm_103f", "sm_103 sm_107", "sm_100f sm_110f"),
            ("sm_101f", "sm_110 sm_110f sm_110a", "sm_103f sm_120f"),
            ("sm_100a", "sm_100a", "sm_100 sm_100f sm_103a"),
        ] {
            for gpu in yes.split(' ') {
                assert!(target(module).runs_on(target(gpu)), "{module} on {gpu}");
            }
            for gpu in no.split(' ') {
                assert!(!target(module).runs_on(target(gpu)), "{module} on {gpu}");
            }
        }
    }

    #[test]
    fn a_need_is_met_by_what_keeps_the_feature() {
        for (need, yes, no) in [
            ("sm_80", "sm_80 sm_90a sm_121", "sm_75 sm_72"),
            ("sm_90a", "sm_90a", "sm_90 sm_100a"),
            ("sm_100f", "sm_100f sm_103a sm_107f", "sm_100 sm_110f sm_90a sm_121f"),
            ("sm_103f", "sm_103a sm_107f", "sm_100a sm_103"),
            ("sm_110a", "sm_110a sm_101a", "sm_110f sm_101f"),
        ] {
            for name in yes.split(' ') {
                assert!(target(name).satisfies(target(need)), "{name} has {need}");
            }
            for name in no.split(' ') {
                assert!(!target(name).satisfies(target(need)), "{name} lacks {need}");
            }
        }
    }

    #[test]
    fn options_have_names_and_limits() {
        for option in TargetOption::ALL {
            assert_eq!(TargetOption::from_name(option.as_str()), Some(option));
        }
        assert_eq!(TargetOption::from_name("texmode_raw"), None);
        assert!(TargetOption::MapF64ToF32.allowed_with(Target::base(12)));
        assert!(!TargetOption::MapF64ToF32.allowed_with(Target::base(13)));
    }
}
