//! The simulator: executes a kernel on a grid of threads, exactly, deterministically, and with every check on.
//!
//! [`run`] decodes a kernel and executes it; what is wrong with the kernel comes back as [`Fault`]s beside the results.
//! What the simulator cannot do is a [`Stop`]: it never guesses.
//!
//! - [`program`]: the decoded kernel. [`lanes`]: registers, 32 lanes at a time. [`memory`]: blocks, addresses, who touched what.
//! - [`exec`]: warps, barriers, CTAs. [`fault`]: what is found. [`Fill`]: what buffers hold.

pub mod exec;
pub mod fault;
mod fill;
pub mod lanes;
pub mod memory;
mod parts;
mod precision;
pub mod program;
mod stats;
pub mod tensormap;
mod watch;

pub use fault::{Fault, Party, Site, Stray, Thread};
pub use fill::Fill;
pub use memory::Bytes;
pub use parts::{Part, count as parts};
pub use precision::{Jump, Precision, Worst};
pub use stats::{Count, Stats, Step};
pub use tensormap::TensorMap;
pub use watch::Watch;

use super::ir::Module;
use super::types::Type;
use exec::World;
use memory::{Block, Home, Map};
use program::{ParamSpec, Program};
use std::fmt;
use std::sync::Arc;

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A number or structure: its bytes, little end first.
    Bytes(Vec<u8>),
    /// The address of a buffer.
    Buffer(Buffer),
    /// A tensor map, or its address, as the parameter has room for.
    TensorMap(TensorMap, Data),
}

/// Where the tensor of a map lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// In a buffer of its own.
    Own(Buffer),
    /// In the buffer of another argument, by its number.
    Of(usize),
}

impl Arg {
    /// The buffer that it brings.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Arg::Buffer(buffer) | Arg::TensorMap(_, Data::Own(buffer)) => Some(buffer),
            _ => None,
        }
    }
}

/// A buffer in global memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// What people call it.
    pub name: String,
    /// What it holds at first.
    pub bytes: Bytes,
    /// Whether reading it before it is written is a fault; then `bytes` only gives its length.
    pub unwritten: bool,
}

/// What is launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// CTAs of the grid in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// One for each parameter of the kernel.
    pub args: Vec<Arg>,
    /// How it is run.
    pub options: Options,
}

/// Which checks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// That registers and memory are written before they are read. Bounds and alignment are always checked.
    pub memory: bool,
    /// That threads do not race.
    pub races: bool,
}

/// How a launch is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Checks; all are on by default.
    pub checks: Checks,
    /// The most thread instructions.
    pub budget: u64,
    /// The order in which warps and CTAs run: 0 is the plain one, others are drawn at random from this seed.
    pub schedule: u64,
    /// Whether instructions are counted one by one.
    pub profile: bool,
    /// Whether every step is noted.
    pub trace: bool,
    /// How many stores each byte of a buffer gets is counted.
    pub count_stores: bool,
    /// The most faults that are kept.
    pub most_faults: usize,
    /// The most bytes that the kernel may print.
    pub most_printed: usize,
    /// The most steps that are noted.
    pub most_steps: usize,
    /// CTAs of a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// Which instructions of this machine are used; no result depends on it.
    pub arch: pulp::Arch,
    /// Whether an f64 is carried along beside every f32.
    pub precision: bool,
    /// Who looks on, and may end it.
    pub watch: Option<Arc<Watch>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            checks: Checks {
                memory: true,
                races: true,
            },
            budget: 1 << 36,
            schedule: 0,
            profile: false,
            trace: false,
            count_stores: false,
            most_faults: 100,
            most_printed: 1 << 20,
            most_steps: 1 << 20,
            cluster: [1, 1, 1],
            arch: pulp::Arch::new(),
            precision: false,
            watch: None,
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What is wrong, in the order in which it was met.
    pub faults: Vec<Fault>,
    /// What the kernel printed.
    pub printed: String,
    /// Counts.
    pub stats: Stats,
    /// The buffers afterwards, one for each argument; `None` where the argument is a number.
    pub buffers: Vec<Option<Written>>,
    /// How precise it was, if that was asked for.
    pub precision: Option<Precision>,
}

