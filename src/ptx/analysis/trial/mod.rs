//! Trial runs: a kernel's CTA, run with made-up numbers where the text leaves them open, to see who touches what between barriers.
//!
//! A trial run computes with integers and predicates only; what it cannot know (loaded data, floating point) stays unknown,
//! and is told apart by whether it is alike in all threads. Addresses keep where they came from: variables and buffers lie so
//! far apart that nothing runs from one into another. Branches on what is unknown and differs between threads are run both
//! ways; branches on what is unknown and alike in all threads are run one way, and the other way in another run.
//! So what a run shows can happen, if the numbers it made up can; callers compare runs to see what rests on them.

mod access;
mod check;
mod compute;
mod demands;
mod fiber;
mod foreign;
mod gather;
mod inputs;
mod log;
mod machine;
mod mask;
mod node;
mod parts;
mod program;
mod rounds;
mod shadow;
mod signals;
mod space;
mod turn;
mod value;
mod words;

pub use demands::counts;
pub use foreign::FLAG;
pub use inputs::{Known, Sample, Setup, known};
pub use log::{Conflict, Site};
pub use machine::Programs;
pub use mask::Mask;
pub use shadow::Clobber;

use crate::ptx::ir::{FuncId, InstId, SymbolId};
use log::Log;
use machine::Machine;
use rustc_hash::{FxHashMap, FxHashSet};
use space::{Layout, Region};

/// Why a run was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It took too long.
    Fuel,
    /// A barrier is not met by all threads of a warp.
    Tangled(Site),
    /// All threads wait for others.
    Deadlock,
    /// Warps wait for each other by number: each must run on its own.
    NeedsWarps,
    /// It is not clear what happens here.
    Unclear(Site, &'static str),
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It reaches outside of its variable.
    OutOfBounds {
        /// The variable.
        symbol: SymbolId,
        /// Bytes from its start.
        offset: i64,
        /// Bytes accessed.
        size: u32,
        /// Bytes it has.
        held: u64,
    },
    /// Its address is no multiple of its size.
    Misaligned {
        /// The variable.
        symbol: SymbolId,
        /// Bytes from its start.
        offset: i64,
        /// Bytes accessed.
        size: u32,
    },
    /// Its variable need not lie at a multiple of its size.
    Underaligned {
        /// The variable.
        symbol: SymbolId,
        /// The variable's alignment.
        align: u32,
        /// Bytes accessed.
        size: u32,
    },
    /// Shared memory is addressed by a number.
    RawShared {
        /// The number.
        address: u64,
    },
    /// An address in shared or local memory is used as a generic one.
    NotGeneric {
        /// The variable.
        symbol: SymbolId,
    },
    /// The generic address of a variable in shared or local memory is used as one of global memory.
    NotGlobal {
        /// The variable.
        symbol: SymbolId,
    },
    /// A generic address is used as one of this space.
    Generic {
        /// The space.
        space: crate::ptx::types::Space,
    },
}

impl FaultKind {
    /// What kind of fault it is.
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::OutOfBounds { .. } => "bounds",
            FaultKind::Misaligned { .. } => "aligned",
            FaultKind::Underaligned { .. } => "underaligned",
            FaultKind::RawShared { .. } => "raw",
            FaultKind::NotGeneric { .. } | FaultKind::NotGlobal { .. } | FaultKind::Generic { .. } => "generic",
        }
    }
}

/// An access that is wrong in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which.
    pub site: Site,
    /// What is wrong.
    pub kind: FaultKind,
    /// A thread for which it is, by linear index.
    pub thread: u32,
    /// Whether it may not happen.
    pub maybe: bool,
    /// Whether it rests on a number that was made up.
    pub guess: bool,
    /// Whether all threads access the same address.
    pub constant: bool,
}

/// What a CTA does to a word of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalUse {
    /// By what.
    pub site: Site,
    /// Which of its bytes are accessed, a bit each.
    pub bytes: u8,
    /// Which of them are written.
    pub written: u8,
    /// What is written, where that is one known number.
    pub value: Option<u64>,
    /// Whether it is an atomic.
    pub atomic: bool,
    /// Whether it is an atomic that is ordered within the CTA only.
    pub narrow: bool,
}

/// A store by several threads to places that loaded data names: they may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// The store.
    pub site: Site,
    /// Two threads.
    pub threads: (u32, u32),
    /// Whether it goes to shared memory.
    pub shared: bool,
    /// Whether all store the same.
    pub equal: bool,
    /// Whether what is stored was made from what was there: an update that is not atomic.
    pub updates: bool,
}

impl Scatter {
    /// The store in conflict with itself.
    pub fn conflict(&self) -> Conflict {
        Conflict {
            first: self.site,
            second: self.site,
            threads: self.threads,
            writes: (true, true),
            atomic: (false, false),
            strong: false,
            address: 0,
            shared: self.shared,
            object: None,
            in_warp: self.threads.0 / 32 == self.threads.1 / 32,
            equal: self.equal,
            maybe: true,
            anywhere: true,
            broadcast: false,
            slot: false,
            fixed: false,
            times: (0, 0),
        }
    }
}

