//! What a grid consists of while it runs.

use super::super::fault::{Fault, Site, Thread};
use super::super::lanes::{File, Longs};
use super::super::memory::{Block, Map, Tag};
use super::super::program::Program;
use super::super::watch::BEAT;
use super::super::{Launch, Options, Stats, Stop};
use super::accumulators::Accumulators;
use super::calls::Saved;
use super::clock::{Known, SyncVar};
use super::copies::Flight;
use super::joins::Joins;
use super::mbarrier::Mbar;
use super::precision::Shadows;
use super::proxy::Fenced;
use super::tensor_memory::Tensors;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a split does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It can run.
    Ready,
    /// It has gone round often enough for now.
    Resting,
    /// At a CTA barrier of that number.
    Barrier(u8),
    /// At a warp operation.
    Together,
    /// At a cluster barrier.
    Cluster,
    /// At an mbarrier.
    Mbarrier,
}

/// Lanes that are at one place together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The next instruction.
    pub pc: u32,
    /// Which lanes.
    pub mask: u32,
    /// Their frame.
    pub frame: u32,
    /// What they wait for.
    pub wait: Wait,
}

/// A call under way.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The caller's frame.
    pub parent: u32,
    /// Where the caller goes on.
    pub back: u32,
    /// How many calls deep.
    pub depth: u32,
    /// The call instruction: an index into the program's rares.
    pub call: u32,
    /// The function that runs.
    pub function: u32,
    /// Where the callers' stacks ended.
    pub stack: Option<Box<Longs>>,
    /// What the function's registers held, where it called itself.
    pub saved: Option<Box<Saved>>,
}

/// A warp.
pub struct Warp {
    /// Its registers.
    pub file: File,
    /// Its lanes, by place.
    pub splits: Vec<Split>,
    /// Lanes that have not exited.
    pub live: u32,
    /// Lanes that exist.
    pub lanes: u32,
    /// Its number in the CTA.
    pub index: u32,
    /// Ticks where lanes of the warp wait for each other, or it releases something.
    pub clock: u32,
    /// What it knows to have happened before.
    pub known: Known,
    /// What it has read of and will know after a fence or barrier.
    pub pending: Known,
    /// What its last fence publishes, and whether beyond the CTA.
    pub fenced: Option<(bool, Known)>,
    /// Calls under way; the first is the kernel itself.
    pub frames: Vec<Frame>,
    /// Local memory, lane after lane.
    pub local: Block,
    /// Arguments of calls, lane after lane.
    pub arena: Block,
    /// Instructions executed.
    pub executed: u64,
    /// Groups of copies that each lane has committed: of `cp.async`, and of bulk copies.
    pub groups: [[u32; 32]; 2],
    /// Lanes that have arrived at the cluster barrier, whose phase is not over.
    pub cluster_arrived: u32,
    /// Lanes that have arrived, and the phase is over; they have not waited yet.
    pub cluster_done: u32,
    /// Whether it has just gone round for long enough.
    pub rested: bool,
    /// Where lanes have exited.
    pub exits: Vec<(u32, u32)>,
    /// What its `wgmma` instructions have of its registers.
    pub accumulators: Accumulators,
    /// Barriers that lanes have passed, by their places.
    pub passed: Vec<(u32, u32)>,
}

/// A CTA barrier.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Threads that arrived without waiting.
    pub arrived: u32,
    /// Threads that came since it was last full; those that came twice count twice.
    pub came: u32,
    /// The count its first arrival gave.
    pub count: Option<u32>,
    /// What those who arrived know.
    pub known: Known,
    /// Where and by whom it was last arrived at.
    pub last: Option<(u32, Thread)>,
}

