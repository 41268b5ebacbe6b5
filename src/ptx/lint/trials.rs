//! Trial runs of every kernel, compared: what holds for every launch, what for some, what rests on made-up numbers.

use super::between::Between;
use super::plan::{Plan, Shaped, Worth, blocks, unusual};
use super::racing::sm;
use super::{Launch, numbers};
use crate::ptx::analysis::trial::{self, Clobber, Conflict, Fault, Outcome, Programs, Sample, Site, Stop};
use crate::ptx::analysis::{Shape, Twins};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, FuncId, Function, InstId, Module};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Instructions that one run may take at most, beside some for each instruction of the kernel.
const FUEL: u32 = 20_000;
/// Instructions that all runs of a module are to take, beside some for each of its instructions.
const BUDGET: u64 = 1_000_000;
const SHARE: u64 = 8;
/// However little is left, each kernel gets this, beside some for each of its instructions...
const LEAST_FUEL: u32 = 400;
/// ... until the whole is used up so many times.
const MOST_TIMES: u64 = 4;
/// Numbers that all registers hold in a run: threads times registers.
pub(super) const MOST_HELD: usize = 1 << 23;

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
    /// The numbers in integer parameters without which it does not show.
    pub(super) numbers: Option<Sample>,
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
    /// Loads of global memory from where loaded data says.
    pub(super) gathers: Vec<InstId>,
    /// The load or atomic of a flag in memory that is waited for.
    pub(super) flag: Option<InstId>,
    /// Asynchronous copies that all runs have come to, with nothing in conflict.
    pub(super) calm: Vec<InstId>,
    /// Where and why races were not looked for, or not everywhere.
    pub(super) unclear: Option<(Option<Site>, String)>,
}

/// Runs every kernel of a module; kernels that are the same but for names are run once.
pub(super) fn all(module: &Module, launch: &Launch) -> Vec<Tried> {
    let mut programs = Programs::new(module);
    let mut twins = Twins::default();
    let mut first: FxHashMap<FuncId, Option<Tried>> = FxHashMap::default();
    let insts = |function: &Function| function.body.as_ref().map_or(0, |body| body.insts.len() as u64);
    let budget: u64 = BUDGET + SHARE * module.functions.iter().map(insts).sum::<u64>();
    let mut spent: u64 = 0;
    let worth = Worth::new(module);
    let mut kernels = module
        .functions
        .iter()
        .filter_map(|function| worth.body(function))
        .count() as u64;
    let mut found = Vec::new();
    for (id, function) in (0..).map(FuncId).zip(&module.functions) {
        let Some(body) = worth.body(function) else { continue };
        kernels = kernels.saturating_sub(1);
        if let Some((twin, renaming)) = twins.first(module, id).filter(|_| launch.params.is_empty()) {
            let told = first.get(&twin).and_then(Option::as_ref);
            found.extend(told.map(|tried| tried.renamed(&renaming)));
            continue;
        }
        // What one kernel does not need is left for the others.
        let share = budget.saturating_sub(spent) / kernels.max(1) / worth.divided(body);
        let tried = match spent < MOST_TIMES * budget {
            true => one(&mut programs, id, function, body, launch, share, &mut spent),
            false => Some(Tried::untried(id)),
        };
        programs.forget(id);
        found.extend(tried.clone());
        first.insert(id, tried);
    }
    found
}

fn one(
    programs: &mut Programs,
    id: FuncId,
    function: &Function,
    body: &Body,
    launch: &Launch,
    share: u64,
    spent: &mut u64,
) -> Option<Tried> {
    let shape = Shape::of(function, launch.block);
    let size = body.insts.len() as u32;
    // Where half of it is gone, loops are left early: little fuel makes runs short, not blind.
    let fuel = u32::try_from(2 * share)
        .unwrap_or(u32::MAX)
        .clamp(LEAST_FUEL + 4 * size, FUEL + 4 * size);
    let plan = Plan {
        id,
        grid: launch.grid,
        given: launch.given(programs.module(), function),
        fuel,
        pair_fuel: (fuel / 4).max(LEAST_FUEL + 2 * size),
        assumed: !matches!(shape, Shape::Exact(_)),
        lockstep: sm(programs.module()).is_some_and(|sm| sm < 70),
        spent: Cell::new(0),
    };
    let tried = judge(programs, &plan, function, body, shape);
    *spent += plan.spent.get();
    tried
}