/// What a run has shown.
pub struct Outcome {
    /// Accesses in conflict, one per pair of instructions.
    pub conflicts: Vec<Conflict>,
    /// Accesses that are wrong in themselves.
    pub faults: Vec<Fault>,
    /// The accesses to shared and global memory at known addresses.
    pub sites: FxHashSet<Site>,
    /// Accesses at addresses that are not known.
    pub unknown: Vec<Site>,
    /// Stores to where loaded data says, by site.
    pub scattered: Vec<Scatter>,
    /// Loads of global memory from where loaded data says.
    pub gathered: Vec<Site>,
    /// Whether the threads fill a shared variable from start to end in one store: the CTA seems made for it.
    pub fills: bool,
    /// Whether the kernel computes the number of each thread's warp, so that there is more than one.
    pub warps: bool,
    /// Words of global memory that were used, if the setup names the CTA.
    pub global: FxHashMap<(u64, bool), GlobalUse>,
    /// Whether a single thread has stored within an array: a run with `shade` tells what was lost.
    pub overlaps: bool,
    /// Elements of arrays lost to slots laid over them.
    pub clobbers: Vec<Clobber>,
    /// Loads through the read-only path of what the kernel stores, with the store.
    pub read_only: Vec<(Site, Site)>,
    /// Why the run was not finished.
    pub stop: Option<Stop>,
    /// What it has cost, in instructions.
    pub steps: u32,
}

impl Outcome {
    /// Whether an access has left its array.
    pub fn strays(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.any(|fault| fault.kind.name() == "bounds")
    }
}

/// Why the kernel cannot be judged by runs: threads are ordered in ways that runs do not follow.
pub fn obstacle(programs: &mut Programs, kernel: FuncId) -> Option<(InstId, &'static str)> {
    programs.get(kernel)?.foreign
}

/// Runs a kernel once. `covered` holds the branches that earlier runs of the kernel have taken, with the way.
pub fn run(
    programs: &mut Programs,
    kernel: FuncId,
    setup: &Setup,
    fuel: u32,
    covered: &mut FxHashSet<(Site, bool)>,
) -> Option<Outcome> {
    if programs.get(kernel)?.by_warp {
        return attempt(programs, kernel, setup, fuel, covered, true);
    }
    let first = attempt(programs, kernel, setup, fuel, covered, false)?;
    if first.stop == Some(Stop::NeedsWarps) {
        return attempt(programs, kernel, setup, fuel, covered, true);
    }
    Some(first)
}

fn attempt(
    programs: &mut Programs,
    kernel: FuncId,
    setup: &Setup,
    fuel: u32,
    covered: &mut FxHashSet<(Site, bool)>,
    by_warp: bool,
) -> Option<Outcome> {
    let program = programs.get(kernel)?;
    let threads = setup.threads();
    let mut machine = Machine {
        layout: Layout::new(programs.module),
        params: inputs::Params::new(program.clone(), setup),
        programs,
        setup,
        threads,
        log: Log::new(threads),
        faults: FxHashMap::default(),
        covered,
        specials: FxHashMap::default(),
        time: 1,
        fuel,
        half: fuel / 2,
        read_only: parts::ReadOnly::default(),
        fills: false,
        warps: false,
        shadow: shadow::Shadow::default(),
        slots: FxHashSet::default(),
        arrays: FxHashMap::default(),
        global: FxHashMap::default(),
        has_read_only: program
            .rows
            .iter()
            .any(|row| matches!(&row.step, program::Step::Access(access) if access.nc)),
        unknown: Vec::new(),
        scattered: FxHashMap::default(),
        gathered: FxHashSet::default(),
        fibers: Vec::new(),
        by_warp,
        arrived: FxHashMap::default(),
        uncounted: FxHashSet::default(),
        lenient: false,
        mbarriers: FxHashMap::default(),
        cluster: signals::ClusterBarrier::default(),
    };
    let stop = machine.run(kernel, &program).err();
    machine.log.clear();
    let stop = stop.or((machine.log.pairs == 0).then_some(Stop::Fuel));
    let mut conflicts: Vec<Conflict> = machine.log.conflicts.values().copied().collect();
    conflicts.sort_by_key(|conflict| (conflict.times, conflict.first, conflict.second));
    for conflict in &mut conflicts {
        let space = if conflict.shared {
            crate::ptx::types::Space::Shared
        } else {
            crate::ptx::types::Space::Global
        };
        conflict.object = match machine.layout.region(space, conflict.address) {
            Region::Shared(symbol, offset) | Region::Variable(symbol, offset) => Some((symbol, offset)),
            Region::Buffer(number) => machine.params.buffer(number).map(|symbol| {
                let offset = conflict.address.wrapping_sub(Layout::buffer(number)) as i64;
                (symbol, offset)
            }),
            _ => None,
        };
    }
    let mut faults: Vec<Fault> = machine.faults.values().copied().collect();
    faults.sort_by_key(|fault| (fault.site, fault.kind.name()));
    let within = |(site, place): &(Site, u64)| {
        let mut arrays = machine.arrays.iter().filter(|(other, _)| *other != site);
        arrays.any(|(_, (low, high))| (low..=high).contains(&place))
    };
    let overlaps = machine.slots.iter().any(within);
    let mut scattered: Vec<Scatter> = machine.scattered.values().copied().collect();
    scattered.sort_by_key(|scatter| scatter.site);
    let mut gathered: Vec<Site> = machine.gathered.into_iter().collect();
    gathered.sort_unstable();
    Some(Outcome {
        scattered,
        gathered,
        read_only: machine.read_only.pairs(),
        overlaps,
        fills: machine.fills,
        warps: machine.warps,
        clobbers: machine.shadow.found,
        global: machine.global,
        conflicts,
        faults,
        sites: machine.log.sites,
        unknown: machine.unknown,
        stop,
        steps: fuel.saturating_sub(machine.fuel),
    })
}
