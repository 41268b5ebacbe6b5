//! `ptxgen verify`: holds kernels to their contracts.

mod findings;
mod table;

use super::fragment::HeaderArgs;
use super::params::ParamFlags;
use super::report::{Format, Run};
use super::run::{self, Subject};
use super::{Outcome, emit, input, interrupt, output};
use crate::kernels::contract::judge::{self, Proof, Settings};
use crate::kernels::contract::{self, Contract, plan, reference::Shape};
use crate::kernels::{self, Values, spec};
use crate::ptx::parse;
use crate::ptx::sim::Watch;
use crate::ptx::source::Source;
use crate::ptx::target::Target;
use anyhow::{Context, anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const AFTER_HELP: &str = "\
Examples:
  ptxgen verify --all
  ptxgen verify rmsnorm-backward --hidden 1536
  ptxgen verify --spec specs/nf4-gemv-low.yaml --seed 7 --schedules 8
  ptxgen verify --ptx saxpy.ptx --contract saxpy.yaml

Exit status:
  0  every claim holds in every case
  1  a claim is broken, or a kernel has a fault
  2  something could not be tried: wrong arguments or contract, an
     instruction that is not supported, a budget that is used up
  130  Ctrl-C ended it: what was tried by then is shown

Each case runs in the simulator with every check on, as `ptxgen run` does, and is
compared with a reference in f64. The contracts of the kernels here are in
specs/contracts; docs/contracts.md says how to write one for a kernel of yours.
Claims are shown on in- and outputs that were tried: it is not a proof for others.
The same arguments give the same result on every machine.";

/// Hold kernels to their contracts: run them on hard inputs and compare
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The kernel, as `ptxgen list` shows them
    #[arg(value_name = "KERNEL", required_unless_present_any = ["all", "spec", "contract"], conflicts_with_all = ["all", "spec", "file", "contract"])]
    kernel: Option<String>,

    /// All kernels
    #[arg(long, conflicts_with_all = ["spec", "file", "contract"])]
    all: bool,

    /// The kernel of a spec, with its parameters
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "contract"])]
    spec: Option<PathBuf>,

    /// A PTX file; `-` is standard input
    #[arg(long = "ptx", value_name = "FILE", requires = "contract")]
    file: Option<PathBuf>,

    /// What the PTX file promises, in YAML
    #[arg(long, value_name = "FILE", requires = "file")]
    contract: Option<PathBuf>,

    /// Where random inputs and orders begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Orders of CTAs and warps in which each case runs, the plain one first
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    schedules: u64,

    /// Random inputs of each shape and kind
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    cases: u64,

    /// The most thread instructions of a launch
    #[arg(long, value_name = "N", default_value_t = 1 << 34)]
    budget: u64,

    /// How the result is shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,

    /// What emitted text is for [default: sm_80]; a header for PTX without one
    #[arg(long, value_name = "sm_XX")]
    target: Option<Target>,

    #[command(flatten)]
    params: ParamFlags,
}

/// A contract with the texts that it is tried on, one for each shape.
struct Case {
    contract: Contract,
    /// The contract's text.
    written: Source,
    subjects: Vec<Subject>,
}

/// Tries the contracts.
///
/// # Errors
/// When the arguments or a contract are wrong, or a file cannot be read.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let cases = match collect(args)? {
        Ok(cases) => cases,
        Err(report) => {
            output::note(&report);
            return Ok(Outcome::Failed);
        }
    };
    let settings = Settings {
        seed: args.seed,
        schedules: args.schedules,
        cases: args.cases,
        budget: args.budget,
        watch: Some(Arc::new(Watch::new(interrupt::flag()))),
    };
    let count: usize = cases
        .iter()
        .map(|case| judge::cases(&case.contract, &settings).len())
        .sum();
    let bar = bar(count);
    let prove = |case: &Case| {
        let modules: Vec<_> = case.modules().collect();
        judge::prove(&case.contract, &modules, &settings, &|| bar.inc(1))
    };
    let proofs: Vec<Proof> = cases.iter().map(prove).collect();
    bar.finish_and_clear();
    let tried: Vec<_> = cases.iter().zip(&proofs).collect();
    let mut report = Run {
        files: Vec::new(),
        unreadable: Vec::new(),
    };
    for (case, proof) in &tried {
        report.files.extend(findings::faults(case, proof));
    }
    let table = table::human(&tried, &settings);
    match args.format {
        Format::Json => output::print(&table::json(&tried, &settings, &report)?)?,
        Format::Human | Format::Short if report.files.is_empty() => output::print(&table)?,
        Format::Human | Format::Short => output::print(&(report.render(args.format)? + &table))?,
        Format::Sarif | Format::Github => {
            for (case, proof) in &tried {
                report.files.extend(findings::claims(case, proof));
                report.unreadable.extend(findings::untried(case, proof));
            }
            output::print(&report.render(args.format)?)?;
            output::note(table.trim_end());
        }
    }
    let left: u64 = proofs.iter().map(|proof| proof.left).sum();
    if left > 0 {
        let done = count as u64 - left;
        output::complain(&format!(
            "interrupted: {done} of {count} cases were tried, and what holds, holds in those"
        ));
        return Ok(Outcome::Interrupted);
    }
    Ok(tried
        .iter()
        .map(|(case, proof)| table::outcome(case, proof))
        .max()
        .unwrap_or(Outcome::Clean))
}

