//! Tries a contract on many cases and says which of its claims hold.

use super::family::Family;
use super::plan::{Plan, value};
use super::reference::{Named, Problem, Samples, Shape};
use super::trial::{Bench, Inputs, Trial, decode, inputs};
use super::{Against, Check, Contract, Measure, Near, Property, Role, separate};
use crate::ptx::analysis::provenance;
use crate::ptx::ir::{FuncId, InstId, Module};
use crate::ptx::num::convert::Convert;
use crate::ptx::sim::{Fault, Options, Stop, Stopped, Watch};
use crate::ptx::types::Type;
use rayon::prelude::*;
use std::sync::Arc;

/// How a contract is tried.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where random inputs and orders begin.
    pub seed: u64,
    /// Orders of CTAs and warps in which each case runs, the plain one first.
    pub schedules: u64,
    /// Random inputs of each shape and family.
    pub cases: u64,
    /// The most thread instructions of a launch.
    pub budget: u64,
    /// Who looks on, and may end it.
    pub watch: Option<Arc<Watch>>,
}

/// A case: shape, family and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Which shape of the contract.
    pub shape: usize,
    /// What its inputs are like.
    pub family: Family,
    /// Which of the random inputs.
    pub seed: u64,
}

/// What all cases came to.
#[derive(Debug, Default)]
pub struct Proof {
    /// One for each claim.
    pub verdicts: Vec<Verdict>,
    /// Faults, each where it was met first.
    pub faults: Vec<(Case, Fault)>,
    /// What stopped a case.
    pub stops: Vec<(usize, String, Stopped)>,
    /// Stores that are not shown to stay in outputs and scratch.
    pub strays: Vec<Stray>,
    /// Cases.
    pub cases: u64,
    /// Thread instructions of the plain order.
    pub instructions: u64,
    /// Cases that were left when whoever watches wanted no more.
    pub left: u64,
}

/// A store that is not shown to stay in outputs and scratch.
#[derive(Clone, Debug, PartialEq)]
pub struct Stray {
    /// In the text of which shape.
    pub shape: usize,
    /// The function.
    pub function: FuncId,
    /// The instruction.
    pub inst: InstId,
    /// Why.
    pub why: String,
    /// Whether its address is known to be made of something else; otherwise it could not be followed.
    pub certain: bool,
}

/// What a claim came to.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Cases that say something about it.
    pub cases: u64,
    /// Cases that break it.
    pub broken: u64,
    /// The greatest error, as a part of what is tolerated.
    pub worst: Option<Worst>,
    /// Where it breaks first.
    pub broken_at: Option<String>,
}

/// An error and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// The error, in the claim's measure.
    pub error: f64,
    /// What is tolerated there.
    pub tolerance: f64,
    /// The case and the element.
    pub place: String,
}

impl Worst {
    /// How much of the tolerance it takes.
    fn part(&self) -> f64 {
        match self.error {
            0.0 => 0.0,
            error => error / self.tolerance,
        }
    }

    /// Whether it is tolerated.
    fn holds(&self) -> bool {
        self.part() <= 1.0
    }
}

/// What one case says of one claim: nothing, an error, or yes or no with a place.
enum Word {
    Nothing,
    Error(Worst),
    Holds,
    Broken(String),
}

/// The cases of a contract.
pub fn cases(contract: &Contract, settings: &Settings) -> Vec<Case> {
    let mut all = Vec::new();
    for shape in 0..contract.shapes.len() {
        for family in &contract.families {
            let seeds = (0..settings.cases).map(|nth| settings.seed.wrapping_add(nth));
            all.extend(seeds.map(|seed| Case {
                shape,
                family: *family,
                seed,
            }));
        }
    }
    all
}

/// A case in words.
pub fn label(contract: &Contract, case: &Case) -> String {
    let shape = contract.shapes.get(case.shape).map(shape_label).unwrap_or_default();
    format!("{shape}; {} inputs, seed {}", case.family.word(), case.seed)
}

/// A shape in words.
pub fn shape_label(shape: &Shape) -> String {
    let parts: Vec<_> = shape.iter().map(|(name, value)| format!("{name} {value}")).collect();
    parts.join(", ")
}

