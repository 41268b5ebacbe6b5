//! The grid: CTAs one after another, or in turns where one waits for another; warps in turns.

use super::super::lanes::{File, lanes};
use super::super::memory::Block;
use super::super::program::Program;
use super::super::{Limit, Stop};
use super::accumulators::Accumulators;
use super::barrier;
use super::clock::Known;
use super::state::{Bar, BlockId, Ctx, Frame, Hall, Split, Wait, Warp, World};
use super::stuck;
use super::tensor_memory::Tensors;
use std::ops::Range;

/// Slices a warp runs for in one turn.
const SLICES: u32 = 1 << 10;
/// Rounds over its warps that a CTA runs for before another one has a turn.
const ROUNDS: u32 = 64;
/// Rounds in which a CTA only goes round before another one has a turn.
const RESTS: u32 = 8;
/// The most CTAs under way at once.
const RESIDENT: usize = 1 << 12;

/// A CTA under way.
pub struct Cta {
    /// What its warps share.
    pub hall: Hall,
    /// Its warps.
    pub warps: Vec<Warp>,
}

/// What draws the order.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as u32) % sides.max(1)
    }
}

/// Runs all CTAs of a grid.
///
/// # Errors
/// If something keeps the grid from running at all.
pub fn run(program: &Program, world: &mut World, block: [u32; 3]) -> Result<(), Stop> {
    let count = world.grid.iter().map(|n| u64::from(*n)).product::<u64>();
    let size = world.options.cluster.iter().map(|n| u64::from(*n)).product::<u64>();
    run_some(program, world, block, 0..count / size)
}

/// Runs the CTAs of some clusters of a grid.
///
/// # Errors
/// If something keeps them from running at all.
pub fn run_some(program: &Program, world: &mut World, block: [u32; 3], clusters: Range<u64>) -> Result<(), Stop> {
    let (first, count) = (clusters.start, clusters.end - clusters.start);
    let seed = world.options.schedule;
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut waiting = (0..count).map(|at| match seed {
        0 => first + at,
        seed => first + shuffled(at, count, seed),
    });
    let mut resident: Vec<Vec<Cta>> = Vec::new();
    let mut spare: Vec<Cta> = Vec::new();
    let mut turn = 0;
    loop {
        if world.over {
            return Ok(());
        }
        // A CTA that does not come to its end in its turn may be waiting for one that has not begun.
        if (resident.is_empty() || turn >= resident.len()) && resident.len() < RESIDENT {
            match waiting.next() {
                Some(group) => resident.push(start(program, world, block, group, &mut spare)),
                None if resident.is_empty() => return Ok(()),
                None => turn = 0,
            }
        }
        turn = if turn >= resident.len() { 0 } else { turn };
        let Some(group) = resident.get_mut(turn) else {
            return Ok(());
        };
        if turns(program, world, group, &mut dice, seed != 0) {
            let done = resident.swap_remove(turn);
            stuck::leftovers(program, world, &done);
            for cta in &done {
                world.forget_values(cta.hall.number, cta.hall.shared);
            }
            if world.look(done.len() as u64) {
                world.over = true;
                world.stop = program
                    .sites
                    .get(program.entry as usize)
                    .copied()
                    .map(Stop::Interrupted);
            }
            spare.extend(done);
        } else {
            turn += 1;
        }
    }
}

/// A permutation of `0..count`, without a table.
fn shuffled(at: u64, count: u64, seed: u64) -> u64 {
    let step = (seed.wrapping_mul(2) | 1) % count.max(1);
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let step = (step.max(1)..).find(|step| gcd(*step, count) == 1).unwrap_or(1);
    let (at, step, count) = (u128::from(at), u128::from(step), u128::from(count));
    ((at * step + u128::from(seed)) % count) as u64
}

