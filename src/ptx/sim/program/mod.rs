//! A kernel, and the functions it calls, decoded once: a flat list of instructions over numbered registers.
//!
//! What an instruction cannot do here is decoded as [`Rare::Unsupported`] and stops the run when a thread comes to it,
//! not before: much real code carries functions that a launch never reaches.

mod alu;
mod approx;
mod asynchronous;
mod atomics;
mod bits;
mod calls;
mod compare;
mod control;
mod convert;
mod decoder;
mod defined;
mod exact;
mod floats;
mod halves;
mod layout;
mod matrix;
mod memory;
mod moves;
mod operand;
mod sources;
mod stack;
mod tensor;
mod tensor_memory;
mod video;
mod warpgroup;
mod warps;

pub use asynchronous::{Async, Mbarrier, Place, Signal};
pub use calls::{CallSite, Callee, Holder};
pub use decoder::decode;
pub use exact::{Exact, Function, What, value_of};
pub use layout::{Layout, ParamSpec};
pub use matrix::{Bytes, Fragments, Matrix, Rows, Scaled, Tile};
pub use memory::SpaceOp;

pub use operand::ALWAYS;
pub use sources::{Lanes, Sources};
pub use stack::Stack;
pub use tensor::{Replace, Tensor, Way};
pub use tensor_memory::{Left, TensorCopy, TensorKind, TensorMemory, TensorProduct, TensorScales, TensorShape};
pub use warpgroup::{Factor, Touch, Warpgroup, WarpgroupOrder};
pub use warps::Proxy;

use super::fault::Site;
use super::lanes::{File, Slot};
use crate::ptx::ir::{FuncId, Special};
use crate::ptx::num::compare::Compare;
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;

/// One instruction of the flat code. The guard is a predicate, inverted where `flip` is all ones.
#[derive(Clone, Copy, Debug)]
pub struct Ins {
    /// What it does.
    pub op: Op,
    /// The predicate register of the guard.
    pub guard: u32,
    /// All ones to invert it.
    pub flip: u32,
    /// Destination.
    pub d: u32,
    /// First source.
    pub a: u32,
    /// Second source.
    pub b: u32,
    /// Third source.
    pub c: u32,
}

/// Operations of which most of a run consists have a variant each, on rows; the others go by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Mov32,
    Mov64,
    Add32,
    Sub32,
    Mul32,
    Mad32,
    And32,
    Or32,
    Xor32,
    Shl32,
    ShrU32,
    ShrS32,
    MinU32,
    MaxU32,
    MinS32,
    MaxS32,
    Add64,
    Sub64,
    Mul64,
    Mad64,
    And64,
    Or64,
    Xor64,
    Shl64,
    ShrU64,
    ShrS64,
    WideU,
    WideS,
    MadWideU,
    MadWideS,
    Widen,
    WidenS,
    Narrow,
    AddF32,
    SubF32,
    MulF32,
    FmaF32,
    MinF32,
    MaxF32,
    AddF64,
    SubF64,
    MulF64,
    FmaF64,
    FloatS32,
    FloatU32,
    FromHalf,
    FromBrain,
    TestU32(Compare),
    TestS32(Compare),
    TestF32(Compare),
    TestU64(Compare),
    TestS64(Compare),
    Sel32,
    Sel64,
    And1,
    Or1,
    Xor1,
    Not1,
    Mov1,
    /// A function over rows: an index into [`Program::steps`].
    Step(u32),
    /// An index into [`Program::accesses`].
    Load(u32),
    /// The same, from an address that all lanes have in common.
    LoadFixed(u32),
    /// An index into [`Program::accesses`].
    Store(u32),
    /// To another place in the code.
    Bra(u32),
    /// The register whose "written" mask is `a` is about to be read; `b` is an index into [`Program::names`].
    Check,
    /// The register whose "written" mask is `d` is about to be written.
    Mark,
    /// An index into [`Program::rares`].
    Rare(u32),
}