/// Tries a contract: `modules` holds a module for each shape. `tick` is called once a case.
pub fn prove(contract: &Contract, modules: &[&Module], settings: &Settings, tick: &(dyn Fn() + Sync)) -> Proof {
    let mut proof = Proof {
        verdicts: vec![Verdict::default(); contract.claims.len()],
        ..Proof::default()
    };
    let mut benches = Vec::new();
    for (at, (shape, module)) in contract.shapes.iter().zip(modules).enumerate() {
        let bench = Plan::new(contract, shape, module)
            .map_err(Stop::Launch)
            .and_then(|plan| Bench::new(module, plan));
        match bench {
            Ok(bench) => {
                proof.look(at, &bench);
                benches.push(Some(bench));
            }
            Err(stop) => {
                proof.stops.push((at, shape_label(shape), stop.into()));
                benches.push(None);
            }
        }
    }
    let cases = cases(contract, settings);
    let results: Vec<_> = cases
        .par_iter()
        .map(|case| {
            let is_over = settings.watch.as_ref().is_some_and(|watch| watch.is_over());
            let bench = benches[case.shape].as_ref().filter(|_| !is_over);
            let result = bench.map(|bench| try_case(contract, bench, case, settings));
            tick();
            result
        })
        .collect();
    for (case, result) in cases.iter().zip(results) {
        match result {
            None => proof.left += u64::from(benches[case.shape].is_some()),
            Some(Ok(result)) => proof.take(contract, case, result),
            Some(Err(stopped)) => proof.stop(contract, case, stopped),
        }
    }
    proof
}

/// What one case came to.
struct Tried {
    words: Vec<Word>,
    faults: Vec<Fault>,
    instructions: u64,
}

impl Proof {
    /// Looks at the stores of a module: those whose address is made of other parameters than those that may be written.
    fn look(&mut self, shape: usize, bench: &Bench<'_>) {
        let module = bench.module();
        for launch in &bench.plan.launches {
            let Some(id) = module.function_named(&launch.entry) else {
                continue;
            };
            for write in provenance::writes(module, id) {
                let params = &module.function(id).params;
                let of = |param| params.iter().position(|known| *known == param);
                let stray = write.params.iter().find(|param| {
                    let arg = of(**param).and_then(|at| launch.args.get(at));
                    let buffer = arg.and_then(|arg| bench.plan.buffer_of(*arg));
                    buffer.is_none_or(|at| bench.plan.buffers[at].role == Role::In)
                });
                let (why, certain) = match (stray, write.unknown) {
                    (Some(param), _) => (format!("its address is made of `{}`", module.name(*param)), true),
                    (None, Some(why)) => (why.to_owned(), false),
                    (None, None) if write.params.is_empty() => ("its address is made of no parameter".to_owned(), true),
                    (None, None) => continue,
                };
                self.strays.push(Stray {
                    shape,
                    function: id,
                    inst: write.inst,
                    why,
                    certain,
                });
            }
        }
    }

    fn take(&mut self, contract: &Contract, case: &Case, tried: Tried) {
        self.cases += 1;
        self.instructions += tried.instructions;
        for fault in tried.faults {
            let is_known = |(at, known): &(Case, Fault)| at.shape == case.shape && known.repeats(&fault);
            if !self.faults.iter().any(is_known) {
                self.faults.push((*case, fault));
            }
        }
        for ((claim, verdict), word) in contract.claims.iter().zip(&mut self.verdicts).zip(tried.words) {
            let mut strays = self.strays.iter();
            let is_static = matches!(claim.check, Check::Holds(Property::OnlyOutputs));
            match word {
                Word::Holds if is_static && strays.any(|stray| stray.certain && stray.shape == case.shape) => {
                    verdict.add(Word::Broken("a store that goes elsewhere".into()), contract, case);
                }
                word => verdict.add(word, contract, case),
            }
        }
    }

    fn stop(&mut self, contract: &Contract, case: &Case, stopped: Stopped) {
        for fault in &stopped.faults {
            self.faults.push((*case, fault.clone()));
        }
        if matches!(stopped.stop, Stop::Interrupted(_)) {
            self.left += 1;
            return;
        }
        self.stops.push((case.shape, label(contract, case), stopped));
    }
}

impl Verdict {
    fn add(&mut self, word: Word, contract: &Contract, case: &Case) {
        let place = |at: &str| match at {
            "" => label(contract, case),
            at => format!("{at}; {}", label(contract, case)),
        };
        match word {
            Word::Nothing => return,
            Word::Holds => {}
            Word::Broken(at) => {
                self.broken += 1;
                self.broken_at.get_or_insert_with(|| place(&at));
            }
            Word::Error(mut worst) => {
                worst.place = place(&worst.place);
                if !worst.holds() {
                    self.broken += 1;
                    self.broken_at.get_or_insert_with(|| worst.place.clone());
                }
                if self.worst.as_ref().is_none_or(|known| worst.part() > known.part()) {
                    self.worst = Some(worst);
                }
            }
        }
        self.cases += 1;
    }
}