fn judge(programs: &mut Programs, plan: &Plan, function: &Function, body: &Body, shape: Shape) -> Option<Tried> {
    let id = plan.id;
    let mut blocks = blocks(programs.module(), shape, body);
    blocks.retain(|block| block.iter().product::<u32>() as usize * body.regs.len() <= MOST_HELD);
    // Where steps are scarce, fewer threads must do.
    if plan.fuel < FUEL / 2 && blocks.len() > 1 && blocks.iter().all(|block| block[1] == 1) {
        blocks.retain(|block| block[0] <= 128);
    }
    if blocks.is_empty() {
        let why = "it has too many registers to be run".to_owned();
        return Some(Tried {
            unclear: Some((None, why)),
            ..Tried::nothing(id)
        });
    }
    let mut shaped = plan.try_all(programs, &blocks)?;
    if plan.assumed && shaped.iter().all(|shaped| strays(shaped, true)) {
        // None of the usual shapes fits into the arrays: an unusual one may.
        let mut more = plan.try_all(programs, unusual(shape))?;
        more.append(&mut shaped);
        shaped = more;
    }
    let line = !matches!(shape, Shape::Unknown(_));
    let crowded = plan.assumed && !line && shaped.iter().filter(|shaped| fits(shaped)).all(collides);
    if crowded {
        // All usual shapes have too many threads in a column: the kernel may say how wide and how high it is meant to be.
        let mut more = match &super::widths::shapes(body)[..] {
            [] => Vec::new(),
            shapes => plan.try_all(programs, shapes)?,
        };
        more.append(&mut shaped);
        shaped = more;
    }
    let mut tried = Tried {
        faults: faults(&shaped, line),
        clobbers: clobbers(&shaped),
        read_only: shaped.last()?.runs.first()?.read_only.clone(),
        assumed: plan.assumed,
        ..Tried::nothing(id)
    };
    let is_known = body.insts.iter().all(|inst| inst.op.is_known());
    match trial::obstacle(programs, id) {
        // That is said of the kernel as a whole.
        Some(_) if !is_known => {}
        Some((inst, why)) => {
            tried.unclear = Some((Some(Site { function: id, inst }), why.to_owned()));
            tried.flag = (why == trial::FLAG).then_some(inst);
            let is_global = body
                .insts
                .get(inst.index())
                .is_some_and(|row| row.op.space == Space::Global);
            if tried.flag.is_some() && is_global {
                tried.races = beside_flag(&plausible(&shaped, true));
            }
        }
        None => {
            let several = has_barrier(body) || shaped.iter().any(|shaped| shaped.runs.iter().any(|run| run.warps));
            let shapes = plausible(&shaped, several);
            tried.assumes = collision(&shaped, &shapes);
            let explored = shapes.last().map(|shaped| plan.explore(programs, shaped));
            tried.races = races(&shapes, is_bounded(&shaped, &shapes), &explored.unwrap_or_default());
            if let Some((block, conflict)) = tried.assumes.take_if(|_| crowded) {
                tried.races.push(Race {
                    conflict,
                    block,
                    level: Level::Info,
                    others: Vec::new(),
                    numbers: None,
                });
            }
            // Nor is anything where no shape fits that was tried.
            if tried.assumed && shapes.iter().all(|shaped| strays(shaped, true)) {
                tried.races.iter_mut().for_each(|race| race.level = Level::Info);
            }
            if tried.assumed {
                super::blind::settle(programs, plan, body, shape, &mut tried.races);
            } else {
                super::blind::settle_numbers(programs, plan, &mut tried.races);
            }
            super::idioms::excuse(id, body, &mut tried.races);
            tried.unclear = unclear(&shapes);
            if shapes
                .iter()
                .all(|shaped| shaped.runs.iter().all(|run| run.stop.is_none()))
            {
                tried.calm = calm(id, body, &shapes);
            }
            let integers = numbers::takes_integers(programs.module(), function);
            if integers && tried.races.iter().all(|race| race.level == Level::Info) {
                tried
                    .races
                    .extend(numbers::small(programs, plan, body, &shapes, shape, &tried.races));
            }
            tried.races.extend(numbers::scattered(&shapes, &tried.races));
            tried.gathers = gathers(id, &shapes);
            let usual = tried
                .assumes
                .is_none_or(|(block, _)| block.iter().product::<u32>() > 256);
            if tried.assumed && tried.races.is_empty() && usual {
                tried.races = super::wide::find(programs, plan, body, shape);
                // What is told need not be assumed away.
                tried.assumes = tried.assumes.filter(|_| tried.races.is_empty());
            }
            tried
                .races
                .sort_by_key(|race| (race.conflict.second, race.conflict.first));
            let mut ends = vec![shapes.first()?.block, shapes.last()?.block];
            ends.dedup();
            if !plan.assumed || shapes.iter().all(|shaped| !strays(shaped, true)) {
                tried.between = super::between::find(programs, plan, body, shape, &ends, integers);
            }
            if super::helpers::order_ctas(programs.module(), body) {
                let all = tried.races.iter_mut().filter(|race| !race.conflict.shared);
                all.for_each(|race| race.level = Level::Info);
                tried.between.iter_mut().for_each(|between| between.sure = false);
            }
        }
    }
    Some(tried)
}