/// What the warps of a CTA share.
pub struct Hall {
    /// Its number in the grid.
    pub number: u64,
    /// `%ctaid`.
    pub cta: [u32; 3],
    /// Its shared memory, an index into [`World::shared`].
    pub shared: usize,
    /// The barrier interval.
    pub epoch: u32,
    /// The barriers.
    pub bars: Vec<Bar>,
    /// Threads that have not exited.
    pub live: u32,
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Barriers some wait has been entered at since anybody looked.
    pub touched: u32,
    /// Barriers that anybody has come to.
    pub entered: u32,
    /// The shared memory of the CTAs of its cluster, by rank.
    pub peers: Vec<usize>,
    /// What came before a fence between the proxies, of shared and of global memory.
    pub fenced: [Fenced; 2],
    /// Its tensor memory.
    pub tensors: Tensors,
    /// What its special registers hold.
    pub specials: Vec<u64>,
    /// Its rank in the cluster.
    pub rank: u32,
    /// What those who arrived at the cluster barrier know.
    pub cluster_known: Known,
    /// What is known once its phases so far are over.
    pub cluster_over: Known,
}

/// What the whole launch shares.
pub struct World {
    /// Buffers and module variables.
    pub buffers: Vec<Block>,
    /// The kernel's parameters.
    pub params: Block,
    /// Shared memory of the CTAs that are under way.
    pub shared: Vec<Block>,
    /// Global memory.
    pub global: Map,
    /// CTAs of the grid in x, y, z.
    pub grid: [u32; 3],
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Faults that count only if the result depends on what is not defined.
    pub doubtful: Vec<Fault>,
    /// What the kernel printed.
    pub printed: String,
    /// What stopped the run.
    pub stop: Option<Stop>,
    /// What was asked for.
    pub options: Options,
    /// Counts.
    pub stats: Stats,
    /// Thread instructions left of the budget.
    pub fuel: u64,
    /// The kernel's name.
    pub kernel: String,
    /// Locations through which threads synchronise.
    pub sync: FxHashMap<(BlockId, usize), SyncVar>,
    /// What undefined values are made of.
    pub garbage: u64,
    /// mbarriers, by their places.
    pub mbarriers: FxHashMap<(BlockId, usize), Mbar>,
    /// Copies under way, with the CTA that started them.
    pub flights: Vec<(u64, Flight)>,
    /// Which code lies behind which.
    pub joins: Joins,
    /// Whether everything ends.
    pub over: bool,
    /// Warps that only went round since a turn began.
    pub resting: bool,
    /// At how many thread instructions the watch is looked at next.
    pub beat: u64,
    /// How many of them it has been told of.
    pub told: u64,
    /// Set by somebody else where there is no more use in this run.
    given_up: Option<Arc<AtomicBool>>,
    /// Values in f64, where they are carried along.
    pub precision: Option<Box<Shadows>>,
    /// Whether the shadows have forgotten some of who touched what.
    pub forgot: bool,
}

/// Which block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockId {
    /// A buffer or module variable.
    Buffer(u32),
    /// Shared memory of a CTA under way.
    Shared(u32),
    /// Kernel parameters.
    Params,
    /// The warp's arguments of calls.
    Arena,
    /// The warp's local memory.
    Local,
}

/// Everything an instruction can touch.
pub struct Ctx<'a> {
    /// The program.
    pub program: &'a Program,
    /// The launch.
    pub world: &'a mut World,
    /// The CTA.
    pub hall: &'a mut Hall,
    /// The warp.
    pub warp: &'a mut Warp,
}

impl Hall {
    /// The thread of that number in the CTA.
    pub fn thread(&self, number: u32) -> Thread {
        let [x, y, _] = self.block;
        Thread {
            cta: self.cta,
            tid: [number % x, number / x % y, number / (x * y)],
        }
    }
}