/// A function over the registers, for the lanes of a mask.
pub type Step = Box<dyn Fn(&mut File, u32) + Send + Sync>;

/// How a narrow value fills a wider register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extend {
    /// With zeros.
    Zero,
    /// With its sign.
    Sign,
}

/// What orders an access, and against whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Concurrent accesses of this kind to one place are no race: `.volatile`, `.relaxed` and stronger, atomics.
    pub strong: bool,
    /// Later accesses come after it.
    pub acquire: bool,
    /// Earlier accesses come before it.
    pub release: bool,
    /// Whether it reaches beyond the CTA.
    pub wide: bool,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The space it names.
    pub space: Space,
    /// Type of an element.
    pub ty: Type,
    /// Bytes of an element.
    pub bytes: u32,
    /// The address, or its base.
    pub address: Slot,
    /// Added to it.
    pub offset: u64,
    /// Where elements go, or come from; one entry an element, `None` for one nobody wants.
    pub regs: SmallVec<[Option<Slot>; 4]>,
    /// How a loaded element fills its register, and the register's width in bits.
    pub extend: Extend,
    /// Ordering.
    pub order: Order,
    /// Whether it goes through the read-only path (`.nc`).
    pub read_only: bool,
}

/// A parameter of the kernel in a row of its own: nobody writes it, so it need be read but once.
#[derive(Clone, Debug)]
pub struct Given {
    /// The access that reads it.
    pub access: Access,
    /// Where it lies among the kernel's parameters.
    pub at: usize,
    /// The row.
    pub slot: Slot,
}

/// What an atomic makes of an old value and its operands.
pub type Update = Box<dyn Fn(u128, u128, u128) -> u128 + Send + Sync>;

/// What an asynchronous reduction does to each element.
pub struct Reduction {
    /// Bytes of an element.
    pub bytes: u32,
    /// The new value: `f(old, operand, 0)`.
    pub update: Update,
}

/// `atom` or `red`, on one or several elements.
pub struct Atomic {
    /// Where, which type, how many elements; the registers are the destinations.
    pub access: Access,
    /// The new value of an element: `f(old, operand, second operand)`.
    pub update: Update,
    /// Operands, one an element.
    pub operands: SmallVec<[Slot; 4]>,
    /// What `cas` stores.
    pub second: Option<Slot>,
}

/// What `bar.red` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// How many.
    Count,
    /// Whether all.
    All,
    /// Whether any.
    Any,
}

/// `bar`, `barrier`.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Whether all lanes of the warp must come together.
    pub aligned: bool,
    /// Whether it goes on without waiting.
    pub arrive: bool,
    /// The barrier's number.
    pub id: Slot,
    /// How many threads.
    pub count: Option<Slot>,
    /// Reduction, predicate, destination.
    pub reduce: Option<(Reduce, Slot, Slot)>,
}

/// How `shfl` chooses its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

/// What lanes of a warp do together.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Together {
    Sync,
    Shuffle {
        mode: Shuffle,
        d: Slot,
        valid: Option<Slot>,
        a: Slot,
        b: Slot,
        c: Slot,
        /// What is known of `b` and `c`.
        known: Lanes,
    },
    /// Any, all, uni (`None`), or with `ballot` the mask.
    Vote {
        kind: Vote,
        d: Slot,
        a: Slot,
    },
    MatchAny {
        d: Slot,
        a: Slot,
    },
    MatchAll {
        d: Slot,
        pred: Option<Slot>,
        a: Slot,
    },
    Redux {
        f: fn(u32, u32) -> u32,
        d: Slot,
        a: Slot,
    },
    Elect {
        d: Slot,
        pred: Slot,
    },
    /// Matrix instructions and others that need the whole warp.
    Matrix(u32),
}

