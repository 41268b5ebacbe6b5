//! Undefined values: what a shuffle reads from a lane that is not there, followed to where it does harm.
//!
//! Reading such a lane is common and often harmless: the upper lanes of a tree reduction hold nonsense that nobody looks at.
//! So the threads that hold nonsense are followed, thread by thread, and only what is stored is a finding.

use super::{Kind, Shuffle, Site, Sites, rolled};
use crate::ptx::analysis::{Evaluator, Exact, Shape, Threads, Unit, WARP};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use rustc_hash::FxHashMap;

/// Why a lane cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx::lint) enum Cause {
    /// The CTA has no such thread.
    Absent,
    /// The thread has left.
    Left,
    /// The mask does not name it.
    Unnamed,
}

/// An undefined value that is stored.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx::lint) struct Leak {
    /// The shuffle.
    pub(in crate::ptx::lint) shuffle: InstId,
    /// A thread that reads.
    pub(in crate::ptx::lint) reader: usize,
    /// The thread whose value it asks for.
    pub(in crate::ptx::lint) source: usize,
    /// Why that is undefined.
    pub(in crate::ptx::lint) cause: Cause,
    /// Where it ends up.
    pub(in crate::ptx::lint) sink: InstId,
    /// The thread that stores it.
    pub(in crate::ptx::lint) victim: usize,
}

/// A shuffle that reads what is not there.
struct Seed {
    inst: InstId,
    threads: Threads,
    first: (usize, usize, Cause),
}

/// Finds the undefined values of a function that are stored; the first of each shuffle.
pub(in crate::ptx::lint) fn leaks(unit: &Unit, sites: &Sites) -> Vec<Leak> {
    let mut evaluator = unit.evaluator();
    let seeds: Vec<Seed> = sites
        .sites
        .iter()
        .filter_map(|site| seed(unit, &mut evaluator, site))
        .collect();
    if seeds.is_empty() {
        return Vec::new();
    }
    let mut spread = Spread {
        unit,
        sites,
        seeds: &seeds,
        evaluator,
        held: FxHashMap::default(),
    };
    spread.run();
    spread.sinks()
}

fn seed(unit: &Unit, evaluator: &mut Evaluator, site: &Site) -> Option<Seed> {
    if site.kind != Kind::Shuffle || !site.company.sure || site.unnamed().is_some() {
        return None;
    }
    let mut shuffle = Shuffle::of(evaluator, site.inst, &unit.body.insts[site.inst.index()])?;
    let (mut rounds, mut carried) = (Vec::new(), false);
    if shuffle.lane.is_none() {
        (rounds, carried) = rolled::rounds(unit, evaluator, site.inst)?;
    }
    let mut first = None;
    let mut threads = Threads::default();
    for round in 0..rounds.len().max(1) {
        if let Some(lane) = rounds.get(round) {
            shuffle.lane = Some(Exact::Same(*lane));
        }
        let before = threads;
        for thread in site.company.threads.iter() {
            let Some(from) = shuffle.source(thread)? else { continue };
            let source = thread / WARP as usize * WARP as usize + from as usize;
            if let Some(cause) = cause(unit, site, thread, source) {
                first.get_or_insert((thread, source, cause));
                threads.insert(thread);
            } else if carried && before.contains(source) {
                threads.insert(thread);
            }
        }
    }
    Some(Seed {
        inst: site.inst,
        threads,
        first: first?,
    })
}

fn cause(unit: &Unit, site: &Site, thread: usize, source: usize) -> Option<Cause> {
    let exact = matches!(unit.shape, Shape::Exact(_));
    if exact && source >= unit.shape.most_threads() as usize {
        return Some(Cause::Absent);
    }
    if site.company.gone.contains(source) && !site.company.threads.contains(source) {
        return Some(Cause::Left);
    }
    // With the CTA's size open, a narrow mask may be all the lanes there are.
    let mask = site.mask.of(thread).filter(|_| exact)?;
    (mask >> (source % WARP as usize) & 1 == 0).then_some(Cause::Unnamed)
}

/// Who holds which undefined value.
struct Spread<'a> {
    unit: &'a Unit<'a>,
    sites: &'a Sites,
    seeds: &'a [Seed],
    evaluator: Evaluator<'a>,
    /// Per value, the threads, and the seed it comes from.
    held: FxHashMap<ValueId, (Threads, usize)>,
}