/// Runs a case in all orders and asks every claim.
fn try_case(contract: &Contract, bench: &Bench<'_>, case: &Case, settings: &Settings) -> Result<Tried, Stopped> {
    let shape = &contract.shapes[case.shape];
    let inputs = inputs(contract, shape, &bench.plan, case.family, case.seed);
    let options = |nth: u64| Options {
        budget: settings.budget,
        schedule: if nth == 0 {
            0
        } else {
            settings.seed.wrapping_add(nth).max(1)
        },
        watch: settings.watch.clone(),
        ..Options::default()
    };
    let mut first = bench.run(&inputs.bytes, &options(0))?;
    let mut differs = None;
    for nth in 1..settings.schedules {
        let other = bench.run(&inputs.bytes, &options(nth)).map_err(|mut stopped| {
            stopped.faults.splice(0..0, std::mem::take(&mut first.faults));
            stopped
        })?;
        differs = differs.or_else(|| difference(&bench.plan, &first, &other, options(nth).schedule));
        for mut fault in other.faults {
            if !first.faults.iter().any(|known| known.repeats(&fault)) {
                let seed = options(nth).schedule;
                fault
                    .notes
                    .push(format!("only in some orders: that of seed {seed} shows it"));
                first.faults.push(fault);
            }
        }
    }
    let problem = Problem {
        shape,
        inputs: &inputs.named,
        expression: contract.expression.as_ref(),
    };
    let exact = (contract.reference.compute)(&problem);
    let mut words = Vec::new();
    for claim in &contract.claims {
        words.push(match &claim.check {
            Check::Near(near) => {
                let asked = Asked {
                    contract,
                    bench,
                    case,
                    inputs: &inputs,
                    problem: &problem,
                    exact: &exact,
                };
                asked.near(near, &first).map_err(Stop::Launch)?
            }
            Check::Holds(Property::Clean) => match first.faults.first() {
                None => Word::Holds,
                Some(fault) => Word::Broken(fault.code.id.to_owned()),
            },
            Check::Holds(Property::Deterministic) if settings.schedules < 2 => Word::Nothing,
            Check::Holds(Property::Deterministic) => differs.clone().map_or(Word::Holds, Word::Broken),
            Check::Holds(Property::Once) => once(&bench.plan, &first),
            Check::Holds(Property::OnlyOutputs) => only_outputs(&bench.plan, &first),
        });
    }
    Ok(Tried {
        words,
        faults: first.faults,
        instructions: first.instructions,
    })
}

/// Where outputs of two orders differ.
fn difference(plan: &Plan, one: &Trial, other: &Trial, seed: u64) -> Option<String> {
    let outputs = outputs(plan);
    let mut places = outputs.filter_map(|at| {
        let mut pairs = one.buffers[at].iter().zip(&*other.buffers[at]);
        let byte = pairs.position(|(one, other)| one != other)?;
        let buffer = &plan.buffers[at];
        let place = buffer.place(byte / buffer.ty.bytes() as usize);
        Some(format!("{place} in the order of seed {seed}"))
    });
    places.next()
}

/// The buffers that the kernel has to write.
fn outputs(plan: &Plan) -> impl Iterator<Item = usize> {
    let all = plan.buffers.iter().enumerate();
    all.filter(|(_, buffer)| matches!(buffer.role, Role::Out | Role::InOut))
        .map(|(at, _)| at)
}

fn once(plan: &Plan, trial: &Trial) -> Word {
    for at in outputs(plan) {
        let wrong = trial.stores[at].iter().enumerate().find(|(_, count)| **count != 1);
        if let Some((byte, count)) = wrong {
            let buffer = &plan.buffers[at];
            let place = buffer.place(byte / buffer.ty.bytes() as usize);
            return Word::Broken(match count {
                0 => format!("{place} is not written"),
                count => format!("{place} is written {count} times"),
            });
        }
    }
    Word::Holds
}

