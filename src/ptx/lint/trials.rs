//! Trial runs of every kernel, compared: what holds for every launch, what for some, what rests on made-up numbers.

use super::Launch;
use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, Clobber, Conflict, Fault, Outcome, Programs, Setup, Site, Stop};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, FuncId, Function, FunctionKind, InstId, Module, Operand};
use crate::ptx::isa::{Effect, Extent};
use crate::ptx::types::Space;
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions that one run may take at most, beside some for each instruction of the kernel.
const FUEL: u32 = 30_000;

/// Two accesses that race.
#[derive(Clone, Debug)]
pub(super) struct Race {
    /// The accesses, with threads and address.
    pub(super) conflict: Conflict,
    /// The CTA's shape in the run that showed it.
    pub(super) block: [u32; 3],
    /// How sure it is.
    pub(super) level: Level,
    /// Further accesses that the same missing barrier lets race.
    pub(super) others: Vec<Conflict>,
}

/// A faulty access, and how sure that is.
#[derive(Clone, Debug)]
pub(super) struct Faulty {
    pub(super) fault: Fault,
    pub(super) block: [u32; 3],
    pub(super) level: Level,
}

/// What the runs of a kernel have shown.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) function: FuncId,
    /// Races, one per missing barrier.
    pub(super) races: Vec<Race>,
    pub(super) faults: Vec<Faulty>,
    /// Elements of arrays lost to slots laid over them, one per slot.
    pub(super) clobbers: Vec<Clobber>,
    /// Loads through the read-only path of what is stored, with the store.
    pub(super) read_only: Vec<(Site, Site)>,
    /// Whether the shape of the CTA was assumed, not known.
    pub(super) assumed: bool,
    /// Where and why races were not looked for, or not everywhere.
    pub(super) unclear: Option<(Option<InstId>, String)>,
}

/// The runs of one shape.
struct Shaped {
    block: [u32; 3],
    runs: Vec<Outcome>,
    explored: Vec<Outcome>,
}

/// Runs every kernel of a module.
pub(super) fn all(module: &Module, launch: &Launch) -> Vec<Tried> {
    let mut programs = Programs::new(module);
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions.filter_map(|(id, function)| one(&mut programs, id, function, launch)).collect()
}

fn one(programs: &mut Programs, id: FuncId, function: &Function, launch: &Launch) -> Option<Tried> {
    let body = function.body.as_ref()?;
    if function.kind != FunctionKind::Entry || !is_worth_it(body) {
        return None;
    }
    let shape = Shape::of(function, launch.block);
    let fuel = FUEL + 4 * body.insts.len() as u32;
    let blocks = blocks(shape, body);
    let mut shaped: Vec<Shaped> = Vec::new();
    for block in &blocks {
        shaped.push(try_shape(programs, id, *block, launch.grid, fuel, shaped.is_empty())?);
    }
    let line = !matches!(shape, Shape::Unknown(_));
    let obstacle = trial::obstacle(programs, id);
    let mut tried = Tried {
        function: id,
        races: Vec::new(),
        faults: faults(&shaped, line),
        clobbers: clobbers(&shaped),
        read_only: shaped.last()?.runs.first()?.read_only.clone(),
        assumed: !matches!(shape, Shape::Exact(_)),
        unclear: None,
    };
    match obstacle {
        Some((inst, why)) => tried.unclear = Some((Some(inst), why.to_owned())),
        None => {
            let warps = shaped.iter().any(|shaped| shaped.runs.iter().any(|run| run.warps));
            if shaped.len() > 1 && (has_barrier(body) || warps) && shaped[0].block == [32, 1, 1] {
                shaped.remove(0);
            }
            tried.races = races(&shaped);
            // What buffers in global memory hold room for is not known: without a launch nothing is sure there.
            for race in tried.races.iter_mut().filter(|race| tried.assumed && !race.conflict.shared) {
                race.level = Level::Info;
            }
            tried.unclear = unclear(&shaped);
        }
    }
    Some(tried)
}

/// Whether the kernel has accesses that runs can judge.
fn is_worth_it(body: &Body) -> bool {
    body.insts.iter().any(|inst| {
        let memory = inst.op.effect.accesses_memory() && inst.op.space != Space::Param;
        memory && (inst.op.effect != Effect::Load || inst.op.space != Space::Global)
    })
}