impl Spread<'_> {
    fn run(&mut self) {
        // What grows around a loop grows within a few rounds; what is missed is not reported.
        for _ in 0..3 {
            let before: u32 = self.held.values().map(|held| held.0.len()).sum();
            for block in self.unit.cfg.rpo() {
                for phi in self.unit.ssa.phis(*block) {
                    self.phi(*phi, *block);
                }
                for inst in self.unit.cfg.insts(*block).map(InstId) {
                    self.inst(inst);
                }
            }
            if self.held.values().map(|held| held.0.len()).sum::<u32>() == before {
                return;
            }
        }
    }

    fn add(&mut self, value: ValueId, threads: Threads, seed: usize) {
        if !threads.is_empty() {
            let held = self.held.entry(value).or_insert((Threads::default(), seed));
            held.0 = held.0.union(threads);
        }
    }

    /// A merged value is undefined where it is on every way that the thread can have come.
    fn phi(&mut self, phi: ValueId, block: u32) {
        let inputs = self.unit.ssa.phi_inputs(phi);
        let Some(seed) = inputs.iter().find_map(|input| self.held.get(input)).map(|held| held.1) else {
            return;
        };
        let mut all = Threads::default();
        let mut clean = Threads::default();
        for (pred, input) in self.unit.cfg.preds().next(block).iter().zip(inputs) {
            let Some(last) = self.unit.cfg.last(*pred) else { return };
            let Some(company) = self.sites.lanes.company(self.unit, last) else {
                return;
            };
            let come = company.threads;
            let held = self.held.get(input).map(|held| held.0).unwrap_or_default();
            all = all.union(come.common(held));
            clean = clean.union(come.without(held));
        }
        self.add(phi, all.without(clean), seed);
    }

    fn inst(&mut self, inst: InstId) {
        let [def] = self.unit.ssa.defs(inst) else {
            return self.shuffle(inst);
        };
        let row = &self.unit.body.insts[inst.index()];
        if row.op.effect == Effect::Warp {
            return self.shuffle(inst);
        }
        if row.op.effect != Effect::Pure {
            return;
        }
        let guard = usize::from(row.guard.is_some());
        let used: Vec<(Threads, usize)> = self
            .unit
            .ssa
            .uses(inst)
            .iter()
            .skip(guard)
            .filter_map(|value| self.held.get(value))
            .copied()
            .collect();
        let Some((_, seed)) = used.first().copied() else { return };
        let all = used.iter().fold(Threads::default(), |sum, held| sum.union(held.0));
        let result = if row.op.base() == "selp" {
            self.selected(inst, row)
        } else {
            all
        };
        let result = self.guarded(inst, row, result);
        self.add(*def, result, seed);
    }

    fn of_operand(&self, inst: InstId, operand: Option<&Operand>) -> Threads {
        let value = operand
            .and_then(Operand::as_reg)
            .and_then(|reg| self.unit.ssa.use_of(inst, reg));
        value
            .and_then(|value| self.held.get(&value))
            .map(|held| held.0)
            .unwrap_or_default()
    }

    /// Of a selection, what the predicate takes; of an unknown one, what both sides hold.
    fn selected(&mut self, inst: InstId, row: &Inst) -> Threads {
        let (yes, no) = (
            self.of_operand(inst, row.operands.get(1)),
            self.of_operand(inst, row.operands.get(2)),
        );
        let predicate = row
            .operands
            .get(3)
            .and_then(|operand| self.evaluator.operand(inst, operand));
        match predicate {
            Some(exact) => {
                let takes = |thread: usize| exact.of(thread) & 1 == 1;
                yes.filter(takes).union(no.filter(|thread| !takes(thread)))
            }
            None => yes.common(no),
        }
    }

    fn guarded(&mut self, inst: InstId, row: &Inst, result: Threads) -> Threads {
        let Some(guard) = row.guard else { return result };
        let before = self
            .unit
            .ssa
            .before(inst)
            .first()
            .and_then(|value| self.held.get(value));
        let before = before.map(|held| held.0).unwrap_or_default();
        let value = self.unit.ssa.use_of(inst, guard.reg);
        match value.and_then(|value| self.evaluator.value(value)) {
            Some(exact) => {
                let runs = |thread: usize| (exact.of(thread) & 1 == 1) != guard.negated;
                result.filter(runs).union(before.filter(|thread| !runs(thread)))
            }
            None => result.common(before),
        }
    }

    fn shuffle(&mut self, inst: InstId) {
        let row = &self.unit.body.insts[inst.index()];
        if row.op.base() != "shfl" || row.guard.is_some() {
            return;
        }
        let Some(def) = self.unit.ssa.defs(inst).first().copied() else {
            return;
        };
        if let Some(at) = self.seeds.iter().position(|seed| seed.inst == inst) {
            self.add(def, self.seeds[at].threads, at);
        }
        let value = row
            .operands
            .get(1)
            .and_then(Operand::as_reg)
            .and_then(|reg| self.unit.ssa.use_of(inst, reg));
        let Some((held, seed)) = value.and_then(|value| self.held.get(&value)).copied() else {
            return;
        };
        let Some(shuffle) = Shuffle::of(&mut self.evaluator, inst, row) else {
            return;
        };
        let reads = |thread: usize| match shuffle.source(thread) {
            Some(Some(from)) => held.contains(thread / WARP as usize * WARP as usize + from as usize),
            Some(None) => held.contains(thread),
            None => false,
        };
        let all = Threads::first(self.unit.shape.most_threads());
        self.add(def, all.filter(reads), seed);
    }

    /// The first store of each seed's value.
    fn sinks(&mut self) -> Vec<Leak> {
        let mut found: Vec<Leak> = Vec::new();
        for (inst, row) in (0..).map(InstId).zip(&self.unit.body.insts) {
            if !matches!(row.op.effect, Effect::Store | Effect::Atomic)
                || row.op.space == crate::ptx::types::Space::Param
            {
                continue;
            }
            let guard = usize::from(row.guard.is_some());
            let used = self
                .unit
                .ssa
                .uses(inst)
                .iter()
                .skip(guard)
                .filter_map(|value| self.held.get(value));
            let Some((held, seed)) = used.max_by_key(|held| held.0.len()).copied() else {
                continue;
            };
            let Some(company) = self.sites.lanes.company(self.unit, inst).filter(|company| company.sure) else {
                continue;
            };
            let Some(victim) = company.threads.common(held).iter().next() else {
                continue;
            };
            let seed = &self.seeds[seed];
            if found.iter().all(|leak| leak.shuffle != seed.inst) {
                let (reader, source, cause) = seed.first;
                found.push(Leak {
                    shuffle: seed.inst,
                    reader,
                    source,
                    cause,
                    sink: inst,
                    victim,
                });
            }
        }
        found
    }
}
