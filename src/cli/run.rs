//! `ptxgen run`: executes a kernel on the CPU, with every check on.

mod args;
mod dump;
pub(super) mod faults;
mod npy;
mod precision;
mod profile;
mod progress;
mod schedules;
mod tensor;

use super::fragment::HeaderArgs;
use super::launch::{self, Size};
use super::report::{Format, Linted, Run};
use super::{Outcome, interrupt, output};
use crate::ptx::diag::Level;
use crate::ptx::ir::{FunctionKind, Module};
use crate::ptx::lint::{self, KernelStatus, Origins, Report};
use crate::ptx::parse::Parsed;
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{self, Launch, Options, Stop, Stopped, Watch};
use crate::ptx::source::Source;
use crate::ptx::verify;
use anyhow::{Context, bail};
use args::{ArgSpec, Spot};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const AFTER_HELP: &str = "\
Examples:
  ptxgen run add.ptx --grid 4 --block 256 --arg buf:rand=f32:1024:1 \\
      --arg buf:rand=f32:1024:2 --arg buf:zero=4096 --arg u32=1024 --dump 2:f32:8
  ptxgen run k.ptx --entry scale --grid 1 --block 32 --arg buf:file=x.npy \\
      --arg f32=0.5 --out 0=y.bin
  ptxgen run k.ptx --grid 8 --block 128 --arg buf:zero=4096 --schedules 64
  ptxgen run k.ptx --grid 1 --block 32 --arg buf:zero=128 --profile

Arguments, one for each parameter, in order:
  u32=5  s64=-1  f32=1e-5  b32=0x3f800000   a number of that type
  bytes=0011aabb                            the bytes of a structure
  buf:zero=BYTES                            the address of a buffer of zeros
  buf:uninit=BYTES                          one whose bytes may not be read
                                            before they are written
  buf:hex=00112233                          these bytes
  buf:file=PATH                             those of a file; of a .npy file
                                            the data
  buf:rand=TYPE:COUNT:SEED                  random numbers: f16 bf16 f32 f64
                                            between -1 and 1, integers any
  buf:cycle=TYPE:COUNT:N                    0, 1, ... N-1, over and over
  tensormap:TYPE:DIMS:BOX[:OPTION...]=BUF   a tensor map over buf:... or arg:N, the
                                            innermost dimension first; options:
                                            swizzle32, swizzle64, swizzle128, nan,
                                            strides256x4096 (bytes), steps1x2

Exit status:
  0  the kernel ran, and nothing is wrong with it
  1  it has a fault: out of bounds, a race, a deadlock, ...
  2  it could not be run: wrong arguments, an instruction that is not
     supported, a budget that is used up
  130  Ctrl-C ended it: what was known by then is shown, no file is written

Findings, dumps and what the kernel prints go to standard output, the summary to
standard error. The same arguments give the same result on every machine.";

/// Execute a kernel on the CPU with every check on
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The PTX file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The kernel [default: the only one]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// CTAs of the grid
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = launch::grid)]
    grid: Size,

    /// Threads of a CTA [default: what `.reqntid` says]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = launch::block)]
    block: Option<Size>,

    /// CTAs of a cluster, where the kernel does not say
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = launch::grid)]
    cluster: Option<Size>,

    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    dynamic_shared: u64,

    /// An argument of the kernel: see below
    #[arg(long = "arg", value_name = "TYPE=VALUE", value_parser = ArgSpec::read, allow_hyphen_values = true)]
    args: Vec<ArgSpec>,

    /// Write the buffer of an argument (its number from 0, or its name) to a file; as .npy if that is its ending
    #[arg(long, value_name = "N[:TYPE]=PATH", value_parser = dump::Out::read)]
    out: Vec<dump::Out>,

    /// Show the buffer of an argument
    #[arg(long, value_name = "N[:TYPE[:COUNT]]", value_parser = Spot::read)]
    dump: Vec<Spot>,

    /// Run in that many orders of warps and CTAs, and compare the results
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    schedules: u64,

    /// Where the random orders begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// The most thread instructions of a run
    #[arg(long, value_name = "N", default_value_t = 1 << 34)]
    budget: u64,

    /// Show every step of every warp
    #[arg(long)]
    trace: bool,

    /// Show how often each line was executed, and by how many threads
    #[arg(long)]
    profile: bool,

    /// Carry an f64 beside every f32, and say where the error jumps and how large it is in each buffer
    #[arg(long)]
    precision: bool,

    /// How findings are shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,

    #[command(flatten)]
    header: HeaderArgs,
}

/// A file that can be run.
pub(super) struct Subject {
    pub source: Source,
    pub parsed: Parsed,
}