/// The CTAs of a group of one cluster.
fn members(world: &World, group: u64) -> Vec<[u32; 3]> {
    let cluster = world.options.cluster;
    let across = [0, 1, 2].map(|at| u64::from(world.grid[at] / cluster[at]));
    let first = [
        group % across[0],
        group / across[0] % across[1],
        group / (across[0] * across[1]),
    ];
    let mut members = Vec::new();
    for z in 0..cluster[2] {
        for y in 0..cluster[1] {
            for x in 0..cluster[0] {
                let at = |axis: usize, offset: u32| first[axis] as u32 * cluster[axis] + offset;
                members.push([at(0, x), at(1, y), at(2, z)]);
            }
        }
    }
    members
}

fn start(program: &Program, world: &mut World, block: [u32; 3], group: u64, spare: &mut Vec<Cta>) -> Vec<Cta> {
    let members = members(world, group);
    let mut ctas: Vec<Cta> = Vec::new();
    for cta in members {
        let number = u64::from(cta[0])
            + u64::from(world.grid[0]) * (u64::from(cta[1]) + u64::from(world.grid[1]) * u64::from(cta[2]));
        let (mut fresh, new) = match spare.pop() {
            Some(cta) => (cta, false),
            None => (build(program, world, block), true),
        };
        renew(program, world, &mut fresh, (cta, number), new);
        ctas.push(fresh);
    }
    let peers: Vec<usize> = ctas.iter().map(|cta| cta.hall.shared).collect();
    for (rank, cta) in ctas.iter_mut().enumerate() {
        cta.hall.peers.clone_from(&peers);
        cta.hall.rank = rank as u32;
    }
    ctas
}

/// A CTA's memory; [`renew`] fills it.
fn build(program: &Program, world: &mut World, block: [u32; 3]) -> Cta {
    let threads: u32 = block.iter().product();
    world.shared.push(Block::unwritten(program.layout.shared_len as usize));
    let warp = |index: u32| Warp {
        file: File::clone(&program.file),
        splits: Vec::new(),
        live: 0,
        lanes: match threads - index * 32 {
            32.. => u32::MAX,
            few => (1 << few) - 1,
        },
        index,
        clock: 0,
        known: Known::default(),
        pending: Known::default(),
        fenced: None,
        frames: Vec::new(),
        local: Block::unwritten(program.layout.local_len as usize * 32),
        arena: Block::unwritten(program.layout.arena_len as usize * 32),
        executed: 0,
        groups: [[0; 32]; 2],
        cluster_arrived: 0,
        cluster_done: 0,
        rested: false,
        exits: Vec::new(),
        passed: Vec::new(),
        accumulators: Accumulators::default(),
    };
    Cta {
        hall: Hall {
            number: 0,
            cta: [0; 3],
            shared: world.shared.len() - 1,
            epoch: 0,
            bars: Vec::new(),
            live: threads,
            block,
            touched: 0,
            entered: 0,
            peers: Vec::new(),
            fenced: Default::default(),
            tensors: Tensors::default(),
            specials: Vec::new(),
            rank: 0,
            cluster_known: Known::default(),
            cluster_over: Known::default(),
        },
        warps: (0..threads.div_ceil(32)).map(warp).collect(),
    }
}