/// The shapes to try: the exact one, else some usual ones, the smallest first.
fn blocks(shape: Shape, body: &Body) -> Vec<[u32; 3]> {
    let specials = || {
        let operands = body.insts.iter().flat_map(|inst| &inst.operands);
        operands.filter_map(|operand| match operand {
            Operand::Special(special) => Some(special),
            _ => None,
        })
    };
    let reads = |name: &str| specials().any(|special| special.name() == name);
    let usual: Vec<[u32; 3]> = match shape {
        Shape::Exact(dims) => return vec![dims],
        // Whoever does not ask which thread it is, is alone.
        _ if !specials().any(|special| special.info().extent > Extent::Cta) => vec![[1, 1, 1]],
        Shape::Line(_) => vec![[32, 1, 1], [64, 1, 1], [128, 1, 1], [256, 1, 1]],
        Shape::Unknown(_) if reads("%tid.z") => vec![[4, 4, 4], [8, 8, 4]],
        Shape::Unknown(_) => vec![[8, 8, 1], [16, 16, 1], [32, 8, 1], [32, 32, 1]],
    };
    let most = shape.most_threads();
    let mut fitting: Vec<[u32; 3]> = usual.into_iter().filter(|dims| dims.iter().product::<u32>() <= most).collect();
    if fitting.is_empty() {
        fitting.push([most.max(1), 1, 1]);
    }
    fitting
}

/// Whether the kernel waits for all threads of its CTA, so that it has more than one warp.
fn has_barrier(body: &Body) -> bool {
    body.insts.iter().any(|inst| inst.op.effect == Effect::Barrier)
}

fn try_shape(programs: &mut Programs, id: FuncId, block: [u32; 3], grid: Option<[u32; 3]>, fuel: u32, explore: bool) -> Option<Shaped> {
    let mut covered: FxHashSet<(Site, bool)> = FxHashSet::default();
    let setup = |sample, explore| Setup {
        block,
        grid,
        cta: None,
        sample,
        explore,
    };
    let mut runs = Vec::new();
    for sample in 0..2 {
        runs.push(trial::run(programs, id, &setup(sample, false), fuel, &mut covered)?);
    }
    let one_sided = covered.iter().any(|(site, way)| !covered.contains(&(*site, !way)));
    let mut explored = Vec::new();
    if explore && one_sided {
        for sample in 0..2 {
            explored.push(trial::run(programs, id, &setup(sample, true), fuel, &mut covered.clone())?);
        }
    }
    Some(Shaped { block, runs, explored })
}

type Pair = (Site, Site);

fn pair(conflict: &Conflict) -> Pair {
    (conflict.first.min(conflict.second), conflict.first.max(conflict.second))
}

/// The conflicts that every run shows in which both accesses happen; the worst of each pair.
fn confirmed(runs: &[Outcome]) -> FxHashMap<Pair, Conflict> {
    let mut found: FxHashMap<Pair, Conflict> = FxHashMap::default();
    for conflict in runs.iter().flat_map(|run| &run.conflicts) {
        let known = found.entry(pair(conflict)).or_insert(*conflict);
        if (conflict.equal, conflict.maybe) < (known.equal, known.maybe) {
            *known = *conflict;
        }
    }
    found.retain(|pair, _| {
        runs.iter().all(|run| {
            let both = run.sites.contains(&pair.0) && run.sites.contains(&pair.1);
            !both || run.conflicts.iter().any(|conflict| self::pair(conflict) == *pair)
        })
    });
    found
}

fn races(shaped: &[Shaped]) -> Vec<Race> {
    let plausible: Vec<&Shaped> = shaped.iter().filter(|shaped| fits(shaped)).collect();
    // A shape whose threads fill an array to the brim is the one that the kernel is written for.
    let made_for = plausible.iter().rev().find(|shaped| shaped.runs.iter().all(|run| run.fills));
    let shapes: Vec<&Shaped> = match made_for {
        Some(shaped) => vec![*shaped],
        None if plausible.is_empty() => shaped.iter().collect(),
        None => plausible,
    };
    let per_shape: Vec<FxHashMap<Pair, Conflict>> = shapes.iter().map(|shaped| confirmed(&shaped.runs)).collect();
    let mut found: FxHashMap<Pair, Race> = FxHashMap::default();
    for (shaped, conflicts) in shapes.iter().zip(&per_shape) {
        for (pair, conflict) in conflicts {
            let everywhere = per_shape.iter().all(|others| others.get(pair).is_some_and(|other| other.equal == conflict.equal));
            found.entry(*pair).or_insert_with(|| Race {
                conflict: *conflict,
                block: shaped.block,
                level: level(conflict, everywhere),
                others: Vec::new(),
            });
        }
    }
    for shaped in &shapes {
        for (pair, conflict) in confirmed(&shaped.explored) {
            found.entry(pair).or_insert_with(|| Race {
                conflict,
                block: shaped.block,
                level: level(&conflict, shapes.len() == 1).max(Level::Warning),
                others: Vec::new(),
            });
        }
    }
    group(found.into_values().collect())
}