/// Executes the kernel.
///
/// # Errors
/// When the arguments are wrong, the kernel cannot be run, or a file cannot be read or written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let subject = match read(&args.file, &args.header, args.format)? {
        Ok(subject) => subject,
        Err(report) => {
            output::note(&report);
            return Ok(Outcome::Failed);
        }
    };
    let module = &subject.parsed.module;
    let kernel = kernel(module, args)?;
    let mut launch = launch(module, &kernel, args)?;
    let program = sim::prepare(module, &kernel, args.dynamic_shared).map_err(|stop| anyhow::anyhow!("{stop}"))?;
    check_params(&kernel, &program, args)?;
    // Until here there is nothing to show, and Ctrl-C ends the program as ever.
    let watch = Arc::new(Watch::new(interrupt::flag()));
    launch.options.watch = Some(Arc::clone(&watch));
    let ctas: u64 = launch.grid.iter().map(|count| u64::from(*count)).product();
    let bar = progress::bar(&watch, ctas.saturating_mul(args.schedules));
    let runs = schedules::run(module, &kernel, &program, &launch, args.schedules, args.seed);
    bar.finish_and_clear();
    match runs {
        Ok(result) => show(&subject, &kernel, &program, &result, args),
        Err(stopped) => show_stopped(&subject, &kernel, &program, &stopped, args),
    }
}

/// Shows and writes what the runs came to.
fn show(
    subject: &Subject,
    kernel: &str,
    program: &Program,
    result: &schedules::Result,
    args: &Args,
) -> anyhow::Result<Outcome> {
    let mut findings = faults::findings(subject, &result.outcome.faults);
    findings.extend(schedules::differences(subject, kernel, result));
    for out in args.out.iter().filter(|_| !result.interrupted) {
        out.write(program, &result.outcome)?;
    }
    let report = finish(subject, kernel, findings);
    match args.format {
        Format::Json => output::print(&dump::json(subject, program, &report, result, args)?)?,
        format => {
            let text = dump::text(subject, program, result, args)?;
            if matches!(format, Format::Sarif | Format::Github) {
                output::print(&report.render(format)?)?;
                output::note(text.trim_end());
            } else {
                output::print(&(report.render(format)? + &text))?;
            }
            output::note(&summary(kernel, &report, result));
        }
    }
    if result.interrupted {
        output::complain(&format!(
            "interrupted: this is of {} of {} orders{}",
            result.runs,
            args.schedules,
            unwritten(args)
        ));
        return Ok(Outcome::Interrupted);
    }
    Ok(report.outcome())
}

/// Shows what was known when a run stopped.
fn show_stopped(
    subject: &Subject,
    kernel: &str,
    program: &Program,
    stopped: &Stopped,
    args: &Args,
) -> anyhow::Result<Outcome> {
    let shown = faults::findings(subject, &stopped.faults);
    let report = finish(subject, kernel, shown);
    let text = match args.format {
        Format::Json => dump::partial_json(subject, program, &report, stopped, args)?,
        Format::Human | Format::Short => report.render(args.format)? + &dump::partial(subject, program, stopped, args),
        format => report.render(format)?,
    };
    output::print(&text)?;
    let why = faults::explain(subject, &stopped.stop);
    if !matches!(stopped.stop, Stop::Interrupted(_)) {
        output::complain_of(subject.source.name(), &why);
        return Ok(Outcome::Failed);
    }
    let count = stopped.stats.thread_instructions;
    let why = format!(
        "{why}, after {count} thread instructions: what is shown is of those{}",
        unwritten(args)
    );
    output::complain_of(subject.source.name(), &why);
    Ok(Outcome::Interrupted)
}

/// What else an interrupted run has to say of the files that were asked for.
fn unwritten(args: &Args) -> &'static str {
    match args.out.is_empty() {
        true => "",
        false => ", and no file was written",
    }
}

/// Reads and checks the file. The inner error is a report, ready to be shown.
pub(super) fn read(path: &Path, header: &HeaderArgs, format: Format) -> anyhow::Result<Result<Subject, String>> {
    let sources = match header.read(path) {
        Ok(sources) => sources,
        Err(error) => {
            return Ok(Err(format!(
                "{}: error: {}",
                output::printable(&error.file),
                error.message
            )));
        }
    };
    let many = sources.len();
    let mut sources = sources.into_iter();
    let Some(source) = sources.next().filter(|_| many == 1) else {
        bail!("{} holds {many} modules; extract the one to run", path.display());
    };
    let parsed = header.parse(source.text());
    let mut wrong = parsed.diags.clone();
    wrong.extend(verify::verify(&parsed, source.text()));
    // A module may be run on what no toolkit would compile it for.
    wrong.retain(|diag| diag.level == Level::Error && !diag.code.id.starts_with("GATE") && diag.code.id != "SYN019");
    let subject = Subject { source, parsed };
    if wrong.is_empty() {
        return Ok(Ok(subject));
    }
    let count = wrong.len();
    let report = finish(&subject, "", wrong).render(format)?;
    Ok(Err(format!("{report}error: {count} errors; nothing was run")))
}

