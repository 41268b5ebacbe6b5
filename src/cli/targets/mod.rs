//! `ptxgen targets`: the least version and target that a module and its kernels need, and what asks for them.

mod human;
mod json;

use super::fragment::HeaderArgs;
use super::input::{self, Unreadable};
use super::{Outcome, output};
use crate::ptx::ir::{FuncId, FunctionKind, Header, Module};
use crate::ptx::needs::{self, Least, Need, Needs};
use crate::ptx::parse::Parsed;
use crate::ptx::source::{Position, Source};
use crate::ptx::target::{PtxVersion, Target};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  ptxgen targets kernel.ptx
  ptxgen targets --format json build/*.ptx | jq '.modules[].needs.target'
  cuobjdump -ptx program | ptxgen targets -

Exit status:
  0  done, and every header states what its module needs or more
  1  a header states less, no target has all that a module uses, or an
     instruction is unknown and so not counted
  2  a file that cannot be read or is not PTX (the others are looked at all
     the same), or wrong arguments

The least target is the first of sm_10, sm_11, ... sm_121a that has everything.
The least version is what the instructions ask for, and that target.
Directives and special registers count as well as instructions; a kernel needs
what the functions it calls need.";

/// Show the least PTX version and target that modules and their kernels need, and why
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// PTX files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How needs are shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,

    #[command(flatten)]
    header: HeaderArgs,
}

/// How needs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One object, schema version 1 (schemas/targets-1.schema.json)
    Json,
}

/// Finds what the files need and prints it.
///
/// # Errors
/// When the report cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if input::reads_stdin_twice(&args.files) {
        anyhow::bail!("standard input (`-`) is named more than once");
    }
    let mut report = Report::default();
    for path in &args.files {
        match args.header.read(path) {
            Ok(sources) => {
                let looked_at = sources.into_iter().map(|source| {
                    let parsed = args.header.parse(source.text());
                    Looked::at(source, &parsed)
                });
                report.modules.extend(looked_at);
            }
            Err(unreadable) => {
                output::complain_of(&unreadable.file, &unreadable.message);
                report.unreadable.push(unreadable);
            }
        }
    }
    match args.format {
        Format::Human => output::print(&human::render(&report))?,
        Format::Json => output::print(&json::render(&report)?)?,
    }
    Ok(report.outcome())
}

/// All modules of a run.
#[derive(Debug, Default)]
struct Report {
    modules: Vec<Looked>,
    unreadable: Vec<Unreadable>,
}

impl Report {
    fn outcome(&self) -> Outcome {
        if !self.unreadable.is_empty() {
            Outcome::Failed
        } else if self.modules.iter().all(Looked::states_enough) {
            Outcome::Clean
        } else {
            Outcome::Findings
        }
    }
}

/// A module and what it needs.
#[derive(Debug)]
struct Looked {
    source: Source,
    /// What the header states; `None` for what it does not, or not so that anybody understands it.
    version: Option<PtxVersion>,
    target: Option<Target>,
    /// What the whole module needs.
    all: Wanted,
    /// What each kernel needs, with its name and the place of it.
    kernels: Vec<(String, Position, Wanted)>,
    /// Instructions that the table does not know.
    unknown: Vec<Place>,
    /// Whether the header states all that is needed.
    enough: bool,
}

/// The least version and target, and what asks for them; where no target has everything, what excludes each other.
#[derive(Debug)]
struct Wanted {
    least: Option<Least>,
    because: Vec<Reason>,
}

/// Something that asks for a version, a target or both.
#[derive(Debug)]
struct Reason {
    what: String,
    version: Option<PtxVersion>,
    targets: Vec<Target>,
    /// From which version and target on it is gone.
    gone: Option<String>,
    place: Place,
}

/// A place in the text, and what stands there, on one line.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    at: Position,
    text: String,
}

impl Looked {
    fn at(source: Source, parsed: &Parsed) -> Self {
        let module = &parsed.module;
        let needs = Needs::of(module);
        let all: Vec<&Need> = needs.all.iter().collect();
        let kernels = kernels(module).map(|(id, name)| {
            let span = parsed
                .spans
                .functions
                .get(id.index())
                .map(|spans| spans.name)
                .unwrap_or_default();
            let wanted = Wanted::by(&needs.reached(module, id), parsed, &source);
            (name.to_owned(), source.position(span.start), wanted)
        });
        let (version, target) = stated(&module.header);
        Self {
            version,
            target,
            enough: is_enough(&all, version, target),
            all: Wanted::by(&all, parsed, &source),
            kernels: kernels.collect(),
            unknown: needs
                .unknown
                .iter()
                .map(|(function, inst)| Place::of(needs::Place::Inst(*function, *inst), parsed, &source))
                .collect(),
            source,
        }
    }

    /// Whether the header states all that is needed, as far as anybody can know.
    fn states_enough(&self) -> bool {
        self.enough && self.unknown.is_empty()
    }
}

/// The kernels with a body.
fn kernels(module: &Module) -> impl Iterator<Item = (FuncId, &str)> {
    let functions = (0..).map(FuncId).zip(&module.functions);
    let kernels = functions.filter(|(_, function)| function.kind == FunctionKind::Entry && function.body.is_some());
    kernels.map(|(id, function)| (id, module.name(function.symbol)))
}

fn stated(header: &Header) -> (Option<PtxVersion>, Option<Target>) {
    let version = header.version.as_ref().and_then(|text| text.parse::<PtxVersion>().ok());
    let target = header.target.first().and_then(|word| word.parse().ok());
    (version.filter(|version| version.is_known()), target)
}

/// Whether a header states everything. One that states nothing is short of nothing: it is to be written yet.
fn is_enough(needs: &[&Need], version: Option<PtxVersion>, target: Option<Target>) -> bool {
    let has_version = |need: &Need| {
        need.gate
            .ptx
            .is_none_or(|least| version.is_none_or(|version| version >= least))
    };
    let has_target = |need: &Need| target.is_none_or(|target| need.on(target));
    let is_gone = |need: &Need| {
        version
            .zip(target)
            .is_some_and(|(version, target)| need.is_gone(version, target))
    };
    let knows = version
        .zip(target)
        .is_none_or(|(version, target)| target.min_ptx().is_some_and(|least| version >= least));
    let all = needs
        .iter()
        .all(|need| has_version(need) && has_target(need) && !is_gone(need));
    all && knows && (version.is_some() || target.is_some() || needs::least(needs).is_some())
}

impl Wanted {
    fn by(needs: &[&Need], parsed: &Parsed, source: &Source) -> Self {
        let least = needs::least(needs);
        let deciding = match least {
            Some(least) => {
                let mut deciding = needs::target_deciders(needs, least.target);
                for need in needs::version_deciders(needs, least.version) {
                    if !deciding.contains(&need) {
                        deciding.push(need);
                    }
                }
                deciding
            }
            None => needs::conflict(needs),
        };
        let mut because: Vec<_> = deciding.iter().map(|need| Reason::of(need, parsed, source)).collect();
        because.sort_by_key(|reason| reason.place.at);
        because.dedup_by(|later, first| first.takes(later));
        Self { least, because }
    }
}

impl Reason {
    /// Takes on what another reason at the same place asks for, where one of the two asks for a version alone.
    fn takes(&mut self, other: &mut Self) -> bool {
        let one = self.targets.is_empty() || other.targets.is_empty() || self.targets == other.targets;
        let joined = self.place == other.place && one;
        if joined {
            self.version = self.version.max(other.version);
            self.gone = self.gone.take().or(other.gone.take());
            if self.targets.is_empty() {
                self.targets.append(&mut other.targets);
            }
        }
        joined
    }

    fn of(need: &Need, parsed: &Parsed, source: &Source) -> Self {
        let gone = need.removal.map(|removal| {
            let version = removal.ptx.map(|version| format!("PTX {version}"));
            let target = removal.target.map(|target| target.to_string());
            version.into_iter().chain(target).collect::<Vec<_>>().join(" and ")
        });
        Self {
            what: need.what.clone(),
            version: need.gate.ptx,
            targets: need.gate.targets.clone(),
            gone,
            place: Place::of(need.place, parsed, source),
        }
    }
}

impl Place {
    fn of(place: needs::Place, parsed: &Parsed, source: &Source) -> Self {
        let span = place.span(&parsed.spans);
        let text = span.of(source.text()).split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            at: source.position(span.start),
            text: output::printable(&text),
        }
    }
}