/// A buffer afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it holds.
    pub bytes: Bytes,
    /// How often each byte was stored to, up to 255; empty where that was not asked for.
    pub stores: Vec<u8>,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Where a thread was then.
    pub site: Site,
    /// The budget, in thread instructions.
    pub budget: u64,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A thread came to an instruction that cannot be executed.
    Unsupported {
        /// Where.
        site: Site,
        /// What about it.
        what: String,
    },
    /// The budget is used up: an endless loop, or too small a budget.
    Limit(Limit),
    /// The launch does not fit the kernel.
    Launch(String),
    /// Whoever watches wants no more of it; a thread was here then.
    Interrupted(Site),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Unsupported { what, .. } => write!(f, "unsupported: {what}"),
            Stop::Limit(limit) => write!(f, "the budget of {} thread instructions is used up", limit.budget),
            Stop::Launch(why) => f.write_str(why),
            Stop::Interrupted(_) => f.write_str("interrupted"),
        }
    }
}

/// What stopped a run, and what was known by then.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// Why.
    pub stop: Stop,
    /// What was found before.
    pub faults: Vec<Fault>,
    /// What was counted before.
    pub stats: Box<Stats>,
    /// What the kernel had printed.
    pub printed: String,
}

impl From<Stop> for Stopped {
    fn from(stop: Stop) -> Self {
        Stopped {
            stop,
            faults: Vec::new(),
            stats: Box::default(),
            printed: String::new(),
        }
    }
}

/// Decodes a kernel.
///
/// # Errors
/// If there is none of that name, or it cannot be launched at all.
pub fn prepare(module: &Module, kernel: &str, dynamic_shared: u64) -> Result<Program, Stop> {
    let id = module
        .function_named(kernel)
        .ok_or_else(|| Stop::Launch(format!("there is no kernel `{kernel}`")))?;
    program::decode(module, id, dynamic_shared).map_err(|why| Stop::Launch(format!("{kernel}: {why}")))
}

/// Executes a kernel.
///
/// # Errors
/// If the launch does not fit, an instruction is not supported, or the budget is used up.
pub fn run(module: &Module, kernel: &str, launch: &Launch) -> Result<Outcome, Stopped> {
    let program = prepare(module, kernel, launch.dynamic_shared)?;
    run_prepared(module, kernel, &program, launch)
}

/// Executes a decoded kernel.
///
/// # Errors
/// As [`run`].
pub fn run_prepared(module: &Module, kernel: &str, program: &Program, launch: &Launch) -> Result<Outcome, Stopped> {
    let cluster = cluster(module, program, launch)?;
    let (first, doubtful) = once(kernel, program, launch, cluster, FIRST)?;
    if doubtful.is_empty() {
        return Ok(first);
    }
    // Values that nothing defines were read. Whether that matters shows where they are others.
    let (second, _) = once(kernel, program, launch, cluster, SECOND)?;
    let mut outcome = first;
    if second.buffers != outcome.buffers || second.printed != outcome.printed || second.faults != outcome.faults {
        outcome.faults.extend(doubtful);
    }
    Ok(outcome)
}

/// Does so many pieces of work, side by side if it likes. Gives their results in order.
pub type Share<'a> = dyn Fn(usize, &(dyn Fn(usize) -> Option<Part> + Sync)) -> Vec<Option<Part>> + 'a;

