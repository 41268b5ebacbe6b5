//! Witnesses: a finding of the linter is shown by running its kernel in the simulator, on a launch that is made up where it is
//! not given.
//!
//! - `launches`: which launches are tried, the simplest first. `claim`: what a finding claims, and which faults show it.
//!
//! A witness is a proof for the launch that it names: the simulator meets the same fault at the same instructions. Where there
//! is none, that proves nothing: the launches are few, and their arguments are guesses. So no level depends on it.

mod claim;
mod launches;

pub use launches::{Launched, Passed, Value};

use super::analysis::trial::Programs;
use super::diag::{Code, Diag};
use super::ir::FuncId;
use super::lint::Launch;
use super::parse::Parsed;
use super::sim::{self, Fault, Stop, Stray, Thread};
use super::source::Span;
use claim::{Claim, Places};
use launches::{Buffers, Choice, Kernel};
use std::collections::BTreeMap;

/// Thread instructions of one run.
const BUDGET: u64 = 1 << 21;
/// Thread instructions of all runs of a kernel.
const SPENT: u64 = 1 << 24;
/// Runs of a kernel.
const RUNS: u32 = 64;
/// How often buffers are made as large as they get, in vain.
const MOST_OVERRUN: u32 = 2;
/// Launches that are run in other orders.
const MOST_FIT: usize = 5;
/// Launches that tell enough of a kernel of which nothing is claimed.
const EXPLORED: usize = 3;
/// Orders of warps and CTAs in which launches are run that show nothing in the plain one.
const ORDERS: u64 = 3;

/// What became of the search for a witness of one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// A run shows it.
    Shown(Box<Witness>),
    /// No run has shown it.
    NotShown(Tried),
}

/// A run that shows a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What was launched.
    pub launch: Launched,
    /// The fault's code: that of the finding, or of its kin.
    pub code: Code,
    /// What happens, in one sentence.
    pub message: String,
    /// At which instruction.
    pub span: Span,
    /// The thread that meets it.
    pub thread: Option<Thread>,
    /// The address, in the space of the instruction.
    pub address: Option<u64>,
    /// Who else takes part.
    pub others: Vec<Other>,
    /// How many times it is met in the run.
    pub times: u64,
    /// What else the run meets because its arguments are made up.
    pub reserve: Option<String>,
}

/// Another party of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// At which instruction.
    pub span: Option<Span>,
    /// Which thread.
    pub thread: Option<Thread>,
    /// What it does there.
    pub message: String,
}

/// Launches that have not shown a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// How many there were.
    pub launches: u32,
    /// Why some of them say nothing, with their number; the most frequent first.
    pub why: Vec<(String, u32)>,
}

/// Whether faults of the simulator can show a finding of this code: for these a witness is looked for.
pub fn can_show(code: Code) -> bool {
    !claim::kin(code.id).is_empty()
}

/// Looks for a witness of each finding; `None` where the simulator has no fault of its kind.
pub fn search(parsed: &Parsed, findings: &[Diag], launch: &Launch) -> Vec<Option<Search>> {
    let mut found: Vec<Option<Search>> = vec![None; findings.len()];
    let places = Places::new(parsed);
    let claims: Vec<Claim> = (0..)
        .zip(findings)
        .filter_map(|(at, diag)| places.claim(at, diag))
        .collect();
    let mut programs = Programs::new(&parsed.module);
    for (kernel, claims) in by_kernel(parsed, &claims) {
        let mut hunt = Hunt::new(parsed, kernel, claims);
        hunt.run(&mut programs, launch);
        programs.forget(kernel);
        for (claim, witness) in hunt.claims.iter().zip(hunt.shown) {
            let old = &mut found[claim.finding];
            match (witness, &old) {
                (_, Some(Search::Shown(_))) => {}
                (Some(witness), _) => *old = Some(Search::Shown(Box::new(witness))),
                (None, _) => *old = Some(Search::NotShown(hunt.tried.clone())),
            }
        }
    }
    found
}

/// What runs of a kernel meet, whatever the linter says of it: the faults of a few launches that it is made for, as far as that
/// can be seen, each once. The first launch is run in that many other orders of warps and CTAs, too.
///
/// # Errors
/// Why none of the launches tells anything.
pub fn explore(parsed: &Parsed, kernel: FuncId, launch: &Launch, orders: u64) -> Result<Vec<Fault>, Tried> {
    let mut hunt = Hunt::new(parsed, kernel, Vec::new());
    hunt.explored = Some(Vec::new());
    hunt.orders = orders;
    hunt.run(&mut Programs::new(&parsed.module), launch);
    match hunt.explored {
        Some(faults) if hunt.fit > 0 => Ok(faults),
        _ => Err(hunt.tried),
    }
}