/// Races in shared memory of a kernel that waits for a flag in global memory: the flag is for other CTAs, most likely.
fn beside_flag(shapes: &[&Shaped]) -> Vec<Race> {
    let mut races = races(shapes, false, &[]);
    races.retain(|race| race.conflict.shared);
    for race in &mut races {
        race.level = race.level.max(Level::Warning);
    }
    races
}

/// The kernel's own loads from where loaded data says.
fn gathers(id: FuncId, shapes: &[&Shaped]) -> Vec<InstId> {
    let runs = shapes.last().and_then(|shaped| shaped.runs.first());
    let sites = runs.iter().flat_map(|run| &run.gathered);
    sites.filter(|site| site.function == id).map(|site| site.inst).collect()
}

/// Asynchronous copies that are in conflict with nothing.
fn calm(id: FuncId, body: &Body, shapes: &[&Shaped]) -> Vec<InstId> {
    let is_calm = |inst: InstId| {
        let site = Site { function: id, inst };
        let concerns = |conflict: &Conflict| conflict.first == site || conflict.second == site;
        let mut runs = shapes.iter().flat_map(|shaped| &shaped.runs);
        runs.all(|run| run.sites.contains(&site) && !run.conflicts.iter().any(concerns))
    };
    let copies = (0..).map(InstId).zip(&body.insts);
    let copies = copies.filter(|(_, inst)| inst.op.effect == Effect::Async);
    copies.map(|(at, _)| at).filter(|at| is_calm(*at)).collect()
}

/// Whether the kernel waits for all threads of its CTA, so that it has more than one warp.
pub(super) fn has_barrier(body: &Body) -> bool {
    body.insts.iter().any(|inst| inst.op.effect == Effect::Barrier)
}

type Pair = (Site, Site);