/// Findings as a report on the file.
pub(super) fn finish(subject: &Subject, kernel: &str, findings: Vec<crate::ptx::diag::Diag>) -> Run {
    let Subject { source, parsed } = subject;
    let fingerprints = lint::fingerprints(parsed, source.text(), &findings);
    let function = parsed.module.function_named(kernel);
    let span = function
        .and_then(|id| parsed.spans.functions.get(id.index()))
        .map(|spans| spans.name);
    let kernels = span.map(|span| KernelStatus {
        name: kernel.to_owned(),
        span,
        not_analysed: None,
    });
    let source = Source::new(source.name(), source.text()).ok();
    let file = source.map(|source| Linted {
        path: source.name().into(),
        source,
        report: Report {
            findings,
            kernels: kernels.into_iter().collect(),
            suppressed: 0,
        },
        nth: 0,
        fingerprints,
        witnesses: Vec::new(),
        origins: Origins::new(parsed),
        launch: lint::Launch::default(),
        baseline: None,
        original: None,
        repaired: 0,
        known: 0,
        waived: Vec::new(),
    });
    Run {
        files: file.into_iter().collect(),
        unreadable: Vec::new(),
    }
}

/// The kernel to run.
fn kernel(module: &Module, args: &Args) -> anyhow::Result<String> {
    let entries = module
        .functions
        .iter()
        .filter(|function| function.kind == FunctionKind::Entry && function.body.is_some());
    let names: Vec<&str> = entries.map(|function| module.name(function.symbol)).collect();
    let listed = || names.join(", ");
    match (&args.entry, names.as_slice()) {
        (Some(name), names) if names.contains(&name.as_str()) => Ok(name.clone()),
        (Some(name), _) => bail!("there is no kernel `{name}`; the file has: {}", listed()),
        (None, [only]) => Ok((*only).to_owned()),
        (None, []) => bail!("the file has no kernel"),
        (None, _) => bail!("--entry must say which kernel to run: {}", listed()),
    }
}

/// The launch that the arguments describe.
fn launch(module: &Module, kernel: &str, args: &Args) -> anyhow::Result<Launch> {
    let function = module.function_named(kernel).context("the kernel is gone")?;
    let required = module.function(function).required_block();
    let block = match (args.block.map(Size::get), required) {
        (Some(block), Some(required)) if block != required => {
            bail!("--block is {block:?}, and the kernel requires {required:?} by `.reqntid`");
        }
        (Some(block), _) | (None, Some(block)) => block,
        (None, None) => bail!("--block is missing, and the kernel has no `.reqntid`"),
    };
    let args_of = args.args.iter().map(ArgSpec::make).collect::<Result<_, _>>()?;
    Ok(Launch {
        grid: args.grid.get(),
        block,
        dynamic_shared: args.dynamic_shared,
        args: args_of,
        options: Options {
            budget: args.budget,
            profile: args.profile,
            trace: args.trace,
            precision: args.precision,
            cluster: args.cluster.map_or([1, 1, 1], Size::get),
            ..Options::default()
        },
    })
}

/// Whether the arguments fit the parameters, by number and size.
fn check_params(kernel: &str, program: &Program, args: &Args) -> anyhow::Result<()> {
    let params: Vec<_> = sim::params(program).collect();
    let listed = params.iter().map(|(name, ty, size)| match size {
        size if *size == u64::from(ty.bytes()) => format!("{} {name}", ty.name()),
        size => format!("{name} ({size} bytes)"),
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    if params.len() != args.args.len() {
        bail!(
            "`{kernel}` takes {} arguments, and {} are given: {listed}",
            params.len(),
            args.args.len()
        );
    }
    for ((name, ty, size), given) in params.iter().zip(&args.args) {
        if given.size().is_some_and(|given| given != *size) {
            bail!(
                "parameter `{name}` is {} ({size} bytes), and `{given}` is not; the parameters: {listed}",
                ty.name()
            );
        }
        if given.size().is_none() && *size < 4 {
            bail!(
                "parameter `{name}` has {size} bytes, too few for the address that `{given}` gives; the parameters: {listed}"
            );
        }
    }
    Ok(())
}

fn summary(kernel: &str, report: &Run, result: &schedules::Result) -> String {
    let stats = &result.outcome.stats;
    let runs = match result.runs {
        1 => String::new(),
        runs => format!("{runs} schedules, each of about "),
    };
    let counts = report.summary();
    let counts = counts.split(" in ").next().unwrap_or_default();
    format!(
        "{kernel}: {counts}; {runs}{} thread instructions",
        stats.thread_instructions
    )
}