impl Case {
    /// The module for each shape; one text may do for all.
    fn modules(&self) -> impl Iterator<Item = &crate::ptx::ir::Module> {
        (0..self.contract.shapes.len()).filter_map(|shape| Some(&self.subject(shape)?.parsed.module))
    }

    fn subject(&self, shape: usize) -> Option<&Subject> {
        self.subjects.get(shape).or(self.subjects.first())
    }

    /// A line of the text in which a shape is tried.
    fn line(&self, shape: usize, site: crate::ptx::sim::Site) -> String {
        match self.subject(shape) {
            Some(subject) => {
                let span = run::faults::span(subject, site);
                format!("{}:{}", subject.source.name(), subject.source.position(span.start))
            }
            None => String::new(),
        }
    }
}

/// A bar on a terminal.
fn bar(cases: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::stderr_with_hz(10));
    match ProgressStyle::with_template("verifying {bar:30} {pos}/{len} cases, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The contracts that the arguments name, with their texts. The inner error is a report, ready to be shown.
fn collect(args: &Args) -> anyhow::Result<Result<Vec<Case>, String>> {
    if let (Some(file), Some(contract)) = (&args.file, &args.contract) {
        return foreign(args, file, contract);
    }
    if let Some(path) = &args.spec {
        let request = match emit::read_spec(path) {
            Ok(request) => request,
            Err(report) => return Ok(Err(report)),
        };
        let mut contract = Contract::of(request.kernel.name).map_err(|error| anyhow!(error))?;
        let mut values = request.values;
        args.params.apply(request.kernel, &mut values)?;
        contract.shapes = vec![shape(request.kernel, &values)];
        return Ok(Ok(vec![own(contract, args.target.or(request.target), request.ptx)?]));
    }
    let names: Vec<&str> = match &args.kernel {
        Some(name) => vec![
            kernels::KernelInfo::find(name)
                .with_context(|| spec::unknown_kernel(name))?
                .name,
        ],
        None => contract::OWN.iter().map(|(name, _)| *name).collect(),
    };
    let mut cases = Vec::new();
    for name in names {
        let mut contract = Contract::of(name).map_err(|error| anyhow!(error))?;
        apply(args, &mut contract)?;
        cases.push(own(contract, args.target, None)?);
    }
    Ok(Ok(cases))
}

/// A kernel's values as a shape, with what is left out.
fn shape(kernel: &kernels::KernelInfo, values: &Values) -> Shape {
    let params = kernel.params.iter();
    params.map(|param| (param.name.to_owned(), values.of(param))).collect()
}

/// Puts the flags over the shapes of a contract.
fn apply(args: &Args, contract: &mut Contract) -> anyhow::Result<()> {
    if args.params.is_empty() {
        return Ok(());
    }
    let Some(kernel) = contract.kernel else {
        bail!("parameters are those of kernels here; a contract of another kernel has its shapes in the file");
    };
    let mut shapes: Vec<Shape> = Vec::new();
    for known in &contract.shapes {
        let mut values = plan::values(kernel, known).map_err(|error| anyhow!(error))?;
        args.params.apply(kernel, &mut values)?;
        let shape = shape(kernel, &values);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    contract.shapes = shapes;
    Ok(())
}

fn source(name: String, text: impl Into<String>) -> anyhow::Result<Source> {
    Source::new(name, text).map_err(|len| anyhow!("a text of {len} bytes is too long"))
}

/// A contract of a kernel here: its text is emitted for each shape, and read again as anybody would.
fn own(
    contract: Contract,
    target: Option<Target>,
    ptx: Option<crate::ptx::target::PtxVersion>,
) -> anyhow::Result<Case> {
    let kernel = contract.kernel.context("the contract is of no kernel here")?;
    let mut subjects = Vec::new();
    for shape in &contract.shapes {
        let values = plan::values(kernel, shape).map_err(|error| anyhow!(error))?;
        let emitted = kernel.emit(&values, target.unwrap_or(kernels::DEFAULT_TARGET), ptx)?;
        let name = format!("{} ({})", kernel.name, judge::shape_label(shape));
        let source = source(name, emitted.text())?;
        let parsed = parse::parse(source.text());
        subjects.push(Subject { source, parsed });
    }
    let text = contract::OWN.iter().find(|(name, _)| *name == kernel.name);
    let text = text.map_or("", |(_, text)| *text);
    let written = source(format!("specs/contracts/{}.yaml", kernel.name), text)?;
    Ok(Case {
        contract,
        written,
        subjects,
    })
}

/// Somebody's kernel with its contract.
fn foreign(args: &Args, file: &Path, path: &Path) -> anyhow::Result<Result<Vec<Case>, String>> {
    let name = output::printable(&path.display().to_string());
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Ok(Err(format!("{name}: error: {}", input::explain(&error, path)))),
    };
    let mut contract = match contract::read(&text) {
        Ok(contract) => contract,
        Err(error) => return Ok(Err(error.render(&name, &text))),
    };
    apply(args, &mut contract)?;
    let written = source(path.display().to_string(), text)?;
    let header = HeaderArgs::of(args.target);
    Ok(run::read(file, &header, args.format)?.map(|subject| {
        vec![Case {
            contract,
            written,
            subjects: vec![subject],
        }]
    }))
}
