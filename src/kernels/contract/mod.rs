//! Contracts: what a kernel promises, on which inputs that is tried, and how near is near enough.
//!
//! A contract is a YAML file. It names a reference in f64, the kernel's buffers, its launches, shapes and families of
//! inputs, and claims. Those of our own kernels lie in `specs/contracts`; their buffers and launches are the
//! kernel's own, so the file only says which operand of the reference each buffer is.
//!
//! - [`read()`]: the file. [`mod@reference`]: the f64 side. [`plan`]: buffers and launches for one shape. [`family`]: inputs.
//! - [`trial`]: runs a case in the simulator. [`judge`]: compares.

pub mod expr;
pub mod family;
pub mod judge;
pub mod plan;
mod read;
pub mod reference;
mod separate;
pub mod trial;

pub use read::read;

use super::KernelInfo;
use crate::ptx::source::Span;
use crate::ptx::types::Type;
use expr::Expr;
use family::Family;
use reference::{Reference, Shape};

/// A contract.
#[derive(Clone, Debug)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// Where its name stands in the file.
    pub at: Span,
    /// The kernel of ours that it is about.
    pub kernel: Option<&'static KernelInfo>,
    /// What it computes.
    pub reference: &'static Reference,
    /// What an elementwise kernel computes.
    pub expression: Option<Expr>,
    /// Shapes that are tried.
    pub shapes: Vec<Shape>,
    /// The buffers.
    pub buffers: Vec<BufferSpec>,
    /// Tensor maps over them.
    pub tensors: Vec<TensorSpec>,
    /// The launches, in order; a kernel of ours has its own.
    pub launches: Vec<LaunchSpec>,
    /// Inputs that are tried.
    pub families: Vec<Family>,
    /// What is promised.
    pub claims: Vec<Claim>,
}

/// Who reads and writes a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The kernel reads it.
    In,
    /// The kernel writes all of it, once.
    Out,
    /// The kernel reads it and writes all of it, once.
    InOut,
    /// The kernel may do with it what it likes.
    Scratch,
}

/// A buffer of a contract.
#[derive(Clone, Debug)]
pub struct BufferSpec {
    /// Its name; for kernels of ours, the parameter's.
    pub name: String,
    /// The operand of the reference that it holds.
    pub operand: String,
    /// Type, role and lengths; a kernel of ours says them itself.
    pub own: Option<OwnBuffer>,
}

/// What a contract says of a buffer of somebody's own kernel.
#[derive(Clone, Debug)]
pub struct OwnBuffer {
    /// Who reads and writes it.
    pub role: Role,
    /// Type of its elements.
    pub ty: Type,
    /// Its lengths, outermost first.
    pub shape: Vec<Expr>,
}

/// A tensor map over a buffer.
#[derive(Clone, Debug)]
pub struct TensorSpec {
    /// Its name, as arguments have it.
    pub name: String,
    /// The buffer's name.
    pub buffer: String,
    /// Lengths of a box, outermost first.
    pub size: Vec<Expr>,
    /// Bytes that are swizzled: 0, 32, 64 or 128.
    pub swizzle: u32,
    /// Whether what is outside is NaN.
    pub nan: bool,
}

/// A launch of somebody's own kernel.
#[derive(Clone, Debug)]
pub struct LaunchSpec {
    /// The entry.
    pub entry: String,
    /// CTAs, one to three lengths.
    pub grid: Vec<Expr>,
    /// Threads, one to three lengths; `.reqntid` where nothing is said.
    pub block: Vec<Expr>,
    /// CTAs of a cluster.
    pub cluster: Vec<Expr>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: Option<Expr>,
    /// Arguments, in order: buffers and tensor maps by name, or numbers.
    pub args: Vec<Expr>,
}

/// Something promised.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// What is promised, in words.
    pub says: String,
    /// Where its name stands in the contract; where the contract's own name does, for what every contract promises.
    pub at: Span,
    /// What is looked at.
    pub check: Check,
}

/// What a claim looks at.
#[derive(Clone, Debug)]
pub enum Check {
    /// An output is near what it should be.
    Near(Near),
    /// A property of the run.
    Holds(Property),
}

/// How near an output is to be.
#[derive(Clone, Debug)]
pub struct Near {
    /// The output of the reference.
    pub output: String,
    /// What it is compared with.
    pub against: Against,
    /// The greatest error.
    pub tolerance: Expr,
    /// What the error is measured in.
    pub relative_to: Measure,
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])* $variant:ident $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[doc = $doc])* $variant),* }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word for it in contracts.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    };
}

pub(crate) use words;

words! {
    /// What an output is compared with.
    Against {
        /// The reference.
        Exact "reference",
        /// Central finite differences of the reference's forward pass, in f64.
        Differences "finite-differences",
        /// The same computed by our separate kernels, in the simulator.
        Separate "separate-kernels",
    }
}

words! {
    /// What an error is measured in.
    Measure {
        /// The largest magnitude of the output.
        Max "max",
        /// That, but at least 1.
        MaxOrOne "max-or-1",
        /// The largest magnitude of the row.
        Row "row",
        /// The element itself.
        Element "element",
        /// Nothing: the error is absolute.
        One "nothing",
    }
}

words! {
    /// A property of a run.
    Property {
        /// No check of the simulator fails.
        Clean "no-fault",
        /// Every element of every output is written, and once.
        Once "written-once",
        /// Nothing but outputs and scratch buffers is written: by every store's address, and in the run.
        OnlyOutputs "only-outputs",
        /// Outputs are the same bits whatever the order of CTAs and warps.
        Deterministic "deterministic",
    }
}

impl Property {
    /// What it promises, in words.
    pub const fn says(self) -> &'static str {
        match self {
            Property::Clean => "no fault of any kind in any run",
            Property::Once => "every element of every output is written once",
            Property::OnlyOutputs => "nothing but outputs and scratch is written",
            Property::Deterministic => "the same bits in every order of CTAs and warps",
        }
    }
}

/// The contracts of our own kernels: file name and text.
pub const OWN: &[(&str, &str)] = &[
    ("rmsnorm", include_str!("../../../specs/contracts/rmsnorm.yaml")),
    (
        "rmsnorm-backward",
        include_str!("../../../specs/contracts/rmsnorm-backward.yaml"),
    ),
    ("nf4-gemv", include_str!("../../../specs/contracts/nf4-gemv.yaml")),
    (
        "fused-rmsnorm-nf4-gemv",
        include_str!("../../../specs/contracts/fused-rmsnorm-nf4-gemv.yaml"),
    ),
];

impl Contract {
    /// The contract of a kernel of ours.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn of(kernel: &str) -> Result<Self, String> {
        let (name, text) = OWN
            .iter()
            .find(|(name, _)| *name == kernel)
            .ok_or_else(|| format!("`{kernel}` has no contract"))?;
        read(text).map_err(|error| format!("specs/contracts/{name}.yaml:{error}"))
    }

    /// The properties that no claim names are promised too: adds them, so that the list is complete.
    fn complete(&mut self) {
        for property in Property::ALL {
            let is_named = |claim: &Claim| matches!(claim.check, Check::Holds(named) if named == *property);
            if !self.claims.iter().any(is_named) {
                self.claims.push(Claim {
                    id: property.word().to_owned(),
                    says: property.says().to_owned(),
                    at: self.at,
                    check: Check::Holds(*property),
                });
            }
        }
    }
}
