//! `ptxgen emit`: a kernel as PTX.

use super::params::ParamFlags;
use super::{Outcome, input, output};
use crate::kernels::spec::{self, Request};
use crate::kernels::{self, ArgKind, Emitted, KernelInfo, Value, Values};
use crate::ptx::target::{PtxVersion, Target};
use anyhow::{Context, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  ptxgen emit rmsnorm-backward --hidden 32
  ptxgen emit nf4-gemv --k 4096 --n 11008 --target sm_90 -o gemv.ptx
  ptxgen emit --spec specs/rmsnorm.yaml --rows 8 --launch launch.json
  ptxgen emit rmsnorm-backward --hidden 32 | ptxas -arch sm_90 -o k.cubin -

Exit status:
  0  the kernel is written
  2  could not do it: a wrong value, spec or target, a file that cannot be
     read or written

`ptxgen list` shows the kernels, with the ranges and defaults of their
parameters. Flags override the spec.";

/// Write a kernel as PTX
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The kernel; may be left out where a spec names it
    #[arg(value_name = "KERNEL", required_unless_present = "spec")]
    kernel: Option<String>,

    /// YAML file with kernel, parameters, target and version; `-` is standard input
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    /// What the text is for [default: sm_80, which any later GPU runs]
    #[arg(long, value_name = "sm_XX")]
    target: Option<Target>,

    /// PTX version of the text [default: the least that has all it uses]
    #[arg(long, value_name = "X.Y")]
    ptx: Option<PtxVersion>,

    /// Where the PTX goes; `-` is standard output, and the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write how the kernel is launched, as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    launch: Option<PathBuf>,

    #[command(flatten)]
    params: ParamFlags,
}

/// Emits the kernel.
///
/// # Errors
/// If the arguments or the spec are wrong, or a file cannot be read or written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let is_stdout = |path: &Option<PathBuf>| path.as_deref().is_none_or(|path| path.as_os_str() == STDOUT);
    if args.launch.is_some() && is_stdout(&args.launch) && is_stdout(&args.output) {
        bail!("PTX and launch would both go to standard output; give one of them a file");
    }
    let request = match request(args)? {
        Ok(request) => request,
        Err(report) => {
            output::note(&report);
            return Ok(Outcome::Failed);
        }
    };
    let target = request.target.unwrap_or(kernels::DEFAULT_TARGET);
    let emitted = request.kernel.emit(&request.values, target, request.ptx)?;
    if let Some(path) = &args.launch {
        let launch = LaunchFile::new(&request, &emitted);
        write(path, &(serde_json::to_string_pretty(&launch)? + "\n"))?;
    }
    write(args.output.as_deref().unwrap_or(Path::new(STDOUT)), &emitted.text())?;
    Ok(Outcome::Clean)
}

/// The path that stands for standard output.
const STDOUT: &str = "-";

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    match path.as_os_str() == STDOUT {
        true => output::print(text),
        false => output::write_file(path, text),
    }
}

/// What to emit: the spec, and the flags over it. The inner error is a report on the spec, ready to be shown.
///
/// # Errors
/// If the flags are wrong.
fn request(args: &Args) -> anyhow::Result<Result<Request, String>> {
    let mut request = match &args.spec {
        None => {
            let name = args.kernel.as_deref().unwrap_or_default();
            Request {
                kernel: KernelInfo::find(name).with_context(|| spec::unknown_kernel(name))?,
                values: Values::default(),
                target: None,
                ptx: None,
            }
        }
        Some(path) => {
            let request = match read_spec(path) {
                Ok(request) => request,
                Err(report) => return Ok(Err(report)),
            };
            if let Some(name) = args.kernel.as_deref().filter(|name| *name != request.kernel.name) {
                bail!(
                    "{} is a spec of `{}`, not of `{name}`",
                    path.display(),
                    request.kernel.name
                );
            }
            request
        }
    };
    args.params.apply(request.kernel, &mut request.values)?;
    request.target = args.target.or(request.target);
    request.ptx = args.ptx.or(request.ptx);
    Ok(Ok(request))
}

/// Reads a spec.
///
/// # Errors
/// A report that says what is wrong and where, ready to be shown.
pub(super) fn read_spec(path: &Path) -> Result<Request, String> {
    let stdin = path.as_os_str() == "-";
    let (file, text) = if stdin {
        ("<stdin>".to_owned(), io::read_to_string(io::stdin().lock()))
    } else {
        (output::printable(&path.display().to_string()), fs::read_to_string(path))
    };
    let text = text.map_err(|error| format!("{file}: error: {}", input::explain(&error, path)))?;
    spec::read(&text).map_err(|error| error.render(&file, &text))
}

/// The file that `--launch` writes.
#[derive(Serialize)]
struct LaunchFile<'a> {
    kernel: &'static str,
    target: &'a str,
    ptx: &'a str,
    parameters: BTreeMap<&'static str, ParamValue>,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ParamValue {
    Int(u64),
    Float(f64),
    Word(String),
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    summary: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    static_shared: u64,
    params: Vec<Param<'a>>,
}

#[derive(Serialize)]
struct Param<'a> {
    name: &'a str,
    /// Type of the parameter itself: u64 for addresses.
    #[serde(rename = "type")]
    ty: &'static str,
    role: &'static str,
    /// Type of the elements behind an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<&'static str>,
    /// Lengths, outermost first; empty for a number.
    shape: &'a [u64],
    /// What to pass for a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
}

impl<'a> LaunchFile<'a> {
    fn new(request: &Request, emitted: &'a Emitted) -> Self {
        let header = &emitted.module.header;
        let value = |value| match value {
            Value::Int(value) => ParamValue::Int(value),
            Value::Float(value) => ParamValue::Float(value),
            Value::Word(word) => ParamValue::Word(word),
        };
        let params = request.kernel.params.iter();
        Self {
            kernel: request.kernel.name,
            target: header.target.first().map_or("", |target| target),
            ptx: header.version.as_deref().unwrap_or_default(),
            parameters: params
                .map(|param| (param.name, value(request.values.of(param))))
                .collect(),
            entries: emitted.launches.iter().map(Entry::new).collect(),
        }
    }
}

impl<'a> Entry<'a> {
    fn new(launch: &'a kernels::Launch) -> Self {
        Self {
            name: launch.entry,
            summary: launch.summary,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            static_shared: launch.static_shared,
            params: launch.args.iter().map(Param::new).collect(),
        }
    }
}

impl<'a> Param<'a> {
    fn new(arg: &'a kernels::Arg) -> Self {
        let (role, element, shape, value) = match &arg.kind {
            ArgKind::Buffer { element, shape, role } => (role.word(), Some(element.name()), shape.as_slice(), None),
            ArgKind::Scalar { value, .. } => ("scalar", None, &[][..], Some(*value)),
        };
        Self {
            name: arg.name,
            ty: arg.ty().name(),
            role,
            element,
            shape,
            value,
        }
    }
}