fn only_outputs(plan: &Plan, trial: &Trial) -> Word {
    let inputs = plan.buffers.iter().zip(&trial.stores);
    for (buffer, stores) in inputs.filter(|(buffer, _)| buffer.role == Role::In) {
        if let Some(byte) = stores.iter().position(|count| *count > 0) {
            return Word::Broken(format!(
                "{} is written",
                buffer.place(byte / buffer.ty.bytes() as usize)
            ));
        }
    }
    Word::Holds
}

/// What a claim on numbers needs to know.
struct Asked<'a> {
    contract: &'a Contract,
    bench: &'a Bench<'a>,
    case: &'a Case,
    inputs: &'a Inputs,
    problem: &'a Problem<'a>,
    exact: &'a Named,
}

impl Asked<'_> {
    /// The largest error of an output.
    fn near(&self, near: &Near, trial: &Trial) -> Result<Word, String> {
        let mut outputs = outputs(&self.bench.plan);
        let Some(at) = outputs.find(|at| self.operand(*at) == near.output) else {
            return Ok(Word::Nothing);
        };
        let buffer = &self.bench.plan.buffers[at];
        let exact = self.exact.get(&near.output).map_or(&[][..], Vec::as_slice);
        if exact.len() != buffer.len() {
            let message = "has {} elements; the reference gives {}";
            let message = message.replacen("{}", &buffer.len().to_string(), 1);
            return Err(format!(
                "`{}` {}",
                buffer.name,
                message.replacen("{}", &exact.len().to_string(), 1)
            ));
        }
        let Some(wanted) = self.wanted(near, exact)? else {
            return Ok(Word::Nothing);
        };
        let got = decode(&trial.buffers[at], buffer.ty);
        let tolerance = value(&near.tolerance, self.problem.shape)?;
        let mut worst: Option<Worst> = None;
        for (element, want) in wanted {
            let error = error(got[element], want, buffer.ty, || {
                measure(near.relative_to, exact, element, buffer.row())
            });
            let found = Worst {
                error,
                tolerance,
                place: String::new(),
            };
            if worst.as_ref().is_none_or(|known| found.part() > known.part()) {
                let place = format!("{} is {:e}, not {:e}", buffer.place(element), got[element], want);
                worst = Some(Worst { place, ..found });
            }
        }
        Ok(worst.map_or(Word::Nothing, Word::Error))
    }

    /// What an output of the buffer is called in the reference.
    fn operand(&self, at: usize) -> &str {
        let buffer = &self.bench.plan.buffers[at];
        match buffer.role {
            Role::InOut => "out",
            _ => &buffer.operand,
        }
    }

    /// The elements to compare with; `None` where the comparison says nothing of such inputs.
    fn wanted(&self, near: &Near, exact: &[f64]) -> Result<Option<Samples>, String> {
        let all = |values: &[f64]| values.iter().copied().enumerate().collect();
        let finite = self.case.family.is_finite();
        Ok(match near.against {
            Against::Exact => Some(all(exact)),
            // A difference quotient with an infinite term is not the derivative.
            Against::Differences if !finite => None,
            Against::Differences => {
                let differences = self.contract.reference.differences;
                differences.map(|differences| differences(self.problem, &near.output))
            }
            Against::Separate => Some(all(&separate::output(self.problem.shape, &self.inputs.named)?)),
        })
    }
}

/// The error of an element in its measure. Where NaN or infinity is due, nothing else will do.
fn error(got: f64, want: f64, ty: Type, measure: impl Fn() -> f64) -> f64 {
    // What is too large for the type is infinite there.
    let bits = Convert::new(ty, Type::F64).apply(want.to_bits()).unwrap_or(0);
    let rounded = f64::from_bits(Convert::new(Type::F64, ty).apply(bits).unwrap_or(0));
    if got == want || got == rounded || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    if !got.is_finite() || !want.is_finite() {
        return f64::INFINITY;
    }
    (got - want).abs() / measure()
}

/// What errors of an element are measured in.
fn measure(measure: Measure, exact: &[f64], at: usize, row: usize) -> f64 {
    let most = |values: &[f64]| {
        let finite = values.iter().filter(|value| value.is_finite());
        finite.fold(0.0f64, |most, value| most.max(value.abs()))
    };
    match measure {
        Measure::Max => most(exact),
        Measure::MaxOrOne => most(exact).max(1.0),
        Measure::Row => most(&exact[at / row * row..][..row]),
        Measure::Element => exact[at].abs(),
        Measure::One => 1.0,
    }
}
