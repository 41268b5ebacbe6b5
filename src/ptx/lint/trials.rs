//! Trial runs of every kernel, compared: what holds for every launch, what for some, what rests on made-up numbers.

use super::Launch;
use super::between::Between;
use super::plan::{Plan, Shaped, blocks, smaller};
use super::racing::sm;
use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, Clobber, Conflict, Fault, Outcome, Programs, Site, Stop};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, FuncId, Function, FunctionKind, Module};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// Instructions that one run may take at most, beside some for each instruction of the kernel.
const FUEL: u32 = 20_000;

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
    /// What two CTAs do to one place in global memory.
    pub(super) between: Option<Between>,
    /// A shape that the kernel was taken not to have, and the stores that would collide in it.
    pub(super) assumes: Option<([u32; 3], Conflict)>,
    /// Where and why races were not looked for, or not everywhere.
    pub(super) unclear: Option<(Option<Site>, String)>,
}

/// Runs every kernel of a module.
pub(super) fn all(module: &Module, launch: &Launch) -> Vec<Tried> {
    let mut programs = Programs::new(module);
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions
        .filter_map(|(id, function)| one(&mut programs, id, function, launch))
        .collect()
}

fn one(programs: &mut Programs, id: FuncId, function: &Function, launch: &Launch) -> Option<Tried> {
    let body = function.body.as_ref()?;
    if function.kind != FunctionKind::Entry || !is_worth_it(body) {
        return None;
    }
    let shape = Shape::of(function, launch.block);
    let plan = Plan {
        id,
        grid: launch.grid,
        fuel: FUEL + 4 * body.insts.len() as u32,
        assumed: !matches!(shape, Shape::Exact(_)),
        lockstep: sm(programs.module()).is_some_and(|sm| sm < 70),
    };
    let blocks = blocks(shape, body);
    let mut shaped = plan.try_all(programs, &blocks)?;
    if plan.assumed && !shaped.iter().any(fits) {
        // Arrays that no usual CTA fits into are made for a small one.
        let smaller = smaller(shape)
            .iter()
            .filter_map(|block| plan.try_all(programs, &[*block]));
        if let Some(small) = smaller.into_iter().find(|shaped| shaped.iter().all(fits)) {
            shaped = small;
        }
    }
    let line = !matches!(shape, Shape::Unknown(_));
    let obstacle = trial::obstacle(programs, id);
    let mut tried = Tried {
        function: id,
        races: Vec::new(),
        faults: faults(&shaped, line),
        clobbers: clobbers(&shaped),
        read_only: shaped.last()?.runs.first()?.read_only.clone(),
        assumed: plan.assumed,
        between: None,
        assumes: None,
        unclear: None,
    };
    let is_known = body.insts.iter().all(|inst| inst.op.is_known());
    match obstacle {
        // That is said of the kernel as a whole.
        Some(_) if !is_known => {}
        Some((inst, why)) => tried.unclear = Some((Some(Site { function: id, inst }), why.to_owned())),
        None => {
            let several = has_barrier(body) || shaped.iter().any(|shaped| shaped.runs.iter().any(|run| run.warps));
            let shapes = plausible(&shaped, several);
            tried.assumes = collision(&shaped, &shapes);
            let explored = shapes.last().map(|shaped| plan.explore(programs, shaped));
            tried.races = races(&shapes, &explored.unwrap_or_default());
            // What buffers in global memory hold room for is not known: without a launch nothing is sure there.
            for race in tried
                .races
                .iter_mut()
                .filter(|race| tried.assumed && !race.conflict.shared)
            {
                race.level = Level::Info;
            }
            tried.unclear = unclear(&shaped);
            tried.between = super::between::find(programs, id, body, shape, launch.grid, plan.fuel);
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

/// Whether the kernel waits for all threads of its CTA, so that it has more than one warp.
fn has_barrier(body: &Body) -> bool {
    body.insts.iter().any(|inst| inst.op.effect == Effect::Barrier)
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

/// The shapes that the kernel may be made for.
///
/// `several`: it has more than one warp, by what it does.
fn plausible(shaped: &[Shaped], several: bool) -> Vec<&Shaped> {
    let mut shapes: Vec<&Shaped> = shaped.iter().filter(|shaped| fits(shaped)).collect();
    if shapes.is_empty() {
        return shaped.iter().collect();
    }
    // Where threads get in each other's way in one store, but fewer do not, the kernel is made for fewer.
    if shapes.iter().any(|shaped| !collides(shaped)) {
        shapes.retain(|shaped| !collides(shaped));
    }
    // A shape whose threads fill an array to the brim is the one that the kernel is written for.
    let made_for = shapes
        .iter()
        .rev()
        .find(|shaped| shaped.runs.iter().all(|run| run.fills));
    if let Some(made_for) = made_for {
        return vec![*made_for];
    }
    if several && shapes.len() > 1 && shapes[0].block == [32, 1, 1] {
        shapes.remove(0);
    }
    shapes
}

/// Whether threads write different values to one address.
fn collides(shaped: &Shaped) -> bool {
    confirmed(&shaped.runs).values().any(collision_of)
}

fn collision_of(conflict: &Conflict) -> bool {
    conflict.writes == (true, true) && conflict.atomic == (false, false) && !conflict.equal && !conflict.maybe
}

/// A shape that was ruled out because threads of it would collide, and where.
fn collision(shaped: &[Shaped], kept: &[&Shaped]) -> Option<([u32; 3], Conflict)> {
    if kept.iter().any(|kept| collides(kept)) {
        return None;
    }
    let ruled_out = shaped
        .iter()
        .filter(|shaped| fits(shaped) && kept.iter().all(|kept| kept.block != shaped.block));
    let mut found = ruled_out.filter_map(|shaped| {
        let mut all: Vec<Conflict> = confirmed(&shaped.runs).into_values().filter(collision_of).collect();
        all.sort_by_key(pair);
        Some((shaped.block, *all.first()?))
    });
    found.next()
}

fn races(shapes: &[&Shaped], explored: &[Outcome]) -> Vec<Race> {
    let per_shape: Vec<FxHashMap<Pair, Conflict>> = shapes.iter().map(|shaped| confirmed(&shaped.runs)).collect();
    let mut found: FxHashMap<Pair, Race> = FxHashMap::default();
    for (shaped, conflicts) in shapes.iter().zip(&per_shape) {
        for (pair, conflict) in conflicts {
            let everywhere = per_shape
                .iter()
                .all(|others| others.get(pair).is_some_and(|other| other.equal == conflict.equal));
            let race = Race {
                conflict: *conflict,
                block: shaped.block,
                level: level(conflict, everywhere),
                others: Vec::new(),
            };
            // Threads of several warps tell more than lanes of one.
            let known = found.entry(*pair).or_insert_with(|| race.clone());
            if known.conflict.in_warp && !conflict.in_warp {
                *known = race;
            }
        }
    }
    // What shows only where a branch on something unknown was turned round is possible, not certain.
    for (pair, conflict) in confirmed(explored) {
        let block = shapes.last().map_or([1; 3], |shaped| shaped.block);
        found.entry(pair).or_insert_with(|| Race {
            conflict,
            block,
            level: level(&conflict, shapes.len() == 1).max(Level::Warning),
            others: Vec::new(),
        });
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
    all.sort_by_key(|race| {
        (
            race.level,
            race.conflict.in_warp,
            race.conflict.times.1,
            race.conflict.times.0,
            pair(&race.conflict),
        )
    });
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
            let everywhere = (nested || fault.constant)
                && shaped.iter().all(|shaped| {
                    let mut faults = shaped.runs.iter().flat_map(|run| &run.faults);
                    faults.any(|other| key(other) == key(fault) && certain(&other))
                });
            let level = if everywhere && certain(&fault) {
                Level::Error
            } else {
                Level::Info
            };
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
    let of =
        |shaped: &Shaped| -> Vec<Clobber> { shaped.runs.first().map_or_else(Vec::new, |run| run.clobbers.clone()) };
    let mut found = shaped.first().map(of).unwrap_or_default();
    found.retain(|clobber| shaped.iter().all(|shaped| of(shaped).contains(clobber)));
    found.sort();
    found.dedup_by_key(|clobber| clobber.slot);
    found
}

/// Where runs broke off, and how; what barriers do to control flow has rules of its own.
fn unclear(shaped: &[Shaped]) -> Option<(Option<Site>, String)> {
    let mut stops = shaped.iter().flat_map(|shaped| &shaped.runs).filter_map(|run| run.stop);
    stops.find_map(|stop| match stop {
        Stop::Fuel => Some((None, "it takes too many steps".to_owned())),
        Stop::Unclear(site, why) => Some((Some(site), why.to_owned())),
        Stop::Tangled(_) | Stop::Deadlock | Stop::NeedsWarps => None,
    })
}