/// Whether one of the faults of a run is what a finding says; `None` where the simulator has no fault of its kind.
pub fn is_shown(parsed: &Parsed, finding: &Diag, faults: &[Fault]) -> Option<bool> {
    let claim = Places::new(parsed).claim(0, finding)?;
    Some(claim.shown_by(faults).is_some())
}

/// The kernels in which claims may show: their own, or those that call their function.
fn by_kernel<'c>(parsed: &Parsed, claims: &'c [Claim]) -> BTreeMap<FuncId, Vec<&'c Claim>> {
    let mut kernels: BTreeMap<FuncId, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        for kernel in claim::kernels(&parsed.module, claim.function) {
            kernels.entry(kernel).or_default().push(claim);
        }
    }
    kernels
}

/// The search in one kernel.
struct Hunt<'p> {
    parsed: &'p Parsed,
    kernel: FuncId,
    claims: Vec<&'p Claim>,
    shown: Vec<Option<Witness>>,
    /// Witnesses in launches that the kernel is not made for: better than none.
    doubtful: Vec<Option<Witness>>,
    tried: Tried,
    spent: u64,
    buffers: Buffers,
    /// How often the largest buffers were not large enough.
    overrun: u32,
    /// Orders beside the plain one.
    orders: u64,
    /// Launches that the kernel is made for.
    fit: usize,
    /// The faults that those met, where they are asked for.
    explored: Option<Vec<Fault>>,
}

/// What a launch came to.
enum Try {
    /// It is one that the kernel is made for, as far as can be seen.
    Fit,
    /// It has run out of made-up buffers; the next size may do.
    TooSmall,
    /// It says nothing of the kernel, or not all of it was run.
    Unfit,
}

impl<'p> Hunt<'p> {
    fn new(parsed: &'p Parsed, kernel: FuncId, claims: Vec<&'p Claim>) -> Self {
        Self {
            parsed,
            kernel,
            shown: vec![None; claims.len()],
            doubtful: vec![None; claims.len()],
            claims,
            tried: Tried::default(),
            spent: 0,
            buffers: Buffers::default(),
            overrun: 0,
            orders: ORDERS,
            fit: 0,
            explored: None,
        }
    }

    fn is_over(&self) -> bool {
        let (is_enough, most) = match self.explored {
            Some(_) => (self.fit >= EXPLORED, RUNS / 8),
            None => (self.shown.iter().all(Option::is_some), RUNS),
        };
        is_enough || self.spent > SPENT || self.tried.launches >= most
    }

    fn run(&mut self, programs: &mut Programs, launch: &Launch) {
        let mut kernel = match Kernel::new(programs, self.kernel, launch) {
            Ok(kernel) => kernel,
            Err(why) => return self.note(why),
        };
        let choices = kernel.choices();
        let mut fit = self.try_all(&mut kernel, choices);
        if fit.is_empty() {
            let choices = kernel.unusual();
            fit = self.try_all(&mut kernel, choices);
        }
        let most = if self.explored.is_some() { 1 } else { MOST_FIT };
        for order in 1..=self.orders {
            for candidate in fit.iter().take(most) {
                if self.explored.is_none() && self.is_over() {
                    break;
                }
                let candidate = Launched {
                    schedule: order,
                    ..candidate.clone()
                };
                self.attempt(&kernel, &candidate);
            }
        }
        for (shown, doubtful) in self.shown.iter_mut().zip(&mut self.doubtful) {
            *shown = shown.take().or_else(|| doubtful.take());
        }
        self.tried.why.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }

    /// Runs launches in the plain order; those that the kernel is made for.
    fn try_all(&mut self, kernel: &mut Kernel, choices: Vec<Choice>) -> Vec<Launched> {
        let mut fit = Vec::new();
        for choice in choices {
            if self.is_over() {
                break;
            }
            let (candidate, outcome) = self.size_up(kernel, &choice);
            if matches!(outcome, Try::Fit) {
                fit.push(candidate);
            }
        }
        fit
    }

    /// Runs one launch, with larger buffers as long as it runs out of them.
    fn size_up(&mut self, kernel: &mut Kernel, choice: &Choice) -> (Launched, Try) {
        let size = kernel.size();
        loop {
            let candidate = kernel.launch(choice);
            let outcome = self.attempt(kernel, &candidate);
            if !matches!(outcome, Try::TooSmall) || self.overrun >= MOST_OVERRUN {
                return (candidate, outcome);
            }
            if !kernel.enlarge() {
                // Larger buffers cost time and are of no use.
                self.overrun += 1;
                kernel.shrink(size);
                return (candidate, outcome);
            }
        }
    }

