//! Specs: YAML files that say which kernel to emit, with which parameters.
//!
//! ```yaml
//! kernel:
//!   rmsnorm-backward:
//!     hidden: 4096
//!     rows: 1024
//!     saved: rstd
//! target: sm_90
//! ptx: "8.0"
//! ```
//!
//! Parameters that are left out have their defaults. `target` and `ptx` are optional. Anything unknown, repeated, of
//! a wrong type or out of range is an error that says where it stands and what would be right.

pub mod yaml;

use super::params::{ParamInfo, Range, Value, Values};
use super::{KERNELS, KernelInfo};
use crate::ptx::target::{PtxVersion, Target};
use yaml::{Node, Spanned, source};

pub use yaml::YamlError as SpecError;

/// What to emit.
#[derive(Clone, Debug)]
pub struct Request {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// Its parameters, as far as they are given.
    pub values: Values,
    /// The target, if one is given.
    pub target: Option<Target>,
    /// The PTX version, if one is given.
    pub ptx: Option<PtxVersion>,
}

/// Reads a spec.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read(text: &str) -> Result<Request, SpecError> {
    let root = yaml::read(text, "a spec")?;
    let at = root.referenced;
    let Node::Map(entries) = root.value else {
        return Err(SpecError::new("a spec is a mapping with the key `kernel`", at));
    };
    let (mut kernel, mut target, mut ptx) = (None, None, None);
    for (key, value) in entries {
        match key.value.as_str() {
            "kernel" => kernel = Some(read_kernel(value, text)?),
            "target" => target = Some(read_target(&value)?),
            "ptx" => ptx = Some(read_version(&value, text)?),
            unknown => {
                let message = format!("unknown key `{unknown}`; a spec has `kernel`, `target` and `ptx`");
                return Err(SpecError::new(message, key.referenced));
            }
        }
    }
    let (kernel, values) = kernel.ok_or_else(|| SpecError::new("the key `kernel` is missing", at))?;
    Ok(Request {
        kernel,
        values,
        target,
        ptx,
    })
}

/// `NAME` alone, or `NAME:` with parameters.
fn read_kernel(value: Spanned<Node>, text: &str) -> Result<(&'static KernelInfo, Values), SpecError> {
    let (name, params) = match value.value {
        Node::Scalar(Value::Word(name)) => (Spanned::new(name, value.referenced, value.defined), None),
        Node::Map(mut entries) if entries.len() == 1 => {
            let (name, params) = entries.remove(0);
            (name, Some(params))
        }
        Node::Map(entries) if entries.len() > 1 => {
            let message = "a spec has one kernel; this is a second one";
            return Err(SpecError::new(message, entries[1].0.referenced));
        }
        _ => {
            return Err(SpecError::new(
                "`kernel` is a kernel's name with its parameters",
                value.referenced,
            ));
        }
    };
    let kernel =
        KernelInfo::find(&name.value).ok_or_else(|| SpecError::new(unknown_kernel(&name.value), name.referenced))?;
    let values = match params {
        None => Values::default(),
        Some(params) => read_params(kernel, params, text)?,
    };
    Ok((kernel, values))
}

/// What to say of a kernel that does not exist.
pub fn unknown_kernel(name: &str) -> String {
    let names: Vec<_> = KERNELS.iter().map(|kernel| kernel.name).collect();
    format!("there is no kernel `{name}`; there are {}", names.join(", "))
}

fn read_params(kernel: &'static KernelInfo, params: Spanned<Node>, text: &str) -> Result<Values, SpecError> {
    let entries = match params.value {
        Node::Map(entries) => entries,
        // `rmsnorm:` with nothing behind it: all defaults.
        Node::Null => Vec::new(),
        _ => {
            let message = format!("the parameters of `{}` are a mapping", kernel.name);
            return Err(SpecError::new(message, params.referenced));
        }
    };
    let mut values = Values::default();
    for (key, value) in entries {
        let param = kernel.param(&key.value).ok_or_else(|| {
            let names: Vec<_> = kernel.params.iter().map(|param| format!("`{}`", param.name)).collect();
            let message = format!(
                "`{}` has no parameter `{}`; it has {}",
                kernel.name,
                key.value,
                names.join(", ")
            );
            SpecError::new(message, key.referenced)
        })?;
        let at = value.referenced;
        let Node::Scalar(value) = value.value else {
            let message = format!("`{}` is a single value; allowed: {}", param.name, param.range);
            return Err(SpecError::new(message, at));
        };
        values.set(param, value).map_err(|mut error| {
            // What was written says more than what it was read as: `yes`, not true.
            error.value = source(text, at).map_or(error.value, str::to_owned);
            SpecError::new(error.to_string(), at)
        })?;
    }
    Ok(values)
}

fn read_target(value: &Spanned<Node>) -> Result<Target, SpecError> {
    let message = match &value.value {
        Node::Scalar(Value::Word(word)) => match word.parse() {
            Ok(target) => return Ok(target),
            Err(error) => format!("{error}"),
        },
        _ => "`target` is a name such as sm_90".to_owned(),
    };
    Err(SpecError::new(message, value.referenced))
}

/// A version is read as it is written: as a number, 8.10 would be 8.1.
fn read_version(value: &Spanned<Node>, text: &str) -> Result<PtxVersion, SpecError> {
    let at = value.referenced;
    let written = match &value.value {
        Node::Scalar(Value::Word(word)) => Some(word.as_str()),
        Node::Scalar(_) => source(text, at),
        _ => None,
    };
    let message = match written.map(str::parse::<PtxVersion>) {
        Some(Ok(version)) if version.is_known() => return Ok(version),
        Some(Ok(version)) => format!(
            "there is no PTX version {version}; the newest is {}",
            PtxVersion::NEWEST
        ),
        Some(Err(error)) => error.to_string(),
        None => "`ptx` is a version such as 8.0".to_owned(),
    };
    Err(SpecError::new(message, at))
}

/// Reads a parameter's value from the text of a command line; `None` where its type does not fit. Its range is not
/// checked.
pub fn parse_value(param: &ParamInfo, text: &str) -> Option<Value> {
    match param.range {
        Range::Int { .. } => text.parse().ok().map(Value::Int),
        Range::Float { .. } => text.parse().ok().map(Value::Float),
        Range::Words(_) => Some(Value::Word(text.to_owned())),
    }
}
