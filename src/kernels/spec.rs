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

use super::params::{ParamInfo, Range, Value, Values};
use super::{KERNELS, KernelInfo};
use crate::ptx::target::{PtxVersion, Target};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Location, NonFiniteFloatPolicy, Spanned};
use std::error::Error;
use std::fmt;

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

/// What is wrong with a spec, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// What is wrong.
    pub message: String,
    /// Line, from 1 on; 0 where there is no place to show.
    pub line: usize,
    /// Column in characters, from 1 on.
    pub column: usize,
    /// Characters to underline.
    pub len: usize,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "{line}:{}: {}", self.column, self.message),
        }
    }
}

impl Error for SpecError {}

impl SpecError {
    fn new(message: impl Into<String>, at: Location) -> Self {
        Self {
            message: message.into(),
            line: at.line() as usize,
            column: at.column() as usize,
            len: at.span().len() as usize,
        }
    }

    /// The error with its place, the line it stands in and a mark below: `file` is what the text is called. Control
    /// characters are replaced: they could fool a terminal.
    pub fn render(&self, file: &str, text: &str) -> String {
        let visible = |c: char| {
            if c.is_control() && c != '\t' && c != '\n' {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        };
        self.raw(file, text).chars().map(visible).collect()
    }

    fn raw(&self, file: &str, text: &str) -> String {
        let Some(line) = self.line.checked_sub(1).and_then(|at| text.lines().nth(at)) else {
            return format!("{file}: error: {}", self.message);
        };
        // Tabs are kept, so that the mark stands below its place whatever their width.
        let before = line.chars().take(self.column.saturating_sub(1));
        let blank: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let rest = line.chars().count().saturating_sub(blank.chars().count());
        let mark = "^".repeat(self.len.min(rest).max(1));
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        format!(
            "{file}:{number}:{}: error: {}\n{gutter} |\n{number} | {line}\n{gutter} | {blank}{mark}",
            self.column, self.message
        )
    }
}

/// Reads a spec.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read(text: &str) -> Result<Request, SpecError> {
    // `.nan` becomes a word, and is out of range like any other.
    let options = serde_yaml::options! { non_finite_float_policy: NonFiniteFloatPolicy::AsString };
    let root: Spanned<Node> = serde_yaml::from_str_with_options(text, options).map_err(|error| unreadable(&error))?;
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

/// An error of the YAML parser, with its place if it has one.
fn unreadable(error: &serde_yaml::Error) -> SpecError {
    let error = error.without_snippet();
    let at = error.location().unwrap_or(Location::UNKNOWN);
    let message = match error {
        serde_yaml::Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key `{key}` stands here twice"),
        serde_yaml::Error::MultipleDocuments { .. } => "a spec is a single document".to_owned(),
        error => {
            let text = error.to_string();
            // The place is shown in front; the parser repeats it behind its message.
            text.split(" at line ").next().unwrap_or(&text).to_owned()
        }
    };
    SpecError::new(message, at)
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

/// The characters of the text at a place.
fn source(text: &str, at: Location) -> Option<&str> {
    let start = usize::try_from(at.span().byte_offset()?).ok()?;
    let len = usize::try_from(at.span().byte_len()?).ok()?;
    text.get(start..start + len)
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

/// Whatever YAML has.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Null,
    Scalar(Value),
    List,
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Word(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Int(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(
            u64::try_from(value).map_or(Value::Float(value as f64), Value::Int),
        ))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Word(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        while seq.next_element::<Node>()?.is_some() {}
        Ok(Node::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }
}