/// What a vote asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// Everything that is not of the fast kind.
pub enum Rare {
    /// The instruction cannot be executed, and why.
    Unsupported(String),
    /// A branch by index.
    Table(Slot, Vec<u32>),
    /// A call.
    Call(Box<CallSite>),
    /// Back to the caller, or the end of the thread.
    Return,
    /// The end of the thread.
    Exit,
    /// The end of everything: the instruction's name.
    Trap,
    /// A special register that changes while the thread runs.
    Special(Special, Slot),
    /// A CTA barrier.
    Barrier(Barrier),
    /// A warp operation with its mask; without one it takes the lanes that come.
    Together(Together, Option<Slot>),
    /// The lanes that are here.
    ActiveMask(Slot),
    /// A fence, and whether it reaches beyond the CTA.
    Fence(bool),
    /// A fence between the proxies.
    Proxy(Proxy),
    /// Order of `wgmma` instructions.
    Order(WarpgroupOrder),
    /// Registers that `wgmma` instructions have are about to be used.
    Touch(Touch),
    /// An atomic.
    Atomic(Box<Atomic>),
    /// Asynchronous copies and mbarriers.
    Async(Async),
    /// Where the lanes do not agree, `.uni` was a false promise; then goes on to the target.
    Uniform(u32),
    /// `alloca` and the like.
    Stack(Stack),
    /// `isspacep`, `cvta`: needs to know where things lie.
    Space(SpaceOp),
    /// `brkpt`, `nanosleep`, `pmevent`, `prefetch` and the like: nothing to see.
    Nothing,
}

/// A decoded kernel.
pub struct Program {
    /// The code of the kernel and of all functions.
    pub code: Vec<Ins>,
    /// Where each instruction comes from.
    pub sites: Vec<Site>,
    /// Of lanes that have parted, those run first whose place has the smaller number here.
    pub order: Vec<u32>,
    /// The places whose numbers do not follow those of the places before them.
    pub leaps: Vec<u32>,
    /// Functions over rows.
    pub steps: Vec<Step>,
    /// Loads and stores.
    pub accesses: Vec<Access>,
    /// The rest.
    pub rares: Vec<Rare>,
    /// Asynchronous reductions.
    pub reductions: Vec<Reduction>,
    /// Names of the registers that `wgmma` instructions have.
    pub accumulators: Vec<String>,
    /// Matrix instructions.
    pub matrices: Vec<Matrix>,
    /// The predicates that say where watched registers are written.
    pub watched: Vec<u32>,
    /// Names of registers whose first write is watched.
    pub names: Vec<String>,
    /// The registers of a warp before it starts: constants are set.
    pub file: File,
    /// The row of the stack pointer, if anything is on the stack.
    pub stack: Option<u32>,
    /// Special registers that never change while a warp is there, and where they are.
    pub specials: Vec<(Special, Slot)>,
    /// The same for those that CTAs have their own of.
    pub cta_specials: Vec<(Special, Slot)>,
    /// Parameters of the kernel that stand in rows.
    pub given: Vec<Given>,
    /// Where everything lies.
    pub layout: Layout,
    /// The kernel's first instruction.
    pub entry: u32,
    /// The kernel.
    pub kernel: FuncId,
    /// What instructions do with floats, in the order of the code.
    pub exact: Vec<(u32, Exact)>,
    /// Functions by their place in the module: first instruction, or `None` if not decoded.
    pub routines: Vec<Option<Routine>>,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub struct Routine {
    /// First instruction.
    pub start: u32,
    /// Rows that belong to it, to be saved where it calls itself: words, longs, predicates.
    pub rows: [std::ops::Range<u32>; 3],
    /// Its part of the arena.
    pub arena: std::ops::Range<u32>,
    /// Parameters and results: where the callee keeps them.
    pub params: Vec<Holder>,
    /// As `params`.
    pub results: Vec<Holder>,
}

impl Program {
    /// Finds the predicates that say where watched registers are written.
    fn find_watched(&self) -> Vec<u32> {
        let marks = self.code.iter().filter(|ins| ins.op == Op::Mark).map(|ins| ins.d);
        let checks = self.code.iter().filter(|ins| ins.op == Op::Check).map(|ins| ins.a);
        let mut all: Vec<u32> = marks.chain(checks).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
