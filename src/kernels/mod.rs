//! Kernels that ptxgen emits: one file a kernel, listed in [`KERNELS`].
//!
//! A kernel is a struct of parameters ([`Spec`]) that builds a module, says how it is launched, and computes the same
//! in f64 ([`Generate`]). [`emit`] checks the parameters and gives a module with its text and launches.
//!
//! ```
//! use ptxgen::kernels::{self, rmsnorm::RmsNorm};
//!
//! let spec = RmsNorm { hidden: 1536, ..RmsNorm::default() };
//! let emitted = kernels::emit(&spec, "sm_90".parse()?, None)?;
//! assert!(emitted.text().contains(".entry rms_norm"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod contract;
pub mod fused_rmsnorm_nf4_gemv;
mod gemv;
mod head;
pub mod launch;
pub mod nf4;
pub mod nf4_gemv;
pub mod params;
pub mod rmsnorm;
pub mod rmsnorm_backward;
mod rows;
pub mod spec;
pub mod sweep;

pub use launch::{Arg, ArgKind, Launch, Role};
pub use params::{ParamError, ParamInfo, Range, Spec, Value, Values};

use crate::ptx::build::{BuildError, ModuleBuilder};
use crate::ptx::ir::Notes;
use crate::ptx::ir::{Module, Stmt};
use crate::ptx::print::print;
use crate::ptx::target::{PtxVersion, Target};
use crate::ptx::types::Space;
use std::error::Error;
use std::fmt;

/// Target of modules for which none is asked for.
pub const DEFAULT_TARGET: Target = Target::base(80);

/// A kernel of the registry.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// Name in specs and on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What is computed, line by line.
    pub formula: &'static [&'static str],
    /// What can be relied on.
    pub contracts: &'static [Contract],
    /// Parameters.
    pub params: &'static [ParamInfo],
    /// Entries of the module, the main one first; some parameters add one.
    pub entries: &'static [&'static str],
    emit: fn(&Values, Target, Option<PtxVersion>) -> Result<Emitted, EmitError>,
    launches: fn(&Values) -> Vec<Launch>,
}

/// A promise with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Its name: `P-RMS-BACK-001`.
    pub id: &'static str,
    /// What is promised.
    pub text: &'static str,
}

/// A kernel that can be emitted.
pub trait Generate: Spec {
    /// Name in specs and on the command line.
    const NAME: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// What is computed, line by line.
    const FORMULA: &'static [&'static str];
    /// What can be relied on.
    const CONTRACTS: &'static [Contract];
    /// Entries of the module, the main one first.
    const ENTRIES: &'static [&'static str];

    /// Adds the entries to a module. The parameters are within their ranges.
    fn build(&self, module: &mut ModuleBuilder);

    /// The launches that the parameters ask for, in order, the main entry's first.
    fn launches(&self) -> Vec<Launch>;

    /// Remarks for the head of the text, beyond what parameters and launches say.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// All kernels.
pub const KERNELS: &[KernelInfo] = &[
    info::<rmsnorm::RmsNorm>(),
    info::<rmsnorm_backward::RmsNormBackward>(),
    info::<nf4_gemv::Nf4Gemv>(),
    info::<fused_rmsnorm_nf4_gemv::FusedRmsNormNf4Gemv>(),
];

const fn info<K: Generate>() -> KernelInfo {
    KernelInfo {
        name: K::NAME,
        summary: K::SUMMARY,
        formula: K::FORMULA,
        contracts: K::CONTRACTS,
        params: K::PARAMS,
        entries: K::ENTRIES,
        emit: |values, target, version| emit(&K::from_values(values), target, version),
        launches: |values| K::from_values(values).launches(),
    }
}

impl KernelInfo {
    /// The kernel of that name.
    pub fn find(name: &str) -> Option<&'static KernelInfo> {
        KERNELS.iter().find(|kernel| kernel.name == name)
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&'static ParamInfo> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Emits the kernel.
    ///
    /// # Errors
    /// As [`emit`].
    pub fn emit(&self, values: &Values, target: Target, version: Option<PtxVersion>) -> Result<Emitted, EmitError> {
        (self.emit)(values, target, version)
    }

    /// The launches for these values, without static shared memory.
    pub fn launches(&self, values: &Values) -> Vec<Launch> {
        (self.launches)(values)
    }
}

/// A kernel that has been emitted.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The module.
    pub module: Module,
    /// Its comments.
    pub notes: Notes,
    /// How it is launched, in order, the main entry first.
    pub launches: Vec<Launch>,
}

impl Emitted {
    /// The module as PTX, with comments.
    pub fn text(&self) -> String {
        print(&self.module, &self.notes)
    }
}

/// Why a kernel could not be emitted.
#[derive(Clone, Debug, PartialEq)]
pub enum EmitError {
    /// A parameter is out of range.
    Param(ParamError),
    /// The target or version lacks what the kernel uses.
    Build(BuildError),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Param(error) => error.fmt(f),
            EmitError::Build(error) => error.fmt(f),
        }
    }
}

impl Error for EmitError {}

impl From<ParamError> for EmitError {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}

impl From<BuildError> for EmitError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// Emits a kernel for a target, in the least PTX version that has what it uses, or in the version asked for.
///
/// # Errors
/// If a parameter is out of range, or the target or version lacks something.
pub fn emit<K: Generate>(spec: &K, target: Target, version: Option<PtxVersion>) -> Result<Emitted, EmitError> {
    let values = spec.values()?;
    let mut builder = ModuleBuilder::new();
    spec.build(&mut builder);
    let mut built = builder.finish(Some(target), version)?;
    let mut launches = spec.launches();
    for launch in &mut launches {
        launch.static_shared = static_shared(&built.module, launch.entry);
    }
    built.notes.head = head::lines(&info::<K>(), &values, &launches, &spec.remarks());
    Ok(Emitted {
        module: built.module,
        notes: built.notes,
        launches,
    })
}

/// Bytes of shared memory that an entry declares, as they are laid out one behind the other.
fn static_shared(module: &Module, entry: &str) -> u64 {
    let function = module.function_named(entry).map(|id| module.function(id));
    let body = function.and_then(|function| function.body.as_ref());
    let stmts = body.map_or(&[][..], |body| &body.stmts);
    stmts.iter().fold(0, |end: u64, stmt| match stmt {
        Stmt::Variable(symbol) => match module.variable(*symbol) {
            Some(variable) if variable.space == Space::Shared => {
                end.next_multiple_of(u64::from(variable.alignment())) + variable.size().unwrap_or(0)
            }
            _ => end,
        },
        _ => end,
    })
}

#[cfg(test)]
mod tests;