/// Makes a CTA ready for its first instruction.
fn renew(program: &Program, world: &mut World, fresh: &mut Cta, (cta, number): ([u32; 3], u64), fresh_built: bool) {
    let Cta { hall, warps } = fresh;
    if let Some(shared) = world.shared.get_mut(hall.shared) {
        shared.renew();
    }
    hall.number = number;
    hall.cta = cta;
    hall.epoch = 0;
    hall.bars.resize(16, Bar::default());
    for id in lanes(std::mem::take(&mut hall.entered)) {
        hall.bars[id] = Bar::default();
    }
    hall.live = hall.block.iter().product();
    hall.touched = 0;
    hall.fenced = Default::default();
    hall.tensors = Tensors::default();
    hall.cluster_known.clear();
    hall.cluster_over.clear();
    let shared = BlockId::Shared(hall.shared as u32);
    if !world.mbarriers.is_empty() {
        world.mbarriers.retain(|(block, _), _| *block != shared);
    }
    world.flights.retain(|(_, flight)| flight.to.block != shared);
    if !world.sync.is_empty() {
        world.sync.retain(|(block, _), _| *block != shared);
    }
    for warp in warps.iter_mut() {
        warp.live = warp.lanes;
        warp.clock = 0;
        warp.known.clear();
        warp.pending.clear();
        warp.fenced = None;
        warp.splits.clear();
        warp.splits.push(Split {
            pc: program.entry,
            mask: warp.lanes,
            frame: 0,
            wait: Wait::Ready,
        });
        warp.frames.clear();
        warp.frames.push(Frame {
            parent: 0,
            back: 0,
            depth: 0,
            call: 0,
            function: program.kernel.0,
            saved: None,
            stack: None,
        });
        if let Some(at) = program.stack.map(|at| at as usize) {
            warp.file.longs[at] = program.file.longs[at];
        }
        warp.executed = 0;
        warp.groups = [[0; 32]; 2];
        warp.cluster_arrived = 0;
        warp.cluster_done = 0;
        warp.exits.clear();
        warp.passed.clear();
        warp.accumulators = Accumulators::default();
        for at in &program.watched {
            warp.file.preds[*at as usize] = 0;
        }
        if !warp.local.bytes.is_empty() {
            warp.local.renew();
        }
        if !warp.arena.bytes.is_empty() {
            warp.arena.renew();
        }
        let mut ctx = Ctx {
            program,
            world,
            hall,
            warp,
        };
        if fresh_built {
            ctx.set_lasting();
        }
        ctx.set_specials();
    }
}

/// Gives the warps of a group their turns. Whether all of its threads have exited.
fn turns(program: &Program, world: &mut World, group: &mut [Cta], dice: &mut Dice, random: bool) -> bool {
    let mut rests = 0;
    for _ in 0..ROUNDS {
        let mut progress = false;
        world.resting = true;
        for cta in group.iter_mut() {
            progress |= round(program, world, cta, dice, random);
            if world.over {
                return false;
            }
        }
        if group.iter().all(|cta| cta.hall.live == 0) {
            leftovers(program, world, group);
            return true;
        }
        progress |= super::cluster::settle(group);
        // What only goes round may be waiting for another CTA.
        rests = if world.resting { rests + 1 } else { 0 };
        if progress && rests >= RESTS {
            return false;
        }
        if !progress {
            stuck::report(program, world, group);
            world.over = true;
            return false;
        }
    }
    false
}

/// What the threads of CTAs leave behind.
fn leftovers(program: &Program, world: &mut World, group: &mut [Cta]) {
    for Cta { hall, warps } in group {
        if let Some(warp) = warps.first_mut().filter(|_| !hall.tensors.taken.is_empty()) {
            let mut ctx = Ctx {
                program,
                world,
                hall,
                warp,
            };
            ctx.leftover_columns();
        }
    }
}

/// One turn for each warp of a CTA. Whether any of them could run.
fn round(program: &Program, world: &mut World, cta: &mut Cta, dice: &mut Dice, random: bool) -> bool {
    let Cta { hall, warps } = cta;
    let count = warps.len() as u32;
    let first = if random { dice.roll(count) } else { 0 };
    let mut progress = false;
    for at in (first..count).chain(0..first) {
        let slices = if random { 1 + dice.roll(8) } else { SLICES };
        let Some(warp) = warps.get_mut(at as usize) else {
            continue;
        };
        if warp.live == 0 {
            continue;
        }
        let mut ctx = Ctx {
            program,
            world,
            hall,
            warp,
        };
        progress |= ctx.run(slices);
        if world.over {
            return true;
        }
        if hall.touched != 0 {
            progress |= barrier::settle(program, world, hall, warps);
        }
    }
    progress
}

impl World {
    /// The budget is used up here.
    pub fn exhausted(&self, site: super::super::Site) -> Stop {
        Stop::Limit(Limit {
            site,
            budget: self.options.budget,
        })
    }
}
