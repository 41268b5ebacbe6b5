//! How kernels are launched: grid, block, shared memory and arguments.

use crate::ptx::types::Type;

/// One launch of one entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Name of the entry.
    pub entry: &'static str,
    /// What it does, one sentence.
    pub summary: &'static str,
    /// Blocks (x, y, z).
    pub grid: [u32; 3],
    /// Threads of a block (x, y, z).
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub dynamic_shared: u32,
    /// Static shared memory, in bytes: for information, the module declares it.
    pub static_shared: u64,
    /// Arguments, in order.
    pub args: Vec<Arg>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Name of the parameter in the module.
    pub name: &'static str,
    /// What is passed.
    pub kind: ArgKind,
}

/// What is passed for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgKind {
    /// The address of a buffer in device memory, aligned to 16 bytes.
    Buffer {
        /// Element type.
        element: Type,
        /// Lengths, outermost first; row-major.
        shape: Vec<u64>,
        /// Who reads and writes it.
        role: Role,
    },
    /// A 32-bit number.
    Scalar {
        /// The number for the shape that was emitted.
        value: u32,
        /// Whether another number traps: the kernel is made for this one.
        baked: bool,
    },
}

/// Who reads and writes a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The kernel reads it.
    Input,
    /// The kernel writes all of it.
    Output,
    /// One entry writes it and a later one reads it.
    Scratch,
}

impl Role {
    /// The role in one word.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Input => "input",
            Role::Output => "output",
            Role::Scratch => "scratch",
        }
    }
}

impl Launch {
    /// A launch of a one-dimensional grid without dynamic shared memory. At least one block runs: a grid must not be
    /// empty.
    pub fn new(entry: &'static str, summary: &'static str, blocks: u64, threads: u32, args: Vec<Arg>) -> Self {
        /// Greatest `grid.x` of every GPU since compute capability 3.0.
        const MOST_BLOCKS: u64 = (1 << 31) - 1;
        Self {
            entry,
            summary,
            grid: [blocks.clamp(1, MOST_BLOCKS) as u32, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
            static_shared: 0,
            args,
        }
    }
}

impl Arg {
    /// A buffer of f32.
    pub fn f32s(name: &'static str, role: Role, shape: &[u64]) -> Self {
        Self::buffer(name, Type::F32, role, shape)
    }

    /// A buffer.
    pub fn buffer(name: &'static str, element: Type, role: Role, shape: &[u64]) -> Self {
        let shape = shape.to_vec();
        let kind = ArgKind::Buffer { element, shape, role };
        Self { name, kind }
    }

    /// A number that may differ from launch to launch.
    pub fn free(name: &'static str, value: u32) -> Self {
        let kind = ArgKind::Scalar { value, baked: false };
        Self { name, kind }
    }

    /// A number that the kernel is made for.
    pub fn baked(name: &'static str, value: u32) -> Self {
        let kind = ArgKind::Scalar { value, baked: true };
        Self { name, kind }
    }

    /// Type of the parameter in the module.
    pub fn ty(&self) -> Type {
        match self.kind {
            ArgKind::Buffer { .. } => Type::U64,
            ArgKind::Scalar { .. } => Type::U32,
        }
    }
}