impl World {
    /// Before the first instruction.
    pub fn new(
        kernel: &str,
        program: &Program,
        launch: &Launch,
        global: Map,
        buffers: Vec<Block>,
        params: Block,
    ) -> Self {
        World {
            buffers,
            params,
            shared: Vec::new(),
            global,
            grid: launch.grid,
            faults: Vec::new(),
            doubtful: Vec::new(),
            printed: String::new(),
            stop: None,
            options: launch.options.clone(),
            stats: match launch.options.profile {
                true => Stats::profiled(program.code.len()),
                false => Stats::default(),
            },
            fuel: launch.options.budget,
            kernel: kernel.to_owned(),
            sync: FxHashMap::default(),
            garbage: 0,
            resting: false,
            joins: Joins::default(),
            mbarriers: FxHashMap::default(),
            flights: Vec::new(),
            over: false,
            beat: match launch.options.watch {
                Some(_) => BEAT,
                None => u64::MAX,
            },
            told: 0,
            given_up: None,
            precision: launch.options.precision.then(Box::default),
            forgot: false,
        }
    }

    /// Notes a fault; the same one again only counts.
    pub fn report(&mut self, mut fault: Fault) {
        fault.kernel.clone_from(&self.kernel);
        if let Some(known) = self.faults.iter_mut().find(|known| known.repeats(&fault)) {
            known.times += 1;
            return;
        }
        if self.faults.len() < self.options.most_faults {
            self.faults.push(fault);
        } else {
            self.stats.untold += 1;
        }
    }

    /// Notes a fault that counts only if what the kernel writes depends on it.
    pub fn doubt(&mut self, mut fault: Fault) {
        fault.kernel.clone_from(&self.kernel);
        if !self.doubtful.iter().any(|known| known.repeats(&fault)) {
            self.doubtful.push(fault);
        }
    }

    /// Ends the run soon after somebody sets the flag.
    pub fn stop_at(&mut self, given_up: &Arc<AtomicBool>) {
        self.given_up = Some(Arc::clone(given_up));
        self.beat = self.beat.min(BEAT);
    }

    /// Tells the watch how far the run is, and looks whether it should end.
    #[cold]
    pub fn look(&mut self, ctas: u64) -> bool {
        let now = self.stats.thread_instructions;
        let over = self.options.watch.as_ref().is_some_and(|watch| {
            watch.add(ctas, now - self.told);
            watch.is_over()
        });
        (self.told, self.beat) = (now, now + BEAT);
        // A part of a run that has a fault is of no more use either.
        let useless = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed) || !self.faults.is_empty();
        over || self.given_up.as_ref().is_some_and(useless)
    }

    /// The coordinates of a CTA.
    pub fn cta(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [number % x, number / x % y, number / (x * y)].map(|at| at as u32)
    }
}

impl Ctx<'_> {
    /// The instruction at a place of the code.
    pub fn site(&self, pc: u32) -> Site {
        let sites = &self.program.sites;
        let at = sites.get(pc as usize).or(sites.last());
        at.copied().unwrap_or(Site {
            function: self.program.kernel,
            inst: crate::ptx::ir::InstId(0),
        })
    }

    /// The thread of a lane.
    pub fn thread(&self, lane: usize) -> Thread {
        self.hall.thread(self.warp.index * 32 + lane as u32)
    }

    /// The tag of a visit by a lane.
    #[inline(always)]
    pub fn tag(&self, lane: usize) -> Tag {
        let thread = self.warp.index * 32 + lane as u32;
        Tag::new(self.hall.number, self.hall.epoch, self.warp.clock, thread)
    }

    /// The memory of that name.
    #[inline(always)]
    pub fn block(&mut self, id: BlockId) -> Option<&mut Block> {
        match id {
            BlockId::Buffer(at) => self.world.buffers.get_mut(at as usize),
            BlockId::Shared(at) => self.world.shared.get_mut(at as usize),
            BlockId::Params => Some(&mut self.world.params),
            BlockId::Arena => Some(&mut self.warp.arena),
            BlockId::Local => Some(&mut self.warp.local),
        }
    }

    /// Notes a fault.
    pub fn report(&mut self, fault: Fault) {
        self.world.report(fault);
    }
}