/// Executes a decoded kernel as [`run_prepared`] does and to the same result, in `count` parts where that can be done.
///
/// # Errors
/// As [`run`].
pub fn run_in_parts(
    module: &Module,
    kernel: &str,
    program: &Program,
    launch: &Launch,
    count: usize,
    share: &Share<'_>,
) -> Result<Outcome, Stopped> {
    let cluster = cluster(module, program, launch)?;
    if count > 1 && parts::can_be(program, launch) {
        let given_up = Arc::default();
        let parts = share(count, &|nth| {
            let world = fresh(kernel, program, launch, cluster, FIRST).ok()?;
            Some(parts::run(program, launch, world, (nth, count), &given_up))
        });
        let parts: Vec<Part> = parts.into_iter().flatten().collect();
        let watch = launch.options.watch.as_ref();
        if let Some(stopped) = parts::interrupted(&parts).filter(|_| watch.is_some_and(|watch| watch.is_over())) {
            return Err(stopped);
        }
        if let Some(outcome) = Some(parts)
            .filter(|parts| parts.len() == count)
            .and_then(|parts| parts::join(program, launch, parts))
        {
            return Ok(outcome);
        }
        watch.into_iter().for_each(|watch| watch.restart());
    }
    run_prepared(module, kernel, program, launch)
}

/// The cluster that the kernel or the launch asks for.
fn cluster(module: &Module, program: &Program, launch: &Launch) -> Result<[u32; 3], Stop> {
    let stated = module.function(program.kernel).attr("reqnctapercluster");
    let cluster = match stated {
        None => launch.options.cluster,
        Some(args) => [0, 1, 2].map(|at| args.get(at).map_or(1, |n| u32::try_from(*n).unwrap_or(1).max(1))),
    };
    let fits = (0..3).all(|at| cluster[at] > 0 && launch.grid[at].is_multiple_of(cluster[at]));
    let size: u64 = cluster.iter().map(|n| u64::from(*n)).product();
    if !fits || size > 16 {
        let [x, y, z] = cluster;
        return Err(Stop::Launch(format!(
            "the grid is no multiple of its clusters of {x},{y},{z} CTAs, or those have more than 16"
        )));
    }
    Ok(cluster)
}

fn once(
    kernel: &str,
    program: &Program,
    launch: &Launch,
    cluster: [u32; 3],
    garbage: u64,
) -> Result<(Outcome, Vec<Fault>), Stopped> {
    let mut world = fresh(kernel, program, launch, cluster, garbage)?;
    exec::run(program, &mut world, launch.block)?;
    let modules = program.layout.blocks.len();
    let precision = world.found(modules).map(|found| found.of_args(&launch.args));
    let mut blocks = world.buffers.into_iter().skip(modules);
    let buffers = launch.args.iter().map(|arg| {
        let block = arg.buffer().and_then(|_| blocks.next())?;
        Some(Written {
            stores: block.stores.unwrap_or_default(),
            bytes: block.bytes,
        })
    });
    let outcome = Outcome {
        buffers: buffers.collect(),
        precision,
        faults: world.faults,
        printed: world.printed,
        stats: world.stats,
    };
    match world.stop {
        None => Ok((outcome, world.doubtful)),
        Some(stop) => Err(Stopped {
            stop,
            faults: outcome.faults,
            stats: Box::new(outcome.stats),
            printed: outcome.printed,
        }),
    }
}

/// What undefined values are made of in the first run.
const FIRST: u64 = 0x5EED_5EED_7FC0_0001;
/// The same where a second one is needed.
const SECOND: u64 = 0xABCD_0123_3F80_0003;

/// The state before the first instruction of a run.
fn fresh(kernel: &str, program: &Program, launch: &Launch, cluster: [u32; 3], garbage: u64) -> Result<World, Stop> {
    let mut world = world(kernel, program, launch)?;
    world.options.cluster = cluster;
    world.garbage = garbage;
    Ok(world)
}