/// Whether a shape does not run out of the kernel's arrays.
fn fits(shaped: &Shaped) -> bool {
    let mut faults = shaped.runs.iter().flat_map(|run| &run.faults);
    !faults.any(|fault| fault.kind.name() == "bounds" && !fault.guess)
}

fn level(conflict: &Conflict, everywhere: bool) -> Level {
    if conflict.equal || !everywhere {
        Level::Info
    } else if conflict.maybe || conflict.strong || conflict.atomic.0 || conflict.atomic.1 {
        Level::Warning
    } else {
        Level::Error
    }
}

/// One race per missing barrier: a barrier right before the second access of the earliest race cures others, too.
fn group(mut all: Vec<Race>) -> Vec<Race> {
    all.sort_by_key(|race| (race.level, race.conflict.in_warp, race.conflict.times.1, race.conflict.times.0, pair(&race.conflict)));
    let mut kept: Vec<Race> = Vec::new();
    for race in all {
        let (from, to) = race.conflict.times;
        let cured = kept.iter_mut().find(|kept| {
            let point = kept.conflict.times.1;
            let alike = kept.conflict.shared == race.conflict.shared && kept.conflict.times.0 < point;
            kept.level <= race.level && alike && from < point && point <= to && !race.conflict.equal
        });
        match cured {
            Some(kept) => kept.others.push(race.conflict),
            None => kept.push(race),
        }
    }
    kept.sort_by_key(|race| (race.conflict.second, race.conflict.first));
    kept
}

/// `nested`: what a small CTA does, a larger one does, too.
fn faults(shaped: &[Shaped], nested: bool) -> Vec<Faulty> {
    let mut found: FxHashMap<(Site, &'static str), Faulty> = FxHashMap::default();
    let key = |fault: &Fault| (fault.site, fault.kind.name());
    for shaped_one in shaped {
        for fault in shaped_one.runs.iter().flat_map(|run| &run.faults) {
            let certain = |fault: &&Fault| !fault.guess && !fault.maybe;
            let everywhere = (nested || fault.constant) && shaped.iter().all(|shaped| {
                let mut faults = shaped.runs.iter().flat_map(|run| &run.faults);
                faults.any(|other| key(other) == key(fault) && certain(&other))
            });
            let level = if everywhere && certain(&fault) { Level::Error } else { Level::Info };
            let known = found.entry(key(fault)).or_insert(Faulty {
                fault: *fault,
                block: shaped_one.block,
                level,
            });
            if level < known.level {
                (known.fault, known.level) = (*fault, level);
            }
        }
    }
    let mut found: Vec<Faulty> = found.into_values().collect();
    found.sort_by_key(|faulty| key(&faulty.fault));
    found
}

/// Those that show for all shapes.
fn clobbers(shaped: &[Shaped]) -> Vec<Clobber> {
    let of = |shaped: &Shaped| -> Vec<Clobber> { shaped.runs.first().map_or_else(Vec::new, |run| run.clobbers.clone()) };
    let mut found = shaped.first().map(of).unwrap_or_default();
    found.retain(|clobber| shaped.iter().all(|shaped| of(shaped).contains(clobber)));
    found.sort();
    found.dedup_by_key(|clobber| clobber.slot);
    found
}

/// Where runs broke off, and how.
fn unclear(shaped: &[Shaped]) -> Option<(Option<InstId>, String)> {
    let stop = shaped.iter().flat_map(|shaped| &shaped.runs).find_map(|run| run.stop)?;
    Some(match stop {
        Stop::Fuel => (None, "it takes too many steps".to_owned()),
        Stop::Tangled(site) => (Some(site.inst), "threads part before a barrier".to_owned()),
        Stop::Deadlock => (None, "its barriers do not let all threads pass".to_owned()),
        Stop::NeedsWarps => (None, "its warps wait for each other".to_owned()),
        Stop::Unclear(site, why) => (Some(site.inst), why.to_owned()),
    })
}