    fn note(&mut self, why: String) {
        match self.tried.why.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => self.tried.why.push((why, 1)),
        }
    }

    /// Runs one launch, and takes what it shows.
    fn attempt(&mut self, kernel: &Kernel, candidate: &Launched) -> Try {
        let budget = self.explored.as_ref().map_or(BUDGET, |_| BUDGET / 16);
        let Some(launch) = candidate.launch(budget, &mut self.buffers) else {
            self.note("its buffers cannot be made".to_owned());
            return Try::Unfit;
        };
        self.tried.launches += 1;
        let (faults, stop) = match sim::run(&self.parsed.module, &candidate.kernel, &launch) {
            Ok(outcome) => {
                self.spent += outcome.stats.thread_instructions;
                (outcome.faults, None)
            }
            Err(stopped) => (stopped.faults, Some(stopped.stop)),
        };
        let unfit = self.unfit(kernel, &faults);
        let reserve = unfit.as_ref().map(|(why, _)| why.as_str());
        let is_doubtful = matches!(unfit, Some((_, Try::TooSmall)));
        for (at, claim) in self.claims.iter().enumerate() {
            let fault = claim.shown_by(&faults);
            let witness = fault.map(|fault| self.witness(candidate, fault, reserve));
            match reserve {
                None => self.shown[at] = self.shown[at].take().or(witness),
                Some(_) if is_doubtful => self.doubtful[at] = self.doubtful[at].take().or(witness),
                Some(_) => {}
            }
        }
        if let Some((why, outcome)) = unfit {
            self.note(why);
            return outcome;
        }
        self.fit += 1;
        if let Some(known) = &mut self.explored {
            for fault in faults {
                if !known.iter().any(|old| old.repeats(&fault)) {
                    known.push(fault);
                }
            }
        }
        match stop {
            None => Try::Fit,
            Some(stop) => {
                self.spent += budget;
                self.note(explain(&stop));
                Try::Unfit
            }
        }
    }

    /// Why the kernel is not made for a launch with these faults.
    fn unfit(&self, kernel: &Kernel, faults: &[Fault]) -> Option<(String, Try)> {
        // What else is wrong with an instruction that shows a claim belongs to it.
        let shown: Vec<_> = self.claims.iter().filter_map(|claim| claim.shown_by(faults)).collect();
        let is_claimed = |fault: &Fault| shown.iter().any(|other| other.site == fault.site);
        for fault in faults {
            if fault.code.id == "RUN001" {
                return Some(("the kernel traps".to_owned(), Try::Unfit));
            }
            match fault.stray {
                Some(Stray::Buffer) => {
                    return Some(("it runs out of a made-up buffer".to_owned(), Try::TooSmall));
                }
                Some(Stray::Dynamic) => {
                    return Some(("it runs out of the dynamic shared memory".to_owned(), Try::Unfit));
                }
                Some(Stray::Nowhere) if !is_claimed(fault) => {
                    return Some(("it uses an address that leads nowhere".to_owned(), Try::Unfit));
                }
                Some(Stray::Variable(symbol)) if !kernel.is_block_known && !is_claimed(fault) => {
                    let name = self.parsed.module.name(symbol);
                    return Some((format!("it runs out of `{name}`"), Try::Unfit));
                }
                _ => {}
            }
        }
        None
    }

    fn witness(&self, candidate: &Launched, fault: &Fault, reserve: Option<&str>) -> Witness {
        let span = |site| claim::span(self.parsed, site);
        let others = fault.others.iter().map(|other| Other {
            span: other.site.map(span),
            thread: other.thread,
            message: other.message.clone(),
        });
        Witness {
            launch: candidate.clone(),
            code: fault.code,
            message: fault.sentence(),
            span: span(fault.site),
            thread: fault.thread,
            address: fault.address,
            others: others.collect(),
            times: fault.times,
            reserve: reserve.map(str::to_owned),
        }
    }
}

fn explain(stop: &Stop) -> String {
    match stop {
        Stop::Limit(_) => format!("it does not end within {BUDGET} thread instructions"),
        Stop::Unsupported { what, .. } => format!("unsupported: {what}"),
        Stop::Launch(why) => why.clone(),
        Stop::Interrupted(_) => "it was interrupted".to_owned(),
    }
}