/// The state that a launch describes.
fn world(kernel: &str, program: &Program, launch: &Launch) -> Result<World, Stop> {
    let layout = &program.layout;
    let check = |sizes: [u32; 3], most: [u64; 3], all: u64| {
        let product = sizes
            .iter()
            .try_fold(1u64, |product, n| product.checked_mul(u64::from(*n)));
        (0..3).all(|at| (1..=most[at]).contains(&u64::from(sizes[at]))) && product.is_some_and(|n| n <= all)
    };
    if !check(launch.block, [1024, 1024, 64], 1024) || !check(launch.grid, [1 << 31, 65535, 65535], u64::MAX) {
        return Err(Stop::Launch("no such grid or block can be launched".into()));
    }
    let (wanted, given) = (layout.params.len(), launch.args.len());
    if wanted != given {
        return Err(Stop::Launch(format!(
            "`{kernel}` has {wanted} parameters, and {given} arguments are given"
        )));
    }
    let mut room = Room {
        global: layout.global.clone(),
        buffers: layout.blocks.clone(),
        count_stores: launch.options.count_stores,
    };
    let mut bases = Vec::new();
    for (spec, arg) in layout.params.iter().zip(&launch.args) {
        bases.push(match arg.buffer() {
            Some(buffer) => Some(room.add(buffer, &spec.name)?),
            None => None,
        });
    }
    let mut params = vec![0; layout.params_len as usize];
    for (at, (spec, arg)) in layout.params.iter().zip(&launch.args).enumerate() {
        let short = |base: u64| base.to_le_bytes()[..(spec.size as usize).min(8)].to_vec();
        let bytes = match arg {
            Arg::Bytes(bytes) => bytes.clone(),
            Arg::Buffer(_) => bases.get(at).copied().flatten().map(short).unwrap_or_default(),
            Arg::TensorMap(map, data) => {
                let whose = if let Data::Of(other) = data { *other } else { at };
                let base = bases.get(whose).copied().flatten();
                let base = base.ok_or_else(|| {
                    Stop::Launch(format!(
                        "argument {whose} has no buffer for the tensor of argument {at}"
                    ))
                })?;
                map.check()
                    .map_err(|why| Stop::Launch(format!("argument {at}: {why}")))?;
                let object = map.encode(base).to_vec();
                match spec.size as usize == tensormap::SIZE {
                    true => object,
                    // A parameter of another size is a pointer to the map.
                    false => {
                        let buffer = Buffer {
                            name: format!("the tensor map of {}", spec.name),
                            bytes: object.into(),
                            unwritten: false,
                        };
                        short(room.add(&buffer, &spec.name)?)
                    }
                }
            }
        };
        put_param(&mut params, spec, &bytes)?;
    }
    let Room { global, buffers, .. } = room;
    Ok(World::new(
        kernel,
        program,
        launch,
        global,
        buffers,
        Block::new(Bytes::own(params)),
    ))
}

/// Global memory as it fills with the buffers of a launch.
struct Room {
    global: Map,
    buffers: Vec<Block>,
    count_stores: bool,
}

impl Room {
    /// Gives a buffer its place.
    fn add(&mut self, buffer: &Buffer, name: &str) -> Result<u64, Stop> {
        let home = Home::Buffer(self.buffers.len() as u32);
        let name = if buffer.name.is_empty() { name } else { &buffer.name };
        let size = buffer.bytes.len() as u64;
        let base = self.global.add(size, home, 0, format!("the buffer of {name}"), None);
        let base = base.ok_or_else(|| Stop::Launch("too many buffers".into()))?;
        let mut block = match buffer.unwritten {
            true => Block::unwritten(buffer.bytes.len()),
            false => Block::new(buffer.bytes.clone()),
        };
        if self.count_stores {
            block.stores = Some(vec![0; buffer.bytes.len()]);
        }
        self.buffers.push(block);
        Ok(base)
    }
}

fn put_param(params: &mut [u8], spec: &ParamSpec, bytes: &[u8]) -> Result<(), Stop> {
    let (at, size) = (spec.at as usize, spec.size as usize);
    let place = params.get_mut(at..at + size).filter(|place| place.len() == bytes.len());
    let Some(place) = place else {
        return Err(Stop::Launch(format!(
            "parameter `{}` has {size} bytes, and its argument {}",
            spec.name,
            bytes.len()
        )));
    };
    place.copy_from_slice(bytes);
    Ok(())
}

/// The parameters of a decoded kernel: name, element type, size in bytes.
pub fn params(program: &Program) -> impl Iterator<Item = (&str, Type, u64)> {
    program
        .layout
        .params
        .iter()
        .map(|spec| (spec.name.as_str(), spec.ty, spec.size))
}