pub(super) fn pair(conflict: &Conflict) -> Pair {
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
    // Best are shapes that stay within the arrays whatever the parameters are; else those that leave them for some only.
    let mut shapes: Vec<&Shaped> = shaped.iter().filter(|shaped| !strays(shaped, true)).collect();
    if shapes.is_empty() {
        shapes = shaped.iter().filter(|shaped| fits(shaped)).collect();
    }
    if shapes.iter().any(|shaped| !halts(shaped)) {
        shapes.retain(|shaped| !halts(shaped));
    }
    if shapes.is_empty() {
        return shaped.iter().collect();
    }
    // Where threads get in each other's way in one store, but fewer do not, the kernel is made for fewer.
    if shapes.iter().any(|shaped| !collides(shaped)) {
        shapes.retain(|shaped| !collides(shaped));
    }
    if several && shapes.len() > 1 && shapes[0].block == [32, 1, 1] {
        shapes.remove(0);
    }
    // A shape whose threads fill an array to the brim is the one that the kernel is written for.
    let made_for = shapes
        .iter()
        .rev()
        .find(|shaped| shaped.runs.iter().all(|run| run.fills));
    if let Some(made_for) = made_for {
        return vec![*made_for];
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

/// Whether the arrays have room for the largest of the shapes, and not for a larger one: then that is what they are made for.
fn is_bounded(shaped: &[Shaped], shapes: &[&Shaped]) -> bool {
    let size = |shaped: &Shaped| shaped.block.iter().product::<u32>();
    let most = shapes.iter().map(|shaped| size(shaped)).max().unwrap_or(0);
    shapes.iter().all(|shaped| !strays(shaped, true)) && shaped.iter().any(|one| size(one) > most && strays(one, true))
}

fn races(shapes: &[&Shaped], bounded: bool, explored: &[Outcome]) -> Vec<Race> {
    let per_shape: Vec<FxHashMap<Pair, Conflict>> = shapes.iter().map(|shaped| confirmed(&shaped.runs)).collect();
    let mut found: FxHashMap<Pair, Race> = FxHashMap::default();
    for (shaped, conflicts) in shapes.iter().zip(&per_shape) {
        for (pair, conflict) in conflicts {
            let shows = |others: &FxHashMap<Pair, Conflict>| {
                let other = others.get(pair);
                other.is_some_and(|other| other.equal == conflict.equal)
            };
            let everywhere = shapes
                .iter()
                .zip(&per_shape)
                .all(|(shaped, others)| shows(others) || !happen(shaped, pair));
            let race = Race {
                conflict: *conflict,
                block: shaped.block,
                level: match level(conflict, everywhere) {
                    Level::Info
                        if bounded
                            && !conflict.equal
                            && shapes.last().is_some_and(|last| last.block == shaped.block) =>
                    {
                        Level::Warning
                    }
                    level => level,
                },
                others: Vec::new(),
                numbers: None,
            };
            // Threads of several warps tell more than lanes of one.
            let known = found.entry(*pair).or_insert_with(|| race.clone());
            if race.level < known.level || race.level == known.level && known.conflict.in_warp && !conflict.in_warp {
                *known = race;
            }
        }
    }
    // What shows only where a branch on something unknown was turned round is possible, not certain; in global memory it may
    // take a loop that goes round no time.
    for (pair, conflict) in confirmed(explored) {
        let block = shapes.last().map_or([1; 3], |shaped| shaped.block);
        let most = if conflict.shared { Level::Warning } else { Level::Info };
        found.entry(pair).or_insert_with(|| Race {
            conflict,
            block,
            level: level(&conflict, shapes.len() == 1).max(most),
            others: Vec::new(),
            numbers: None,
        });
    }
    group(found.into_values().collect())
}

/// Whether threads wait for ever in a shape, or the runs break off for other reasons than their length.
fn halts(shaped: &Shaped) -> bool {
    let mut stops = shaped.runs.iter().filter_map(|run| run.stop);
    stops.any(|stop| stop != Stop::Fuel)
}

/// Whether some run of the shape comes to both accesses.
fn happen(shaped: &Shaped, pair: &Pair) -> bool {
    let mut runs = shaped.runs.iter();
    runs.any(|run| run.sites.contains(&pair.0) && run.sites.contains(&pair.1))
}

/// Whether a shape does not run out of the kernel's arrays.
fn fits(shaped: &Shaped) -> bool {
    !strays(shaped, false)
}

/// Whether a shape runs out of an array; by numbers that were made up, too, if `guesses`.
fn strays(shaped: &Shaped, guesses: bool) -> bool {
    let mut faults = shaped.runs.iter().flat_map(|run| &run.faults);
    faults.any(|fault| fault.kind.name() == "bounds" && (guesses || !fault.guess))
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
pub(super) fn group(mut all: Vec<Race>) -> Vec<Race> {
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
fn unclear(shaped: &[&Shaped]) -> Option<(Option<Site>, String)> {
    let mut stops = shaped.iter().flat_map(|shaped| &shaped.runs).filter_map(|run| run.stop);
    stops.find_map(|stop| match stop {
        Stop::Fuel => Some((None, "it takes too many steps".to_owned())),
        Stop::Unclear(site, why) => Some((Some(site), why.to_owned())),
        Stop::Tangled(_) | Stop::Deadlock | Stop::NeedsWarps => None,
    })
}
