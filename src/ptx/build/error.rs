//! What can be wrong with a module under construction.

use crate::ptx::isa::Problem;
use crate::ptx::target::{PtxVersion, Target};
use std::error::Error;
use std::fmt;

/// Why a module could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The instruction table has no such opcode, or not with these modifiers or operands.
    Opcode {
        /// The opcode as it was asked for.
        opcode: String,
        /// What the table says; `None` where the opcode is right and the operands are not.
        problem: Option<Problem>,
    },
    /// The target lacks an instruction.
    Target {
        /// The instruction.
        opcode: String,
        /// Targets that have it: one of these, or what includes it.
        needs: Vec<Target>,
        /// The target asked for.
        target: Target,
    },
    /// The version asked for lacks something.
    Version {
        /// What needs a newer one: an instruction, a special register or the target.
        what: String,
        /// The least version that has it.
        needs: PtxVersion,
        /// The version asked for.
        version: PtxVersion,
    },
    /// The target or version does not exist.
    Unknown(String),
    /// Two variables, parameters or functions of one name in one scope.
    Duplicate(String),
    /// A register was used in a function other than its own; the function that used it.
    ForeignRegister(String),
    /// A block that no device can launch.
    Block {
        /// The function.
        entry: String,
        /// The block asked for.
        block: [u32; 3],
    },
    /// A reduction over a block that is no whole number of warps.
    PartialWarp {
        /// The function.
        entry: String,
        /// Threads of the block.
        threads: u32,
    },
    /// Sums over a warp of a number of values that is no power of two up to 32.
    SumCount {
        /// The function.
        entry: String,
        /// Values.
        count: usize,
    },
    /// More static shared memory than a block may have.
    Shared {
        /// The function.
        entry: String,
        /// Bytes asked for.
        bytes: u64,
    },
    /// A guarded region that holds a label or a branch.
    GuardedFlow(String),
}

/// Static shared memory that a block may have on every target, in bytes.
pub const SHARED_LIMIT: u64 = 48 * 1024;

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opcode { opcode, problem: None } => write!(f, "`{opcode}` does not take these operands"),
            Self::Opcode { opcode, .. } => write!(f, "the instruction table has no `{opcode}`"),
            Self::Target { opcode, needs, target } => {
                let needs: Vec<_> = needs.iter().map(Target::to_string).collect();
                write!(f, "`{opcode}` needs {}, the target is {target}", needs.join(" or "))
            }
            Self::Version { what, needs, version } => {
                write!(f, "{what} needs PTX {needs}, the version asked for is {version}")
            }
            Self::Unknown(name) => write!(f, "there is no {name}"),
            Self::Duplicate(name) => write!(f, "`{name}` is declared twice"),
            Self::ForeignRegister(entry) => write!(f, "`{entry}` uses a register of another function"),
            Self::Block {
                entry,
                block: [x, y, z],
            } => {
                write!(f, "`{entry}`: no device launches blocks of {x} x {y} x {z} threads")
            }
            Self::PartialWarp { entry, threads } => {
                write!(f, "`{entry}`: a block of {threads} threads is no whole number of warps")
            }
            Self::SumCount { entry, count } => {
                write!(
                    f,
                    "`{entry}`: a warp cannot share {count} sums; a power of two up to 32 it can"
                )
            }
            Self::Shared { entry, bytes } => {
                write!(
                    f,
                    "`{entry}`: {bytes} bytes of static shared memory, {SHARED_LIMIT} are allowed"
                )
            }
            Self::GuardedFlow(entry) => write!(f, "`{entry}`: control flow inside a guarded region"),
        }
    }
}

impl Error for BuildError {}
